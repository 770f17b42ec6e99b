#include "sched/state/state.h"

uint32_t level_of(const struct sched *sched, int32_t priority)
{
    uint32_t level = 0;

    while (level + 1 < sched->level_count &&
           sched->level_priority[level + 1] <= priority) {
        level++;
    }
    return level;
}

bool job_less(const void *context, uint32_t a, uint32_t b)
{
    const struct sched *sched = context;

    return job_is_before(&sched->jobs.items[a], &sched->jobs.items[b]);
}
