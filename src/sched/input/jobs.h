/*
 * jobs - shared by the deltas about jobs: a job itself, its counts, and its
 * application.
 *
 * Private to src/sched.  The deltas are those of sched.h: jobs.c has jobs that
 * come, go and change, job_leases.c their leases, job_avoids.c the nodes that
 * they avoid.  Below them waiting.c, lists.c and runs.c keep the tables, by
 * the functions that state_jobs.h lists.
 */
#pragma once

#include "sched/apps/apps.h"
#include "sched/state/state.h"

/* The class of a job. */
static inline struct class *jobs_class(struct sched *sched,
                                       const struct job *job)
{
    uint32_t c = sched->lists.items[job->list].class_index;

    return &sched->classes.items[c];
}
/* The job of an index, which must be known. */
struct job *jobs_at(struct sched *sched, uint32_t index);
/* Whether a job has had a run: its gang was complete once, then. */
void jobs_mark_leased(struct sched *sched, struct job *job, bool was_leased);
/* One more or less of what a queue has: only the first and the last matter to
 * whether it has jobs at all. */
void jobs_count_of_queue(struct sched *sched, uint32_t queue, uint32_t *count,
                         int sign);
/* Tell a job's application, if it has one, that the job waits or asks for
 * nothing any more (`asks`), and has or loses a lease. */
void jobs_tell_app(struct sched *sched, const struct job *job, int asks,
                   int allocations, enum app_event event);
/* A run that a disruption budget protects counts, or (`sign` -1) counts no
 * longer, in the shard and in its pool. */
void run_count_protected(struct sched *sched, const struct run *run, int sign);
/* Take the lease of a job off. */
void jobs_drop_run(struct sched *sched, struct job *job);
/* It avoids no node any longer. */
void jobs_forget_avoided(struct sched *sched, uint32_t job);
