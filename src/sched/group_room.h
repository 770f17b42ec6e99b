/*
 * group_room - how many members of one class a group of nodes might hold, so
 * that a gang does not try all racks that could never do.
 *
 * Never too few: whether they really fit is found out by trying.  Private to
 * src/sched.
 */
#pragma once

#include "sched/round.h"

/* Whether `needed` might be held in free space. */
bool group_holds_free(struct round *round, uint32_t class_index,
                      const struct label_group *group, uint32_t needed);
/* How many might be if all went that may. */
uint32_t group_room_most(struct round *round, uint32_t class_index,
                         const struct label_group *group);
/* The same, found out once a round for all groups of the index, since in a
 * round that only becomes less. */
uint32_t group_holds_most(struct round *round, uint32_t class_index,
                          const struct label_index *index, uint32_t group);
/* How many would be on empty nodes; also once a round.  Without an index
 * (NULL) all of the pool's nodes are one group. */
uint32_t group_holds_empty(struct round *round, uint32_t class_index,
                           const struct label_index *index, uint32_t group);
