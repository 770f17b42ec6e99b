#include "sched/victims/surplus_order.h"

#include "sched/data/merge_sort.h"
#include "sched/state/scale.h"
#include "sched/victims/searches.h"

/* A queue and what it has. */
struct holding {
    struct cost cost;
    uint32_t queue;
};

static int compare_names(const struct sched *sched, uint32_t a, uint32_t b)
{
    const struct queue *queues = sched->queues.items;

    return (queues[a].rank > queues[b].rank) -
           (queues[a].rank < queues[b].rank);
}

static bool has_less(const struct round *round, const struct holding *a,
                     const struct holding *b)
{
    int c = cost_compare(&round->pool->base, &a->cost, &b->cost);

    return (c ? c : compare_names(round->sched, a->queue, b->queue)) < 0;
}

/* By queue: 1 + how many have less, 0 where a queue has nothing. */
static uint32_t *rank_queues(struct round *round)
{
    uint32_t count, *ranks;
    const struct share *shares = round_shares(round, &count);
    struct holding *items =
        arena_alloc_array(round->arena, (size_t)count + 1, sizeof(*items));
    struct holding *spare =
        arena_alloc_array(round->arena, (size_t)count + 1, sizeof(*spare));

    for (uint32_t i = 0; i < count; i++) {
        const struct queue *queue =
            &round->sched->queues.items[shares[i].queue];
        items[i] = (struct holding){
            .cost = cost_of(&round->pool->base, &shares[i].allocated, NULL,
                            queue->factor_micro),
            .queue = shares[i].queue,
        };
    }
#define HAS_LESS(b, a) has_less(round, b, a)
    items = MERGE_SORT(items, spare, count, HAS_LESS);
#undef HAS_LESS
    ranks = arena_alloc_array(round->arena, round->sched->queues.count,
                              sizeof(*ranks));
    for (uint32_t i = 0; i < count; i++) {
        ranks[items[i].queue] = i + 1;
    }
    return ranks;
}

int surplus_order_compare(struct round *round, uint32_t a, uint32_t b)
{
    const struct sched *sched = round->sched;
    uint32_t left = sched->gangs.items[a].queue;
    uint32_t right = sched->gangs.items[b].queue;

    if (a == b || left == right) {
        return a != b && scale_is_ordered(sched, a, b)
                   ? scale_compare(sched, a, b)
                   : 0;
    }
    if (!round->searches->queue_ranks) {
        round->searches->queue_ranks = rank_queues(round);
    }
    uint32_t left_rank = round->searches->queue_ranks[left];
    uint32_t right_rank = round->searches->queue_ranks[right];
    return left_rank != right_rank ? (left_rank < right_rank ? -1 : 1)
                                   : compare_names(sched, left, right);
}
