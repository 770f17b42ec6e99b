/* The order of a queue that goes by scores, and in which gangs grow: who has
 * run least for its weight (model.md 4.4). */
#include "oracle_private.h"

/* What a millisecond of a pod counts, in millionths of a core's: a core 1, a
 * GPU 100, a GiB 0.1; rounded down for each. */
static int64_t worth_of(const struct oracle *o, const struct instance_job *job)
{
    return job->request[0] * (int64_t)1000000 +
           (o->in->has_gpus
                ? job->request[GPUS] * (int64_t)100000000
                : job->request[1] * (int64_t)1000000000 * 100000 / (1 << 30));
}

/* How long all that a gang ran when the plan began has run. */
static int64_t work_of(const struct oracle *o, int gang)
{
    int64_t work = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (oracle_same_gang(o, gang, j) && job->is_there &&
            job->node != NO_NODE && job->started != NOT_STARTED) {
            work += worth_of(o, job) * (o->now - job->started);
        }
    }
    return work;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int weight_of(const struct instance_job *job)
{
    return CLASSES[job->priority_class].weight;
}

/* Of its class: a gang asks for pods of that wherever some of it run. */
static int priority_of(const struct oracle *o, int job)
{
    return CLASSES[o->in->jobs[job].priority_class].priority;
}

/* The dearer pod goes first. */
static int compare_pods(const struct oracle *o, const int *a, const int *b)
{
    int c = o->in->has_gpus ? order(b[GPUS], a[GPUS]) : 0;

    c = c ? c : order(b[0], a[0]);
    return c ? c : order(b[1], a[1]);
}

/* Of equal scores. */
static int compare_likes(const struct oracle *o, int a, int b,
                         const int *request_a, const int *request_b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];
    int c = order(weight_of(y), weight_of(x));

    c = c ? c : compare_pods(o, request_a, request_b);
    c = c ? c : order(x->submitted, y->submitted);
    return c ? c : order(a, b);
}

int oracle_score_compare(const struct oracle *o, const struct grower *a,
                         const struct grower *b)
{
    int c = order(priority_of(o, b->first), priority_of(o, a->first));

    c = c ? c : fraction_compare(oracle_score(o, a), oracle_score(o, b));
    c = c ? c : compare_likes(o, a->first, b->first, a->request, b->request);
    return c ? c : order(a->sub_group, b->sub_group);
}

/* How often a job aged since; the later the more, less what its weight is
 * worth. */
static int bucket_of(const struct instance_job *job)
{
    int bucket = job->submitted / AGING_MS;

    for (int weight = weight_of(job); weight >= 10; weight /= 10) {
        bucket--;
    }
    return bucket;
}

int oracle_score_waiting(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];
    int c = order(oracle_unit_level(o, b), oracle_unit_level(o, a));

    c = c ? c : order(bucket_of(x), bucket_of(y));
    return c ? c : compare_likes(o, a, b, x->request, y->request);
}

/* The gang that a job is of, as a whole. */
static struct grower gang_of(const struct oracle *o, int job)
{
    struct grower grower = {.gang = o->in->jobs[job].gang, .first = job};

    for (int j = job; j >= 0; j--) {
        bool is_of = oracle_same_gang(o, job, j) && o->in->jobs[j].is_there;
        grower.first = is_of ? j : grower.first;
    }
    memcpy(grower.request, o->in->jobs[grower.first].request,
           sizeof(grower.request));
    return grower;
}

int oracle_score_gangs(const struct oracle *o, int a, int b)
{
    const struct instance_job *x = &o->in->jobs[a], *y = &o->in->jobs[b];
    struct grower left = gang_of(o, a), right = gang_of(o, b);
    bool is_ordered = x->queue == y->queue && x->gang != y->gang &&
                      o->in->queues[x->queue].ordering == QUEUE_BY_CFS;

    return is_ordered ? oracle_score_compare(o, &left, &right) : 0;
}

struct fraction oracle_score(const struct oracle *o,
                             const struct grower *grower)
{
    int weight = CLASSES[o->in->jobs[grower->first].priority_class].weight;

    return fraction_of(work_of(o, grower->first), weight);
}
