/*
 * price - what an attempt to place a gang costs others, to choose the better of
 * two attempts: the price of sets.h, of all that the try preempts, in its
 * order.
 *
 *   hops     the levels over which the sub-groups that ask would be spread
 *            with what runs of them, summed up; 0 where the topology has no
 *            say in where the gang goes
 *   ordinal  of what was evicted and goes for fairness, but not of what goes
 *            with it as its gang
 *   lost     what would be left on the nodes that members take, weighted
 *   node     none; of tries that cost the same the one that was made first
 *            stands
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/gang/attempt.h"

/* The price of all that was decided since the try began. */
struct victim_set gang_price_of(const struct attempt *attempt);
/* Give the try up once it costs more than `limit` (NULL: never), which the
 * caller keeps as long. */
void gang_price_limit(struct attempt *attempt, const struct victim_set *limit);
/* Whether it does: by its victims' ranks and number, which only grow. */
bool gang_price_is_over(struct attempt *attempt);
