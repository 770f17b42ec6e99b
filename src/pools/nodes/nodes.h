/*
 * nodes - what nodes are, and how one gets to another shard.  Private to
 * src/pools.
 */
#pragma once

#include "pools/tables/router.h"

/* What nodes are; nodes.c. */

/* A node is as a record says, or is gone. */
apply_fn apply_node_set, apply_node_gone;
/* A copy of a struct node_record that lives in an arena. */
const void *node_copy(const void *from, struct arena *arena);
/* Tell the shard of a node; `delta->node` is filled in. */
void pool_node_tell(struct pools *pools, uint32_t node, struct delta *delta);
/* The node goes on in its shard as `record` says. */
void pool_node_set(struct pools *pools, uint32_t node,
                   const struct node_record *record);
/* A node that is gone was in that shard, and of that pool; nothing of it is
 * known yet. */
void pool_node_restore(struct pools *pools, struct str executor,
                       struct str name, struct str pool,
                       const struct shard *in);

/* From shard to shard; shifts.c. */

/* Take a node out of its shard, with what runs there and how it is. */
void pool_node_shift(struct pools *pools, uint32_t node, struct shard *to);
/* Its shard is being planned: until that is over it is nowhere. */
void pool_node_hold(struct pools *pools, uint32_t node, const struct shard *to,
                    const struct node_record *record);
/* Nodes that waited for a shard to be back go on. */
void pool_nodes_settle(struct pools *pools, struct shard *shard);
/* The nodes of a shard that ends are Default's, absent until told again. */
void pool_nodes_to_default(struct pools *pools, const struct shard *shard);

/* What pods that are not ours ask for in vain; pending.c. */

/* Tell all shards their part of what others ask for in vain, if it may be
 * another. */
void pools_pending_settle(struct pools *pools);
/* Free what executors said. */
void pools_pending_fini(struct pools *pools);
