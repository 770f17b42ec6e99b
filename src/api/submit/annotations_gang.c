/* The annotations of gangs: their size, minimum, and terms. */
#include <errno.h>
#include <stdlib.h>

#include "api/submit/annotations.h"
#include "model/quantity.h"

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
                           annotation_name(item, key), (long long)max,
                           STR_ARG(text));
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
            annotation_name(item, ANNOTATION_NODE_RESERVATION), STR_ARG(whole));
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
                               annotation_name(item, keys[i]), why);
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
