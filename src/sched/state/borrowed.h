/*
 * borrowed - jobs whose home is another pool (model.md 5.4 to 5.6).  They wait
 * in lists of their own: lending.h places them, recall.h preempts them.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Whether a job's home is elsewhere. */
static inline bool borrowed_has(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].is_borrowed;
}

/* Whether any waits. */
static inline bool borrowed_waits(const struct sched *sched)
{
    return sched->borrowed_waiting_count;
}

/* Whether any runs, of all or on a node. */
static inline bool borrowed_runs(const struct sched *sched)
{
    return sched->borrowed_run_count;
}
static inline bool borrowed_runs_on(const struct sched *sched, uint32_t node)
{
    return sched->nodes.items[node].borrowed_count;
}

/* Whether what runs gives way to the pool's own work. */
static inline bool borrowed_gives_way(const struct sched *sched)
{
    return borrowed_runs(sched) && !sched->is_preemption_off;
}

/* How many wait, and how many run. */
static inline uint32_t borrowed_waiting_count(const struct sched *sched)
{
    return sched->borrowed_waiting_count;
}
static inline uint32_t borrowed_run_count(const struct sched *sched)
{
    return sched->borrowed_run_count;
}
/* A job waits from now on (+1), or no longer (-1). */
void borrowed_count_waiting(struct sched *sched, uint32_t job, int sign);
/* No run is linked to its node any more: they are all linked anew. */
void borrowed_forget_runs(struct sched *sched);
/* A run came to (+1) or left (-1) its node. */
void borrowed_count_run(struct sched *sched, const struct run *run, int sign);
