/*
 * job_state - the life of a job, as one table [state][happening] -> state.
 *
 * A step that is not in the table cannot happen: such an event is a late or a
 * repeated report, and is dropped. docs/job-states.md is the same table for
 * people; a test compares them.
 *
 * A job whose run has ended stands in one of the JOB_RUN_* states until the
 * leader has decided what follows (job_action.h).
 *
 * Pure.
 */
#pragma once

#include "model/event.h"

/* Append, never renumber: checkpoints hold these. */
enum job_state {
    JOB_NONE = 0, /* never submitted */
    JOB_QUEUED = 1,
    JOB_LEASED = 2,
    JOB_PENDING = 3,
    JOB_RUNNING = 4,
    JOB_RUN_SUCCEEDED = 5, /* the run ended; the job's outcome is due */
    JOB_RUN_FAILED = 6,
    JOB_RUN_RETURNED = 7,
    JOB_RUN_EXPIRED = 8,
    JOB_RUN_PREEMPTED = 9,
    JOB_RUN_CANCELLED = 10,
    JOB_SUCCEEDED = 11, /* from here on: ended */
    JOB_FAILED = 12,
    JOB_CANCELLED = 13,
    JOB_PREEMPTED = 14,
    JOB_REJECTED = 15,
    JOB_STATE_COUNT,
};

/* What can happen to a job. */
enum job_happening {
    JOB_ON_OTHER = 0, /* events that move no job */
    JOB_ON_SUBMIT,
    JOB_ON_LEASED,
    JOB_ON_ASSIGNED,
    JOB_ON_RUNNING,
    JOB_ON_RUN_SUCCEEDED,
    JOB_ON_RUN_FAILED,
    JOB_ON_RUN_RETURNED,
    JOB_ON_RUN_EXPIRED,
    JOB_ON_RUN_PREEMPTED,
    JOB_ON_RUN_CANCELLED,
    JOB_ON_REQUEUED,
    JOB_ON_SUCCEEDED,
    JOB_ON_FAILED,
    JOB_ON_REJECTED, /* failed, for it can never be scheduled */
    JOB_ON_CANCELLED,
    JOB_HAPPENING_COUNT,
};

/* What `event` means to the job that it names. */
enum job_happening job_happening_of(const struct event *event);

/* The state that follows, or JOB_NONE where that cannot happen. */
enum job_state job_state_next(enum job_state state,
                              enum job_happening happening);

/* Lower-case names, as in the document. */
const char *job_state_name(enum job_state state);
/* The like for happenings. */
const char *job_happening_name(enum job_happening happening);

/* Whether a job in `state` has a run that is alive as far as we know. */
static inline bool job_state_has_run(enum job_state state)
{
    return state >= JOB_LEASED && state <= JOB_RUNNING;
}

/* Whether nothing can happen to a job any more. */
static inline bool job_state_is_ended(enum job_state state)
{
    return state >= JOB_SUCCEEDED;
}
