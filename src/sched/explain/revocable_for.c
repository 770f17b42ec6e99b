/* For which job a run is revocable: for explanations, without effect on plans.
 */
#include "sched/evict/evictable.h"
#include "sched/fairness/admitted.h"

/* The job that stands for the entry with a serial number, or NONE. */
static uint32_t job_of(const struct sched *sched, uint32_t serial)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        const struct pool *pool = &sched->pools.items[p];
        for (size_t i = 0; i < pool->admitted.count; i++) {
            if (pool->admitted.items[i].serial == serial) {
                return admitted_job(sched, &pool->admitted.items[i]);
            }
        }
    }
    return NONE;
}

/* From when on a run goes for it. */
static int64_t from_of(const struct sched *sched, const struct run *run)
{
    int64_t evictable_ms =
        run->yields_at_once ? INT64_MIN : evictable_lived_ms(sched, run);

    return evictable_ms > run->yields_from_ms ? evictable_ms
                                              : run->yields_from_ms;
}

bool sched_job_yielding(const struct sched *sched, uint32_t job,
                        struct sched_yielding *ret_yielding)
{
    uint32_t index = sched->jobs.items[job].run;
    const struct run *run = index == NONE ? NULL : &sched->runs.items[index];

    if (!run || !run->revocable_for) {
        return false;
    }
    *ret_yielding = (struct sched_yielding){
        .for_job = job_of(sched, run->revocable_for),
        .from_ms = from_of(sched, run),
    };
    return ret_yielding->for_job != NONE;
}
