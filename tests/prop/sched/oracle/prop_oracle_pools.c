/* The planner against the oracle where it has two pools, each of which keeps
 * flows, budgets and a list of admitted work for itself. */
#include "rounds.h"
#include "verdict.h"

enum { NOW = 100, LEASED = 5 };

/* Some rounds, between which jobs end. */
static bool agrees_on_pools(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    bool holds = true;

    instance_draw(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_pools(tape, &instance, false);
    built_init(&built, &instance, 0);
    uint64_t rounds = draw(tape, 1, 3);
    for (uint64_t r = 0; holds && r < rounds; r++) {
        enum round_kind kind = (enum round_kind)draw(tape, 0, 1);
        holds = verdict_is_same(tape, &instance, &built, kind, NOW, &plan);
        for (uint32_t i = 0; holds && i < plan.decision_count; i++) {
            struct sched_decision decision = plan.decisions[i];
            instance_apply(&instance, &decision,
                           built_node(&built, decision.node), LEASED);
            built_apply(&built, &decision, LEASED);
        }
        for (int j = 0; holds && j < instance.job_count; j++) {
            if (instance.jobs[j].node != NO_NODE && draw(tape, 0, 3) == 3) {
                instance_remove(&instance, j, LEASED);
                sched_job_remove(built.sched, (uint32_t)j);
            }
        }
    }
    built_fini(&built);
    return holds;
}

/* Gangs with terms run in one of them, also such as may be in either. */
static bool agrees_on_pools_of_groups(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_pools(tape, &instance, true);
    return rounds_agree(tape, &instance);
}

/* Flows and windows, with plain gangs and with terms. */
static bool agrees_on_pools_that_remember(struct tape *tape)
{
    struct instance instance;

    if (draw(tape, 0, 1)) {
        instance_draw_groups(tape, &instance);
    } else {
        instance_draw(tape, &instance);
    }
    instance_draw_clusters(tape, &instance);
    instance_draw_list(tape, &instance);
    instance_draw_pools(tape, &instance, true);
    return rounds_agree(tape, &instance);
}

/* Near together in either, with and without windows. */
static bool agrees_on_pools_near(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    if (draw(tape, 0, 1)) {
        instance_draw_list(tape, &instance);
    }
    instance_draw_hops(tape, &instance);
    instance_draw_pools(tape, &instance, true);
    return rounds_agree(tape, &instance);
}

/* Limits, too. */
static bool agrees_on_limited_pools(struct tape *tape)
{
    struct instance instance;

    instance_draw_groups(tape, &instance);
    instance_draw_clusters(tape, &instance);
    instance_draw_pools(tape, &instance, true);
    if (draw(tape, 0, 1)) {
        instance_draw_list(tape, &instance);
    }
    instance_draw_limits(tape, &instance);
    return rounds_agree(tape, &instance);
}

int main(void)
{
    bool holds = prop_check("agrees_on_pools", agrees_on_pools, 3000, 0);

    holds &= prop_check("agrees_on_pools_of_groups", agrees_on_pools_of_groups,
                        3000, 0);
    holds &= prop_check("agrees_on_pools_that_remember",
                        agrees_on_pools_that_remember, 3000, 0);
    holds &= prop_check("agrees_on_pools_near", agrees_on_pools_near, 3000, 0);
    holds &=
        prop_check("agrees_on_limited_pools", agrees_on_limited_pools, 3000, 0);
    return holds ? 0 : 1;
}
