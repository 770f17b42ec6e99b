#include "instance.h"

const struct instance_class CLASSES[CLASS_COUNT] = {
    {"mid", 1000, true},
    {"low", 500, true},
    {"high", 10000, true},
    {"fixed", 1000, false},
};

int instance_free(const struct instance *instance, int node, int kind)
{
    int left = instance->nodes[node].capacity[kind];

    for (int i = 0; i < instance->job_count; i++) {
        const struct instance_job *job = &instance->jobs[i];
        left -= job->is_there && job->node == node ? job->request[kind] : 0;
    }
    return left;
}

void instance_apply(struct instance *instance,
                    const struct sched_decision *decision, int node, int now)
{
    struct instance_job *job = &instance->jobs[decision->job];

    if (decision->action == SCHED_LEASE) {
        job->node = node;
        job->leased = now;
        job->was_leased = true;
    } else {
        job->is_there = false;
        job->node = NO_NODE;
    }
}

bool instance_is_place(const struct instance *instance, int index, int n,
                       const int room[INSTANCE_KINDS])
{
    const struct instance_job *job = &instance->jobs[index];
    const struct instance_node *node = &instance->nodes[n];

    return !node->is_unschedulable && (!node->is_tainted || job->is_tolerant) &&
           (job->rack == 0 || job->rack == node->rack) &&
           !(job->avoided >> n & 1) && job->request[0] <= room[0] &&
           job->request[1] <= room[1];
}

bool instance_is_limited(const struct instance *instance, int index)
{
    int used = instance->jobs[index].request[0], total = 0;

    if (!instance->limit_percent || instance->jobs[index].priority_class) {
        return false;
    }
    for (int n = 0; n < instance->node_count; n++) {
        total += instance->nodes[n].capacity[0];
    }
    for (int j = 0; j < instance->job_count; j++) {
        const struct instance_job *job = &instance->jobs[j];
        used += job->node != NO_NODE && job->priority_class == 0 &&
                        job->queue == instance->jobs[index].queue
                    ? job->request[0]
                    : 0;
    }
    return used * 100 > instance->limit_percent * total;
}
