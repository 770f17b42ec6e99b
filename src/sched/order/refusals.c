#include "sched/order/refusals.h"

#include "sched/order/queue_order.h"

/* Note a refusal because of a job; NONE: then explanations cannot name it. */
static void note(struct round *round, uint32_t job, struct refusal refusal)
{
    const struct sched *sched = round->sched;

    if (round_is_what_if(round) || job == NONE) {
        return;
    }
    ASSERT(job < sched->jobs.count && sched->jobs.items[job].list != LIST_NONE);
    refusal.job = job;
    refusal.id = sched->jobs.items[job].id;
    refusal.version = sched->version;
    VEC_PUSH(&round->pool->refusals, refusal);
}

void refusals_begin(struct round *round)
{
    if (!round_is_what_if(round)) {
        round->pool->refusals.count = 0;
    }
}

void refusals_end_queue(struct round *round, uint32_t queue, uint32_t job,
                        enum refusal_why why)
{
    note(round, job,
         (struct refusal){.why = why, .queue = queue, .item = NONE});
}

void refusals_end_all(struct round *round, uint32_t job, enum refusal_why why)
{
    note(round, job, (struct refusal){.why = why, .queue = NONE, .item = NONE});
}

void refusals_hold(struct round *round, uint32_t job, uint32_t columns)
{
    note(round, job,
         (struct refusal){.why = REFUSAL_STARTS,
                          .queue = NONE,
                          .item = NONE,
                          .columns = columns});
}

/* Of the gang of a job, or else of its class. */
static struct refusal of_item(const struct sched *sched, uint32_t job,
                              enum refusal_why why)
{
    uint32_t gang = sched->jobs.items[job].gang;

    return (struct refusal){
        .why = why,
        .queue = NONE,
        .is_gang = gang != NONE,
        .item = gang != NONE ? gang : class_of_job(sched, job),
    };
}

void refusals_note_room(struct round *round, uint32_t job)
{
    note(round, job, of_item(round->sched, job, REFUSAL_ROOM));
}

void refusals_note_held(struct round *round, uint32_t job, uint32_t for_job)
{
    const struct sched *sched = round->sched;
    struct refusal refusal = of_item(sched, job, REFUSAL_HELD);

    ASSERT(for_job != job); /* a reservation holds others back */
    refusal.queue = sched->lists.items[sched->jobs.items[job].list].queue;
    note(round, for_job, refusal);
}

/* Whether the job of a note still waits. */
static bool is_current(const struct sched *sched, const struct refusal *refusal)
{
    if (refusal->job >= sched->jobs.count) {
        return false;
    }
    const struct job *job = &sched->jobs.items[refusal->job];
    return job->list != LIST_NONE && job->run == NONE &&
           key128_compare(job->id.v, refusal->id.v) == 0;
}

/* Whether a job stands before the one at which its queue's turn ended: it is
 * new since, or its place in the order is.  Where leases or reservations change
 * the order nobody can tell. */
static bool is_before(const struct sched *sched, uint32_t p, uint32_t job,
                      const struct refusal *refusal)
{
    const struct queue *queue = &sched->queues.items[refusal->queue];
    int index = sched->pools.items[p].policy_index;

    if (refusal->why == REFUSAL_ADMITTED || queue->ordering == QUEUE_BY_FAIR ||
        index < 0 ||
        sched->policy->pools[index].backfill_order != BACKFILL_IN_ORDER) {
        return false;
    }
    ASSERT(sched->lists.items[sched->jobs.items[job].list].queue ==
           refusal->queue);
    return queue_order_less(sched, job, refusal->job);
}

/* Whether a job asks for some of the columns. */
static bool asks_for(const struct sched *sched, uint32_t job, uint32_t columns)
{
    const struct resource_vec *request =
        &sched->classes.items[class_of_job(sched, job)].request;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((columns >> r & 1) && request->v[r] > 0) {
            return true;
        }
    }
    return columns == 0;
}

/* Whether it is of what was refused, and not of all that is behind. */
static bool is_of_item(const struct sched *sched, uint32_t job,
                       const struct refusal *refusal)
{
    uint32_t gang = sched->jobs.items[job].gang;

    return refusal->version == sched->version &&
           refusal->is_gang == (gang != NONE) &&
           refusal->item == (gang != NONE ? gang : class_of_job(sched, job));
}

static bool is_for(const struct sched *sched, uint32_t p, uint32_t job,
                   const struct refusal *refusal)
{
    uint32_t queue = sched->lists.items[sched->jobs.items[job].list].queue;

    if (!is_current(sched, refusal) ||
        !asks_for(sched, job, refusal->columns) ||
        (refusal->queue != NONE && refusal->queue != queue)) {
        return false;
    }
    if (refusal->item != NONE) {
        return is_of_item(sched, job, refusal);
    }
    return refusal->queue == NONE || !is_before(sched, p, job, refusal);
}

const struct refusal *refusals_find(const struct sched *sched, uint32_t p,
                                    uint32_t job)
{
    const struct pool *pool = &sched->pools.items[p];

    for (size_t i = 0; i < pool->refusals.count; i++) {
        if (is_for(sched, p, job, &pool->refusals.items[i])) {
            return &pool->refusals.items[i];
        }
    }
    return NULL;
}

void refusals_fini(struct sched *sched)
{
    for (size_t p = 0; p < sched->pools.count; p++) {
        VEC_FREE(&sched->pools.items[p].refusals);
    }
}
