/*
 * nodes - which shard a node is in, and moves between shards.  Private to
 * src/pools.
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/tables/router.h"

/* What nodes are; nodes.c. */

/* Set a node as its record says; remove it. */
apply_fn apply_node_set, apply_node_gone;
/* A copy of a struct node_record that lives in an arena. */
const void *node_copy(const void *from, struct arena *arena);
/* Deliver a delta to the shard of a node; fills in `delta->node`. */
void pool_node_tell(struct pools *pools, uint32_t node, struct delta *delta);
/* Set a node in its shard as `record` says. */
void pool_node_set(struct pools *pools, uint32_t node,
                   const struct node_record *record);
/* Remember that a node that is gone was in that shard and pool; the router does
 * not know it yet. */
void pool_node_restore(struct pools *pools, struct str executor,
                       struct str name, struct str pool,
                       const struct shard *in);

/* From shard to shard; shifts.c. */

/* Move a node to another shard, with what runs there and its health. */
void pool_node_shift(struct pools *pools, uint32_t node, struct shard *to);
/* Hold a node whose shard is being planned: until that is back it is in no
 * plan. */
void pool_node_hold(struct pools *pools, uint32_t node, const struct shard *to,
                    const struct node_record *record);
/* Move on the nodes that were held until a shard is back. */
void pool_nodes_settle(struct pools *pools, struct shard *shard);
/* Give the nodes of a shard that ends to Default, absent until set again. */
void pool_nodes_to_default(struct pools *pools, const struct shard *shard);

/* What pods that are not ours ask for in vain; pending.c. */

/* Tell each shard its part of what others ask for in vain, if it may have
 * changed. */
void pools_pending_settle(struct pools *pools);
/* Free what executors reported. */
void pools_pending_fini(struct pools *pools);
