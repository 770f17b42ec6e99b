/* Plans that are bounded in their work leave nothing undone that a plan
 * without a bound would do (sweep.h). */
#include "trial.h"

enum { PLANS_MAX = 2000, STEP_WORK = 32, STEPS_MAX = 6, FORGOTTEN_PLANS = 9 };

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
        if (!trial->plan.is_truncated && trial->plan.decision_count == 0) {
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

static bool are_same(const struct sched_decision *a,
                     const struct sched_decision *b, uint32_t count)
{
    bool is_same = true;

    for (uint32_t i = 0; i < count; i++) {
        is_same &= a[i].action == b[i].action && a[i].job == b[i].job &&
                   a[i].node == b[i].node && a[i].group == b[i].group &&
                   a[i].for_job == b[i].for_job;
    }
    return is_same;
}

/* A plan that comes to nothing leaves its sweep, and the next plan is the one
 * that it was. */
static bool plans_that_are_forgotten_leave_no_trace(struct trial *trial)
{
    int64_t steps = 1 + trial->instance.job_count % STEPS_MAX;
    bool is_same = true;

    set_bound(trial, steps * STEP_WORK);
    for (int i = 0; i < FORGOTTEN_PLANS && is_same; i++) {
        enum round_kind kind = i % 3 == 1 ? ROUND_BALANCE : ROUND_FAST;
        auto_strbuf before = {0}, after = {0};
        sched_history_pack(trial->built.sched, &before);
        trial_plan(trial, kind);
        uint32_t count = trial->plan.decision_count;
        auto_mem struct sched_decision *first =
            mem_alloc_array(count + 1, sizeof(*first));
        for (uint32_t d = 0; d < count; d++) {
            first[d] = trial->plan.decisions[d];
        }
        bool is_spent = trial->plan.is_spent;
        sched_plan_forget(trial->built.sched);
        sched_history_pack(trial->built.sched, &after);
        trial_plan(trial, kind);
        is_same = str_equal(strbuf_str(&before), strbuf_str(&after)) &&
                  trial->plan.decision_count == count &&
                  trial->plan.is_spent == is_spent &&
                  are_same(first, trial->plan.decisions, count);
        if (i % 2) {
            trial_act(trial);
        }
    }
    return is_same && sched_is_consistent(trial->built.sched);
}
OF_PLANS(plans_that_are_forgotten_leave_no_trace)
OF_WINDOWED_PLANS(plans_that_are_forgotten_leave_no_trace)

int main(void)
{
    static const struct property properties[] = {
        PLAN_PROPERTY(nobody_is_kept_from_free_space),
        WINDOWED_PROPERTY(nobody_is_kept_from_free_space),
        PLAN_PROPERTY(an_unmet_bound_changes_nothing),
        WINDOWED_PROPERTY(an_unmet_bound_changes_nothing),
        PLAN_PROPERTY(plans_that_are_forgotten_leave_no_trace),
        WINDOWED_PROPERTY(plans_that_are_forgotten_leave_no_trace),
    };

    return trial_check_all(properties, ARRAY_COUNT(properties), 3000);
}
