#include "api/submit/pod_group.h"

#include <stdio.h>

#include "api/submit/annotations.h"
#include "wire/kube/kube_name.h"

enum { MS_PER_S = 1000 };

typedef Berth__Submission__SubGroup sub_group_t;

typedef Google__Protobuf__UInt32Value number_t;

/* `max: 0` stands for `min`. */
static uint32_t max_of(const sub_group_t *message)
{
    return message->max ? message->max : message->min;
}

uint64_t pod_group_job_count(const Berth__Submission__Item *item)
{
    uint64_t count = 0;

    if (!item->pod_group) {
        return 1;
    }
    for (size_t i = 0; i < item->pod_group->n_sub_groups; i++) {
        count += max_of(item->pod_group->sub_groups[i]);
    }
    return count;
}

/* What cannot stand beside a group. */
static int check_alone(const Berth__Submission__Item *item,
                       struct refusal *refusal)
{
    static const char *const keys[] = {
        ANNOTATION_GANG_ID, ANNOTATION_GANG_CARDINALITY,
        ANNOTATION_GANG_MINIMUM, ANNOTATION_GANG_UNIFORMITY};

    if (!*item->namespace_) {
        return refusal_set(refusal, "namespace is a required field");
    }
    if (item->n_pod_spec || item->n_pod_specs) {
        return refusal_set(refusal,
                           "podGroup and podSpec(s) are mutually exclusive: "
                           "give the pods of a group in its subGroups");
    }
    for (size_t i = 0; i < ARRAY_COUNT(keys); i++) {
        if (annotation_find(item, keys[i]).p) {
            return refusal_set(refusal,
                               "annotation %s is not allowed with podGroup, "
                               "which is a gang itself",
                               keys[i]);
        }
    }
    return annotations_check_no_terms(item, "podGroup says it itself", refusal);
}

/* A number of seconds; `ret_ms` stays as it is when there is none. */
static int read_seconds(const char *field, const number_t *seconds,
                        int64_t *ret_ms, struct refusal *refusal)
{
    if (seconds && seconds->value > GANG_SECONDS_MAX) {
        return refusal_set(refusal, "%s: %u is not from 0 to %d", field,
                           seconds->value, GANG_SECONDS_MAX);
    }
    if (seconds) {
        *ret_ms = (int64_t)seconds->value * MS_PER_S;
    }
    return 0;
}

static int read_whole(const Berth__Submission__PodGroup *message,
                      struct gang_terms *terms, struct refusal *refusal)
{
    struct str text = str_of(message->node_reservation);

    terms->has_exclusive_nodes = !str_equal(text, STR("Shared"));
    if (text.byte_count && terms->has_exclusive_nodes &&
        !str_equal(text, STR("Whole"))) {
        return refusal_set(refusal,
                           "podGroup.nodeReservation: \"%.*s\" is neither "
                           "Whole nor Shared",
                           STR_ARG(text));
    }
    return 0;
}

/* Names are values of labels, and parts of names. */
static int check_name(const struct gang_terms *terms, uint32_t index,
                      struct refusal *refusal)
{
    struct str name = terms->sub_groups[index].name;

    if (!kube_is_dns_label(name)) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].name: \"%.*s\" is not 1 to "
                           "%d lower-case letters, digits and inner dashes",
                           index, STR_ARG(name), SUB_GROUP_NAME_BYTES_MAX);
    }
    for (uint32_t i = 0; i < index; i++) {
        if (str_equal(terms->sub_groups[i].name, name)) {
            return refusal_set(refusal,
                               "podGroup.subGroups[%u].name: \"%.*s\" is the "
                               "name of subGroups[%u] too",
                               index, STR_ARG(name), i);
        }
    }
    return 0;
}

static int check_counts(const sub_group_t *message, uint32_t index,
                        struct refusal *refusal)
{
    if (message->min > max_of(message)) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].min: %u is more than max, "
                           "which is %u",
                           index, message->min, message->max);
    }
    if (max_of(message) == 0) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].max: 0 with min 0 is a "
                           "sub-group without pods; it must be at least 1",
                           index);
    }
    if (max_of(message) > GANG_CARDINALITY_MAX) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].max: %u is not from 1 to %d",
                           index, max_of(message), GANG_CARDINALITY_MAX);
    }
    return 0;
}

static int read_hops(const sub_group_t *message, uint32_t index,
                     struct sub_group *group, struct refusal *refusal)
{
    char field[80];

    if (message->max_hops && message->max_hops->value > HOPS_MAX) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].maxHops: %u is not from 0 "
                           "to %d",
                           index, message->max_hops->value, HOPS_MAX);
    }
    if (message->max_hops_wait_seconds && !message->max_hops) {
        return refusal_set(
            refusal, "podGroup.subGroups[%u].maxHopsWaitSeconds: needs maxHops",
            index);
    }
    group->hops_max = message->max_hops ? message->max_hops->value : HOPS_ANY;
    snprintf(field, sizeof(field), "podGroup.subGroups[%u].maxHopsWaitSeconds",
             index);
    return read_seconds(field, message->max_hops_wait_seconds,
                        &group->hops_wait_ms, refusal);
}

static int read_sub_group(const sub_group_t *message, uint32_t index,
                          struct pod_group *group, struct refusal *refusal)
{
    struct sub_group *sub_group = &group->terms.sub_groups[index];

    *sub_group = (struct sub_group){
        .name = str_of(message->name),
        .min_count = message->min,
        .max_count = max_of(message),
        .is_auxiliary = message->auxiliary,
    };
    group->templates[index] =
        str_make(message->template_.data, message->template_.len);
    int rc = check_name(&group->terms, index, refusal);
    rc = rc < 0 ? rc : check_counts(message, index, refusal);
    rc = rc < 0 ? rc : read_hops(message, index, sub_group, refusal);
    if (rc == 0 && message->template_.len == 0) {
        return refusal_set(refusal,
                           "podGroup.subGroups[%u].template: the pod spec is "
                           "missing",
                           index);
    }
    return rc;
}

/* The rules about all sub-groups together. */
static int check_sum(const struct pod_group *group, struct refusal *refusal)
{
    const struct gang_terms *terms = &group->terms;
    uint64_t count = 0;
    bool has_main = false;

    for (uint32_t i = 0; i < terms->sub_group_count; i++) {
        count += terms->sub_groups[i].max_count;
        has_main |= !terms->sub_groups[i].is_auxiliary;
    }
    if (count > GANG_CARDINALITY_MAX) {
        return refusal_set(refusal,
                           "podGroup.subGroups: %llu pods in all are more than "
                           "the %d allowed",
                           (unsigned long long)count, GANG_CARDINALITY_MAX);
    }
    if (pod_group_min(group) == 0) {
        return refusal_set(refusal, "podGroup.subGroups: min is 0 in all; at "
                                    "least one must have min of 1 or more");
    }
    if (!has_main) {
        return refusal_set(
            refusal, "podGroup.subGroups: all are auxiliary; at least one must "
                     "not be, because it determines when the group ends");
    }
    return 0;
}

int pod_group_read(const Berth__Submission__Item *item,
                   struct pod_group *ret_group, struct refusal *refusal)
{
    const Berth__Submission__PodGroup *message = item->pod_group;
    struct gang_terms *terms = &ret_group->terms;
    int rc = check_alone(item, refusal);

    memset(ret_group, 0, sizeof(*ret_group));
    terms->kind = GANG_POD_GROUP;
    terms->freezing_window_ms = FREEZING_BY_POLICY;
    terms->replace_timeout_ms = REPLACE_TIMEOUT_MS;
    rc = rc < 0 ? rc : read_whole(message, terms, refusal);
    rc = rc < 0 ? rc
                : read_seconds("podGroup.freezingWindowSeconds",
                               message->freezing_window_seconds,
                               &terms->freezing_window_ms, refusal);
    rc = rc < 0 ? rc
                : read_seconds("podGroup.replaceTimeoutSeconds",
                               message->replace_timeout_seconds,
                               &terms->replace_timeout_ms, refusal);
    if (rc == 0 && (message->n_sub_groups == 0 ||
                    message->n_sub_groups > SUB_GROUPS_MAX)) {
        return refusal_set(refusal,
                           "podGroup.subGroups: %zu of them are not from 1 to "
                           "%d",
                           message->n_sub_groups, SUB_GROUPS_MAX);
    }
    for (size_t i = 0; rc == 0 && i < message->n_sub_groups; i++) {
        rc = read_sub_group(message->sub_groups[i], (uint32_t)i, ret_group,
                            refusal);
        terms->sub_group_count++;
    }
    return rc < 0 ? rc : check_sum(ret_group, refusal);
}

uint32_t pod_group_max(const struct pod_group *group)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        count += group->terms.sub_groups[i].max_count;
    }
    return count;
}

uint32_t pod_group_min(const struct pod_group *group)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < group->terms.sub_group_count; i++) {
        count += group->terms.sub_groups[i].min_count;
    }
    return count;
}
