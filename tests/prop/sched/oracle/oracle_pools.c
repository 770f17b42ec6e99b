/* Several pools of one planner: one is planned after the other, each as if it
 * were alone with what runs in it and what may start there (model.md 6.5). */
#include "oracle.h"

static bool is_of(const struct instance *instance, int unit, int job)
{
    int gang = instance->jobs[unit].gang;

    return job == unit || (gang && instance->jobs[job].gang == gang);
}

/* A unit is admitted, or is not any more; for what counts in all pools. */
static void note_admission(struct instance *rest, int unit, int pool,
                           bool is_admitted)
{
    for (int j = 0; j < rest->job_count; j++) {
        struct instance_job *job = &rest->jobs[j];
        if (!is_of(rest, unit, j) || !job->is_there || job->node != NO_NODE) {
            continue;
        }
        if (!is_admitted && job->admitted && !instance_is_spare(rest, j)) {
            rest->queues[job->queue].cores_elsewhere -= job->request[0];
        } else if (is_admitted && !job->admitted) {
            job->admitted = INT_MAX;
            job->admitted_pool = pool;
        }
    }
}

static bool is_decided(const struct oracle_plan *plan, int job)
{
    for (int i = 0; i < plan->count; i++) {
        if (plan->decisions[i].job == job) {
            return true;
        }
    }
    return false;
}

/* A gang that starts is admitted no longer, with those of it that wait on. */
static void end_admission(struct instance *rest, const struct oracle_plan *plan,
                          int unit, int pool)
{
    for (int j = 0; j < rest->job_count; j++) {
        struct instance_job *job = &rest->jobs[j];
        if (is_of(rest, unit, j) && job->admitted &&
            job->admitted_pool == pool && !is_decided(plan, j)) {
            job->admitted = 0; /* so it does not count elsewhere */
        }
    }
}

/* A plan decides about a gang in one pool. */
static void end_turn(struct instance *rest, int unit)
{
    for (int j = 0; j < rest->job_count; j++) {
        rest->jobs[j].is_elsewhere |= is_of(rest, unit, j);
    }
}

/* What a pool starts and takes is nothing for the next to decide about, but
 * shares are those of when the plan began.  It counts for limits that are over
 * all pools. */
static void take_off(struct instance *rest, const struct oracle_plan *plan,
                     int pool, int now)
{
    for (int i = 0; i < plan->count; i++) {
        const struct oracle_decision *decision = &plan->decisions[i];
        struct instance_job *job = &rest->jobs[decision->job];
        struct instance_queue *queue = &rest->queues[job->queue];
        bool had = job->node != NO_NODE ||
                   (job->admitted && job->admitted_pool == pool &&
                    !instance_is_spare(rest, decision->job));
        bool has = decision->action == SCHED_LEASE;
        if (decision->action == SCHED_ADMIT ||
            decision->action == SCHED_DISMISS) {
            note_admission(rest, decision->job, pool,
                           decision->action == SCHED_ADMIT);
            continue;
        }
        end_turn(rest, decision->job);
        queue->cores_elsewhere += (has - had) * job->request[0];
        if (has) {
            end_admission(rest, plan, decision->job, pool);
            start_limit_take(&rest->starts, 1, now);
            start_limit_take(&queue->starts, 1, now);
        }
    }
}

static bool has_nodes(const struct instance *instance, int pool)
{
    for (int n = 0; n < instance->node_count; n++) {
        if (instance->nodes[n].pool == pool) {
            return true;
        }
    }
    return false;
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
    for (int p = 0; p < INSTANCE_POOLS; p++) {
        if (!has_nodes(instance, p)) {
            continue;
        }
        instance_project(&rest, p, &part);
        oracle_plan(&part, kind, now, &plan);
        take_off(&rest, &plan, p, now);
        for (int i = 0; i < plan.count; i++) {
            plan.decisions[i].pool = p;
            ret_plan->decisions[ret_plan->count++] = plan.decisions[i];
        }
        ret_plan->is_close |= plan.is_close;
    }
}
