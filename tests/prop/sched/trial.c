#include "trial.h"

#include <string.h>

int trial_level(const struct trial *trial, uint32_t job)
{
    return CLASSES[trial->instance.jobs[job].priority_class].priority;
}

void trial_act_on(struct instance *instance, struct built *built,
                  const struct sched_plan *plan, int now)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        struct sched_decision decision = plan->decisions[i];
        int job = (int)decision.job;
        if (decision.action == SCHED_PREEMPT && instance->jobs[job].has_terms) {
            instance_requeue(instance, job, now);
            sched_job_requeue(built->sched, decision.job, SCHED_NONE);
        } else {
            instance_apply(instance, &decision,
                           built_node(built, decision.node), now);
            built_apply(built, &decision, now);
        }
        if (decision.is_scaling) {
            instance_scale(instance, job, now);
            sched_gang_scaled(built->sched, decision.job, now);
        }
    }
}

void trial_act(struct trial *trial)
{
    for (uint32_t i = 0; i < trial->plan.decision_count; i++) {
        struct sched_decision decision = trial->plan.decisions[i];
        instance_apply(&trial->instance, &decision,
                       built_node(&trial->built, decision.node), trial->now);
        built_apply(&trial->built, &decision, trial->now);
    }
}

void trial_act_again(struct trial *trial)
{
    struct sched_decision decisions[INSTANCE_JOBS_MAX * 2];
    uint32_t count = trial->plan.decision_count;

    if (count > 0) {
        memcpy(decisions, trial->plan.decisions, count * sizeof(*decisions));
    }
    trial_act(trial);
    for (uint32_t i = 0; i < count; i++) {
        if (decisions[i].action == SCHED_PREEMPT) {
            int job = (int)decisions[i].job;
            instance_submit(&trial->instance, job, trial->now);
            built_add_job(&trial->built, &trial->instance, job);
        }
    }
}

void trial_force(struct trial *trial)
{
    sched_policy_set(trial->built.sched, &trial->built.policy);
}

void trial_plan(struct trial *trial, enum round_kind kind)
{
    trial->kind = kind;
    sched_plan(trial->built.sched, trial->now, kind, SCHED_DECISIONS_MAX,
               &trial->plan);
}

bool trial_holds(struct tape *tape, check_fn *check)
{
    struct trial trial = {.now = TRIAL_NOW};

    instance_draw(tape, &trial.instance);
    trial.kind = (enum round_kind)draw(tape, 0, 1);
    built_init(&trial.built, &trial.instance, 0);
    trial_plan(&trial, trial.kind);
    bool holds = check(&trial);
    built_fini(&trial.built);
    return holds;
}

static void draw_window(struct tape *tape, struct instance *instance)
{
    instance->window = (int)draw(tape, 1, 3);
    instance->window_per_queue = (int)draw(tape, 1, 2);
    instance->is_strict = draw(tape, 0, 7) == 0;
    instance->has_backfill = draw(tape, 0, 7) > 0;
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->deadline = draw(tape, 0, 1) ? (int)draw(tape, 1, 10) * 30000 : 0;
    }
}

bool trial_holds_windowed(struct tape *tape, check_fn *check)
{
    struct trial trial = {.now = TRIAL_NOW};

    instance_draw(tape, &trial.instance);
    draw_window(tape, &trial.instance);
    trial.kind = (enum round_kind)draw(tape, 0, 1);
    built_init(&trial.built, &trial.instance, 0);
    trial_plan(&trial, trial.kind);
    bool holds = check(&trial);
    built_fini(&trial.built);
    return holds;
}

bool trial_holds_uniform(struct tape *tape, check_fn *check)
{
    struct trial trial = {.kind = ROUND_BALANCE, .now = TRIAL_NOW};

    instance_draw(tape, &trial.instance);
    instance_make_uniform(&trial.instance);
    built_init(&trial.built, &trial.instance, 0);
    trial_plan(&trial, ROUND_BALANCE);
    bool holds = check(&trial);
    built_fini(&trial.built);
    return holds;
}

bool trial_same_plan(const struct trial *a, const struct trial *b)
{
    for (uint32_t i = 0; i < a->plan.decision_count &&
                         a->plan.decision_count == b->plan.decision_count;
         i++) {
        const struct sched_decision *x = &a->plan.decisions[i];
        const struct sched_decision *y = &b->plan.decisions[i];
        if (x->action != y->action || x->job != y->job ||
            x->for_job != y->for_job || x->group != y->group ||
            built_node(&a->built, x->node) != built_node(&b->built, y->node)) {
            return false;
        }
    }
    return a->plan.decision_count == b->plan.decision_count;
}

int trial_check_all(const struct property *properties, size_t count,
                    unsigned run_count)
{
    int failures = 0;

    for (size_t i = 0; i < count; i++) {
        failures +=
            !prop_check(properties[i].name, properties[i].holds, run_count, 0);
    }
    return failures;
}
