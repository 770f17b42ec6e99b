/*
 * order - the order of a queue that is ordered by applications (model.md 3.4,
 * 6.7), within a plan.
 *
 * Private to src/sched.  The lists of such a queue are its applications', and
 * each head of a lane carries the rank of its application.  Under `stateaware`
 * the lane has the lists of those applications that may start something, and of
 * the one that may start next; this is computed again after each lease.  Leases
 * of the plan count as if they were already reported.
 */
#pragma once

#include "sched/order/lanes.h"

/* What an application is ordered by; a new one is made when it changes. */
struct app_rank {
    uint32_t app;
    bool is_level_ignored;
    bool has_cost;
    struct cost cost;     /* of what the application has of the pool */
    int64_t submitted_ms; /* 0 under `priority` */
};

/* The rank of an application of a queue in a pool, of which it has `used`. */
struct app_rank order_rank(const struct sched *sched, uint32_t app,
                           uint32_t pool, const struct resource_vec *used);
/* Which of two ranks goes first, by the costs of their pool: <0 or >0; 0: what
 * follows decides. */
int order_compare(const struct cost_base *base, const struct app_rank *a,
                  const struct app_rank *b);
/* Gather the lists that a lane may draw from. */
void order_fill(struct round *round, struct lane *lane);
/* Let in what may come now, and bring the first that may start to the top.
 * Lists of an application that was chosen to start, but no longer may as the
 * plan took the only lease of another, are put off until that has one. */
void order_settle(struct round *round, struct lane *lane);
/* A job is leased by the plan. */
void order_leased(struct round *round, uint32_t job);
/* A job was preempted (+1), or was not after all (-1). */
void order_lost(struct round *round, uint32_t job, int count);
/* Whether the application of a list that was admitted before may start now:
 * not when another one's turn to start has come since, or another starts. */
bool order_allows(struct round *round, const struct lane *lane, uint32_t list);
/* The state of an application, were what is planned told back. */
enum sched_app_state order_state(const struct round *round, uint32_t app);
/* There is no room for what is at the lane's head: under `stateaware` what
 * starts after it must not take what it waits for (order_reserve.c). */
void order_unmet(const struct round *round, struct lane *lane);
/* What the work of a list must leave to older applications of its queue: a
 * reservation of theirs, when it is of one that would start; or NULL. */
struct reservation *order_hold(struct round *round, struct lane *lane,
                               uint32_t list);
/* What is at the lane's head had to be passed over for that. */
void order_note_held(struct round *round, const struct lane *lane);
/* Ask for a plan when the application that keeps others back ceases to. */
void order_wake(struct round *round);
/* Whether the ordering keeps a waiting job back, and why. */
bool order_explain(const struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *answer);
