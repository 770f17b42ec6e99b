/*
 * nodes - shared by the files about nodes and pools.
 *
 * Private to src/sched. nodes.c has the deltas about nodes, node_names.c their
 * names and slots, node_runs.c what runs on them and which of them changed,
 * pool_nodes.c the pools that they are of: their sums, weights and indexes;
 * nodes_sync.c brings all of it in line.  Functions for other files are in
 * state_nodes.h.
 */
#pragma once

#include "sched/state/state.h"

/* The name of a node. */
static inline struct str nodes_name_of(const struct node *node)
{
    return str_make(node->name, node->name_bytes);
}
/* The executor of a name, made when new, with one more reference in
 * `executor_names`: each of its nodes has one, and so has that it is closed. It
 * goes with the last. */
uint32_t nodes_executor_hold(struct sched *sched, struct str name) must_check;
/* What of a node can be had by jobs, as told: without what others use. */
struct resource_vec nodes_capacity_of(const struct sched *sched,
                                      const struct node_record *record);
/* Why a node takes no work, whoever asks, or SCHED_EXCLUSIONS: it does. */
enum sched_exclusion node_closed_by(const struct sched *sched, uint32_t node);
/* Whether work that wants a pool (NONE: any) may go to one: it is of the
 * policy, and it is that one. */
static inline bool pool_is_for(const struct sched *sched, uint32_t pool,
                               uint32_t wanted)
{
    return pool != NONE && sched->pools.items[pool].policy_index >= 0 &&
           (wanted == NONE || wanted == pool);
}
/* What runs on a node goes with it to another pool. */
void nodes_relink_runs(struct sched *sched, uint32_t node, uint32_t pool);
/* Count a present node in (+1) or out (-1) of its pool. */
void pool_nodes_count(struct sched *sched, const struct node *node, int sign);
/* Take a node's entry out of the index before its pool changes. */
void pool_nodes_leave(struct sched *sched, uint32_t node);
/* Sort a pool's nodes into its index anew. */
void pool_nodes_reindex(struct sched *sched, uint32_t pool);
