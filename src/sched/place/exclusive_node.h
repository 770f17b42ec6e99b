/*
 * exclusive_node - no other work starts on nodes where members of a gang with
 * exclusive nodes run (model.md 2.10).
 *
 * A node is *held* by the gang as long as one of its members runs there, and
 * within a plan from the moment that it is given one.  A held node serves its
 * gang only; and a member goes only to nodes that its gang holds, or that
 * nobody uses.  What others run on a node does not end when a gang comes to
 * hold it: that happens only where leases were not those of a plan.
 *
 * Private to src/sched.  Costs nothing where no gang has exclusive nodes.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/state/exclusive.h"

/* The round gives a member of a gang a place there: it holds the node. */
void exclusive_node_take(struct round *round, uint32_t gang, uint32_t node);
/* That is undone. */
static inline void exclusive_node_let_go(struct sched *sched, uint32_t node)
{
    sched->nodes.items[node].planned_plan = 0;
}
/* Whether the plan gave it to such a gang. */
static inline bool exclusive_node_is_given(const struct sched *sched,
                                           uint32_t node)
{
    return sched->nodes.items[node].planned_plan == sched->plan_count;
}
/* Whether a node is none for a job between plans, for the same reasons. */
bool exclusive_node_keeps_from(const struct sched *sched, uint32_t job,
                               uint32_t node);
/* The same of a job of another state, which wants the node to its group
 * alone, or does not. */
bool exclusive_node_keeps_other(const struct sched *sched, bool is_whole,
                                uint32_t node);
/* Whether who holds a node is right; for sched_is_consistent(). */
bool exclusive_node_is_right(const struct sched *sched, uint32_t node);
/* Whether a node has no room for somebody new before all that is there is
 * gone, as the plan leaves it; for members of a gang that has its nodes whole
 * (1 + its index) or for others (0). */
bool exclusive_node_opens_whole(const struct round *round, uint32_t own,
                                uint32_t node);
/* Whether nobody uses a node, as the plan leaves it. */
bool exclusive_node_is_unused(const struct sched *sched, uint32_t node);
/* 1 + the gang that holds a node, as the plan leaves it, or 0. */
uint32_t exclusive_node_holder(const struct sched *sched,
                               const struct node *node);
/* The longer part of exclusive_node_bars(). */
bool exclusive_node_bars_indeed(const struct round *round, uint32_t job,
                                uint32_t node);

/* Whether a node is none for a job, because of who holds it, or because its
 * gang would have to. */
static inline bool exclusive_node_bars(const struct round *round, uint32_t job,
                                       uint32_t node)
{
    return exclusive_is_any(round->sched) &&
           exclusive_node_bars_indeed(round, job, node);
}

/* Whether a job has to leave a node that others are reserved for, where it
 * would have it whole. */
bool exclusive_node_is_kept(const struct round *round, uint32_t job,
                            uint32_t class_index, uint32_t node);
