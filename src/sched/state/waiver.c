#include "sched/state/waiver.h"

bool waiver_near(const struct sched *sched, uint32_t job, int64_t from_ms)
{
    struct waiver *waiver = sched->waiver;

    if (!waiver || !waiver->is_near) {
        return false;
    }
    waiver->near_job = job;
    waiver->near_ms = from_ms;
    return true;
}

bool waiver_keep(const struct sched *sched, const struct waiver_gang *gang)
{
    if (!sched->waiver || !sched->waiver->is_keep) {
        return false;
    }
    VEC_PUSH(&sched->waiver->gangs, *gang);
    return true;
}
