/*
 * jobs - which shard each job and gang is in, and moves between shards.
 * Private to src/pools.
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/jobs/deltas.h"

/* The first pool object; adopt.c. */

/* The tables say what the Default shard has, from now on. */
void router_begin(struct pools *pools);

/* The rows of jobs; rows.c. */

/* The router's row of a job that is there. */
struct pool_job *pool_job_get(const struct pools *pools, uint32_t job);
/* A row for a new job, none of which is filled in. */
struct pool_job *pool_job_make(struct pools *pools, uint32_t job);
/* Take a handle of a shard for a job that has a row. */
void job_take(struct pools *pools, uint32_t job, struct shard *shard);
/* Give back its handle, which another job gets once the shard knows. */
void job_give(struct pools *pools, uint32_t job);
/* The shard that answers for a job, whose index becomes its handle there; NULL
 * while the shard is being planned. */
struct shard *shard_to_ask(const struct pools *pools, uint32_t *job);
/* The router's handle of a shard's job. */
uint32_t job_back(const struct shard *shard, uint32_t local);
/* A copy of amounts that lives in an arena. */
const void *amounts_copy(const void *from, struct arena *arena);
/* A copy of a struct sched_job that lives in an arena. */
const void *job_copy(const void *from, struct arena *arena);
/* Count one waiting job more (1) or less (-1) in the shard of this one. */
void job_count_waiting(struct pools *pools, const struct pool_job *row,
                       int sign);
/* The shard where a job belongs while it waits. */
struct shard *job_home(const struct pools *pools, uint32_t job);
/* Whether a job is a borrower in a shard: its home is another, or its gang runs
 * elsewhere and it cannot follow yet. */
bool job_is_borrowed(const struct pools *pools, uint32_t job,
                     const struct shard *in);
/* Free the tables of jobs and gangs. */
void pool_jobs_fini(struct pools *pools);

/* Gangs; gangs.c. */

/* Add a new job, which has its row, to its gang, if it names one. */
void gang_join(struct pools *pools, uint32_t job,
               const struct sched_job *record);
/* Take a job that goes out of its gang; the last takes the gang with it. */
void gang_leave(struct pools *pools, const struct pool_job *row);
/* Whether a gang has just lost the last that ran of it, and some of it wait. */
bool gang_is_stranded(const struct pools *pools, uint32_t gang);
/* Whether members of a gang are in several shards, by its sums alone. */
bool gang_is_split(const struct pool_gang *gang_row);
/* Before a shard ends: let its gangs belong to where they run. */
void gangs_leave(struct pools *pools, const struct shard *shard);

/* Whether the tables agree; check.c. */

/* Whether the router's tables agree with a shard that is not being planned. */
bool shard_is_right(const struct pools *pools, const struct shard *shard);
/* Whether the sums of a gang are those of its members. */
bool gang_is_right(const struct pools *pools, uint32_t gang);

/* What shards are told in several places; deltas.c. */

/* Deliver a delta to the shard of a job, or to the only state while there have
 * been no pool objects; fills in `delta->job`. */
void job_tell(struct pools *pools, uint32_t job, struct delta *delta);
/* Deliver a delta about a job's gang to the other shards that have members of
 * it, once to each, so that all of them remember the same of the gang,
 * whichever member leaves last.  Fills in `delta->job`. */
void gang_tell_others(struct pools *pools, uint32_t job, struct delta *delta);
/* Add a job to a shard, with its application. */
apply_fn apply_add;
/* Name a job's application. */
apply_fn apply_application;
/* Let the age of a job's run count from `at_ms`. */
apply_fn apply_age;
/* Say by `flag` whether a disruption budget protects a job's run. */
apply_fn apply_protect;
/* Lease a job: node, priority, since when, and whether it counts as a start. */
apply_fn apply_lease;

/* Leases; leases.c. */

/* Take a job's lease out of the counts of its node, quotas and gang. */
void job_unlease(struct pools *pools, struct pool_job *row);

/* From shard to shard; moving.c. */

/* Put a job that has a row, but no handle in a shard, into one. */
void job_enter(struct pools *pools, uint32_t job, struct shard *shard,
               const struct sched_job *record);
/* Move a job, which waits or is leased, to another shard, or add it anew to the
 * same.  The shard that it is in is not being planned. */
void job_move(struct pools *pools, uint32_t job, struct shard *to);

/* Where jobs and gangs belong; homes.c. */

/* Lend a job that waits: it goes to a lender's shard, and asks its application
 * at home as before. */
void job_lend(struct pools *pools, uint32_t job, struct shard *to);
/* Say whether a job, which stays where it is, is a borrower there. */
void job_borrowed_set(struct pools *pools, uint32_t job, bool is_borrowed);
/* Send a job that waits where it belongs; its shard is not being planned. */
void job_send_home(struct pools *pools, uint32_t job);
/* Send a job that waits home, now or when its shard is back.  One for which the
 * plan that is told next has a place stays a borrower until that is over. */
void job_recall_home(struct pools *pools, uint32_t job);
/* Move a job to the shard where it is about to run.  If it is the first of its
 * gang, those that wait with it go along. */
void gang_follow(struct pools *pools, uint32_t job, struct shard *to);
/* Let a gang belong to the shard that a running member came to, with what
 * waits of it. */
void gang_anchor(struct pools *pools, uint32_t gang, const struct shard *in);
/* Send all that waits of a gang home, as job_recall_home() does. */
void gang_recall(struct pools *pools, uint32_t gang);
/* Send home the jobs that could not leave while the shard was planned. */
void returning_settle(struct pools *pools, struct shard *shard);
/* After pools have changed: move all jobs to where they belong. */
void jobs_rehome(struct pools *pools);
