#include "api/submit/annotations.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/quantity.h"
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
    ANNOTATION_TURN_LIMIT,
};

struct str annotation_find(const Berth__Submission__Item *item, const char *key)
{
    /* From the end: of equal keys the last counts. */
    for (size_t i = item->n_annotations; i > 0; i--) {
        if (strcmp(item->annotations[i - 1]->key, key) == 0) {
            return str_of(item->annotations[i - 1]->value);
        }
    }
    return str_make(NULL, 0);
}

struct str annotation_find_own(const Berth__Submission__Item *item,
                               const char *key)
{
    const size_t prefix_bytes = sizeof("berth.dev/") - 1;
    struct str value = annotation_find(item, key);
    char armada_key[80];

    if (value.p) {
        return value;
    }
    snprintf(armada_key, sizeof(armada_key), "armadaproject.io/%s",
             key + prefix_bytes);
    return annotation_find(item, armada_key);
}

/* One of ours as the item has it: with which prefix. */
static const char *own_name(const Berth__Submission__Item *item,
                            const char *key)
{
    const size_t prefix_bytes = sizeof("berth.dev/") - 1;
    const size_t armada_bytes = sizeof("armadaproject.io/") - 1;

    if (annotation_find(item, key).p) {
        return key;
    }
    for (size_t i = 0; i < item->n_annotations; i++) {
        const char *name = item->annotations[i]->key;
        if (str_starts_with(str_of(name), STR("armadaproject.io/")) &&
            strcmp(name + armada_bytes, key + prefix_bytes) == 0) {
            return name;
        }
    }
    return key;
}

/* Read a count as Go's strconv.Atoi does. */
static int read_count(const char *what, struct str text, int64_t *ret_count,
                      struct refusal *refusal)
{
    char *end;
    /* Fields of a decoded message end in a NUL. */
    const char *start = text.p;

    errno = 0;
    long long value = strtoll(start, &end, 10);
    bool has_digit = *start >= '0' && *start <= '9';
    if (*start == '-' || *start == '+') {
        has_digit = start[1] >= '0' && start[1] <= '9';
    }
    if (!has_digit || *end || errno) {
        return refusal_set(refusal,
                           "gang %s is not parseable - \"%.*s\" is no "
                           "integer",
                           what, STR_ARG(text));
    }
    *ret_count = value;
    return 0;
}

static int read_cardinality(const Berth__Submission__Item *item,
                            struct gang *gang, struct refusal *refusal)
{
    struct str text = annotation_find(item, ANNOTATION_GANG_CARDINALITY);
    int64_t cardinality;

    if (!text.p) {
        return refusal_set(refusal, "gang cardinality annotation %s is missing",
                           ANNOTATION_GANG_CARDINALITY);
    }
    if (read_count("cardinality", text, &cardinality, refusal) < 0) {
        return -ERR_INVALID;
    }
    if (cardinality <= 0) {
        return refusal_set(refusal, "gang cardinality %lld is non-positive",
                           (long long)cardinality);
    }
    if (cardinality > GANG_CARDINALITY_MAX) {
        return refusal_set(refusal,
                           "gang cardinality %lld is above the maximum %d",
                           (long long)cardinality, GANG_CARDINALITY_MAX);
    }
    gang->cardinality = (uint32_t)cardinality;
    return 0;
}

static int read_minimum(const Berth__Submission__Item *item, struct gang *gang,
                        struct refusal *refusal)
{
    struct str text = annotation_find(item, ANNOTATION_GANG_MINIMUM);
    int64_t minimum;

    gang->minimum = gang->cardinality;
    if (!text.p) {
        return 0;
    }
    if (read_count("minimum cardinality", text, &minimum, refusal) < 0) {
        return -ERR_INVALID;
    }
    if (minimum <= 0) {
        return refusal_set(refusal,
                           "gang minimum cardinality %lld is non-positive",
                           (long long)minimum);
    }
    if (minimum > gang->cardinality) {
        return refusal_set(refusal,
                           "gang minimum cardinality %lld is greater than gang "
                           "cardinality %u",
                           (long long)minimum, gang->cardinality);
    }
    gang->minimum = (uint32_t)minimum;
    return 0;
}

/* A whole number from 0 to `max`; untouched when the annotation is not
 * there. */
static int read_number(const Berth__Submission__Item *item, const char *key,
                       int64_t max, int64_t *ret_number,
                       struct refusal *refusal)
{
    struct str text = annotation_find_own(item, key);
    int64_t milli;

    if (!text.p) {
        return 0;
    }
    if (quantity_parse(text, &milli) < 0 || milli < 0 || milli % 1000 ||
        milli / 1000 > max) {
        return refusal_set(refusal,
                           "annotation %s must be a whole number from 0 to "
                           "%lld, not %.*s",
                           own_name(item, key), (long long)max, STR_ARG(text));
    }
    *ret_number = milli / 1000;
    return 0;
}

/* What a gang says of nodes, as PodGroups do. */
static int read_terms(const Berth__Submission__Item *item, struct gang *gang,
                      struct refusal *refusal)
{
    struct str whole = annotation_find_own(item, ANNOTATION_NODE_RESERVATION);
    int64_t hops = -1, window_s = -1;

    gang->has_exclusive_nodes = str_equal(whole, STR("Whole"));
    if (whole.p && !gang->has_exclusive_nodes &&
        !str_equal(whole, STR("Shared"))) {
        return refusal_set(
            refusal, "annotation %s must be Whole or Shared, not %.*s",
            own_name(item, ANNOTATION_NODE_RESERVATION), STR_ARG(whole));
    }
    int rc = read_number(item, ANNOTATION_MAX_HOPS, HOPS_MAX, &hops, refusal);
    rc = rc < 0 ? rc
                : read_number(item, ANNOTATION_FREEZING_WINDOW,
                              GANG_SECONDS_MAX, &window_s, refusal);
    gang->has_terms = whole.p || hops >= 0 || window_s >= 0;
    gang->hops_max = hops >= 0 ? (uint32_t)hops : HOPS_ANY;
    gang->freezing_window_ms =
        window_s >= 0 ? window_s * 1000 : FREEZING_BY_POLICY;
    return rc;
}

void annotations_terms(const struct gang *gang, struct gang_terms *ret_terms)
{
    *ret_terms = (struct gang_terms){
        .kind = GANG_POD_GROUP,
        .has_exclusive_nodes = gang->has_exclusive_nodes,
        .freezing_window_ms = gang->freezing_window_ms,
        .replace_timeout_ms = REPLACE_TIMEOUT_MS,
        .sub_groups = {{.name = STR("member"),
                        .min_count = gang->minimum,
                        .max_count = gang->cardinality,
                        .hops_max = gang->hops_max}},
        .sub_group_count = 1,
    };
}

int annotations_check_no_terms(const Berth__Submission__Item *item,
                               const char *why, struct refusal *refusal)
{
    static const char *const keys[] = {ANNOTATION_NODE_RESERVATION,
                                       ANNOTATION_MAX_HOPS,
                                       ANNOTATION_FREEZING_WINDOW};

    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (annotation_find_own(item, keys[i]).p) {
            return refusal_set(refusal, "annotation %s is for gangs: %s",
                               own_name(item, keys[i]), why);
        }
    }
    return 0;
}

int annotations_gang(const Berth__Submission__Item *item, struct gang *ret_gang,
                     struct refusal *refusal)
{
    struct str id = annotation_find(item, ANNOTATION_GANG_ID);
    struct str fail_fast = annotation_find(item, ANNOTATION_FAIL_FAST);
    struct gang gang = {.is_gang = true, .id = id};

    if (!id.p) {
        *ret_gang = (struct gang){.cardinality = 1, .minimum = 1};
        return 0;
    }
    if (!id.byte_count) {
        return refusal_set(refusal, "gang id is empty");
    }
    if (read_cardinality(item, &gang, refusal) < 0 ||
        read_minimum(item, &gang, refusal) < 0 ||
        read_terms(item, &gang, refusal) < 0) {
        return -ERR_INVALID;
    }
    if (fail_fast.p && !str_equal(fail_fast, STR("true"))) {
        return refusal_set(
            refusal,
            "gang jobs may not set fail fast flag (annotation - %s) "
            "to anything but true",
            ANNOTATION_FAIL_FAST);
    }
    gang.uniformity = annotation_find(item, ANNOTATION_GANG_UNIFORMITY);
    *ret_gang = gang;
    return 0;
}

static int check_loss(const Berth__Submission__Item *item, const char *key,
                      struct refusal *refusal)
{
    struct str value = annotation_find_own(item, key);

    if (value.p && !str_equal(value, STR("fail")) &&
        !str_equal(value, STR("requeue"))) {
        return refusal_set(refusal,
                           "annotation %s must be fail or requeue, not %.*s",
                           own_name(item, key), STR_ARG(value));
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
                           own_name(item, ANNOTATION_LIFETIME), LIFETIME_S_MAX,
                           STR_ARG(value));
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

/* Seconds of an annotation in ms; 0 without it, or if it makes no sense. */
static int64_t max_wait_ms(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_MAX_WAIT);
    int64_t ms;

    return value.p && quantity_parse(value, &ms) == 0 && ms > 0 &&
                   ms <= LIFETIME_S_MAX * INT64_C(1000)
               ? ms
               : 0;
}

/* A moment of an annotation; 0 without it, or if it makes no sense. */
static int64_t begin_ms(const Berth__Submission__Item *item)
{
    struct str value = annotation_find_own(item, ANNOTATION_BEGIN_TIME);
    int64_t seconds;
    int32_t nanos;

    return value.p && wire_rfc3339_parse(value, &seconds, &nanos) == 0 &&
                   seconds > 0
               ? seconds * 1000 + nanos / 1000000
               : 0;
}

/* How many jobs of its group may run at once; 0 without it, or if it makes no
 * sense. */
static uint32_t turn_limit(const Berth__Submission__Item *item)
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
    if (turn_limit(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be a number from 1 to %d, not "
                           "%.*s",
                           own_name(item, ANNOTATION_TURN_LIMIT),
                           TURN_LIMIT_MAX, STR_ARG(limit));
    }
    if (group.byte_count == 0 || group.byte_count > TURN_GROUP_BYTES_MAX) {
        return refusal_set(refusal,
                           "annotation %s must have 1 to %d bytes, not %zu",
                           own_name(item, ANNOTATION_TURN_GROUP),
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
        return refusal_set(refusal,
                           "annotation %s must be true or false, not %.*s",
                           own_name(item, ANNOTATION_HOLD), STR_ARG(hold));
    }
    struct str begin = annotation_find_own(item, ANNOTATION_BEGIN_TIME);
    if (begin.p && begin_ms(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be a time such as "
                           "2026-01-31T12:00:00Z, not %.*s",
                           own_name(item, ANNOTATION_BEGIN_TIME),
                           STR_ARG(begin));
    }
    struct str wait = annotation_find_own(item, ANNOTATION_MAX_WAIT);
    if (wait.p && max_wait_ms(item) == 0) {
        return refusal_set(refusal,
                           "annotation %s must be seconds, more than 0 and up "
                           "to %d, not %.*s",
                           own_name(item, ANNOTATION_MAX_WAIT), LIFETIME_S_MAX,
                           STR_ARG(wait));
    }
    bool is_gang =
        annotation_find(item, ANNOTATION_GANG_ID).p || item->pod_group;
    struct str depends = annotation_find_own(item, ANNOTATION_DEPENDS_ON);
    struct str turn = annotation_find_own(item, ANNOTATION_TURN_LIMIT);
    if (is_gang && (hold.p || begin.p || wait.p || depends.p || turn.p)) {
        return refusal_set(refusal,
                           "annotation %s cannot be given to a member of a "
                           "gang",
                           own_name(item, hold.p      ? ANNOTATION_HOLD
                                          : begin.p   ? ANNOTATION_BEGIN_TIME
                                          : wait.p    ? ANNOTATION_MAX_WAIT
                                          : depends.p ? ANNOTATION_DEPENDS_ON
                                                      : ANNOTATION_TURN_LIMIT));
    }
    return check_turn(item, refusal);
}

int annotations_check_own(const Berth__Submission__Item *item,
                          struct refusal *refusal)
{
    int rc = check_known(item, refusal);

    rc = rc < 0 ? rc : check_loss(item, ANNOTATION_ON_PREEMPTION, refusal);
    rc = rc < 0 ? rc : check_loss(item, ANNOTATION_ON_EXECUTOR_LOST, refusal);
    rc = rc < 0 ? rc : check_holds(item, refusal);
    if (rc == 0 && !annotation_find(item, ANNOTATION_GANG_ID).p) {
        rc = annotations_check_no_terms(
            item, "it needs " ANNOTATION_GANG_ID " or a podGroup", refusal);
    }
    return rc < 0 ? rc : check_lifetime(item, refusal);
}

static enum on_loss loss_of(const Berth__Submission__Item *item,
                            const char *key)
{
    return str_equal(annotation_find_own(item, key), STR("requeue"))
               ? ON_LOSS_REQUEUE
               : ON_LOSS_FAIL;
}

/* Where a job is at home, and what becomes of it when it loses its place.  Who
 * writes for the ai-scheduler counts on a controller that makes the pod again
 * when a borrowed place is taken back. */
static void put_home(const Berth__Submission__Item *item,
                     struct job_digest *digest)
{
    digest->pool = annotation_find(item, ANNOTATION_POOL_OBJECT);
    digest->on_preemption = loss_of(item, ANNOTATION_ON_PREEMPTION);
    if (!digest->pool.byte_count) {
        digest->pool = annotation_find(item, ANNOTATION_POOL);
    } else if (!annotation_find_own(item, ANNOTATION_ON_PREEMPTION).p) {
        digest->on_preemption = ON_LOSS_REQUEUE;
    }
}

static struct str label_text(const Berth__Submission__Item *item,
                             const char *key)
{
    for (size_t i = item->n_labels; i > 0; i--) {
        if (strcmp(item->labels[i - 1]->key, key) == 0) {
            return str_of(item->labels[i - 1]->value);
        }
    }
    return STR("");
}

/* The application that a job says it is of; "": none (model.md 3.2). */
static struct str application_of(const Berth__Submission__Item *item)
{
    struct str id = annotation_find(item, ANNOTATION_APP_ID);

    if (id.byte_count == 0) {
        id = label_text(item, LABEL_APP_ID);
    }
    return id.byte_count ? id : label_text(item, LABEL_SPARK_APP);
}

struct str annotations_job_set(const Berth__Submission__Request *request)
{
    struct str id = STR("");

    for (size_t i = 0; i < request->n_job_request_items; i++) {
        struct str each = application_of(request->job_request_items[i]);
        if (each.byte_count == 0 || (i > 0 && !str_equal(each, id))) {
            return STR("");
        }
        id = each;
    }
    return id;
}

void annotations_digest(const Berth__Submission__Item *item,
                        const struct gang *gang, struct job_digest *digest)
{
    /* A gang of one is an ordinary job, unless it says more than that. */
    bool is_gang = gang->is_gang && (gang->cardinality > 1 || gang->has_terms);

    digest->gang_id = is_gang ? gang->id : STR("");
    digest->gang_cardinality = is_gang ? gang->cardinality : 1;
    digest->gang_minimum = is_gang ? gang->minimum : 1;
    digest->gang_uniformity = is_gang ? gang->uniformity : STR("");
    put_home(item, digest);
    digest->is_held =
        str_equal(annotation_find_own(item, ANNOTATION_HOLD), STR("true"));
    digest->begin_ms = begin_ms(item);
    digest->retry_policy = annotation_find_own(item, ANNOTATION_RETRY_POLICY);
    digest->wait_ms_max = max_wait_ms(item);
    digest->turn_limit = turn_limit(item);
    digest->turn_group = annotation_find_own(item, ANNOTATION_TURN_GROUP);
    digest->is_fail_fast =
        str_equal(annotation_find(item, ANNOTATION_FAIL_FAST), STR("true"));
    digest->on_executor_lost = loss_of(item, ANNOTATION_ON_EXECUTOR_LOST);
    digest->application_id = application_of(item);
    digest->has_stateaware_off =
        str_equal(annotation_find(item, TAG_STATEAWARE_OFF), STR("true")) ||
        str_equal(label_text(item, LABEL_STATEAWARE_OFF), STR("true"));
}
