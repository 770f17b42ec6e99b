/*
 * exclusive_node - gangs that have their nodes whole: where members of such a
 * gang run nobody else starts (model.md 2.10).
 *
 * A node is *held* by the gang as long as one of its members runs there, and
 * within a plan from the moment that it is given one.  A held node serves its
 * gang only; and a member goes only to nodes that its gang holds, or that
 * nobody uses.  What others run on a node does not end when a gang comes to
 * hold it: that happens only where leases were not those of a plan.
 *
 * Where a minimum goes: sub-group after sub-group, those with the largest
 * pods first (equals in their order).  First what is left on nodes that the
 * gang holds already is used, in the order of names, for it costs nothing
 * more; the rest by the least costly cover of empty nodes (cover.h), filled
 * in the order of names.
 *
 * Private to src/sched.  Costs nothing where no gang has nodes whole.
 */
#pragma once

#include "sched/gang/attempt.h"

/* Whether a gang has its nodes whole. */
bool exclusive_node_is_for(const struct gang *gang);
/* Whether a job is of such a gang. */
bool exclusive_node_serves(const struct sched *sched, uint32_t job);
/* A run of a member of such a gang came to (+1) or left (-1) its node. */
void exclusive_node_count(struct sched *sched, const struct run *run, int sign);
/* The round gives a member of a gang a place there: it holds the node. */
void exclusive_node_take(struct round *round, uint32_t gang, uint32_t node);
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
    return round->sched->exclusive_gang_count &&
           exclusive_node_bars_indeed(round, job, node);
}

/* Whether a job has to leave a node that others are reserved for, where it
 * would have it whole. */
bool exclusive_node_is_kept(const struct round *round, uint32_t job,
                            uint32_t class_index, uint32_t node);

/* Place all that the attempt's gang asks for, on the nodes of its group.
 * False: there is no room for all; what was placed is the caller's to take
 * back.  Where the attempt may preempt, nodes on which all may go are cleared,
 * if empty ones do not suffice (exclusive_clear.h). */
bool exclusive_node_place(struct attempt *attempt);
/* The same of one sub-group. */
bool exclusive_node_place_sub_group(struct attempt *attempt,
                                    uint32_t sub_group);
/* What a node has to give to a gang at a time to come. */
struct exclusive_room {
    uint32_t node;
    struct resource_vec left, taken;
};

/* Whether what a gang's sub-groups ask for has room there by the same rule; it
 * moves from `left` to `taken`.  The rooms are in order of names.  Nodes that
 * the gang holds may be among them, and those of which it has `taken` some are
 * like these. */
bool exclusive_node_fits(struct round *round, const struct gang *gang,
                         struct exclusive_room *rooms, uint32_t room_count);
/* The same of one sub-group. */
bool exclusive_node_fits_one(struct round *round, const struct gang *gang,
                             uint32_t sub_group, struct exclusive_room *rooms,
                             uint32_t room_count);
/* Hold again what the attempt has leased so far, for to take a part of it back
 * lets go of all its nodes. */
void exclusive_node_retake(struct attempt *attempt);
