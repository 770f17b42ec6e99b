#include "sched/state/borrowed.h"

#include "sched/data/amounts.h"

void borrowed_count_run(struct sched *sched, const struct run *run, int sign)
{
    if (borrowed_has(sched, run->job)) {
        ASSERT(sign > 0 || (sched->borrowed_run_count > 0 &&
                            sched->nodes.items[run->node].borrowed_count > 0));
        sched->nodes.items[run->node].borrowed_count += (uint32_t)sign;
        sched->borrowed_run_count += (uint32_t)sign;
        amounts_add_times(
            &sched->accounts.items[run->account].borrowed,
            &sched->classes.items[class_of_job(sched, run->job)].request, sign);
        ASSERT_SLOW(
            sched->borrowed_run_count > 0 ||
            amounts_are_none(&sched->accounts.items[run->account].borrowed));
    }
}

void borrowed_count_waiting(struct sched *sched, uint32_t job, int sign)
{
    if (borrowed_has(sched, job)) {
        ASSERT(sign > 0 || sched->borrowed_waiting_count > 0);
        sched->borrowed_waiting_count += (uint32_t)sign;
    }
}

void borrowed_forget_runs(struct sched *sched)
{
    for (size_t i = 0; i < sched->nodes.count; i++) {
        sched->nodes.items[i].borrowed_count = 0;
    }
    sched->borrowed_run_count = 0;
}

bool sched_job_is_borrowed(const struct sched *sched, uint32_t job)
{
    return borrowed_has(sched, job);
}
