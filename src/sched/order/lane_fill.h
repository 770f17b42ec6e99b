/*
 * lane_fill - which lists a lane draws from at all: all that it may, without
 * those that are known to be hopeless in this round.
 *
 * Private to src/sched, for the lanes alone; see lanes.h for lane_fill().
 */
#pragma once

#include "sched/order/lanes.h"

/* Whether nothing of a class (NONE: of gangs, of which that is not known) can
 * be placed any more in this round, nor be admitted. */
bool lane_fill_is_hopeless(struct round *round, const struct lane *lane,
                           uint32_t class_index, uint32_t level);
/* Pass over the first list, whose class is hopeless, and when many such came
 * in a row over all others of the class as well: where each application has
 * lists of its own, one by one would cost a sift each.  `row` counts. */
void lane_fill_drop_class(struct round *round, struct lane *lane,
                          uint32_t *row);
/* Many lists in a row were hopeless: pass over all others that are as well,
 * where one by one would cost a sift each. */
void lane_fill_drop_hopeless(struct round *round, struct lane *lane);
