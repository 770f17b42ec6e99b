/*
 * fold - the effect of each event on the live state, the same for live and
 * replayed records and checkpoints.
 *
 *     fold.c        records, and whom each of their events concerns
 *     fold_jobs.c   changes of jobs
 *     handles.c     queues, classes and jobs for the scheduler
 *     policy.c      policies
 *
 * A queue, class or job is in the scheduler as long as it is in these tables.
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/arena.h"
#include "job/table/jobs.h"
#include "model/event.h"
#include "model/policy.h"
#include "model/queue.h"
#include "wire/log/log_codec.h"

struct control;
struct policy_box;

/* fold.c */

/* For a log_soon_fn: have what an event is about fetched from memory, in the
 * job table and in the planner. */
void fold_soon(const struct log_item *item, uint32_t stage,
               const struct control *c);
/* Fold one record's payload. */
int fold_payload(struct control *c, struct str payload, uint64_t seq,
                 int64_t time_ms, struct err *err) must_check;

/* check.c */

/* Whether the tables agree: queues and classes with their jobs, executors with
 * their nodes and with the runs that they have not reported, runs with their
 * jobs. */
bool fold_is_sound(const struct control *c);

/* fold.c */

/* Whether there are nodes for a job is to be found out. */
void fold_unproven(struct control *c, uint32_t job);

/* fold_jobs.c */

/* An event, of record `seq`, has changed a job. */
void fold_job_change(struct control *c, const struct jobs_change *change,
                     const struct log_item *item, uint64_t seq);
/* Fold ADMITTED and DISMISSED, which change no state of a job. */
void fold_admission(struct control *c, const struct event *event);
/* A job that ran is in `state` now; if that is an end of its own, it may count
 * on in its queue. */
void note_finished(struct control *c, uint32_t job, enum job_state state);

/* run_changes.c */

/* Report a change of a job's run to the planner and to its executor; before
 * the job may go. */
void run_change_note(struct control *c, const struct jobs_change *change,
                     const struct event *event);

/* handles.c */

/* The index of a queue that is set or has jobs, or INTERN_NONE. */
uint32_t queue_find(const struct control *c, struct str name);
/* Set a queue from its encoding, as the event does. */
void queue_apply(struct control *c, const struct queue_record *record,
                 struct str encoded);
/* A queue is deleted; it stays, closed, as long as it has jobs. */
void queue_forget(struct control *c, struct str name);
/* Give a job of the table to the scheduler, unless it is held. */
void job_handles_make(struct control *c, uint32_t job, struct str queue);
/* It may be held now, or no longer; whether it is new to the scheduler. */
bool job_handles_sync(struct control *c, uint32_t job);
/* It asks for something else from now on. */
void job_handles_renew(struct control *c, uint32_t job);
/* It has ended: the scheduler knows it no more. */
void job_handles_drop(struct control *c, uint32_t job);

/* policy.c */

/* Read a policy; NULL when the text is not one. */
struct policy_box *policy_box_read(struct str text, struct err *err) must_check;
/* The same of what a person has written (policy_read_written()); errors call it
 * `file_name`. */
struct policy_box *policy_box_read_written(struct str text,
                                           const char *file_name,
                                           struct err *err) must_check;
/* NULL is fine. */
void policy_box_destroy(struct policy_box *box);
/* Go by another policy; what is no policy is passed over. */
void policy_apply(struct control *c, struct str text);
/* Fold RETRY_POLICY_SET and _DELETED. */
void retry_policy_fold(struct control *c, const struct event *event);
