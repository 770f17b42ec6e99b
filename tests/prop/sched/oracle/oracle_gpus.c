/* Nodes with GPUs are kept for jobs that ask for them: by the sentences of
 * docs/rules/gpu-nodes.md, for each job and node. */
#include "oracle_private.h"

static bool asks(const struct oracle *o, int job)
{
    return o->in->jobs[job].request[GPUS] > 0;
}

static bool has(const struct oracle *o, int node)
{
    return o->in->nodes[node].capacity[GPUS] > 0;
}

/* How many jobs like this one a node could hold if it were empty. */
static int holds(const struct oracle *o, int job, int node)
{
    const struct instance_job *j = &o->in->jobs[job];
    const struct instance_node *n = &o->in->nodes[node];
    int most = INT_MAX;

    if (!instance_is_open(o->in, node) || (n->is_tainted && !j->is_tolerant) ||
        (j->rack && j->rack != n->rack)) {
        return 0;
    }
    for (int k = 0; k < NODE_KINDS; k++) {
        if (j->request[k] && n->capacity[k] / j->request[k] < most) {
            most = n->capacity[k] / j->request[k];
        }
    }
    return most;
}

/* Whether some of its gang runs in another pool. */
static bool goes_on_elsewhere(const struct oracle *o, int job)
{
    for (int j = 0; j < o->in->job_count; j++) {
        int node = o->in->jobs[j].node;
        if (oracle_same_gang(o, job, j) && node != NO_NODE &&
            o->in->nodes[node].pool != o->in->pool) {
            return true;
        }
    }
    return false;
}

/* Whether a job, or its gang, waits for its turn as the plan begins, also if a
 * pool planned before has started it; what its gang only grows by does not. */
static bool is_waiting(const struct oracle *o, int job)
{
    const struct instance_job *j = &o->in->jobs[job];
    bool was_waiting = j->is_there && j->is_elsewhere && j->node == NO_NODE &&
                       !j->is_spare_elsewhere && !goes_on_elsewhere(o, job);

    return !o->in->queues[j->queue].is_cordoned &&
           (was_waiting || (o->status[job] == WAITING &&
                            (!j->gang || oracle_gang_is_complete(o, job))));
}

/* Whether what runs of its queue leaves it no room under the queue's limits. */
static bool is_limited(const struct oracle *o, int job)
{
    const struct instance_job *j = &o->in->jobs[job];
    const struct instance_queue *queue = &o->in->queues[j->queue];
    int all = j->request[0], of_class = j->request[0];

    for (int k = 0; k < o->in->job_count; k++) {
        const struct instance_job *other = &o->in->jobs[k];
        if (other->queue != j->queue || other->node == NO_NODE) {
            continue;
        }
        all += other->request[0];
        if (oracle_runs(o, k) && other->priority_class == 0 &&
            !oracle_may_recall(o, k)) {
            of_class += other->request[0];
        }
    }
    return (queue->quota && all > queue->quota) ||
           (o->in->limit_percent && j->priority_class == 0 &&
            of_class * 100 > o->in->limit_percent * instance_total(o->in, 0));
}

static bool waits_for(const struct oracle *o, int job, int node)
{
    return asks(o, job) && is_waiting(o, job) &&
           !o->in->jobs[job].is_borrowed && holds(o, job, node) &&
           !is_limited(o, job);
}

/* Members of a job's gang that wait, and whether one asks for a GPU. */
static int count_gang(const struct oracle *o, int job, bool *ret_asks)
{
    int count = 0;

    *ret_asks = false;
    for (int j = 0; j < o->in->job_count; j++) {
        if (j == job || (oracle_same_gang(o, job, j) && is_waiting(o, j))) {
            *ret_asks |= asks(o, j);
            count++;
        }
    }
    return count;
}

/* Whether nodes without GPUs could hold the job, and each gang of its like. */
static bool could_be_elsewhere(const struct oracle *o, int job)
{
    int room = 0, most = 1;

    for (int n = 0; n < o->in->node_count; n++) {
        int here = has(o, n) ? 0 : holds(o, job, n);
        room = here < INT_MAX - room ? room + here : INT_MAX;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *other = &o->in->jobs[j];
        if (!other->gang || !is_waiting(o, j) ||
            !oracle_is_like(other, &o->in->jobs[job])) {
            continue;
        }
        bool is_for_gpus;
        int count = count_gang(o, j, &is_for_gpus);
        if (!is_for_gpus && (other->has_terms || other->is_uniform)) {
            return false;
        }
        most = !is_for_gpus && count > most ? count : most;
    }
    return room >= most;
}

static bool is_kept(const struct oracle *o, int job, int node)
{
    if (asks(o, job) || !has(o, node) || o->in->gpu_keeping == 0) {
        return false;
    }
    if (o->in->gpu_keeping == GPUS_KEPT_ALWAYS) {
        return true;
    }
    for (int j = 0; j < o->in->job_count; j++) {
        if (waits_for(o, j, node) &&
            CLASSES[o->in->jobs[j].priority_class].priority >=
                CLASSES[o->in->jobs[job].priority_class].priority) {
            return could_be_elsewhere(o, job);
        }
    }
    return false;
}

void oracle_gpus_begin(struct oracle *o)
{
    for (int j = 0; j < o->in->job_count; j++) {
        for (int n = 0; o->in->has_gpus && n < o->in->node_count; n++) {
            o->kept_nodes[j] |= (unsigned)is_kept(o, j, n) << n;
        }
    }
}
