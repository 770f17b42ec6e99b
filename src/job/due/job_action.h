/*
 * job_action - which events are due for a job in its state, for the
 * leader to append.
 *
 * Idempotent: it looks and changes nothing.  Once the events are folded
 * nothing is due any more; if their append fails they are due again.  In
 * this order (armada-api.md 2.5): another priority, then the first of
 * cancelled, succeeded, failed or requeued, preempted.
 *
 * All events of one call belong into one batch.
 *
 * Pure.  Text and the like live in the caller's arena, or are borrowed from
 * `jobs` until its next change.
 */
#pragma once

#include "job/table/jobs.h"
#include "model/retry.h"

enum { JOB_DECISIONS_MAX = 6 };

/* Events for the job's own job set, in order. */
struct job_decisions {
    struct event_scope scope; /* queue and job set; the user of all events */
    struct event events[JOB_DECISIONS_MAX];
    uint32_t event_count;
};

/* What stands above the state: how many returned leases a job survives, by
 * which policy its failures are tried again (NULL: they are not), and when it
 * is. */
struct job_rules {
    uint32_t retries_max;
    const struct retry_policy *retry;
    uint32_t policy_retries_max; /* whatever the policy says */
    int64_t now_ms;
};

/* What is due for `job`, which is there; event_count 0 if nothing. */
void job_due(const struct jobs *jobs, uint32_t job,
             const struct job_rules *rules, struct arena *arena,
             struct job_decisions *ret_decisions);

/* A lease that the scheduler has decided on: `job` is queued.  The run's id
 * and index are made here; `run` gives the rest. */
void job_lease(const struct jobs *jobs, uint32_t job, const struct job_run *run,
               int64_t now_ms, struct job_decisions *ret_decisions);

/* A preemption that the scheduler has decided on: `job` has a run.  `reason`
 * is borrowed; `preempting` may be none. */
void job_preempt(const struct jobs *jobs, uint32_t job, struct str reason,
                 struct job_id preempting, int64_t now_ms,
                 struct job_decisions *ret_decisions);

/* The like of a borrower (model.md 5.5): it is requeued, whatever it says of
 * preemption. */
void job_recall(const struct jobs *jobs, uint32_t job, struct str reason,
                struct job_id preempting, int64_t now_ms,
                struct job_decisions *ret_decisions);

/* The end of a queued job that can never run (ERROR_REJECTED), or whose gang
 * started without it (ERROR_GANG_UNSCHEDULABLE). */
void job_refuse(const struct jobs *jobs, uint32_t job, enum error_kind kind,
                struct str message, int64_t now_ms,
                struct job_decisions *ret_decisions);

/* The end of a queued job that has been tried in vain on every node that it
 * could run on. */
void job_give_up(const struct jobs *jobs, uint32_t job, int64_t now_ms,
                 struct arena *arena, struct job_decisions *ret_decisions);

/* The end of a job that waits or runs, since its group is over. */
void job_end(const struct jobs *jobs, uint32_t job, struct str reason,
             int64_t now_ms, struct job_decisions *ret_decisions);
