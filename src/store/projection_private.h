/*
 * projection_private - what the parts of a projection share; for
 * projection*.c only.
 *
 *     projection.c       rows, and whom each event concerns
 *     projection_jobs.c  events about jobs
 *     projection_runs.c  events about runs
 *
 * What adds an event is 0 or a negative code; one that concerns no row that is
 * known is passed over.
 */
#pragma once

#include "store/projection.h"

/* projection.c */

/* The row of a job: 1; 0 if the store does not know it. */
int projection_find_job(struct projection *projection, struct job_id id,
                        struct job_row **ret_row);
/* The rows of a run and of its job: 1; 0 if either is not known. */
int projection_find_run(struct projection *projection,
                        const struct event *event, struct job_row **ret_job,
                        struct run_row **ret_run);

/* projection_jobs.c */

/* Add a job, but one that is known already or is of no job set. */
int projection_submit(struct projection *projection,
                      const struct event_scope *scope,
                      const struct event *event);
/* Add what else happens to a job by itself. */
int projection_job_event(struct projection *projection,
                         const struct event_scope *scope,
                         const struct event *event);
/* A job that has ended stays as it ended, whatever comes late. */
void projection_set_job_state(struct projection *projection,
                              struct job_row *row, enum stored_job_state state,
                              int64_t now_ms);
/* Note usage of a job. */
void projection_note_usage(struct projection *projection,
                           const struct job_row *row, struct usage_note note);
/* At most STORE_TEXT_BYTES_MAX of a text, without half a character. */
struct str projection_cut(struct str text);
/* What a row says of an error. */
struct str projection_error_text(const struct event_error *error);

/* projection_runs.c */

/* Add a run, but one that is known already or whose job has ended. */
int projection_leased(struct projection *projection, const struct event *event);
/* Add what happens to a run. */
int projection_run_event(struct projection *projection,
                         const struct event *event);
