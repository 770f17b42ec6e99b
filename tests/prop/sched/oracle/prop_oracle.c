/* The planner against the oracle, and the invariants of a plan. */
#include "sched/state/state.h"
#include "verdict.h"

/* Two rounds of either kind agree with the oracle. */
static bool agrees_with_the_oracle(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;

    instance_draw(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_more(tape, &instance);
    enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
    built_init(&built, &instance, 0);
    bool holds = verdict_is_same(tape, &instance, &built, kind, 100, &plan);
    for (uint32_t i = 0; holds && i < plan.decision_count; i++) {
        struct sched_decision decision = plan.decisions[i];
        instance_apply(&instance, &decision, built_node(&built, decision.node),
                       5);
        built_apply(&built, &decision, 5);
    }
    holds = holds && sched_is_consistent(built.sched) &&
            verdict_is_same(tape, &instance, &built, ROUND_BALANCE, 100, &plan);
    built_fini(&built);
    return holds;
}

/* A round of either kind starts gangs with terms as the oracle does. */
static bool agrees_on_groups(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    enum round_kind kind = (enum round_kind)draw(tape, 0, 1);

    instance_draw_terms(tape, &instance, kind == ROUND_FAST);
    instance_draw_clusters(tape, &instance);
    built_init(&built, &instance, 0);
    bool holds = verdict_is_same(tape, &instance, &built, kind, 100, &plan);
    built_fini(&built);
    return holds;
}

/* Let a decision happen.  What is preempted may wait again. */
static void act(struct instance *instance, struct built *built,
                const struct sched_decision *decision, int now, bool requeues)
{
    int job = (int)decision->job;

    if (decision->preemption == SCHED_PREEMPT_YIELD) {
        instance_cooldown(instance, job, now);
        sched_job_cooldown(built->sched, decision->job);
    }
    if (decision->action == SCHED_PREEMPT && requeues) {
        instance_requeue(instance, job, now);
        sched_job_requeue(built->sched, decision->job, SCHED_NONE);
    } else {
        instance_apply(instance, decision, built_node(built, decision->node),
                       now);
        built_apply(built, decision, now);
    }
}

/* Rounds at times apart, with jobs that end in between. */
static bool agrees_through_time(struct tape *tape, struct instance *start,
                                bool has_apps)
{
    struct instance instance = *start;
    struct built built;
    struct sched_plan plan;
    bool holds = true;
    int now = 0;

    built_init(&built, &instance, 0);
    bool requeues = !has_apps && draw(tape, 0, 1);
    uint64_t rounds = draw(tape, 1, 5);
    for (uint64_t r = 0; holds && r < rounds; r++) {
        now += (int)draw(tape, 0, 120) * 1000;
        sched_set_time(built.sched, now);
        /* The oracle knows too that flows fell. */
        built.sched->version++;
        for (int j = 0; j < instance.job_count; j++) {
            if (instance.jobs[j].node != NO_NODE && draw(tape, 0, 1)) {
                instance_start(&instance, j, now);
                (void)sched_job_started(built.sched, (uint32_t)j);
            }
            if (instance.jobs[j].node != NO_NODE && draw(tape, 0, 2) == 2) {
                instance_remove(&instance, j, now);
                sched_job_remove(built.sched, (uint32_t)j);
            } else if (!instance.jobs[j].is_there && draw(tape, 0, 3) == 3) {
                instance.jobs[j].was_leased = false;
                instance_submit(&instance, j, now);
                built_add_job(&built, &instance, j);
            }
        }
        instance_advance(&instance, now);
        instance_apps_advance(&instance, now);
        enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
        holds = verdict_is_same(tape, &instance, &built, kind, now, &plan);
        for (uint32_t i = 0; holds && i < plan.decision_count; i++) {
            struct sched_decision decision = plan.decisions[i];
            act(&instance, &built, &decision, now, requeues);
        }
    }
    built_fini(&built);
    return holds;
}

static bool agrees_on_flows(struct tape *tape)
{
    struct instance instance;

    instance_draw_flow(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_more(tape, &instance);
    return agrees_through_time(tape, &instance, false);
}

static bool agrees_on_reservations(struct tape *tape)
{
    struct instance instance;

    instance_draw_window(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_more(tape, &instance);
    return agrees_through_time(tape, &instance, false);
}

static bool agrees_on_profiles(struct tape *tape)
{
    struct instance instance;

    instance_draw_profile(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_more(tape, &instance);
    return agrees_through_time(tape, &instance, false);
}

static bool agrees_on_applications(struct tape *tape)
{
    struct instance instance;

    instance_draw_apps(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_more(tape, &instance);
    return agrees_through_time(tape, &instance, true);
}

/* What later stages of applications have no room for is kept from those that
 * would start, by the pool or by their queue. */
static bool agrees_on_stages(struct tape *tape)
{
    struct instance instance;

    instance_draw_stages(tape, &instance);
    instance_draw_clusters(tape, &instance);
    return agrees_through_time(tape, &instance, true);
}

int main(void)
{
    bool holds =
        prop_check("agrees_with_the_oracle", agrees_with_the_oracle, 3000, 0);

    holds &=
        prop_check("agrees_on_applications", agrees_on_applications, 3000, 0);
    holds &=
        prop_check("agrees_on_reservations", agrees_on_reservations, 3000, 0);
    holds &= prop_check("agrees_on_groups", agrees_on_groups, 3000, 0);
    holds &= prop_check("agrees_on_flows", agrees_on_flows, 3000, 0);
    holds &= prop_check("agrees_on_profiles", agrees_on_profiles, 3000, 0);
    holds &= prop_check("agrees_on_stages", agrees_on_stages, 3000, 0);
    return holds ? 0 : 1;
}
