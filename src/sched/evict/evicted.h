/*
 * evicted - the evicted runs of a round, stored for searches.
 *
 * Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/order/round.h"

/* The same run beside the others that are evicted on its node, where searches
 * look: all that they ask of it. */
struct evicted_run {
    uint32_t run, node, job, class_index, unit;
    uint32_t queue;   /* of its account */
    uint32_t gang;    /* or NONE */
    uint32_t ordinal; /* of the unit */
    uint32_t
        place; /* in the order in which evicted runs go; see eviction_index.h */
    uint8_t level;
    bool is_urgency_preemptible;
    bool is_out; /* the run's state is RUN_EVICTED */
};

/* The bit of a queue in `evicted.queues`; others may share it. */
static inline uint64_t evicted_queue_bit(uint32_t queue)
{
    return UINT64_C(1) << queue % 64;
}

struct evicted {
    uint32_t count;           /* runs that are out of their places now */
    uint32_t kept_count;      /* of them that are not of a tail:
                                 eviction_tail.h */
    struct evicted_run *runs; /* by node, each node's by ordinal */
    uint32_t *nodes;          /* that have any */
    uint64_t *queues;         /* by node: bits of the queues that had any there;
                                 one word tells most nodes apart; NULL: none */
    uint32_t node_count;
    uint32_t level_max;
    bool has_protected;   /* some of it from urgency; its lifetime lets it go */
    struct cost *turns;   /* by ordinal: when its turn comes; NULL: not asked */
    uint32_t *turn_units; /* by ordinal */
    /* Of gang_protection.c: whether a queue has less than half of its due. */
    bool are_poor_known, is_any_poor;
};
