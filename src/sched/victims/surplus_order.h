/*
 * surplus_order - whose surplus is preempted first (model.md 6.6: "smaller
 * queue fraction" keeps its place, and within a `cfs` queue the rightmost unit
 * gives first).
 *
 * Of two queues, the one that has more of the pool for its weight, as the round
 * found it, gives first; of equal ones, the one whose name is last.  Within a
 * queue that is ordered `cfs`, gangs are compared by their scores; within any
 * other queue all gangs are equal.  None of this changes during a round, so the
 * order of gangs has no circles.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* <0 as gang `a` keeps its surplus before `b`, >0 as it gives first. */
int surplus_order_compare(struct round *round, uint32_t a, uint32_t b);
