#include "wire/kube/window_codec.h"

#include <inttypes.h>

#include "wire/kube/entries.h"
#include "wire/kube/kube_name.h"
#include "wire/message/message.h"

enum {
    MS_PER_S = 1000,
    NS_PER_MS = 1000000,
    LEAD_S_MAX = 366 * 86400,
    REPEAT_S_MAX = 366 * 86400,
};

/* The last second of the year 9999. */
static const int64_t TIME_S_MAX = INT64_C(253402300799);

static int check_time(const Google__Protobuf__Timestamp *time,
                      const char *field, struct err *err)
{
    if (!time) {
        return err_set(err, -ERR_INVALID, "%s: must be given", field);
    }
    if (time->seconds <= 0 || time->seconds > TIME_S_MAX || time->nanos < 0 ||
        time->nanos > 999999999) {
        return err_set(err, -ERR_INVALID,
                       "%s: must be a time from 1970 to 9999", field);
    }
    return 0;
}

static int64_t ms_of(const Google__Protobuf__Timestamp *time)
{
    return time ? time->seconds * MS_PER_S + time->nanos / NS_PER_MS : 0;
}

/* One must be over before the next begins. */
static int check_record_repeat(const Berth__Api__MaintenanceWindow *window,
                               struct err *err)
{
    int64_t length_ms = ms_of(window->end) - ms_of(window->begin);

    if (window->repeat_seconds < 0 || window->repeat_seconds > REPEAT_S_MAX) {
        return err_set(
            err, -ERR_INVALID,
            "repeatSeconds: must be 0 or from %d to %d, not %" PRId64,
            WINDOW_REPEAT_S_MIN, REPEAT_S_MAX, window->repeat_seconds);
    }
    return window->repeat_seconds &&
                   window->repeat_seconds * MS_PER_S <= length_ms
               ? err_set(err, -ERR_INVALID,
                         "repeatSeconds: must be longer than the window")
               : 0;
}

static int check_times(const Berth__Api__MaintenanceWindow *window,
                       struct err *err)
{
    int rc = check_time(window->begin, "begin", err);

    rc = rc < 0 ? rc : check_time(window->end, "end", err);
    if (rc == 0 && ms_of(window->end) <= ms_of(window->begin)) {
        rc = err_set(err, -ERR_INVALID, "end: must be after begin");
    }
    if (rc == 0 &&
        (window->lead_seconds < 0 || window->lead_seconds > LEAD_S_MAX)) {
        rc = err_set(err, -ERR_INVALID,
                     "leadSeconds: must be from 0 to %d, not %" PRId64,
                     LEAD_S_MAX, window->lead_seconds);
    }
    return rc < 0 ? rc : check_record_repeat(window, err);
}

static int check_names(char *const *names, size_t count, const char *field,
                       struct err *err)
{
    if (count > WINDOW_NAMES_MAX) {
        return err_set(err, -ERR_LIMIT, "%s: at most %d names, not %zu", field,
                       WINDOW_NAMES_MAX, count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!*names[i]) {
            return err_set(err, -ERR_INVALID, "%s[%zu]: must not be empty",
                           field, i);
        }
    }
    return 0;
}

static int check_labels(const Berth__Api__MaintenanceWindow *window,
                        struct err *err)
{
    if (window->n_labels > WINDOW_NAMES_MAX) {
        return err_set(err, -ERR_LIMIT, "labels: at most %d, not %zu",
                       WINDOW_NAMES_MAX, window->n_labels);
    }
    for (size_t i = 0; i < window->n_labels; i++) {
        struct str key = str_of(window->labels[i]->key);
        struct str value = str_of(window->labels[i]->value);
        if (!kube_is_label_key(key) || !kube_is_label_value(value)) {
            return err_set(err, -ERR_INVALID,
                           "labels: \"%.128s=%.128s\" is no label", key.p,
                           value.p);
        }
    }
    return 0;
}

static int check_nodes(const Berth__Api__MaintenanceWindow *window,
                       struct err *err)
{
    bool is_any = window->n_executors + window->n_nodes + window->n_pools +
                      window->n_labels ==
                  0;

    if (is_any != (window->all_nodes != 0)) {
        return err_set(err, -ERR_INVALID,
                       is_any ? "name executors, nodes, pools or labels, or "
                                "set allNodes"
                              : "allNodes: must not be set beside executors, "
                                "nodes, pools or labels");
    }
    int rc =
        check_names(window->executors, window->n_executors, "executors", err);
    rc =
        rc < 0 ? rc : check_names(window->nodes, window->n_nodes, "nodes", err);
    rc =
        rc < 0 ? rc : check_names(window->pools, window->n_pools, "pools", err);
    return rc < 0 ? rc : check_labels(window, err);
}

/* What every window holds to, also one that older rules let in. */
static int check_record(const Berth__Api__MaintenanceWindow *window,
                        struct err *err)
{
    if (!kube_is_subdomain(str_of(window->name))) {
        return err_set(err, -ERR_INVALID,
                       "name: \"%.128s\" must consist of small letters, "
                       "digits, dashes and dots",
                       window->name);
    }
    int rc = check_times(window, err);
    rc = rc < 0 ? rc : check_nodes(window, err);
    if (rc == 0 && strlen(window->reason) > WINDOW_REASON_BYTES_MAX) {
        rc = err_set(err, -ERR_LIMIT, "reason: at most %d bytes, not %zu",
                     WINDOW_REASON_BYTES_MAX, strlen(window->reason));
    }
    return rc;
}

static int check_lengths(char *const *names, size_t count, const char *field,
                         struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(names[i]) > WINDOW_NAME_BYTES_MAX) {
            return err_set(err, -ERR_LIMIT,
                           "%s[%zu]: at most %d bytes, not %zu", field, i,
                           WINDOW_NAME_BYTES_MAX, strlen(names[i]));
        }
    }
    return 0;
}

/* Each time that it repeats the whole window is a record of the log. */
static int check_costs(const Berth__Api__MaintenanceWindow *window,
                       struct err *err)
{
    int rc =
        check_lengths(window->executors, window->n_executors, "executors", err);
    rc = rc < 0 ? rc
                : check_lengths(window->nodes, window->n_nodes, "nodes", err);
    rc = rc < 0 ? rc
                : check_lengths(window->pools, window->n_pools, "pools", err);
    size_t byte_count = protobuf_c_message_get_packed_size(&window->base);
    if (rc == 0 && byte_count > WINDOW_BYTES_MAX) {
        rc = err_set(err, -ERR_LIMIT,
                     "it has %zu bytes, and at most %d are allowed: name fewer "
                     "nodes, or select them by labels",
                     byte_count, WINDOW_BYTES_MAX);
    }
    if (rc == 0 && window->repeat_seconds &&
        window->repeat_seconds < WINDOW_REPEAT_S_MIN) {
        rc = err_set(err, -ERR_INVALID,
                     "repeatSeconds: must be 0 or from %d to %d, not %" PRId64,
                     WINDOW_REPEAT_S_MIN, REPEAT_S_MAX, window->repeat_seconds);
    }
    return rc;
}

int window_check(const Berth__Api__MaintenanceWindow *window, struct err *err)
{
    int rc = check_record(window, err);

    return rc < 0 ? rc : check_costs(window, err);
}

int window_decode(struct str encoded, struct arena *arena,
                  struct window_record *ret_record, struct err *err)
{
    ProtobufCMessage *message;

    int rc = wire_decode(&berth__api__maintenance_window__descriptor, encoded,
                         &wire_request_limits, arena, &message, err);
    const Berth__Api__MaintenanceWindow *window = (void *)message;
    rc = rc < 0 ? rc : check_record(window, err);
    if (rc < 0) {
        return rc;
    }
    *ret_record = (struct window_record){
        .name = str_of(window->name),
        .reason = str_of(window->reason),
        .begin_ms = ms_of(window->begin),
        .end_ms = ms_of(window->end),
        .lead_ms = window->lead_seconds * MS_PER_S,
        .repeat_ms = window->repeat_seconds * MS_PER_S,
        .executors =
            entries_names(window->executors, window->n_executors, arena),
        .nodes = entries_names(window->nodes, window->n_nodes, arena),
        .pools = entries_names(window->pools, window->n_pools, arena),
        .executor_count = (uint32_t)window->n_executors,
        .node_count = (uint32_t)window->n_nodes,
        .pool_count = (uint32_t)window->n_pools,
    };
    ret_record->labels = entries_labels(window->labels, window->n_labels, arena,
                                        &ret_record->label_count);
    return 0;
}

struct str window_encode_next(struct str encoded, int64_t now_ms,
                              struct arena *arena)
{
    ProtobufCMessage *message;

    int rc = wire_decode(&berth__api__maintenance_window__descriptor, encoded,
                         &wire_request_limits, arena, &message, NULL);
    ASSERT(rc == 0); /* it was checked */
    Berth__Api__MaintenanceWindow *window = (void *)message;
    ASSERT(window->repeat_seconds > 0 && ms_of(window->end) <= now_ms);
    if (window->repeat_seconds < WINDOW_REPEAT_S_MIN) {
        window->repeat_seconds = WINDOW_REPEAT_S_MIN; /* from an older log */
    }
    int64_t repeat_ms = window->repeat_seconds * MS_PER_S;
    int64_t count = (now_ms - ms_of(window->end)) / repeat_ms + 1;
    int64_t by_s = count * window->repeat_seconds;

    if (window->end->seconds + by_s > TIME_S_MAX) {
        return (struct str){0};
    }
    window->begin->seconds += by_s;
    window->end->seconds += by_s;
    ASSERT(ms_of(window->end) > now_ms);
    return wire_encode_arena(message, arena);
}
