/*
 * borrowed - jobs whose home is another pool (model.md 5.4 to 5.6).  They wait
 * in lists of their own: lending.h gives them places, lend.h takes them back.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Whether a job's home is elsewhere. */
static inline bool lend_is_borrowed(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].is_borrowed;
}

/* A run came to (+1) or left (-1) its node. */
void lend_count_run(struct sched *sched, const struct run *run, int sign);
