#include "rounds.h"

#include "sched/state/state.h"
#include "trial.h"
#include "verdict.h"

/* What becomes of a job that runs. */
static void pass_job(struct tape *tape, struct instance *instance,
                     struct built *built, int job, int now)
{
    uint32_t index = (uint32_t)job;

    switch (draw(tape, 0, 9)) {
    case 0: /* it succeeds */
        sched_job_succeeded(built->sched, index);
        sched_job_remove(built->sched, index);
        instance_remove(instance, job, now);
        instance->jobs[job].has_succeeded = instance->jobs[job].has_terms;
        break;
    case 1: /* it dies */
        sched_job_remove(built->sched, index);
        instance_remove(instance, job, now);
        break;
    case 2: /* it is to be replaced */
        sched_job_requeue(built->sched, index, SCHED_NONE);
        instance_requeue(instance, job, now);
        break;
    case 3:
    case 4:
    case 5:
        instance_start(instance, job, now);
        (void)sched_job_started(built->sched, index);
        break;
    default:
        break;
    }
}

bool rounds_agree(struct tape *tape, const struct instance *start)
{
    struct instance instance = *start;
    struct built built;
    struct sched_plan plan;
    bool holds = true;
    int now = INSTANCE_GROUPS_NOW;

    built_init(&built, &instance, 0);
    built.sched->checks_victims = true;
    for (uint64_t rounds = draw(tape, 1, 3); holds && rounds > 0; rounds--) {
        enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
        sched_set_time(built.sched, now);
        /* The oracle knows too that flows fell, and makes a step of growth
         * however short the last one was ago. */
        built.sched->version +=
            instance.half_ms > 0 || built.sched->elastic.count > 0;
        holds = verdict_is_same(tape, &instance, &built, kind, now, &plan);
        trial_act_on(&instance, &built, &plan, now);
        now += (int)draw(tape, 0, 400);
        sched_set_time(built.sched, now);
        for (int j = 0; rounds > 1 && j < instance.job_count; j++) {
            if (instance.jobs[j].node != NO_NODE) {
                pass_job(tape, &instance, &built, j, now);
            }
        }
        instance_forget_groups(&instance, now);
    }
    built_fini(&built);
    return holds;
}
