/*
 * control_fold - what each event does to the live state.  Life, replay and
 * checkpoints come the same way.
 *
 *     fold.c       records, and whom each of their events concerns
 *     fold_jobs.c  changes of jobs
 *     handles.c      queues, classes and jobs for the scheduler
 *     fold/policy.c     policies
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

/* A queue that is set, or that still has jobs; its index is that of its name,
 * and its handle in the scheduler. */
struct control_queue {
    uint32_t job_count;
    bool is_set;
    uint32_t transition_first; /* of control.transitions, plus 1; 0: none */
};

/* A scheduling class, by the job table's index of it. */
struct control_class {
    uint32_t sched_class;
    uint32_t job_count;
    uint32_t checked_no;    /* control.loss_no: it fitted then; 0: never */
    uint32_t checked_shard; /* of pools.h: where the job was that did */
    uint64_t checked_pool;  /* a hash of the pool that it named */
};

/* What the scheduler's side of a job is, by the job's index. */
struct job_link {
    uint32_t queue, class_index;
};

/* A policy and all that it points to. */
struct policy_box {
    struct arena arena;
    struct policy policy;
    char *text; /* owned */
};

/* fold.c */

/* Set up empty state under `policy`, which is taken. */
void state_init(struct control *c, struct policy_box *policy, uint64_t seed);
/* Free it. */
void state_fini(struct control *c);
/* For a log_soon_fn: have what an event is about fetched from memory, in the
 * job table and in the planner. */
void fold_soon(const struct log_item *item, uint32_t stage,
               const struct control *c);
/* Fold one record's payload. */
int fold_payload(struct control *c, struct str payload, uint64_t seq,
                 int64_t time_ms, struct err *err) must_check;

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

/* handles.c */

/* The index of a queue that is set or has jobs, or NAMES_NONE. */
uint32_t queue_find(const struct control *c, struct str name);
/* Set a queue from its encoding, as the event does. */
void queue_apply(struct control *c, const struct queue_record *record,
                 struct str encoded);
/* A queue is deleted; it stays, closed, as long as it has jobs. */
void queue_forget(struct control *c, struct str name);
/* Give a job of the table to the scheduler. */
void link_job(struct control *c, uint32_t job, struct str queue);
/* It asks for something else from now on. */
void relink_job(struct control *c, uint32_t job);
/* It has ended: the scheduler knows it no more. */
void unlink_job(struct control *c, uint32_t job);

/* fold/policy.c */

/* Read a policy; NULL when the text is not one. */
struct policy_box *policy_box_read(struct str text, struct err *err) must_check;
/* NULL is fine. */
void policy_box_destroy(struct policy_box *box);
/* Go by another policy; what is no policy is passed over. */
void policy_apply(struct control *c, struct str text);
/* Fold RETRY_POLICY_SET and _DELETED. */
void retry_policy_fold(struct control *c, const struct event *event);
