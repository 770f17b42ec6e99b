#include "sched/order/queue_order.h"

#include "sched/apps/apps.h"
#include "sched/order/due_order.h"
#include "sched/order/order.h"
#include "sched/state/cfs.h"

/* Where a job stands in its queue; the smaller key goes first. */
struct order_key {
    uint32_t job;
    uint32_t level;   /* the higher goes first */
    bool is_by_score; /* then its score decides (cfs.h), ... */
    bool is_by_app;   /* ... or else the rank of its application ... */
    bool is_by_due;   /* and then when it is due (due_order.h) */
    uint32_t pool;    /* ... there; NONE: there is no pool */
    struct app_rank rank;
};

/* The pool in which the applications of a list are ranked: its own, or the
 * first that has nodes. */
static uint32_t pool_of(const struct sched *sched, const struct list *list)
{
    uint32_t p = 0;

    if (list->pool != NONE || sched->pools.count == 0) {
        return list->pool;
    }
    while (p + 1 < sched->pools.count &&
           sched->pools.items[p].node_count == 0) {
        p++;
    }
    return p;
}

/* Whether the work of a list goes by when it is due. */
static bool is_by_due(const struct sched *sched, const struct list *list)
{
    uint32_t pool = pool_of(sched, list);

    return pool != NONE && due_order_holds(sched, pool);
}

/* The key of what is in a list, but for the job. */
static struct order_key order_key_in(const struct sched *sched,
                                     const struct list *list, uint32_t pool)
{
    const struct queue *queue = &sched->queues.items[list->queue];
    struct order_key key = {
        .job = NONE,
        .level = list->level,
        .is_by_score = queue->ordering == QUEUE_BY_CFS,
        .is_by_due = is_by_due(sched, list),
        .pool = pool,
    };

    if (queue->apps && !key.is_by_score && pool != NONE) {
        key.is_by_app = true;
        key.rank = order_rank(sched, list->app, pool,
                              app_used(sched, list->app, pool));
        key.level = key.rank.is_level_ignored ? 0 : list->level;
    }
    return key;
}

/* Of one job and another, of one list or of several. */
static bool job_goes_before(const struct sched *sched, uint32_t a, uint32_t b)
{
    const struct job *x = &sched->jobs.items[a], *y = &sched->jobs.items[b];
    int64_t x_ms = due_order_of(sched, a), y_ms = due_order_of(sched, b);

    return x->priority == y->priority && x_ms != y_ms ? x_ms < y_ms
                                                      : job_less(sched, a, b);
}

static bool order_key_less(const struct sched *sched, const struct order_key *a,
                           const struct order_key *b)
{
    /* A queue has one order. */
    ASSERT(a->is_by_score == b->is_by_score && a->pool == b->pool);
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_by_score) {
        return cfs_less(sched, a->job, b->job);
    }
    int c = a->is_by_app ? order_compare(&sched->pools.items[a->pool].base,
                                         &a->rank, &b->rank)
                         : 0;
    if (c) {
        return c < 0;
    }
    return b->is_by_due ? job_goes_before(sched, a->job, b->job)
                        : job_less(sched, a->job, b->job);
}

/* The key of a waiting job, which is that of its gang once that is complete;
 * `like` is of its queue. */
static struct order_key order_key_of(const struct sched *sched, uint32_t job,
                                     uint32_t like)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (gang != NONE && sched->gangs.items[gang].position != NONE) {
        job = sched->gangs.items[gang].position;
    }
    struct order_key key = order_key_in(
        sched, &sched->lists.items[sched->jobs.items[job].list],
        pool_of(sched, &sched->lists.items[sched->jobs.items[like].list]));
    key.job = job;
    return key;
}

bool queue_order_less(const struct sched *sched, uint32_t a, uint32_t b)
{
    struct order_key key_a = order_key_of(sched, a, a);
    struct order_key key_b = order_key_of(sched, b, a);

    return order_key_less(sched, &key_a, &key_b);
}

/* The job that an item of a list is, or that stands for it. */
static uint32_t job_of(const struct sched *sched, const struct list *list,
                       uint32_t item)
{
    return list->class_index == NONE ? sched->gangs.items[item].position : item;
}

uint32_t queue_order_first(const struct sched *sched, const struct queue *queue)
{
    struct order_key first = {.job = NONE};

    ASSERT(!queue->apps);
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        const struct list *list =
            &sched->lists.items[queue->list_heap.items[i].list];
        uint32_t item = seq_get(&list->seq, (struct seq_cursor){0});
        struct order_key key = order_key_in(sched, list, NONE);
        key.job = job_of(sched, list, item);
        if (first.job == NONE || order_key_less(sched, &key, &first)) {
            first = key;
        }
    }
    return first.job;
}

/* Of a list, which is in the order of its queue; but gangs of one list have
 * limits of their own. */
static uint32_t count_before(const struct sched *sched, const struct list *list,
                             const struct order_key *of, bool is_later_only)
{
    bool is_gangs = list->class_index == NONE;
    struct order_key key = order_key_in(sched, list, of->pool);
    uint32_t count = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        uint32_t item = seq_get(&list->seq, at);
        key.job = job_of(sched, list, item);
        if (!order_key_less(sched, &key, of)) {
            if (is_gangs && of->is_by_due) {
                continue;
            }
            break;
        }
        if (is_later_only && job_less(sched, key.job, of->job)) {
            continue;
        }
        count += is_gangs ? sched->gangs.items[item].waiting.count : 1;
    }
    return count;
}

static uint32_t count_in_apps(const struct sched *sched,
                              const struct app_queue *apps,
                              const struct order_key *of, bool is_later_only)
{
    uint32_t count = 0;

    for (int state = 0; state < SCHED_APP_STATES; state++) {
        for (uint32_t at = apps->first[state]; at != NONE;
             at = sched->apps.items[at].next) {
            const struct app *app = &sched->apps.items[at];
            for (size_t i = 0; i < app->lists.count; i++) {
                count += count_before(sched,
                                      &sched->lists.items[app->lists.items[i]],
                                      of, is_later_only);
            }
        }
    }
    return count;
}

static uint32_t count_ahead(const struct sched *sched, uint32_t job,
                            bool is_later_only)
{
    const struct list *own = &sched->lists.items[sched->jobs.items[job].list];
    const struct queue *queue = &sched->queues.items[own->queue];
    struct order_key of = order_key_of(sched, job, job);
    uint32_t count = 0;

    if (queue->apps) {
        return count_in_apps(sched, queue->apps, &of, is_later_only);
    }
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        uint32_t list = queue->list_heap.items[i].list;
        count +=
            count_before(sched, &sched->lists.items[list], &of, is_later_only);
    }
    return count;
}

uint32_t queue_order_ahead(const struct sched *sched, uint32_t job)
{
    return count_ahead(sched, job, false);
}

uint32_t queue_order_shorter(const struct sched *sched, uint32_t job)
{
    const struct list *own = &sched->lists.items[sched->jobs.items[job].list];
    const struct queue *queue = &sched->queues.items[own->queue];

    return queue->apps || queue->ordering == QUEUE_BY_CFS ||
                   !is_by_due(sched, own)
               ? 0
               : count_ahead(sched, job, true);
}
