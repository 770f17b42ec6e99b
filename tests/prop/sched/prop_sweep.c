/* Plans that are bounded in their work leave nothing undone that a plan
 * without a bound would do (sweep.h). */
#include "trial.h"

enum { PLANS_MAX = 2000, STEP_WORK = 32, STEPS_MAX = 6 };

static void set_bound(struct trial *trial, int64_t work_max)
{
    trial->built.policy.round_work_max = work_max;
    sched_policy_set(trial->built.sched, &trial->built.policy);
}

/* Plan and act until a plan says that there is no more to come. */
static bool sweep(struct trial *trial, enum round_kind kind)
{
    for (int i = 0; i < PLANS_MAX; i++) {
        trial_plan(trial, kind);
        trial_act(trial);
        if (!trial->plan.is_cut && trial->plan.decision_count == 0) {
            return true;
        }
    }
    return false;
}

/* Whatever the bound, sweeps end; and then free space serves nobody who
 * waits: nobody is kept from it by what stands before him. */
static bool nobody_is_kept_from_free_space(struct trial *trial)
{
    int64_t steps = 1 + trial->instance.job_count % STEPS_MAX;

    set_bound(trial, steps * STEP_WORK);
    if (!sweep(trial, ROUND_FAST)) {
        return false;
    }
    set_bound(trial, 0);
    trial_force(trial);
    trial_plan(trial, ROUND_FAST);
    return trial->plan.decision_count == 0 &&
           sched_is_consistent(trial->built.sched);
}
OF_PLANS(nobody_is_kept_from_free_space)
OF_WINDOWED_PLANS(nobody_is_kept_from_free_space)

/* A plan whose bound is not met is the plan without a bound. */
static bool an_unmet_bound_changes_nothing(struct trial *trial)
{
    struct trial other = *trial;

    built_init(&other.built, &trial->instance, 0);
    set_bound(&other, 1000000);
    trial_plan(&other, trial->kind);
    bool holds = !other.plan.is_spent && trial_same_plan(trial, &other);
    built_fini(&other.built);
    return holds;
}
OF_PLANS(an_unmet_bound_changes_nothing)
OF_WINDOWED_PLANS(an_unmet_bound_changes_nothing)

int main(void)
{
    static const struct property properties[] = {
        PLAN_PROPERTY(nobody_is_kept_from_free_space),
        WINDOWED_PROPERTY(nobody_is_kept_from_free_space),
        PLAN_PROPERTY(an_unmet_bound_changes_nothing),
        WINDOWED_PROPERTY(an_unmet_bound_changes_nothing),
    };

    return trial_check_all(properties, ARRAY_COUNT(properties), 3000);
}
