/* In which order the gangs of a queue grow: who has run least for its weight
 * (model.md 4.4). */
#include "oracle_private.h"

/* What a millisecond of a pod counts, in millionths of a core's: a core 1, a
 * GiB 0.1; rounded down for each. */
static int64_t worth_of(const struct instance_job *job)
{
    return job->request[0] * (int64_t)1000000 +
           job->request[1] * (int64_t)1000000000 * 100000 / (1 << 30);
}

/* How long all that a gang ran when the plan began has run. */
static int64_t work_of(const struct oracle *o, int gang)
{
    int64_t work = 0;

    for (int j = 0; j < o->in->job_count; j++) {
        const struct instance_job *job = &o->in->jobs[j];
        if (oracle_same_gang(o, gang, j) && job->is_there &&
            job->node != NO_NODE && job->started != NOT_STARTED) {
            work += worth_of(job) * (o->now - job->started);
        }
    }
    return work;
}

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int oracle_score_compare(const struct oracle *o, const struct grower *a,
                         const struct grower *b)
{
    const struct instance_job *x = &o->in->jobs[a->first];
    const struct instance_job *y = &o->in->jobs[b->first];
    int c = order(oracle_level(o, b->first), oracle_level(o, a->first));

    c = c ? c : fraction_compare(oracle_score(o, a), oracle_score(o, b));
    c = c ? c
          : order(CLASSES[y->priority_class].weight,
                  CLASSES[x->priority_class].weight);
    c = c ? c : order(b->request[0], a->request[0]);
    c = c ? c : order(b->request[1], a->request[1]);
    c = c ? c : order(x->submitted, y->submitted);
    c = c ? c : order(a->first, b->first);
    return c ? c : order(a->sub_group, b->sub_group);
}

struct fraction oracle_score(const struct oracle *o,
                             const struct grower *grower)
{
    int weight = CLASSES[o->in->jobs[grower->first].priority_class].weight;

    return fraction_of(work_of(o, grower->first), weight);
}
