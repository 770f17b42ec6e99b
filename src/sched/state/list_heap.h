/*
 * list_heap - the lists of a queue, ordered by the first item of each.
 *
 * A queue that is not ordered by applications has its lists in a binary heap,
 * by class priority, job priority, submission and id of the first item: so a
 * round need not look at all of them to know what comes first, and what it
 * looks at lies together in memory.  The heap is kept up to date by the deltas
 * that change what is first; a round only reads it.
 *
 * A queue that is ordered `cfs` has its lists there too, but does not draw
 * from them in this order.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* What is first in a list, or whether there is anything, may be another. */
void list_heap_refresh(struct sched *sched, uint32_t list);
/* Whether a queue's heap is what its lists say; for checks. */
bool list_heap_are_right(const struct sched *sched, uint32_t queue);
