/*
 * control_batch - the batch that the leader forms: commands, silence, what is
 * owed, plans; in this order, on the state after the batch before.
 *
 *     batch.c     form, what is owed to jobs
 *     flight.c    its way into the log, and its end
 *     commands.c  which commands go into it
 *     decide/submit.c    submissions
 *     events.c    sequences that others made: reports, requests
 *     decide/groups.c    groups of pods as a whole
 *     members.c   jobs that cannot be of the gang that they name
 *     unschedulable.c   jobs that can never run
 *     decide/plan.c      decisions of plans
 *     preempt.c   why a job is preempted, in words
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "control/command/command.h"
#include "job/due/job_action.h"
#include "sched/sched.h"
#include "wire/log/log_codec.h"

struct control;

/* A record in flight may outlive the leader: the log tells of it, and lets go
 * of its payload, when it is closed. */
struct flight {
    struct control *control; /* NULL: the leader is gone */
    struct log_batch log;    /* then the payload's, owned */
};

/* The batch that is being formed or in flight. */
struct batch {
    struct log_batch log;
    struct command *first, *last; /* answered when it is durable */
    VEC(uint32_t) owed;           /* jobs; dirty again if it fails */
    VEC(struct job_id) fresh;     /* jobs submitted in it with a client id */
    struct map fresh_by_key;      /* to their place in `fresh` */
    VEC(uint64_t) touched;        /* bits by job: decided in it, or ended */
    VEC(uint32_t) touched_jobs;
    VEC(uint32_t) leaving; /* gangs of which users have jobs preempted in it */
    struct arena arena;
    uint64_t seq;
    int64_t time_ms;
    uint32_t decision_count;
    uint32_t submit_count;
    uint32_t fresh_node_count; /* of inventories; at least */
    uint32_t quiet_count;      /* events that alone are worth no record */
    VEC(uint32_t) planned;     /* shards with a plan in it */
    bool is_in_flight, is_told, is_announcement;
    bool deletes_a_queue; /* submissions wait for the batch after it */
    bool changes_pools;   /* no plan may begin before it is folded */
    bool moves_nodes;     /* from pool to pool; what was planned waits for it */
    bool is_counted;      /* executors' in_batch_count is this batch's */
    bool has_training;    /* so do further commands about TrainingJobs */
    int result;
    struct str payload; /* borrowed from `log` */
};

/* batch.c */

/* Form the next batch; false if there is nothing to append. */
bool batch_form(struct control *c);
/* Forget all of the batch but its memory. */
void batch_clear(struct batch *batch);
/* Put a command on the batch's list: answered with the batch. */
void batch_keep(struct batch *batch, struct command *command);
/* Whether a job is decided or ended in the batch that is being formed. */
bool batch_is_touched(const struct batch *batch, uint32_t job);
/* Mark it so. */
void batch_touch(struct batch *batch, uint32_t job);
/* Add the events of decisions about one job. */
void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions);
/* Add what is owed to a job; false if that is nothing. */
bool batch_add_owed(struct control *c, uint32_t job);

/* flight.c */

/* Hand the batch to the log; -ERR_LIMIT: it is more than a record may hold. */
int flight_submit(struct control *c) must_check;
/* What became of the batch in flight: once it is durable it is folded and its
 * commands are answered.  0 also if that is not known yet. */
int flight_poll(struct control *c, struct err *err) must_check;
/* Nothing has happened; what was decided is decided again. */
void flight_failed(struct control *c, int result);
/* Answer the commands of the batch with COMMAND_LOG_FAILED. */
void flight_refuse(struct control *c, const char *text);
/* The leader goes; a record in flight stays until the log has told of it. */
void flight_leave(struct control *c);

/* commands.c */

/* Take what waits, as long as the batch has room; keep the order of what is
 * left. */
void batch_take_commands(struct control *c);

/* decide/submit.c */

/* Take a COMMAND_SUBMIT: answer it or add its jobs. */
void batch_take_submit(struct control *c, struct command *command);

/* events.c */

/* Add the sequences of a COMMAND_EVENTS: false when it was answered instead,
 * or must wait until no plan is being made. */
bool batch_add_events(struct control *c, struct command *command,
                      bool *ret_must_wait);
/* A run that ends by `event` in this batch is not preempted in it as well, and
 * a gang of which it has a job preempted starts no more of its jobs in it. */
void batch_touch_ended(struct control *c, const struct event *event);

/* decide/groups.c */

/* Add what is owed to a gang as a whole, but to jobs that are touched; false
 * if that is nothing. */
bool batch_add_group(struct control *c, uint32_t gang);
/* Whether batch_add_group() would add nothing, and only keep members that wait
 * from being started in this batch: the last run that there is of them ends in
 * it. */
bool batch_group_is_silent(struct control *c, uint32_t gang);
/* The same for all gangs that something is owed to. */
void batch_add_groups(struct control *c);
/* All that runs of a gang is asked to go, or goes, in this batch: none that
 * waits starts in it, as a plan may have it that still sees the others. */
void batch_leave(struct control *c, uint32_t gang);

/* members.c */

/* Add the end of a job that waits and may not be of the gang that it names
 * (job/table/gang_roll.h). */
void batch_check_member(struct control *c, uint32_t job);
/* The same for all that came since. */
void batch_end_members(struct control *c);

/* unschedulable.c */

/* Add a job's end if it can never run, or no more; adds to `*ret_looks` the
 * nodes that were looked at.  False: a pool that it may be lent nodes of is
 * being planned, so nobody can say yet. */
bool batch_check_job(struct control *c, uint32_t job, uint32_t *ret_looks);
/* The same for some of those that were not looked at yet. */
void batch_end_unschedulable(struct control *c);

/* decide/plan.c */

/* Add the groups of a plan in order, up to the first that no longer stands:
 * those after it were planned on its effects.  False when there was one. */
bool batch_add_plan(struct control *c, const struct sched_plan *plan);

/* preempt.c */

/* Why a job is preempted, in the batch's arena. */
struct str preemption_reason(struct control *c,
                             const struct sched_decision *decision);
