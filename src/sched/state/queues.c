/* The names, the ranks and the limits of queues. */
#include "sched/state/what_if.h"

/* A name among those of the queues, in which it is called NONE. */
struct sought {
    const struct sched *sched;
    struct str name;
};

static struct str name_among(const struct sought *sought, uint32_t index)
{
    const struct queue *queues = sought->sched->queues.items;

    return index == NONE
               ? sought->name
               : str_make(queues[index].name, queues[index].name_bytes);
}

static bool is_before(const void *context, uint32_t a, uint32_t b)
{
    return str_compare(name_among(context, a), name_among(context, b)) < 0;
}

uint32_t queue_by_name(const struct sched *sched, struct str name)
{
    struct sought sought = {sched, name};
    struct seq_cursor at;

    (void)!seq_find(&sched->queues_by_name, NONE, is_before, &sought, &at);
    if (seq_is_end(&sched->queues_by_name, at)) {
        return NONE;
    }
    uint32_t index = seq_get(&sched->queues_by_name, at);
    return str_equal(name_among(&sought, index), name) ? index : NONE;
}

void queues_sync(struct sched *sched)
{
    uint32_t rank = 0;

    if (!sched->are_queue_ranks_stale) {
        return;
    }
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->queues_by_name, at);
         seq_next(&sched->queues_by_name, &at)) {
        uint32_t queue = seq_get(&sched->queues_by_name, at);
        sched->queues.items[queue].rank = rank++;
    }
    ASSERT(rank == sched->queues_by_name.count);
    sched->are_queue_ranks_stale = false;
}

bool queue_has_limits(const struct sched *sched, uint32_t queue,
                      uint32_t priority_class)
{
    return sched->queues.items[queue].limit_count ||
           sched->policy->classes[priority_class].queue_limit_count;
}

bool queue_has_own_limits(const struct queue *queue)
{
    return queue->over_share_ppm != QUEUE_LIMIT_BY_POOL ||
           queue->excess_budget_milli != QUEUE_LIMIT_BY_POOL;
}

int64_t queue_limit_of(const struct sched *sched, const struct what_if *what_if,
                       uint32_t index, uint32_t pool, uint32_t priority_class,
                       uint32_t column)
{
    const struct queue *queue = &sched->queues.items[index];
    const struct priority_class *class =
        &sched->policy->classes[priority_class];
    struct str resource = sched->policy->schema.columns[column].name;
    struct str pool_name = intern_get(sched->pool_names, pool);
    int64_t ppm = -1;

    ASSERT(priority_class < sched->policy->class_count);
    for (uint32_t i = 0; i < class->queue_limit_count; i++) {
        if (str_equal(class->queue_limits[i].resource, resource)) {
            int64_t fraction_ppm = class->queue_limits[i].fraction_ppm;
            ppm = fraction_ppm > 0 ? fraction_ppm : -1;
        }
    }
    /* A queue's own word goes before its class's, and one for the pool
     * before one for every pool. */
    bool is_for_pool = false;
    for (uint32_t i = 0; i < queue->limit_count; i++) {
        const struct queue_limit *limit = &queue->limits[i];
        bool is_exact = str_equal(limit->pool, pool_name);
        if (str_equal(limit->resource, resource) &&
            str_equal(limit->priority_class, class->name) &&
            (is_exact || (limit->pool.byte_count == 0 && !is_for_pool))) {
            ppm = limit->fraction_ppm;
            is_for_pool |= is_exact;
        }
    }
    if (ppm < 0) {
        return INT64_MAX;
    }
    i128 amount =
        (i128)sched->pools.items[pool].total.v[column] * ppm / FRACTION_ONE_PPM;
    amount += what_if_limit_more(what_if, index, pool, priority_class, column);
    return amount > INT64_MAX ? INT64_MAX : (int64_t)amount;
}
