#include "control/state/round_counts.h"

#include "base/base.h"
#include "sched/sched.h"

enum { US_PER_BOUND = 1000 };

_Static_assert(SCHED_PREEMPT_SCALED + 1 == ROUND_COUNTS_REASONS,
               "each reason has its place");

void round_counts_plan(struct round_counts *counts,
                       const struct sched_plan *plan)
{
    counts->miss_count += plan->counters.failed_searches;
}

void round_counts_group(struct round_counts *counts,
                        const struct sched_decision *decisions, uint32_t count)
{
    uint32_t victim_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct sched_decision *decision = &decisions[i];
        ASSERT(decision->group == decisions[0].group);
        if (decision->action == SCHED_LEASE) {
            counts->grown_count += decision->is_scaling;
            counts->taking_count += decision->is_by_share;
            counts->taking_waited_ms +=
                decision->waited_ms > 0 ? (uint64_t)decision->waited_ms : 0;
        } else if (decision->action == SCHED_PREEMPT) {
            ASSERT((int)decision->preemption < ROUND_COUNTS_REASONS);
            counts->preempted_counts[decision->preemption]++;
            counts->shrunk_count +=
                decision->preemption == SCHED_PREEMPT_SCALED ||
                decision->preemption == SCHED_PREEMPT_SURPLUS;
            victim_count += decision->for_job != SCHED_NONE;
        }
    }
    if (victim_count > 0) {
        counts->preempting_count++;
        counts->victim_count_last = victim_count;
    }
}

void round_counts_lost(struct round_counts *counts,
                       const struct sched_decision *decision, int64_t ran_ms)
{
    ASSERT((int)decision->preemption < ROUND_COUNTS_REASONS);
    counts->preempted_ms[decision->preemption] +=
        ran_ms > 0 ? (uint64_t)ran_ms : 0;
}

/* The bucket of the least bound that is not exceeded. */
static uint32_t bucket_of(uint64_t us)
{
    uint64_t bound_us = US_PER_BOUND;
    uint32_t bucket = 0;

    for (; bucket < ROUND_COUNTS_BUCKETS && us > bound_us; bucket++) {
        bound_us *= 2;
    }
    return bucket;
}

void round_counts_took(struct round_counts *counts, uint64_t took_us)
{
    counts->took_counts[bucket_of(took_us)]++;
}

void round_counts_considered(struct round_counts *counts, uint64_t waited_us)
{
    counts->considered_counts[bucket_of(waited_us)]++;
    counts->considered_us_sum += waited_us;
}
