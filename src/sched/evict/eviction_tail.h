/*
 * eviction_tail - which running work of queues over their share a round need
 * not evict.
 *
 * Evicted work wins its places back in an order.  What comes in that order
 * before all new work has its place back before anything could take it.  So of
 * a queue over its share only the *tail* is evicted: what may come after some
 * new work.  The rest is counted without being examined, because evictable work
 * is kept in order (evictable.h) and the tail is its end.  The plan is the
 * same, and so is the work that it counts.
 *
 * A round cannot always tell what its new work costs at the least: not where
 * gangs run or wait, flows are remembered, pools lend, or starving work goes
 * first.  Then it evicts everything.
 *
 * Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/order/round.h"

/* What all new work of a round comes after, and evicted work before that is
 * not of a tail: `level` and `cost`, in the order of the heap. */
struct tail_bound {
    uint32_t level;
    struct cost cost;
};

/* What was found of evicted work. */
struct tail {
    struct tail_bound bound;
    struct unit *units; /* single jobs, by lane; each lane's in order */
    uint32_t count, capacity;
    uint32_t kept_count; /* that are not of it */
};

/* Whether the round can tell; sets the bound, all else is empty. */
bool tail_begin(struct round *round, struct tail *ret_tail);
/* Add what is of the tail of a lane's work; from the first unit that was
 * added on they are the lane's.  False: the round cannot tell after all. */
bool tail_add_lane(struct round *round, uint32_t lane, struct tail *tail);
