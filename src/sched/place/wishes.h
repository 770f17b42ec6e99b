/*
 * wishes - which of several equal nodes a job would rather have
 * (docs/rules/order-and-fairness.md, docs/decisions/0074).
 *
 * A job wishes for nodes by preferred node affinity, and away from nodes with
 * PreferNoSchedule taints that it does not tolerate.  Fewer such taints come
 * first, then the larger sum of the weights of the preferences that match.
 *
 * Only nodes that the planner's own order holds for equal are compared, those
 * with equal weighted free amounts; before, the name decided among them.  So
 * whether a job starts, and what room is left beside it, depends on no wish.
 *
 * A score is computed once per class and kind of node (node_shapes.h).  Classes
 * without wishes, while no node has such a taint, cost one comparison.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/place/place.h"

/* Whether the wishes of the class of a search tell any nodes apart. */
bool wishes_has(const struct search *search);
/* How much the class would like a node: the more, the better. */
int64_t wishes_score(const struct search *search, uint32_t node);
/* The node that the class likes best of those that are equal to `first`, which
 * was found in the pool's index; then the first by name. */
uint32_t wishes_choose(const struct search *search, uint32_t first);
