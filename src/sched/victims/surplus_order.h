/*
 * surplus_order - whose surplus is preempted first (model.md 6.6: "smaller
 * queue fraction" keeps its place, and within a `cfs` queue the rightmost unit
 * gives first).
 *
 * Of two queues the one gives that has more of the pool, by its weight, as the
 * round found it; of those that have as much, the one whose name is last.
 * Within a queue that is ordered `cfs` gangs go by their scores; within
 * another one none goes before another.  All that is asked stays so during a
 * round, and what it makes of gangs is an order without circles.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* <0 as gang `a` keeps its surplus before `b`, >0 as it gives first. */
int surplus_order_compare(struct round *round, uint32_t a, uint32_t b);
