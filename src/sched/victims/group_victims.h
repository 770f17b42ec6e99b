/*
 * group_victims - which pods of gangs with terms may be preempted, and which
 * others are preempted with them (model.md 2.11, 6.6 rule c).
 *
 * The pods that a sub-group has above its minimum may be preempted one by one,
 * those with the highest ids first: by rule c, or where the other rules permit
 * the whole gang.  To preempt one pod more means to preempt the whole gang.  On
 * a node that a gang has exclusively, all of its pods there are preempted, or
 * none.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* Whether the turn of what is searched for comes before that of a queue, with
 * all that it runs. */
bool group_victims_is_turn_before(const struct search *search, uint32_t queue);
/* List the pods of a gang on a node that the plan leaves there in round.pods,
 * the highest ids first; their number. */
uint32_t group_victims_list(struct round *round, uint32_t node,
                            const struct gang *gang);
/* Whether what a gang runs above its minimums, of which a run is, may be
 * preempted alone though the rules for all work do not permit it. */
bool group_victims_may_shrink(const struct search *search,
                              const struct gang *gang, const struct run *run,
                              const struct victim_rules *rules);
/* Add what may go of a gang on a node to `victims`, which has room for all its
 * pods there. */
void group_victims_add(const struct search *search, uint32_t node,
                       const struct gang *gang,
                       const struct victim_rules *rules, struct victim *victims,
                       uint32_t *count);
