/*
 * exclusive - gangs that have their nodes exclusively, and which of them holds
 * a node (model.md 2.10).  What a plan makes of that is in exclusive_node.h.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Whether there is any such gang. */
static inline bool exclusive_is_any(const struct sched *sched)
{
    return sched->exclusive_gang_count;
}

/* A gang came, or goes. */
void exclusive_join(struct sched *sched, const struct gang *gang);
void exclusive_leave(struct sched *sched, const struct gang *gang);
/* Whether a node is held by a gang. */
static inline bool exclusive_is_held_by(const struct sched *sched,
                                        uint32_t node, uint32_t gang)
{
    return sched->nodes.items[node].holder == gang + 1;
}
/* Whether a gang has its nodes whole. */
bool exclusive_node_is_for(const struct gang *gang);
/* Whether a job is of such a gang. */
bool exclusive_node_serves(const struct sched *sched, uint32_t job);
/* A run of a member of such a gang came to (+1) or left (-1) its node. */
void exclusive_node_count(struct sched *sched, const struct run *run, int sign);
/* The gang of a job, if it has its nodes exclusively, or NONE. */
uint32_t exclusive_gang_of(const struct sched *sched, uint32_t job);
