/*
 * limits - what a queue may hold above its fair share of a pool (model.md 2.7),
 * and the charges to its budget.
 *
 * The *over-share limit* is for work of infinite lifetime: its flow, with the
 * new work, is to be at most (1 + over) x share.  The *excess budget* is for
 * work of finite lifetime: lifetime x what of it lies above the share is
 * charged, and the charges that are outstanding are at most the budget.
 *
 * The share is the plain one: the queue's weight by the weights of all that
 * want or have something of the pool.  Weights are whole numbers in the
 * ratio of the inverted factors, so that what is exactly at a limit is
 * within it.  Charges and budgets are whole, in millionths of the pool x ms,
 * and rounded down.
 *
 * Surplus of a gang of infinite lifetime is not asked about, but counts in
 * the flow of such work, where 2.11 has it behave like work of lifetime 0.
 * Which pods are surplus changes as others of the gang end, and with all that
 * plans do and undo: not to count it, each such change would be one of this
 * flow, and what turned from surplus into a minimum would be above a limit
 * that nobody asked.
 *
 * Neither is for borrowers: they may be taken back at any time, so they leave
 * the room that these limits are to keep.  They count in the queue's usage and
 * flow, as all that it has of the pool (model.md 6.8).
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* The limits of a queue in a pool, and what has been used of them. */
struct limits {
    struct resource_vec infinite; /* usage of infinite lifetime */
    double infinite_floor;        /* its flow when it was asked for, as long
                                     as usage is less; 0: it was usage */
    struct flow infinite_flow;
    u128 part, whole;       /* the share is part / whole */
    int64_t over_share_ppm; /* or POLICY_OFF */
    int64_t budget_max;     /* or INT64_MAX: no limit */
    int64_t budget_left;
};

/* What a limit answers. */
enum limit_answer { LIMIT_NONE, LIMIT_OVER_SHARE, LIMIT_BUDGET };

/* What is asked for: sums of one or more jobs. */
struct limit_question {
    const struct cost_base *base;
    const struct limits *limits;
    struct resource_vec all; /* the queue's usage so far */
    struct resource_vec infinite;
    int64_t charge;
};

/* The sum of the weights of all queues that want or have something of a
 * pool. */
u128 limits_whole(struct sched *sched, uint32_t pool);
/* The limits of a queue as of `now_ms`; false: it has none there.  `whole`
 * is that of limits_whole(); the share of a queue that wants and has nothing
 * is what it would be if it did. */
bool limits_get(struct sched *sched, const struct what_if *what_if,
                uint32_t queue, uint32_t pool, u128 whole, int64_t now_ms,
                struct limits *ret_limits);

/* Begin a question: `all` is what the queue uses of the pool already. */
struct limit_question limits_ask(const struct cost_base *base,
                                 const struct limits *limits,
                                 const struct resource_vec *all);
/* One more job of a class is asked for; what it would be charged. */
int64_t limits_add(struct limit_question *question, const struct class *class);
/* Likewise all of a gang that waits, one after the other. */
void limits_add_gang(const struct sched *sched, struct limit_question *question,
                     const struct gang *gang);
/* Whether all of it may be had. */
enum limit_answer limits_answer(const struct limit_question *question);
/* When the flow will have fallen so far that it may be had, or INT64_MAX. */
int64_t limits_when(const struct limit_question *question, int64_t half_ms,
                    int64_t now_ms);

/* The over-share limit as a fraction of the pool, rounded. */
double limits_over_share(const struct limits *limits);
