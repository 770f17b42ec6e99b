/*
 * jobs - which shard each job and gang is in, and how it gets to another.
 * Private to src/pools.
 */
#pragma once

#include "pools/jobs/deltas.h"

/* The first pool object; adopt.c. */

/* The tables say what the Default shard has, from now on. */
void router_begin(struct pools *pools);

/* Tables of jobs and gangs; jobs.c. */

/* The router's row of a job that is there. */
struct pool_job *pool_job_get(const struct pools *pools, uint32_t job);
/* A job that has a row, and no handle in a shard, enters one. */
void job_enter(struct pools *pools, uint32_t job, struct shard *shard,
               const struct sched_job *record);
/* Its handle in its shard is free for another as soon as the shard knows. */
void job_give(struct pools *pools, uint32_t job);
/* The shard of a job, and its number there; NULL: it is being planned. */
struct shard *shard_to_ask(const struct pools *pools, uint32_t *job);
/* The router's handle of a shard's job. */
uint32_t job_back(const struct shard *shard, uint32_t local);
/* Tell the shard of a job; `delta->job` is filled in. */
void job_tell(struct pools *pools, uint32_t job, struct delta *delta);
/* A copy of amounts that lives in an arena. */
const void *amounts_copy(const void *from, struct arena *arena);
/* A copy of a struct sched_job that lives in an arena. */
const void *job_copy(const void *from, struct arena *arena);
/* One job more (1) or less (-1) waits where this one is. */
void job_count_waiting(struct pools *pools, const struct pool_job *row,
                       int sign);
/* A new job, which has its row, becomes one more of its gang, if it has
 * one. */
void gang_join(struct pools *pools, uint32_t job,
               const struct sched_job *record);
/* A lease: the node, the priority, since when, and whether it is a start. */
apply_fn apply_lease;
/* Whether the router's tables agree with a shard that is not being planned. */
bool shard_is_right(const struct pools *pools, const struct shard *shard);
/* Whether the sums of a gang are those of its members. */
bool gang_is_right(const struct pools *pools, uint32_t gang);
/* Free the tables of jobs and gangs. */
void pool_jobs_fini(struct pools *pools);

/* What shards are told; jobs.c and state_updates.c. */

/* A job comes to a shard, with its application. */
apply_fn apply_add;
/* What a job's application is. */
apply_fn apply_application;
/* The age of a job's run counts from `at_ms`. */
apply_fn apply_age;
/* By `flag`, a disruption budget protects a job's run. */
apply_fn apply_protect;

/* Where jobs and gangs belong; homes.c. */

/* The shard where a job is to wait. */
struct shard *job_home(const struct pools *pools, uint32_t job);
/* Whether a job of a shard is a borrower there: its home is another, or its
 * gang runs elsewhere, and it waits only because it cannot follow yet. */
bool job_is_borrowed(const struct pools *pools, uint32_t job,
                     const struct shard *in);
/* A job waits, or is leased, in another shard from now on, or in the same if
 * that is to be told of it anew; the one that it is in is not being planned. */
void job_move(struct pools *pools, uint32_t job, struct shard *to);
/* A job goes to wait in a lender's shard, and asks its application at home as
 * before. */
void job_lend(struct pools *pools, uint32_t job, struct shard *to);
/* A job stays where it is, and is a borrower there now, or is none any more. */
void job_borrowed_set(struct pools *pools, uint32_t job, bool is_borrowed);
/* A job that waits goes where it belongs, with what waits of its gang. */
void job_send_home(struct pools *pools, uint32_t job);
/* A job that waits goes home, now or when its shard is back.  One for which the
 * plan that is told next has a place stays a borrower until that is over. */
void job_recall_home(struct pools *pools, uint32_t job);
/* What waits of a job's gang where it does, and the job, go to the shard where
 * it is about to run as the first. */
void gang_follow(struct pools *pools, uint32_t job, struct shard *to);
/* A gang belongs where one of it that runs came to, and so does what waits. */
void gang_anchor(struct pools *pools, uint32_t gang, const struct shard *in);
/* A shard ends: its gangs that run elsewhere belong there from now on. */
void gangs_leave(struct pools *pools, const struct shard *shard);
/* Whether members of a gang are in several shards, said without looking at
 * each. */
bool gang_is_split(const struct pool_gang *gang_row);
/* Tell other shards that some of a job's gang are in, each of one of them: what
 * the gang remembers is known wherever something of it is, so that it does not
 * matter who leaves last.  `delta->job` is filled in. */
void gang_tell_others(struct pools *pools, uint32_t job, struct delta *delta);
/* What waits of a gang goes where it belongs by now, like that. */
void gang_recall(struct pools *pools, uint32_t gang);
/* Who waits where it should not goes home; the shard is not busy. */
void returning_settle(struct pools *pools, struct shard *shard);
/* Pools are others now: all jobs go where they belong. */
void jobs_rehome(struct pools *pools);
