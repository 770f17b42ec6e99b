/* What any instance may have beside: knobs and states that most have not. */
#include "instance.h"

/* Nodes that failed too much, or are to show that they do no longer. */
static void draw_health(struct tape *tape, struct instance *instance)
{
    for (int n = 0; n < instance->node_count; n++) {
        if (once_in(tape, 3)) {
            instance->nodes[n].health =
                once_in(tape, 2) ? NODE_OUT : NODE_TRIAL;
        }
    }
}

void instance_draw_seats(struct tape *tape, struct instance *instance)
{
    instance->seats = pick(tape, 1, 6);
    for (int j = 0; j < instance->job_count; j++) {
        struct instance_job *job = &instance->jobs[j];
        job->request[SEATS] = job->gang && job->gang != j + 1
                                  ? instance->jobs[job->gang - 1].request[SEATS]
                              : once_in(tape, 3) ? pick(tape, 1, 3)
                                                 : 0;
    }
}

/* Work that may go away, and nodes where it may. */
static void draw_away(struct tape *tape, struct instance *instance)
{
    static const int LEVELS[] = {200, 500, 700};

    instance->away_level = LEVELS[pick(tape, 0, 2)];
    for (int n = 0; n < instance->node_count; n++) {
        instance->nodes[n].is_tainted |= once_in(tape, 3);
    }
}

/* What runs of a gang runs in the cluster of its first that does. */
static void keep_together(struct instance *instance, int index)
{
    struct instance_job *job = &instance->jobs[index];

    for (int j = 0; job->gang && j < index; j++) {
        const struct instance_job *first = &instance->jobs[j];
        if (first->gang != job->gang || first->node == NO_NODE ||
            job->node == NO_NODE) {
            continue;
        }
        if (instance->nodes[first->node].cluster !=
            instance->nodes[job->node].cluster) {
            job->node = NO_NODE;
            job->leased = 0;
            job->started = NOT_STARTED;
        }
    }
}

void instance_draw_clusters(struct tape *tape, struct instance *instance)
{
    instance->has_clusters = once_in(tape, 4);
    for (int n = 0; instance->has_clusters && n < instance->node_count; n++) {
        instance->nodes[n].cluster = pick(tape, 0, 1);
    }
    for (int j = 0; instance->has_clusters && j < instance->job_count; j++) {
        keep_together(instance, j);
    }
}

void instance_draw_more(struct tape *tape, struct instance *instance)
{
    if (once_in(tape, 8)) {
        draw_health(tape, instance);
    }
    if (once_in(tape, 8)) {
        instance_draw_seats(tape, instance);
    }
    if (once_in(tape, 8)) {
        draw_away(tape, instance);
    }
    if (once_in(tape, 8)) {
        instance_draw_rates(tape, instance);
    }
}

bool instance_is_open(const struct instance *instance, int n)
{
    const struct instance_node *node = &instance->nodes[n];
    bool is_busy = false;

    for (int j = 0; j < instance->job_count; j++) {
        is_busy |= instance->jobs[j].is_there && instance->jobs[j].node == n;
    }
    return !node->is_unschedulable && node->health != NODE_OUT &&
           !(node->health == NODE_TRIAL && is_busy);
}
