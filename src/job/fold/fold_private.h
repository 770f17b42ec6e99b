/*
 * fold_private - what fold_run.c, which keeps what is known of a job's runs,
 * shows to jobs_fold.c.
 */
#pragma once

#include "job/table/jobs_private.h"

/* The job that an event about a run is of, if it has that run now.  The run
 * alone leads there: one look-up, and what was judged by the run is near. */
uint32_t fold_find_run(const struct jobs *jobs, const struct event *event);
/* Whether an event is about a run. */
bool fold_names_run(enum job_happening happening);
/* What the way into a state does beside the state itself. */
void fold_on_enter(struct jobs *jobs, uint32_t job,
                   enum job_happening happening, const struct event *event);
/* What an event says of a failure. */
struct str fold_failure(const struct event *event);
