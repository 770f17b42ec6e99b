/* A trial plan for explanations. */
#include "sched/round/plan.h"
#include "sched/round/private.h"

/* The amounts that a trial adds to a node, or to what is of no node: like what
 * a plan places, they stand in the tables while it is made, for indexes and
 * costs are made of those. */
static void add_room(struct sched *sched, const struct what_if_more *more,
                     int sign)
{
    uint32_t p = more->pool;

    if (more->kind == WHAT_IF_ROOM) {
        struct node *node = &sched->nodes.items[more->node];
        amounts_add_times(&node->capacity, &more->amount, sign);
        amounts_add_times(&sched->free[more->node], &more->amount, sign);
        p = node->pool;
    } else if (more->kind != WHAT_IF_FLOATING) {
        return;
    }
    struct pool *pool = &sched->pools.items[p];
    if (more->kind == WHAT_IF_FLOATING ||
        node_is_in_total(&sched->nodes.items[more->node])) {
        amounts_add_times(&pool->total, &more->amount, sign);
    }
    /* Costs and the order of nodes go by the pool's total. */
    pool->is_stale = pool->is_base_stale = true;
}

void plan_if(struct sched *sched, int64_t now_ms, const struct what_if *what_if,
             struct sched_plan *ret_plan)
{
    int64_t plan_now_ms = sched->plan_now_ms;

    add_room(sched, &what_if->more, 1);
    plan_make(&(struct round){.sched = sched,
                              .what_if = what_if,
                              .kind = ROUND_BALANCE,
                              .now_ms = now_ms,
                              .decision_max = SCHED_DECISIONS_MAX},
              ret_plan);
    add_room(sched, &what_if->more, -1);
    sched->plan_now_ms = plan_now_ms; /* a trial may be of a later time */
}
