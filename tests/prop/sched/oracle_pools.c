/* Several pools of one planner: one is planned after the other, each as if it
 * were alone with what runs in it and what may start there (model.md 6.5). */
#include "oracle.h"

/* The pool alone: nodes of others are closed, and what runs on them or may not
 * start here is not there. */
static void project(const struct instance *instance, int pool,
                    struct instance *ret_part)
{
    *ret_part = *instance;
    for (int n = 0; n < instance->node_count; n++) {
        if (instance->nodes[n].pool != pool) {
            ret_part->nodes[n].is_unschedulable = true;
        }
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        bool is_here = job->node == NO_NODE
                           ? job->pool == ANY_POOL || job->pool == pool
                           : instance->nodes[job->node].pool == pool;
        ret_part->jobs[j].is_there &= is_here;
    }
    for (int q = 0; q < instance->queue_count; q++) {
        ret_part->queues[q].flow = (struct flow_note){0}; /* as it uses */
    }
}

/* What a pool decided about is nothing for the next to decide about, but shares
 * are those of when the plan began. */
static void take_off(struct instance *rest, const struct oracle_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        rest->jobs[plan->decisions[i].job].is_elsewhere = true;
    }
}

void oracle_plan_pools(const struct instance *instance, enum round_kind kind,
                       int now, struct oracle_plan *ret_plan)
{
    struct instance rest = *instance, part;
    struct oracle_plan plan;

    if (!instance->has_second_pool) {
        oracle_plan(instance, kind, now, ret_plan);
        return;
    }
    ret_plan->count = 0;
    ret_plan->is_close = false;
    for (int p = 0; p < 2; p++) {
        project(&rest, p, &part);
        oracle_plan(&part, kind, now, &plan);
        take_off(&rest, &plan);
        for (int i = 0; i < plan.count; i++) {
            ret_plan->decisions[ret_plan->count++] = plan.decisions[i];
        }
        ret_plan->is_close |= plan.is_close;
    }
}
