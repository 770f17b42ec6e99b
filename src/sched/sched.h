/*
 * sched - what should run where: (state, policy, now) -> plan.
 *
 * The caller keeps the state up to date by deltas (queues, nodes, jobs and
 * their changes) and asks for plans.  A plan changes nothing here: the caller
 * makes the decisions durable and then reports them by sched_job_lease() and
 * similar functions.  Limits that count starts move only with reported leases,
 * by the times given with them, so that a replay of the same calls gives the
 * same state, and the same state the same plans.
 *
 * This is the main header.  Its functions create the state and report queues,
 * classes and the time; the rest is in headers that it includes:
 *
 *     sched_handles.h  handles, bounds
 *     sched_nodes.h    told: nodes, executors, health
 *     sched_jobs.h     told: jobs, leases, promises, gangs, applications
 *     sched_plan.h     planned: rounds and their decisions
 *     sched_explain.h  asked: why a job waits, what it needs
 *     sched_stats.h    asked: how queues, applications and pools stand
 *     sched_lend.h     between states: work that goes to wait elsewhere
 *     sched_records.h  between states: what was told, to be told again
 *
 * Semantics: model.md 6, in the profiles of 6.10 (each pool has its own);
 * docs/rules has them in words.
 *
 * Pure.  Threads: one owner.  Strings given are copied, but for the policy's.
 */
#pragma once

#include "sched/sched_explain.h"
#include "sched/sched_handles.h"
#include "sched/sched_jobs.h"
#include "sched/sched_lend.h"
#include "sched/sched_nodes.h"
#include "sched/sched_plan.h"
#include "sched/sched_records.h"
#include "sched/sched_stats.h"

/* An empty state.  `policy` and what it points to are borrowed until
 * sched_policy_set() or sched_destroy(). */
struct sched *sched_create(const struct policy *policy) must_check;
/* Free the state. */
void sched_destroy(struct sched *sched);
DEFINE_AUTO(sched, sched_destroy)

/* Go by another policy from now on.  Costs as much as a rebuild. */
void sched_policy_set(struct sched *sched, const struct policy *policy);

/* Add a queue or change it. */
void sched_queue_set(struct sched *sched, uint32_t queue,
                     const struct queue_record *record);
/* Forget a queue that has no jobs left. */
void sched_queue_remove(struct sched *sched, uint32_t queue);

/* The class of a canonical requirement.  The caller interns the packed bytes:
 * every call makes a class of its own, with one reference. */
uint32_t sched_class_add(struct sched *sched,
                         const struct requirement *requirement);
/* Forget a class that no job has; its index may be given out again. */
void sched_class_remove(struct sched *sched, uint32_t class_index);

/* The leader's logged time; called once per record, before what the record
 * says.  What depends on how long things stayed as they were goes by it.  A
 * time before one that was told is taken for that one. */
void sched_set_time(struct sched *sched, int64_t now_ms);

/* Append what of the state is history, for a checkpoint: what does not follow
 * from queues, nodes and jobs, such as the state of the rate limits. */
void sched_history_pack(const struct sched *sched, struct strbuf *buf);
/* Take it back, once all queues, nodes, jobs and leases are there, and the
 * time.  -ERR_CORRUPT: not such bytes; -ERR_VERSION: of a newer release. */
int sched_history_unpack(struct sched *sched, struct str bytes) must_check;

/* Recompute all sums and indexes from the jobs and nodes themselves and
 * compare; false when anything differs.  For tests and self-checks. */
bool sched_is_consistent(struct sched *sched);
