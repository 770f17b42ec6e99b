/*
 * group_room - an upper bound on the members of one class that a group of nodes
 * holds, so that a gang does not try racks that could never hold it.
 *
 * Never too few: whether they really fit is found out by trying.  Private to
 * src/sched.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/place/place.h"

/* Whether these bounds hold for what is placed now: not while work that yields
 * or surplus of gangs with terms may go. */
bool group_room_is_known(const struct round *round);
/* Whether `needed` might be held in free space. */
bool group_holds_free(struct round *round, uint32_t class_index,
                      const struct label_group *group, uint32_t needed);
/* Whether `needed` might be if all went that may, as the round has it now:
 * work that yields, surplus and what may go away do not count. */
bool group_holds_most(struct round *round, uint32_t class_index,
                      const struct label_group *group, uint32_t needed);
/* How many might be if all urgency-preemptible work went up to the class's
 * level. */
uint32_t group_room_most(struct round *round, uint32_t class_index,
                         const struct label_group *group);
/* How many would be on empty nodes; found out once a round.  Without an index
 * (NULL) all of the pool's nodes are one group. */
uint32_t group_holds_empty(struct round *round, uint32_t class_index,
                           const struct label_index *index, uint32_t group);
