#include "sched/fairness/class_limit.h"

struct usage class_limit_usage(const struct sched *sched,
                               const struct what_if *what_if, uint32_t queue,
                               uint32_t pool, uint32_t priority_class)
{
    struct usage usage = {0};

    ASSERT(priority_class < sched->policy->class_count);
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        usage.limit.v[r] =
            r < sched->policy->schema.column_count
                ? queue_limit_of(sched, what_if, queue, pool, priority_class, r)
                : INT64_MAX;
    }
    for (uint32_t at = sched->queues.items[queue].account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == pool &&
            account->priority_class == priority_class) {
            usage.used = account->allocated;
            usage.borrowed = account->borrowed;
        }
    }
    return usage;
}

struct resource_vec class_limit_missing(const struct usage *usage,
                                        bool may_recall,
                                        const struct resource_vec *request)
{
    struct resource_vec missing = {0};

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (class_limit_refuses(usage, may_recall, request, r)) {
            missing.v[r] = class_limit_used(usage, may_recall, r) +
                           request->v[r] - usage->limit.v[r];
        }
    }
    ASSERT(amounts_is_sum(&missing)); /* what lacks is never negative */
    return missing;
}
