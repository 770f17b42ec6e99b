#include "job/table/job_state.h"

/* A run may be seen ended before it was seen to begin. */
#define RUN_ENDS                                \
    [JOB_ON_RUN_SUCCEEDED] = JOB_RUN_SUCCEEDED, \
    [JOB_ON_RUN_FAILED] = JOB_RUN_FAILED,       \
    [JOB_ON_RUN_RETURNED] = JOB_RUN_RETURNED,   \
    [JOB_ON_RUN_EXPIRED] = JOB_RUN_EXPIRED,     \
    [JOB_ON_RUN_PREEMPTED] = JOB_RUN_PREEMPTED, \
    [JOB_ON_RUN_CANCELLED] = JOB_RUN_CANCELLED

static const uint8_t next[JOB_STATE_COUNT][JOB_HAPPENING_COUNT] = {
    [JOB_NONE] = {[JOB_ON_SUBMIT] = JOB_QUEUED},
    [JOB_QUEUED] = {[JOB_ON_LEASED] = JOB_LEASED,
                    [JOB_ON_FAILED] = JOB_FAILED,
                    [JOB_ON_REJECTED] = JOB_REJECTED,
                    [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_LEASED] = {[JOB_ON_ASSIGNED] = JOB_PENDING,
                    [JOB_ON_RUNNING] = JOB_RUNNING,
                    RUN_ENDS},
    [JOB_PENDING] = {[JOB_ON_RUNNING] = JOB_RUNNING, RUN_ENDS},
    [JOB_RUNNING] = {RUN_ENDS},
    [JOB_RUN_SUCCEEDED] = {[JOB_ON_SUCCEEDED] = JOB_SUCCEEDED,
                           [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_RUN_FAILED] = {[JOB_ON_REQUEUED] = JOB_QUEUED, /* it is replaced */
                        [JOB_ON_FAILED] = JOB_FAILED,
                        [JOB_ON_REJECTED] = JOB_FAILED, /* in its words */
                        [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_RUN_RETURNED] = {[JOB_ON_REQUEUED] = JOB_QUEUED,
                          [JOB_ON_FAILED] = JOB_FAILED,
                          [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_RUN_EXPIRED] = {[JOB_ON_REQUEUED] = JOB_QUEUED,
                         [JOB_ON_FAILED] = JOB_FAILED,
                         [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_RUN_PREEMPTED] = {[JOB_ON_REQUEUED] = JOB_QUEUED,
                           [JOB_ON_RUN_PREEMPTED] = JOB_RUN_PREEMPTED,
                           [JOB_ON_FAILED] = JOB_PREEMPTED,
                           [JOB_ON_CANCELLED] = JOB_CANCELLED},
    [JOB_RUN_CANCELLED] = {[JOB_ON_CANCELLED] = JOB_CANCELLED},
};
_Static_assert(JOB_NONE == 0, "0 in the table above means `cannot happen`");

/* clang-format off */
static const char *const state_names[JOB_STATE_COUNT] = {
    "none", "queued", "leased", "pending", "running",
    "run succeeded", "run failed", "run returned", "run expired",
    "run preempted", "run cancelled",
    "succeeded", "failed", "cancelled", "preempted", "rejected",
};
static const char *const happening_names[JOB_HAPPENING_COUNT] = {
    "other", "submit", "leased", "assigned", "running",
    "run succeeded", "run failed", "run returned", "run expired",
    "run preempted", "run cancelled",
    "requeued", "succeeded", "failed", "rejected", "cancelled",
};
/* clang-format on */

static enum job_happening happening_of_run_error(const struct event_error *e)
{
    if (!e->is_terminal) {
        return JOB_ON_OTHER;
    }
    switch ((int)e->kind) {
    case ERROR_LEASE_RETURNED:
        return JOB_ON_RUN_RETURNED;
    case ERROR_LEASE_EXPIRED:
        return JOB_ON_RUN_EXPIRED;
    case ERROR_PREEMPTED:
        return JOB_ON_RUN_PREEMPTED;
    default:
        return JOB_ON_RUN_FAILED;
    }
}

static enum job_happening happening_of_failure(const struct event_error *e)
{
    if (!e->is_terminal) {
        return JOB_ON_OTHER; /* a retry follows */
    }
    return e->kind == ERROR_REJECTED ? JOB_ON_REJECTED : JOB_ON_FAILED;
}

enum job_happening job_happening_of(const struct event *event)
{
    switch ((int)event->type) {
    case EVENT_SUBMIT:
        return JOB_ON_SUBMIT;
    case EVENT_LEASED:
        return JOB_ON_LEASED;
    case EVENT_RUN_ASSIGNED:
        return JOB_ON_ASSIGNED;
    case EVENT_RUN_RUNNING:
        return JOB_ON_RUNNING;
    case EVENT_RUN_SUCCEEDED:
        return JOB_ON_RUN_SUCCEEDED;
    case EVENT_RUN_ERRORS:
        return happening_of_run_error(&event->error);
    case EVENT_RUN_PREEMPTED:
        return JOB_ON_RUN_PREEMPTED;
    case EVENT_RUN_CANCELLED:
        return JOB_ON_RUN_CANCELLED;
    case EVENT_REQUEUED:
        return JOB_ON_REQUEUED;
    case EVENT_SUCCEEDED:
        return JOB_ON_SUCCEEDED;
    case EVENT_FAILED:
        return happening_of_failure(&event->error);
    case EVENT_CANCELLED:
        return JOB_ON_CANCELLED;
    default:
        return JOB_ON_OTHER;
    }
}

enum job_state job_state_next(enum job_state state,
                              enum job_happening happening)
{
    ASSERT(state < JOB_STATE_COUNT && happening < JOB_HAPPENING_COUNT);
    return (enum job_state)next[state][happening];
}

const char *job_state_name(enum job_state state)
{
    ASSERT(state < JOB_STATE_COUNT);
    return state_names[state];
}

const char *job_happening_name(enum job_happening happening)
{
    ASSERT(happening < JOB_HAPPENING_COUNT);
    return happening_names[happening];
}
