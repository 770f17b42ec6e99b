/*
 * starving - gives a turn to gangs that wait too long.  By the usual order, a
 * queue whose next gang is large may stay behind others' small work for ever:
 * they are always admitted before it.  So, while there is room in a pool's
 * list, a gang that has been the first of its queue for `starved_after_ms` is
 * tried, and admitted, before the others of its level, the longest waiting
 * first.  It is the first since it was submitted, and since whatever of its
 * queue's runs stood before it was leased.
 *
 * A queue whose turns come has a new first one all the time, so this serves
 * those alone whose turns do not, one gang at a time.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* The lane whose head starves longest and is next, or NULL.  Each lane is
 * given once in a round. */
struct lane *starving_next(struct round *round);
