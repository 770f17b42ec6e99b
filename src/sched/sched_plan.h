/*
 * sched_plan - plans: decisions in groups, and the result of a plan.
 *
 * Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_handles.h"

/* What a decision is. */
enum sched_action {
    SCHED_LEASE,
    SCHED_PREEMPT,
    SCHED_FAIL,    /* a gang started with its minimum, without this member */
    SCHED_ADMIT,   /* there was no room when its turn came: sched_job_admit();
                      for an admitted one: its promise is another */
    SCHED_DISMISS, /* can no longer start there: sched_job_dismiss() */
};

/* Why a job is preempted. */
enum sched_preemption {
    SCHED_PREEMPT_NONE,
    SCHED_PREEMPT_FAIR_SHARE, /* its queue is over its share */
    SCHED_PREEMPT_URGENCY,    /* for a class of higher priority */
    SCHED_PREEMPT_GANG,       /* its gang lost a member */
    SCHED_PREEMPT_YIELD,      /* it was let past whom it goes for */
    SCHED_PREEMPT_HOME,       /* it is a borrower, and home work needs it */
    SCHED_PREEMPT_SURPLUS,    /* its gang has enough without it */
    SCHED_PREEMPT_SCALED,     /* its gang shrinks, for others or for the load */
};

/* One thing to do about one job. */
struct sched_decision {
    enum sched_action action;
    enum sched_preemption preemption; /* PREEMPT only */
    enum sched_preemption cause; /* PREEMPT as GANG: why the member goes that
                                    it follows */
    uint32_t job;
    uint32_t node;    /* where it goes, or loses its place */
    int32_t priority; /* LEASE: the priority it is scheduled at */
    int64_t charge;   /* LEASE, ADMIT: see sched_job_charge(); 0: none */
    uint32_t for_job; /* PREEMPT: whom it makes room for */
    uint32_t group;   /* decisions of one group must not come apart */
    /* LEASE: it was let past admitted work since it ends in time; and by its
     * lifetime, so that it yields to this job (or NONE). */
    bool is_backfilled;
    uint32_t revocable_for;
    bool yields_at_once;    /* whatever its lifetime: its gang grew by it */
    int64_t yields_from_ms; /* not before: it took a place for fairness; or 0 */
    /* ADMIT: the pool (of the policy's), and when it starts at the latest, or
     * SCHED_START_UNKNOWN. */
    uint32_t pool_index;
    int64_t start_ms;
    bool is_scaling;   /* LEASE, PREEMPT: its gang is scaled by it; see
                          sched_gang_scaled() */
    bool is_by_share;  /* LEASE: others lost their places for it, or its gang,
                          for fairness; see sched_job_cooldown().  PREEMPT: it
                          is for fairness, with all that goes with it */
    int64_t waited_ms; /* LEASE, by share: since it was last requeued, or
                          submitted */
};

/* What a round did, for metrics. */
struct sched_counters {
    uint64_t queues_considered;
    uint64_t placements;
    uint64_t preemptions;
    uint64_t failed_searches; /* a class was found to fit nowhere */
    uint64_t nodes_examined;
    uint64_t steps;   /* jobs and gangs decided about */
    uint64_t evicted; /* running jobs that had to win their place again */
};

/* An answer of sched_plan(). */
struct sched_plan {
    const struct sched_decision *decisions; /* until the next sched_plan() */
    uint32_t decision_count;
    bool is_truncated; /* `decision_count_max` was met, or it is part of a
                    sweep: ask again */
    bool is_spent;   /* the policy's work for a plan was used up: the next goes
                        on behind */
    bool is_resumed; /* it went on behind one that was */
    int64_t next_wake_ms; /* ask again then, though nothing happens; or
                             INT64_MAX */
    struct sched_counters counters;
};

/* Plan.  ROUND_FAST puts waiting work into free space; ROUND_BALANCE may also
 * preempt.  Groups are whole and numbered from 0 in the order of the
 * decisions; preemptions stand before the lease that they serve.  The plan
 * has at most `decision_count_max` decisions, more only when its first group
 * does. */
void sched_plan(struct sched *sched, int64_t now_ms, enum round_kind kind,
                uint32_t decision_count_max, struct sched_plan *ret_plan);

/* The last plan comes to nothing: what it left to the next is as before it,
 * for what is still there.  Once, before the next plan. */
void sched_plan_forget(struct sched *sched);

/* Plans begin with all again: what they left to the next is forgotten, and
 * which gangs might fit.  Told when a leader begins, which knows of neither. */
void sched_sweep_reset(struct sched *sched);

/* How many jobs of a queue the last plan looked at in a pool. */
struct sched_looked {
    uint32_t queue;
    uint32_t pool_index; /* in the policy's pools */
    uint32_t job_count;  /* > 0 */
};

/* Of the last plan that was not a repetition; good until the next. */
const struct sched_looked *sched_looked(const struct sched *sched,
                                        uint32_t *ret_count);
