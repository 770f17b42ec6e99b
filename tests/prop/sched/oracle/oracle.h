/*
 * oracle - the planner's rules once more, by looking at everything each time.
 *
 * No indexes, no caches, no order kept: a few loops over at most 40 jobs and
 * 8 nodes.  Where the two differ, one of them is wrong.
 */
#pragma once

#include "instance.h"

enum { ORACLE_DECISIONS_MAX = 256 };

struct oracle_decision {
    enum sched_action action;
    enum sched_preemption preemption;
    int job, node, for_job;
    bool is_backfilled;
    int revocable_for; /* or NO_NODE */
    bool yields_at_once;
    int yields_from; /* 0: at once; INT_MAX: never */
    int level;       /* LEASE: its priority there */
    int start;       /* ADMIT: promised, or INT_MAX */
    int pool;        /* ADMIT: to it */
    bool is_scaling;
    bool is_by_share; /* others lose their places for it, for fairness */
    double charge;    /* LEASE, in millionths of the pool x ms */
};

struct oracle_plan {
    struct oracle_decision decisions[ORACLE_DECISIONS_MAX];
    int count;
    bool is_close; /* two decayed flows were too near to tell apart */
};

/* What a round on the instance decides at `now`, where there is one pool. */
void oracle_plan(const struct instance *instance, enum round_kind kind, int now,
                 struct oracle_plan *ret_plan);
/* Likewise, of all pools. */
void oracle_plan_pools(const struct instance *instance, enum round_kind kind,
                       int now, struct oracle_plan *ret_plan);
