#include "api/leases/lease_request.h"

#include "armada/executorapi.pb-c.h"
#include "base/vec.h"
#include "wire/kube/entries.h"
#include "wire/kube/node.h"
#include "wire/message/field.h"
#include "wire/message/message.h"

enum {
    FIELDS_MAX = 32 << 20,
    MEMORY_FACTOR = 32,      /* of what a message may take unpacked */
    LEASE_REQUEST_NODES = 5, /* its field number */
};

/* Run ids on their way into an array. */
struct run_list {
    VEC(struct run_id) items; /* VEC_FREE() it */
};

static int add_run(struct run_list *runs, const char *text, struct err *err)
{
    struct run_id run;

    if (run_id_parse(str_of(text), &run) < 0) {
        return err_set(err, -ERR_INVALID, "\"%s\" is not a run id", text);
    }
    VEC_PUSH(&runs->items, run);
    return 0;
}

static int add_runs(struct run_list *runs, char **texts, size_t count,
                    struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < count && rc == 0; i++) {
        rc = add_run(runs, texts[i], err);
    }
    return rc;
}

/* Put what was gathered into the arena. */
static const struct run_id *keep_runs(const struct run_list *runs,
                                      struct arena *arena, uint32_t *ret_count)
{
    size_t count = runs->items.count;
    struct run_id *kept = arena_alloc_array(arena, count, sizeof(*kept));

    if (count) {
        memcpy(kept, runs->items.items, count * sizeof(*kept));
    }
    *ret_count = (uint32_t)count;
    return kept;
}

/* A request while it is read. */
struct reading {
    const struct wire_limits *limits;
    struct arena *arena;  /* what is kept lives here */
    struct arena scratch; /* of one node */
    struct strbuf rest;   /* the message without its nodes */
    struct run_list runs; /* on nodes, then those that are not on one yet */
    struct node_record *nodes;
    uint32_t node_count;
    struct err *err;
};

/* A copy of a record in the arena that takes no more room than it must. */
static struct node_record keep_node(const struct node_record *record,
                                    struct arena *arena)
{
    struct node_record kept;

    node_record_copy(record, arena_alloc(arena, node_record_bytes(record)),
                     &kept);
    return kept;
}

/* One node and the runs on it. */
static int read_node(struct reading *reading, struct str bytes)
{
    ProtobufCMessage *base;
    struct node_record record;

    arena_reset(&reading->scratch);
    int rc =
        wire_decode(&executorapi__node_info__descriptor, bytes, reading->limits,
                    &reading->scratch, &base, reading->err);
    if (rc < 0) {
        return rc;
    }
    const Executorapi__NodeInfo *node = (const Executorapi__NodeInfo *)base;
    if (*node->name) {
        rc = node_from_info(node, &reading->scratch, &record, reading->err);
        if (rc < 0) {
            return rc;
        }
        reading->nodes[reading->node_count++] =
            keep_node(&record, reading->arena);
    }
    for (size_t i = 0; i < node->n_run_ids_by_state && rc == 0; i++) {
        rc = add_run(&reading->runs, node->run_ids_by_state[i]->key,
                     reading->err);
    }
    return rc;
}

static bool is_node(const struct field *field)
{
    return field->number == LEASE_REQUEST_NODES && field->type == FIELD_BYTES;
}

/* How many nodes there are; negative: the bytes are no message, or there are
 * more than can be. */
static int64_t count_nodes(struct str bytes, struct err *err)
{
    struct field_cursor cursor = field_cursor_make(bytes);
    struct field field;
    int64_t count = 0;

    while (!field_cursor_is_done(&cursor)) {
        if (!field_read(&cursor, &field)) {
            return err_set(err, -ERR_CORRUPT, "the request is cut off");
        }
        count += is_node(&field);
    }
    return count > NODES_MAX
               ? err_set(err, -ERR_LIMIT, "more than %d nodes", NODES_MAX)
               : count;
}

/* Read the nodes one by one, for unpacked they take many times the room, and
 * leave the rest of the message in `rest`. */
static int read_nodes(struct reading *reading, struct str bytes)
{
    struct field_cursor cursor = field_cursor_make(bytes);
    struct field field;
    int64_t count = count_nodes(bytes, reading->err);

    if (count < 0) {
        return (int)count;
    }
    reading->nodes = arena_alloc_array(reading->arena, (size_t)count,
                                       sizeof(*reading->nodes));
    while (!field_cursor_is_done(&cursor)) {
        const char *from = (const char *)cursor.p;
        bool is_field = field_read(&cursor, &field);
        ASSERT(is_field); /* they have been counted */
        if (!is_node(&field)) {
            strbuf_add_str(
                &reading->rest,
                str_make(from, (size_t)((const char *)cursor.p - from)));
            continue;
        }
        int rc = read_node(reading, field.bytes);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* The nodes that a delta says are gone. */
static int read_nodes_gone(const Executorapi__LeaseRequest *message,
                           struct arena *arena,
                           struct exchange_request *request, struct err *err)
{
    size_t count = message->n_node_names_removed;

    if (count > NODES_MAX) {
        return err_set(err, -ERR_LIMIT, "more than %d nodes", NODES_MAX);
    }
    struct str *names = arena_alloc_array(arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = str_of(message->node_names_removed[i]);
    }
    request->nodes_gone = names;
    request->nodes_gone_count = (uint32_t)count;
    request->has_nodes |= count > 0;
    return 0;
}

/* The runs that a delta adds and removes; those on nodes are not of it. */
static int read_delta(const Executorapi__LeaseRequest *message,
                      struct arena *arena, struct exchange_request *request,
                      struct err *err)
{
    struct run_list added = {0}, removed = {0};

    int rc = read_nodes_gone(message, arena, request, err);
    if (rc == 0) {
        rc = add_runs(&added, message->run_ids_added, message->n_run_ids_added,
                      err);
    }
    if (rc == 0) {
        rc = add_runs(&removed, message->run_ids_removed,
                      message->n_run_ids_removed, err);
    }
    request->runs = keep_runs(&added, arena, &request->run_count);
    request->runs_gone = keep_runs(&removed, arena, &request->runs_gone_count);
    VEC_FREE(&added.items);
    VEC_FREE(&removed.items);
    return rc;
}

/* What pods that are not Berth's ask for in vain. */
static int read_pending(const Executorapi__LeaseRequest *message,
                        const struct reading *reading,
                        struct resource_list *ret_list)
{
    ret_list->items = arena_alloc_array(reading->arena, RESOURCE_LIST_MAX,
                                        sizeof(*ret_list->items));
    return entries_amounts(message->pending_foreign, message->n_pending_foreign,
                           ret_list, reading->err);
}

/* What disruption budgets protect. */
static int read_protected(const Executorapi__LeaseRequest *message,
                          const struct reading *reading,
                          struct exchange_request *request)
{
    struct run_list runs = {0};

    request->has_protected = message->says_protected;
    if (message->n_protected_run_ids > PROTECTED_RUNS_MAX) {
        return err_set(reading->err, -ERR_LIMIT,
                       "more than %d runs are protected", PROTECTED_RUNS_MAX);
    }
    int rc = add_runs(&runs, message->protected_run_ids,
                      message->n_protected_run_ids, reading->err);
    request->protected_runs =
        keep_runs(&runs, reading->arena, &request->protected_count);
    VEC_FREE(&runs.items);
    return rc;
}

/* All but the nodes, which have been read. */
static int read_rest(struct reading *reading, struct exchange_request *request,
                     struct lease_wishes *ret_wishes)
{
    ProtobufCMessage *base;
    int rc = wire_decode(&executorapi__lease_request__descriptor,
                         strbuf_str(&reading->rest), reading->limits,
                         reading->arena, &base, reading->err);

    if (rc < 0) {
        return rc;
    }
    const Executorapi__LeaseRequest *message =
        (const Executorapi__LeaseRequest *)base;
    bool is_delta = message->held_stream && message->is_delta;
    *request = (struct exchange_request){
        .executor_id = str_of(message->executor_id),
        .instance = message->instance,
        .pool = str_of(message->pool),
        .is_full = !is_delta,
        .nodes = reading->nodes,
        .node_count = reading->node_count,
        .has_nodes = !is_delta || reading->node_count > 0,
        .lease_max = message->max_jobs_to_lease,
    };
    request->has_pending = message->says_pending;
    rc = read_pending(message, reading, &request->pending);
    if (rc == 0) {
        rc = read_protected(message, reading, request);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_wishes = (struct lease_wishes){message->held_stream, is_delta};
    if (is_delta) {
        return read_delta(message, reading->arena, request, reading->err);
    }
    rc = add_runs(&reading->runs, message->unassigned_job_run_ids,
                  message->n_unassigned_job_run_ids, reading->err);
    request->runs =
        keep_runs(&reading->runs, reading->arena, &request->run_count);
    return rc;
}

int lease_request_read(struct str bytes, size_t byte_count_max,
                       struct command *command, struct lease_wishes *ret_wishes,
                       struct err *err)
{
    struct wire_limits limits = {
        .byte_count_max = byte_count_max,
        .field_count_max = FIELDS_MAX,
        .memory_bytes_max = byte_count_max * MEMORY_FACTOR,
        .depth_max = WIRE_DEPTH_MAX,
    };
    struct reading reading = {
        .limits = &limits, .arena = &command->arena, .err = err};

    if (bytes.byte_count > byte_count_max) {
        return err_set(err, -ERR_LIMIT, "more than %zu bytes", byte_count_max);
    }
    int rc = read_nodes(&reading, bytes);
    if (rc == 0) {
        rc = read_rest(&reading, &command->exchange.request, ret_wishes);
    }
    VEC_FREE(&reading.runs.items);
    strbuf_fini(&reading.rest);
    arena_fini(&reading.scratch);
    return rc;
}
