/* The annotations of Berth: which are known, and what each may say. */
#include "api/submit/annotations.h"
#include "model/quantity.h"
#include "wire/text/inner_path.h"
#include "wire/text/input_files.h"
#include "wire/text/rfc3339.h"

/* All that begin with berth.dev/. */
static const char *const own_keys[] = {
    ANNOTATION_ON_PREEMPTION, ANNOTATION_ON_EXECUTOR_LOST,
    ANNOTATION_LIFETIME,      ANNOTATION_NODE_RESERVATION,
    ANNOTATION_MAX_HOPS,      ANNOTATION_FREEZING_WINDOW,
    ANNOTATION_FAKE_RUN_MS,   ANNOTATION_FAKE_EXIT_CODE,
    ANNOTATION_HOLD,          ANNOTATION_BEGIN_TIME,
    ANNOTATION_MAX_WAIT,      ANNOTATION_DEPENDS_ON,
    ANNOTATION_RETRY_POLICY,  ANNOTATION_TURN_GROUP,
    ANNOTATION_TURN_LIMIT,    ANNOTATION_NOTIFY,
    ANNOTATION_OUTPUT_PATH,   ANNOTATION_INPUT_FILES,
};

static int check_loss(const Berth__Submission__Item *item, const char *key,
                      struct refusal *refusal)
{
    struct str value = annotation_find_own(item, key);

    if (value.p && !str_equal(value, STR("fail")) &&
        !str_equal(value, STR("requeue"))) {
        return refusal_set(refusal,
                           "annotation %s must be fail or requeue, not %.*s",
                           annotation_name(item, key), STR_ARG(value));
    }
    return 0;
}

/* A number of seconds with up to three decimals, or `infinite`; false when it
 * is neither, or longer than LIFETIME_S_MAX. */
static bool read_lifetime(struct str text, int64_t *ret_ms)
{
    int64_t ms;

    if (str_equal(text, STR("infinite"))) {
        *ret_ms = LIFETIME_INFINITE;
        return true;
    }
    if (quantity_parse(text, &ms) < 0 || ms < 0 ||
        ms > LIFETIME_S_MAX * INT64_C(1000)) {
        return false;
    }
    *ret_ms = ms;
    return true;
}

static int check_lifetime(const Berth__Submission__Item *item,
                          struct refusal *refusal)
{
    struct str value = annotation_find_own(item, ANNOTATION_LIFETIME);
    int64_t ms;

    if (value.p && !read_lifetime(value, &ms)) {
        return refusal_set(refusal,
                           "annotation %s must be seconds from 0 to %d or "
                           "infinite, not %.*s",
                           annotation_name(item, ANNOTATION_LIFETIME),
                           LIFETIME_S_MAX, STR_ARG(value));
    }
    return 0;
}

int64_t annotations_lifetime_ms(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_LIFETIME);
    int64_t ms = LIFETIME_BY_CLASS;

    if (value.p && !read_lifetime(value, &ms)) {
        return LIFETIME_BY_CLASS;
    }
    return ms;
}

/* One that begins as ours do and is none is a slip, which would else be taken
 * for a wish that was heard.  Those with Armada's prefix are not ours to
 * refuse. */
static int check_known(const Berth__Submission__Item *item,
                       struct refusal *refusal)
{
    for (size_t i = 0; i < item->n_annotations; i++) {
        struct str key = str_of(item->annotations[i]->key);
        bool is_known = !str_starts_with(key, STR("berth.dev/"));

        for (size_t k = 0; k < ARRAY_COUNT(own_keys) && !is_known; k++) {
            is_known = str_equal(key, str_of(own_keys[k]));
        }
        if (!is_known) {
            auto_strbuf known = {0};
            for (size_t k = 0; k < ARRAY_COUNT(own_keys); k++) {
                strbuf_addf(&known, "%s%s", k ? ", " : "", own_keys[k]);
            }
            return refusal_set(refusal,
                               "annotation %.*s is not known; those of "
                               "berth.dev are %s; it says \"%s\"",
                               STR_ARG(key), strbuf_text(&known),
                               item->annotations[i]->value);
        }
    }
    return 0;
}

int64_t annotation_max_wait_ms(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_MAX_WAIT);
    int64_t ms;

    return value.p && quantity_parse(value, &ms) == 0 && ms > 0 &&
                   ms <= LIFETIME_S_MAX * INT64_C(1000)
               ? ms
               : 0;
}

int64_t annotation_begin_ms(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_BEGIN_TIME);
    int64_t seconds;
    int32_t nanos;

    return value.p && wire_rfc3339_parse(value, &seconds, &nanos) == 0 &&
                   seconds > 0
               ? seconds * 1000 + nanos / 1000000
               : 0;
}

uint32_t annotation_turn_limit(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_TURN_LIMIT);
    int64_t milli;

    return value.p && quantity_parse(value, &milli) == 0 && milli > 0 &&
                   milli % 1000 == 0 && milli / 1000 <= TURN_LIMIT_MAX
               ? (uint32_t)(milli / 1000)
               : 0;
}

/* Group and limit go together. */
static int check_turn(const Berth__Submission__Item *item,
                      struct refusal *refusal)
{
    struct str group = annotation_find_own(item, ANNOTATION_TURN_GROUP);
    struct str limit = annotation_find_own(item, ANNOTATION_TURN_LIMIT);

    if (!group.p && !limit.p) {
        return 0;
    }
    if (!group.p || !limit.p) {
        return refusal_set(refusal,
                           "annotations %s and %s must be given together",
                           ANNOTATION_TURN_GROUP, ANNOTATION_TURN_LIMIT);
    }
    if (annotation_turn_limit(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be a number from 1 to %d, not "
                           "%.*s",
                           annotation_name(item, ANNOTATION_TURN_LIMIT),
                           TURN_LIMIT_MAX, STR_ARG(limit));
    }
    if (group.byte_count == 0 || group.byte_count > TURN_GROUP_BYTES_MAX) {
        return refusal_set(refusal,
                           "annotation %s must have 1 to %d bytes, not %zu",
                           annotation_name(item, ANNOTATION_TURN_GROUP),
                           TURN_GROUP_BYTES_MAX, group.byte_count);
    }
    return 0;
}

/* What keeps a job from being planned at once. */
static int check_holds(const Berth__Submission__Item *item,
                       struct refusal *refusal)
{
    struct str hold = annotation_find_own(item, ANNOTATION_HOLD);

    if (hold.p && !str_equal(hold, STR("true")) &&
        !str_equal(hold, STR("false"))) {
        return refusal_set(
            refusal, "annotation %s must be true or false, not %.*s",
            annotation_name(item, ANNOTATION_HOLD), STR_ARG(hold));
    }
    struct str begin = annotation_find_own(item, ANNOTATION_BEGIN_TIME);
    if (begin.p && annotation_begin_ms(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be a time such as "
                           "2026-01-31T12:00:00Z, not %.*s",
                           annotation_name(item, ANNOTATION_BEGIN_TIME),
                           STR_ARG(begin));
    }
    struct str wait = annotation_find_own(item, ANNOTATION_MAX_WAIT);
    if (wait.p && annotation_max_wait_ms(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be seconds, more than 0 and up "
                           "to %d, not %.*s",
                           annotation_name(item, ANNOTATION_MAX_WAIT),
                           LIFETIME_S_MAX, STR_ARG(wait));
    }
    bool is_gang =
        annotation_find(item, ANNOTATION_GANG_ID).p || item->pod_group;
    struct str depends = annotation_find_own(item, ANNOTATION_DEPENDS_ON);
    struct str turn = annotation_find_own(item, ANNOTATION_TURN_LIMIT);
    if (is_gang && (hold.p || begin.p || wait.p || depends.p || turn.p)) {
        return refusal_set(
            refusal,
            "annotation %s cannot be given to a member of a "
            "gang",
            annotation_name(item, hold.p      ? ANNOTATION_HOLD
                                  : begin.p   ? ANNOTATION_BEGIN_TIME
                                  : wait.p    ? ANNOTATION_MAX_WAIT
                                  : depends.p ? ANNOTATION_DEPENDS_ON
                                              : ANNOTATION_TURN_LIMIT));
    }
    return check_turn(item, refusal);
}

/* As the runtime that can do it checks it again (process_mount.c). */
static int check_output(const Berth__Submission__Item *item,
                        struct refusal *refusal)
{
    struct str path = annotation_find_own(item, ANNOTATION_OUTPUT_PATH);

    if (!path.p) {
        return 0;
    }
    bool is_good =
        path.byte_count > 1 && path.byte_count <= OUTPUT_PATH_BYTES_MAX &&
        path.p[0] == '/' &&
        inner_path_is_good(str_make(path.p + 1, path.byte_count - 1)) &&
        !memchr(path.p, ':', path.byte_count);
    return is_good ? 0
                   : refusal_set(refusal,
                                 "annotation %s must be an absolute path such "
                                 "as /results, without .., empty names and "
                                 "colons, of at most %d bytes, not \"%.*s\"",
                                 annotation_name(item, ANNOTATION_OUTPUT_PATH),
                                 OUTPUT_PATH_BYTES_MAX, STR_ARG(path));
}

static int check_input(const Berth__Submission__Item *item,
                       struct refusal *refusal)
{
    struct str text = annotation_find_own(item, ANNOTATION_INPUT_FILES);
    auto_arena arena = {0};
    struct input_file *files;
    struct err err;

    return text.p && input_files_read(text, &arena, &files, &err) < 0
               ? refusal_set(refusal, "annotation %s: %s",
                             annotation_name(item, ANNOTATION_INPUT_FILES),
                             err.text)
               : 0;
}

int annotations_check_own(const Berth__Submission__Item *item,
                          struct refusal *refusal)
{
    int rc = check_known(item, refusal);

    rc = rc < 0 ? rc : check_loss(item, ANNOTATION_ON_PREEMPTION, refusal);
    rc = rc < 0 ? rc : check_loss(item, ANNOTATION_ON_EXECUTOR_LOST, refusal);
    rc = rc < 0 ? rc : check_holds(item, refusal);
    rc = rc < 0 ? rc : check_output(item, refusal);
    rc = rc < 0 ? rc : check_input(item, refusal);
    if (rc == 0 && !annotation_find(item, ANNOTATION_GANG_ID).p) {
        rc = annotations_check_no_terms(
            item, "it needs " ANNOTATION_GANG_ID " or a podGroup", refusal);
    }
    return rc < 0 ? rc : check_lifetime(item, refusal);
}

static bool is_target(const struct submit_rules *rules, struct str name)
{
    bool is = false;

    for (uint32_t i = 0; i < rules->notify_target_count && !is; i++) {
        is = str_equal(rules->notify_targets[i], name);
    }
    return is;
}

static int refuse_target(const Berth__Submission__Item *item, struct str name,
                         const struct submit_rules *rules,
                         struct refusal *refusal)
{
    auto_strbuf known = {0};

    for (uint32_t i = 0; i < rules->notify_target_count; i++) {
        strbuf_addf(&known, "%s%.*s", i ? ", " : "; there are ",
                    STR_ARG(rules->notify_targets[i]));
    }
    return refusal_set(
        refusal, "annotation %s: there is no target of notifications %.*s%s",
        annotation_name(item, ANNOTATION_NOTIFY), STR_ARG(name),
        known.byte_count ? strbuf_text(&known)
                         : "; the server's configuration names none");
}

int annotations_check_notify(const Berth__Submission__Item *item,
                             const struct submit_rules *rules,
                             struct refusal *refusal)
{
    struct str list = annotation_find_own(item, ANNOTATION_NOTIFY);

    for (size_t at = 0, end; at < list.byte_count; at = end + 1) {
        for (end = at; end < list.byte_count && list.p[end] != ',' &&
                       list.p[end] != ' ';) {
            end++;
        }
        struct str name = str_make(list.p + at, end - at);
        if (name.byte_count > 0 && !is_target(rules, name)) {
            return refuse_target(item, name, rules, refusal);
        }
    }
    return 0;
}
