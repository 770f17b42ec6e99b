/*
 * search - where victims would be found, by what they go for: the
 * searches that victims_find() tries one after the other where no gang with
 * terms is at risk (groups_at_risk.h).
 *
 * They decide nothing: take.h takes what they find.  Private to
 * src/sched.
 */
#pragma once

#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* For fairness (fair.c): the node whose victims come last in the order
 * in which evicted work wins its places back, and from where on it must go
 * there; or NONE.  `own`: see victims_own(). */
uint32_t victims_find_last(const struct search *search, uint32_t own,
                           uint32_t *ret_depth);
/* The same of the nodes where the job's budget covers what must go by `rules`;
 * all nodes are asked. */
uint32_t victims_find_affordable(const struct search *search,
                                 const struct victim_rules *rules);
/* For urgency (urgent.c): the lowest level that must give way, which
 * goes into `rules`, and the best node there; or NONE.  Who may take nothing
 * for fairness begins with what was evicted alone and is less urgent, for
 * which the others have asked before. */
uint32_t victims_find_urgent(const struct search *search,
                             struct victim_rules *rules);
