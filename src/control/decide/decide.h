/*
 * decide - turns commands, due decisions and plans into events of the batch, on
 * the state after the batch before.
 *
 *     submit.c        submissions
 *     events.c        sequences that others made: reports, requests
 *     training.c      what users ask of TrainingJobs
 *     silence.c       executors that are silent
 *     due.c           what is due to a job
 *     groups.c        what is due to groups of pods as a whole
 *     members.c       jobs that cannot be of the gang that they name
 *     unschedulable.c jobs that can never run
 *     health.c        nodes that are taken out and back
 *     windows.c       maintenance windows that are over
 *     periodic.c      requests about periodic jobs that are refused
 *     plan.c          decisions of plans
 *     preempt.c       why a job is preempted, in words
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "job/due/job_action.h"
#include "model/event.h"
#include "sched/sched.h"

struct batch;
struct control;
struct control_executor;

/* submit.c */

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

/* training.c */

/* Answer a COMMAND_SUBMIT of a TrainingJob that cannot be made; false: it
 * can. */
bool training_refuses(struct control *c, struct command *command);
/* Take a COMMAND_TRAINING_UPDATE or _DELETE: answer it or add to the batch
 * what it asks for. */
void training_take(struct control *c, struct command *command);

/* silence.c */

/* Add to the batch what an executor is from now on. */
void batch_add_state(struct control *c, const struct control_executor *executor,
                     enum executor_state state);
/* Add what silence and its end mean to the batch. */
void batch_add_silence(struct control *c);
/* Everybody was heard just now; at the start and after a pause of ours. */
void executors_forgive(struct control *c, uint64_t pause_ns);
/* When the next executor will have been silent too long; UINT64_MAX: never. */
uint64_t executors_due_ns(const struct control *c);

/* due.c */

/* Add the events of decisions about one job. */
void batch_add_decisions(struct batch *batch,
                         const struct job_decisions *decisions);
/* What stands above the state of a job that something may be due to. */
struct job_rules batch_job_rules(struct control *c, uint32_t job);
/* Add what is due to a job; false if that is nothing. */
bool batch_add_due(struct control *c, uint32_t job);

/* groups.c */

/* Add what is due to a gang as a whole, but to jobs that are touched; false
 * if that is nothing. */
bool batch_add_group(struct control *c, uint32_t gang);
/* Whether batch_add_group() would add nothing, and only keep members that wait
 * from being started in this batch: the last run that there is of them ends in
 * it. */
bool batch_group_is_silent(struct control *c, uint32_t gang);
/* The same for all gangs that something is due to. */
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

/* health.c */

/* Add to the batch which nodes are to be taken out, or back; false if none. */
bool batch_add_health(struct control *c);

/* windows.c */

/* Add to the batch what becomes of maintenance windows that are over: they are
 * moved on, or deleted; false if none is. */
bool batch_add_windows(struct control *c);

/* periodic.c */

/* Answer a submission that is a run of a periodic job whose moment is dealt
 * with, or that is gone; false: it stands. */
bool periodic_refuses(struct control *c, struct command *command);

/* plan.c */

/* Add the groups of a plan in order, up to the first that no longer stands:
 * those after it were planned on its effects.  False when there was one. */
bool batch_add_plan(struct control *c, const struct sched_plan *plan);

/* preempt.c */

/* Why a job is preempted, in the batch's arena. */
struct str preemption_reason(struct control *c,
                             const struct sched_decision *decision);
