#include "sched/order/due_order.h"

#include "base/time_add.h"

int64_t due_order_at(int64_t submitted_ms, int64_t limit_ms)
{
    int64_t counted_ms =
        limit_ms < CLASS_LIMIT_MAX_MS ? limit_ms : CLASS_LIMIT_MAX_MS;

    return time_add_saturating(submitted_ms, DUE_ORDER_FACTOR * counted_ms);
}

int64_t due_order_of(const struct sched *sched, uint32_t job)
{
    return due_order_at(
        sched->jobs.items[job].submitted_ms,
        sched->classes.items[class_of_job(sched, job)].deadline_ms);
}

bool due_order_holds(const struct sched *sched, uint32_t pool)
{
    int index = sched->pools.items[pool].policy_index;

    if (index < 0) {
        return false;
    }
    const struct pool_policy *policy = &sched->policy->pools[index];
    return policy->has_backfill && policy->admitted_window > 0 &&
           policy->backfill_order == BACKFILL_SHORTEST_BOUNDED;
}

void due_order_begin(struct round *round)
{
    const struct sched *sched = round->sched;

    if (sched->limited_class_count > 0 && due_order_holds(sched, round->p)) {
        round->reserve.order = BACKFILL_SHORTEST_BOUNDED;
    }
}
