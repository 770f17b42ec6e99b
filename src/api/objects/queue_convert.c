#include "api/objects/queue_convert.h"

#include "api/core/auth.h"
#include "api/core/message.h"
#include "model/quantity.h"
#include "model/queue.h"
#include "wire/kube/kube_name.h"
#include "wire/log/log_codec.h"
#include "wire/text/printable.h"

/* Of the limits that a queue may set. */
#define OVER_SHARE_MAX 1000.0
#define EXCESS_BUDGET_MAX 1e12 /* resource-minutes */

#define PRIORITY_FACTOR_MAX 1e9
#define FRACTION_MAX 1e6

static int check_subject(const Api__Queue__Permissions__Subject *subject,
                         struct refusal *refusal)
{
    if (strcmp(subject->kind, "User") != 0 &&
        strcmp(subject->kind, "Group") != 0) {
        return refusal_set(refusal, "unsupported subject kind: %s",
                           subject->kind);
    }
    return 0;
}

/* A limit that is a number, or -1 for none.  The comparisons are false for what
 * is no number. */
static int check_limit(const char *what,
                       const Google__Protobuf__DoubleValue *limit, double max,
                       struct refusal *refusal)
{
    if (limit && limit->value != -1 &&
        !(limit->value >= 0 && limit->value <= max)) {
        return refusal_set(refusal,
                           "%s must be from 0 to %g, or -1 for no limit, not "
                           "%g",
                           what, max, limit->value);
    }
    return 0;
}

/* Amounts that are quantities, of names that are not empty. */
static int check_quota(const Api__QueueScheduling *scheduling,
                       struct refusal *refusal)
{
    int64_t milli;

    if (scheduling->n_quota > RESOURCE_LIST_MAX) {
        return refusal_set(refusal,
                           "scheduling.quota must name at most %d resources",
                           RESOURCE_LIST_MAX);
    }
    for (size_t i = 0; i < scheduling->n_quota; i++) {
        const char *name = scheduling->quota[i]->key;
        const char *amount = scheduling->quota[i]->value;
        if (!*name) {
            return refusal_set(refusal,
                               "scheduling.quota: a resource has no name");
        }
        if (quantity_parse(str_of(amount), &milli) < 0 || milli < 0) {
            return refusal_set(refusal,
                               "scheduling.quota.%s must be a quantity of 0 "
                               "or more, not \"%s\"",
                               name, amount);
        }
    }
    return 0;
}

static int check_scheduling(const Api__QueueScheduling *scheduling,
                            struct refusal *refusal)
{
    if (!scheduling) {
        return 0;
    }
    if (log_queue_ordering(str_of(scheduling->ordering)) == QUEUE_ORDERINGS) {
        return refusal_set(refusal,
                           "scheduling.ordering must be priority, fifo, fair, "
                           "stateaware or cfs, not \"%s\"",
                           scheduling->ordering);
    }
    int rc =
        check_limit("scheduling.overShareFactor", scheduling->over_share_factor,
                    OVER_SHARE_MAX, refusal);
    rc = rc < 0
             ? rc
             : check_limit("scheduling.excessBudget", scheduling->excess_budget,
                           EXCESS_BUDGET_MAX, refusal);
    if (rc == 0 && *scheduling->default_pool &&
        !kube_is_subdomain(str_of(scheduling->default_pool))) {
        return refusal_set(refusal,
                           "scheduling.defaultPool: \"%s\" is not the name of "
                           "a pool",
                           scheduling->default_pool);
    }
    return rc < 0 ? rc : check_quota(scheduling, refusal);
}

/* A part of a pool that a queue's jobs may have; 0: nothing. */
static int check_fraction(const char *class_name, const char *resource,
                          double fraction, struct refusal *refusal)
{
    if (!(fraction >= 0 && fraction <= FRACTION_MAX)) {
        return refusal_set(refusal,
                           "resource limit of %s for priority class %s must be "
                           "from 0 to %g, not %g",
                           resource, class_name, FRACTION_MAX, fraction);
    }
    return 0;
}

static int
check_limits(const Api__Queue__ResourceLimitsByPriorityClassNameEntry *entry,
             struct refusal *refusal)
{
    const Api__PriorityClassResourceLimits *limits = entry->value;
    int rc = 0;

    for (size_t i = 0;
         limits && rc == 0 && i < limits->n_maximum_resource_fraction; i++) {
        rc = check_fraction(
            entry->key, limits->maximum_resource_fraction[i]->key,
            limits->maximum_resource_fraction[i]->value, refusal);
    }
    for (size_t p = 0;
         limits && p < limits->n_maximum_resource_fraction_by_pool; p++) {
        const Api__PriorityClassPoolResourceLimits *pool =
            limits->maximum_resource_fraction_by_pool[p]->value;
        for (size_t i = 0;
             pool && rc == 0 && i < pool->n_maximum_resource_fraction; i++) {
            rc = check_fraction(
                entry->key, pool->maximum_resource_fraction[i]->key,
                pool->maximum_resource_fraction[i]->value, refusal);
        }
    }
    return rc;
}

int queue_validate(const Api__Queue *queue, struct refusal *refusal)
{
    if (!*queue->name) {
        return refusal_set(refusal, "queue name cannot be empty");
    }
    if (strlen(queue->name) > QUEUE_NAME_BYTES_MAX) {
        return refusal_set(refusal, "queue name cannot be longer than %d bytes",
                           QUEUE_NAME_BYTES_MAX);
    }
    if (!wire_is_printable(str_of(queue->name))) {
        return refusal_set(refusal,
                           "queue name cannot contain control characters, line "
                           "breaks or characters that hide or reorder text");
    }
    if (protobuf_c_message_get_packed_size(&queue->base) > QUEUE_BYTES_MAX) {
        return refusal_set(refusal,
                           "queue cannot be larger than %d bytes: it has too "
                           "many permissions, limits or labels",
                           QUEUE_BYTES_MAX);
    }
    if (!(queue->priority_factor >= 1.0)) {
        return refusal_set(refusal, "priority factor cannot be lower than 1.0");
    }
    if (queue->priority_factor > PRIORITY_FACTOR_MAX) {
        return refusal_set(refusal, "priority factor cannot be higher than %g",
                           PRIORITY_FACTOR_MAX);
    }
    for (size_t i = 0; i < queue->n_resource_limits_by_priority_class_name;
         i++) {
        if (check_limits(queue->resource_limits_by_priority_class_name[i],
                         refusal) < 0) {
            return -ERR_INVALID;
        }
    }
    for (size_t i = 0; i < queue->n_permissions; i++) {
        const Api__Queue__Permissions *entry = queue->permissions[i];
        for (size_t s = 0; s < entry->n_subjects; s++) {
            if (check_subject(entry->subjects[s], refusal) < 0) {
                return -ERR_INVALID;
            }
        }
    }
    for (size_t i = 0; i < queue->n_labels; i++) {
        if (!*queue->labels[i]->key || !*queue->labels[i]->value) {
            return refusal_set(refusal,
                               "queue labels must not have an empty key or "
                               "value");
        }
    }
    return check_scheduling(queue->scheduling, refusal);
}

void queue_default_owner(Api__Queue *queue, struct str owner,
                         struct arena *arena)
{
    if (queue->n_user_owners == 0) {
        queue->user_owners = arena_alloc(arena, sizeof(char *));
        queue->user_owners[0] = message_copy(arena, owner);
        queue->n_user_owners = 1;
    }
}

static Api__Queue__Permissions__Subject *
make_subject(struct arena *arena, const char *kind, char *name)
{
    Api__Queue__Permissions__Subject *subject =
        message_new(arena, &api__queue__permissions__subject__descriptor);

    subject->kind = message_text(str_of(kind));
    subject->name = name;
    return subject;
}

/* The permissions that owners have. */
static Api__Queue__Permissions *make_permissions(const Api__Queue *queue,
                                                 struct arena *arena)
{
    Api__Queue__Permissions *entry =
        message_new(arena, &api__queue__permissions__descriptor);

    entry->subjects =
        arena_alloc_array(arena, queue->n_user_owners + queue->n_group_owners,
                          sizeof(entry->subjects[0]));
    for (size_t i = 0; i < queue->n_user_owners; i++) {
        entry->subjects[entry->n_subjects++] =
            make_subject(arena, "User", queue->user_owners[i]);
    }
    for (size_t i = 0; i < queue->n_group_owners; i++) {
        entry->subjects[entry->n_subjects++] =
            make_subject(arena, "Group", queue->group_owners[i]);
    }
    entry->verbs = arena_alloc_array(arena, VERB_COUNT, sizeof(char *));
    for (int verb = VERB_NONE + 1; verb < VERB_EXEC; verb++) {
        entry->verbs[entry->n_verbs++] =
            message_text(str_of(queue_verb_name((enum queue_verb)verb)));
    }
    return entry;
}

/* Armada's clients take no verbs but Armada's: others are stored by its names,
 * and what is no verb at all stays. */
static void settle_verbs(Api__Queue *queue)
{
    for (size_t i = 0; i < queue->n_permissions; i++) {
        Api__Queue__Permissions *entry = queue->permissions[i];
        for (size_t v = 0; v < entry->n_verbs; v++) {
            enum queue_verb verb = queue_verb_of_name(str_of(entry->verbs[v]));
            if (verb != VERB_COUNT) {
                entry->verbs[v] = message_text(str_of(queue_verb_name(verb)));
            }
        }
    }
}

void queue_to_stored(Api__Queue *queue, struct arena *arena)
{
    settle_verbs(queue);
    if (queue->n_user_owners || queue->n_group_owners) {
        Api__Queue__Permissions **permissions = arena_alloc_array(
            arena, queue->n_permissions + 1, sizeof(*permissions));
        permissions[0] = make_permissions(queue, arena);
        if (queue->n_permissions) {
            memcpy(permissions + 1, queue->permissions,
                   queue->n_permissions * sizeof(*permissions));
        }
        queue->permissions = permissions;
        queue->n_permissions++;
    }
    queue->n_user_owners = 0;
    queue->n_group_owners = 0;
    queue->n_resource_limits = 0;
    queue->n_labels_deprecated = 0;
}
