#include "sched/state/waiver.h"

bool lift_near(const struct sched *sched, uint32_t job, int64_t from_ms)
{
    struct lift *lift = sched->lift;

    if (!lift || !lift->is_near) {
        return false;
    }
    lift->near_job = job;
    lift->near_ms = from_ms;
    return true;
}

bool lift_keep(const struct sched *sched, const struct lift_gang *gang)
{
    if (!sched->lift || !sched->lift->is_keep) {
        return false;
    }
    VEC_PUSH(&sched->lift->gangs, *gang);
    return true;
}
