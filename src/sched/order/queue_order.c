#include "sched/order/queue_order.h"

#include "sched/apps/apps.h"
#include "sched/order/order.h"
#include "sched/state/cfs.h"

/* Where a job stands in its queue; the smaller place goes first. */
struct place {
    uint32_t job;
    uint32_t level;   /* the higher goes first */
    bool is_by_score; /* then its score decides (cfs.h), ... */
    bool is_by_app;   /* ... or else the rank of its application ... */
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

/* The place of what is in a list, but for the job. */
static struct place place_in(const struct sched *sched, const struct list *list,
                             uint32_t pool)
{
    const struct queue *queue = &sched->queues.items[list->queue];
    struct place place = {
        .job = NONE,
        .level = list->level,
        .is_by_score = queue->ordering == QUEUE_BY_CFS,
        .pool = pool,
    };

    if (queue->apps && !place.is_by_score && pool != NONE) {
        place.is_by_app = true;
        place.rank = order_rank(sched, list->app, pool,
                                app_used(sched, list->app, pool));
        place.level = place.rank.is_level_ignored ? 0 : list->level;
    }
    return place;
}

static bool place_less(const struct sched *sched, const struct place *a,
                       const struct place *b)
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
    return c ? c < 0 : job_less(sched, a->job, b->job);
}

/* The place of a waiting job, which is that of its gang once that is complete;
 * `like` is of its queue. */
static struct place standing_of(const struct sched *sched, uint32_t job,
                                uint32_t like)
{
    uint32_t gang = sched->jobs.items[job].gang;

    if (gang != NONE && sched->gangs.items[gang].position != NONE) {
        job = sched->gangs.items[gang].position;
    }
    struct place place = place_in(
        sched, &sched->lists.items[sched->jobs.items[job].list],
        pool_of(sched, &sched->lists.items[sched->jobs.items[like].list]));
    place.job = job;
    return place;
}

bool queue_order_less(const struct sched *sched, uint32_t a, uint32_t b)
{
    struct place place_a = standing_of(sched, a, a);
    struct place place_b = standing_of(sched, b, a);

    return place_less(sched, &place_a, &place_b);
}

/* The job that an item of a list is, or that stands for it. */
static uint32_t job_of(const struct sched *sched, const struct list *list,
                       uint32_t item)
{
    return list->class_index == NONE ? sched->gangs.items[item].position : item;
}

uint32_t queue_order_first(const struct sched *sched, const struct queue *queue)
{
    struct place first = {.job = NONE};

    ASSERT(!queue->apps);
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        const struct list *list =
            &sched->lists.items[queue->list_heap.items[i].list];
        uint32_t item = seq_get(&list->seq, (struct seq_cursor){0});
        struct place place = place_in(sched, list, NONE);
        place.job = job_of(sched, list, item);
        if (first.job == NONE || place_less(sched, &place, &first)) {
            first = place;
        }
    }
    return first.job;
}

/* Of a list, which is in the order of its queue. */
static uint32_t count_before(const struct sched *sched, const struct list *list,
                             const struct place *of)
{
    bool is_gangs = list->class_index == NONE;
    struct place place = place_in(sched, list, of->pool);
    uint32_t count = 0;

    for (struct seq_cursor at = {0}; !seq_is_end(&list->seq, at);
         seq_next(&list->seq, &at)) {
        uint32_t item = seq_get(&list->seq, at);
        place.job = job_of(sched, list, item);
        if (!place_less(sched, &place, of)) {
            break;
        }
        count += is_gangs ? sched->gangs.items[item].waiting.count : 1;
    }
    return count;
}

static uint32_t count_in_apps(const struct sched *sched,
                              const struct app_queue *apps,
                              const struct place *of)
{
    uint32_t count = 0;

    for (int state = 0; state < SCHED_APP_STATES; state++) {
        for (uint32_t at = apps->first[state]; at != NONE;
             at = sched->apps.items[at].next) {
            const struct app *app = &sched->apps.items[at];
            for (size_t i = 0; i < app->lists.count; i++) {
                count += count_before(
                    sched, &sched->lists.items[app->lists.items[i]], of);
            }
        }
    }
    return count;
}

uint32_t queue_order_ahead(const struct sched *sched, uint32_t job)
{
    const struct list *own = &sched->lists.items[sched->jobs.items[job].list];
    const struct queue *queue = &sched->queues.items[own->queue];
    struct place of = standing_of(sched, job, job);
    uint32_t count = 0;

    if (queue->apps) {
        return count_in_apps(sched, queue->apps, &of);
    }
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        uint32_t list = queue->list_heap.items[i].list;
        count += count_before(sched, &sched->lists.items[list], &of);
    }
    return count;
}
