/*
 * market - a few pools that lend to each other, as plain data; and what becomes
 * of its jobs by model.md 5 and 6.5, in plain loops.
 *
 * Pool 0 is Default, the others are pool objects.  Nodes are those of
 * instance.h, each in a pool; jobs run alone, or in gangs whose members are
 * alike and all start at once; what loses its place waits again at home.
 */
#pragma once

#include "oracle.h"

enum { MARKET_POOLS = 4 };

struct market_pool {
    bool is_there; /* Default always is */
    bool is_preemption_off, is_borrowing_off, is_sharing_off;
    bool is_borrow_first;
    unsigned lenders; /* pools, as bits; 0: any */
};

struct market {
    struct instance all; /* of nodes the pool is one of these */
    int pool_count;
    struct market_pool pools[MARKET_POOLS];
    int label[INSTANCE_NODES_MAX]; /* of a node: the pool that it is for */
    int named[INSTANCE_JOBS_MAX];  /* by a job, as its home */
    int home[INSTANCE_JOBS_MAX];   /* that, or Default when it is not there */
    int at[INSTANCE_JOBS_MAX];     /* where it waits */
    int tries[INSTANCE_JOBS_MAX];  /* lenders that had no place for it */
};

/* Draw one; some of its jobs run, at home or not.  Gangs wait. */
void market_draw(struct tape *tape, struct market *market, bool has_gangs);
/* Whether two jobs are one, or of one gang. */
bool market_is_of(const struct market *market, int a, int b);
/* Draw a pool anew: there or not, and what it lets its own and others do. */
void market_draw_pool(struct tape *tape, struct market *market, int pool);
/* Pools are others now: nodes find their pools, and all that waits is at home
 * again, to ask anew. */
void market_settle(struct market *market);
/* A node is for a pool now; what runs there goes on. */
void market_move(struct market *market, int node, int pool);
/* Whether jobs of a class may be lent. */
bool market_may_borrow(int priority_class);
/* Whether a job waits. */
bool market_waits(const struct market *market, int job);
/* A pool alone, as its planner sees it. */
void market_part(const struct market *market, int pool,
                 struct instance *ret_part);
/* What a plan of a pool leaves waiting goes to lenders or comes home.  Before
 * its decisions happen. */
void market_lend(struct market *market, int pool, enum round_kind kind,
                 const struct oracle_plan *plan);
/* A decision happens. */
void market_apply(struct market *market, const struct oracle_decision *decision,
                  int now);
