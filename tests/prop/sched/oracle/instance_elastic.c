/* What gangs that grow have to do with: queues that go by scores, quotas, GPUs
 * (model.md 4.4 to 4.6). */
#include "instance.h"

/* Scores leave priorities of jobs out, but order work that asks for the same
 * by them first: so there are none. */
static void draw_scores(struct tape *tape, struct instance *instance, int queue)
{
    instance->queues[queue].ordering = QUEUE_BY_CFS;
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (job->queue == queue) {
            job->priority = 0;
            job->submitted = pick(tape, 0, 5 * AGING_MS);
        }
    }
}

/* Of nodes and jobs some have none. */
void instance_draw_gpus(struct tape *tape, struct instance *instance)
{
    bool has_none = once_in(tape, 2);

    instance->has_gpus = true;
    instance->gpu_keeping = (int)pick(tape, 0, GPUS_KEPT_ALWAYS);
    for (int n = 0; n < instance->node_count; n++) {
        struct instance_node *node = &instance->nodes[n];
        node->capacity[GPUS] = once_in(tape, 2) ? 0 : node->capacity[GPUS];
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        bool is_first = !job->gang || job->gang == j + 1;
        has_none = is_first ? once_in(tape, 2) : has_none;
        job->request[GPUS] = has_none ? 0 : job->request[GPUS];
    }
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        if (job->node != NO_NODE &&
            instance_free(instance, job->node, GPUS) < 0) {
            job->node = NO_NODE;
            job->was_leased = false;
        }
    }
}

void instance_draw_elastic(struct tape *tape, struct instance *instance)
{
    for (int q = 0; q < instance->queue_count; q++) {
        if (once_in(tape, 3)) {
            draw_scores(tape, instance, q);
        }
        instance->queues[q].quota = once_in(tape, 6) ? pick(tape, 1, 16) : 0;
    }
    if (once_in(tape, 4)) {
        instance_draw_gpus(tape, instance);
    }
}
