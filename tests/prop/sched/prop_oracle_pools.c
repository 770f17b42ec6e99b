/* The planner against the oracle where it has two pools; with neither flows nor
 * windows, which each pool keeps for itself. */
#include "verdict.h"

enum { NOW = 100, LEASED = 5 };

/* Nodes of either pool; jobs that may be in one of them, or in both.  Gangs
 * wait at first, so that each is in one pool. */
static void draw_pools(struct tape *tape, struct instance *instance)
{
    instance->has_second_pool = true;
    for (int n = 0; n < instance->node_count; n++) {
        instance->nodes[n].pool = (int)draw(tape, 0, 1);
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->pool = (int)draw(tape, 0, 2) - 1;
        if (job->gang) {
            job->pool = instance->jobs[job->gang - 1].pool;
            job->node = NO_NODE;
            job->was_leased = false;
        }
        if (job->node != NO_NODE && job->pool != ANY_POOL) {
            job->pool = instance->nodes[job->node].pool;
        }
    }
}

/* Some rounds, between which jobs end. */
static bool agrees_on_pools(struct tape *tape)
{
    struct instance instance;
    struct built built;
    struct sched_plan plan;
    bool holds = true;

    instance_draw(tape, &instance);
    draw_pools(tape, &instance);
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

int main(void)
{
    return prop_check("agrees_on_pools", agrees_on_pools, 3000, 0) ? 0 : 1;
}
