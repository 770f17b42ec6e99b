/*
 * held_jobs - what the properties about held jobs (waits, turns) do to a table
 * of jobs.  Threads: one.
 */
#pragma once

#include "base/arena.h"
#include "job/table/jobs.h"

/* An event is one of the caller's jobs'. */
typedef void (*held_jobs_apply)(void *world, const struct event *event);

/* Say all that is due, until nothing is. */
void held_jobs_settle(struct jobs *jobs, struct arena *arena,
                      held_jobs_apply apply, void *world);
/* The lease of a job's first run. */
struct event held_jobs_lease(struct job_id job);
/* Put the table that a checkpoint of `jobs` gives in its place; whether it is
 * whole, and written the same way again. */
bool held_jobs_restore(struct jobs **jobs, const struct policy *policy);
