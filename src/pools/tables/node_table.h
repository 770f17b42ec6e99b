/*
 * node_table - nodes behind pools.h: the router's handle of each, and the shard
 * that it is in.  Private to src/pools.
 *
 * A node whose shard is being planned stays in it, and is held: it is shifted
 * when the shard is back (nodes/nodes.h).
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/tables/router.h"

/* The handle of a node, made when it is new. */
uint32_t pool_node_get(struct pools *pools, struct str executor,
                       struct str name);
/* The handle of a node, or NONE. */
uint32_t pool_node_find(const struct pools *pools, struct str executor,
                        struct str name);
/* Whether an executor gets new leases, as one that is new does; true: that is
 * another answer than before. */
bool executor_set(struct pools *pools, struct str name, bool accepts);
/* Hold a node no longer. */
void pool_node_unhold(struct pool_node *row);
/* A shard's handle of a node, made when it is new there. */
uint32_t shard_node(struct pools *pools, struct shard *shard, uint32_t node);
/* The router's handle of a shard's node. */
uint32_t node_back(const struct shard *shard, uint32_t local);
/* Take over all nodes and executors of the Default shard. */
void nodes_adopt(struct pools *pools);
/* Count a lease or a delta that names a node (1), or no longer (-1). */
void pool_node_use(struct pools *pools, uint32_t node, int sign);
/* Free the handles of nodes that nothing names. */
void pool_nodes_release(struct pools *pools);
/* Free the table of nodes. */
void pool_nodes_fini(struct pools *pools);
