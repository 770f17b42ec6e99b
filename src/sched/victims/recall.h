/*
 * recall - preempts borrowed work (model.md 5.6, 6.6 rule a).
 *
 * When work that is at home here needs room, borrowed work is preempted before
 * all other work, unless the pool's preemption is off: it counts as
 * urgency-preemptible, at the lowest level, and what is evicted for fairness it
 * never is.  Of the nodes where borrowed work alone makes room, that with the
 * fewest victims is taken, then that where least is lost: the order of model.md
 * 6.6 for them.
 *
 * A shard without borrowed work pays nothing but the looks at two counters.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/lending.h"
#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* Whether this run may go because it is borrowed. */
bool recall_is_victim(const struct round *round, const struct run *run);
/* Add what may go so on a node. */
void recall_add_room(const struct round *round, uint32_t node,
                     struct resource_vec *room);
/* The best node on which borrowed work alone makes room, or NONE; the rules by
 * which it is chosen who goes there. */
uint32_t recall_find(const struct search *search,
                     struct victim_rules *ret_rules);
