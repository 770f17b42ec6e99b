/* Instances of two pools of one configuration. */
#include "instance.h"

/* The pool of the first that runs of a job's gang, or ANY_POOL. */
static int pool_of_gang(const struct instance *instance, int index)
{
    int gang = instance->jobs[index].gang;

    for (int j = 0; gang && j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        if (job->gang == gang && job->is_there && job->node != NO_NODE) {
            return instance->nodes[job->node].pool;
        }
    }
    return ANY_POOL;
}

static void draw_job_pool(struct tape *tape, struct instance *instance,
                          int index, bool has_running_gangs)
{
    struct instance_job *job = &instance->jobs[index];
    int node_pool =
        job->node == NO_NODE ? ANY_POOL : instance->nodes[job->node].pool;

    job->pool = pick(tape, 0, 2) - 1;
    if (job->gang && job->gang != index + 1) {
        job->pool = instance->jobs[job->gang - 1].pool;
    }
    if (job->gang && !has_running_gangs) {
        job->node = NO_NODE;
        job->was_leased = false;
    }
    if (job->node == NO_NODE) {
        return;
    }
    if (job->gang) {
        /* It stays in the pool that it began in. */
        int own =
            job->pool == ANY_POOL ? pool_of_gang(instance, index) : job->pool;
        job->node = own == node_pool ? job->node : NO_NODE;
    } else if (job->pool != ANY_POOL) {
        job->pool = node_pool;
    }
}

void instance_draw_pools(struct tape *tape, struct instance *instance,
                         bool has_running_gangs)
{
    instance->has_second_pool = true;
    for (int n = 0; n < instance->node_count; n++) {
        instance->nodes[n].pool = pick(tape, 0, 1);
    }
    for (int j = 0; j < instance->job_count; j++) {
        draw_job_pool(tape, instance, j, has_running_gangs);
    }
}

static bool is_here(const struct instance *instance, int index, int pool)
{
    const struct instance_job *job = &instance->jobs[index];

    if (job->node != NO_NODE) {
        return instance->nodes[job->node].pool == pool;
    }
    return job->pool == ANY_POOL || job->pool == pool;
}

/* Who is not here, but has or is to have its place in the other. */
static bool counts_elsewhere(const struct instance *instance, int index,
                             int pool)
{
    const struct instance_job *job = &instance->jobs[index];

    return job->is_there &&
           (job->node != NO_NODE
                ? instance->nodes[job->node].pool != pool
                : job->admitted && job->admitted_pool != pool &&
                      !instance_is_spare(instance, index));
}

/* Who waits, and may be in any pool but for its gang, which is in the other. */
static bool goes_on_elsewhere(const struct instance *instance, int index,
                              int pool)
{
    const struct instance_job *job = &instance->jobs[index];
    int own = pool_of_gang(instance, index);

    return job->node == NO_NODE && job->pool == ANY_POOL && own != ANY_POOL &&
           own != pool;
}

void instance_project(const struct instance *instance, int pool,
                      struct instance *ret_part)
{
    *ret_part = *instance;
    if (!instance->has_second_pool) {
        return;
    }
    for (int n = 0; n < instance->node_count; n++) {
        ret_part->nodes[n].is_unschedulable |= instance->nodes[n].pool != pool;
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &ret_part->jobs[j];
        if (counts_elsewhere(instance, j, pool)) {
            ret_part->queues[job->queue].cores_elsewhere += job->request[0];
        }
        job->is_there &= is_here(instance, j, pool);
        job->is_elsewhere |= goes_on_elsewhere(instance, j, pool);
        job->is_spare_elsewhere =
            job->is_elsewhere && instance_is_spare(instance, j);
        if (job->admitted && job->admitted_pool != pool) {
            job->admitted = 0;
            job->is_admitted_elsewhere = true;
            job->is_admitted_later = job->admitted_pool > pool;
        }
    }
    ret_part->pool = pool;
    ret_part->start_cores[0] = instance->start_cores[pool];
    for (int q = 0; q < instance->queue_count; q++) {
        ret_part->queues[q].flow[0] = instance->half_ms
                                          ? instance->queues[q].flow[pool]
                                          : (struct flow_note){0};
    }
}
