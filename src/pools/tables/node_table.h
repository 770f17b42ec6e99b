/*
 * posts - nodes behind pools.h: the router's handle of each, the shard that it
 * is in, and how it gets to another.  Private to src/pools.
 *
 *     node_table.c    the table
 *     nodes/nodes.c    what nodes are, and whose
 *     shifts.c   from shard to shard
 *     nodes/health.c   their health
 *
 * A node whose shard is being planned stays in it, and is held: it is shifted
 * when the shard is back.
 */
#pragma once

#include "pools/tables/router.h"

/* node_table.c */

/* The handle of a node, made when it is new. */
uint32_t post_get(struct pools *pools, struct str executor, struct str name);
/* The handle of a node, or NONE. */
uint32_t post_find(const struct pools *pools, struct str executor,
                   struct str name);
/* The number of an executor, made when it is new. */
uint32_t executor_of(struct pools *pools, struct str name);
/* It is held no more. */
void post_unhold(struct post *post);
/* A shard's handle of a node, made when it is new there. */
uint32_t shard_node(struct pools *pools, struct shard *shard, uint32_t node);
/* The router's handle of a shard's node. */
uint32_t node_back(const struct shard *shard, uint32_t local);
/* All nodes and executors of the Default shard are the router's. */
void nodes_adopt(struct pools *pools);
/* A lease or a delta more (1) or less (-1) speaks of a node. */
void post_use(struct pools *pools, uint32_t node, int sign);
/* Give back what nobody speaks of. */
void posts_release(struct pools *pools);
/* Free the table of nodes. */
void posts_fini(struct pools *pools);

/* nodes/nodes.c */

/* A node is as a record says, or is gone. */
apply_fn apply_node_set, apply_node_gone;
/* A copy of a struct node_record that lives in an arena. */
const void *node_copy(const void *from, struct arena *arena);
/* Tell the shard of a node; `delta->node` is filled in. */
void post_tell(struct pools *pools, uint32_t node, struct delta *delta);
/* The node goes on in its shard as `record` says. */
void post_set(struct pools *pools, uint32_t node,
              const struct node_record *record);
/* A node that is gone was in that shard, and of that pool; nothing of it is
 * known yet. */
void post_restore(struct pools *pools, struct str executor, struct str name,
                  struct str pool, const struct shard *in);

/* shifts.c */

/* Take a node out of its shard, with what runs there and how it is. */
void post_shift(struct pools *pools, uint32_t node, struct shard *to);
/* Its shard is being planned: until that is over it is nowhere. */
void post_hold(struct pools *pools, uint32_t node, const struct shard *to,
               const struct node_record *record);
/* Nodes that waited for a shard to be back go on. */
void posts_settle(struct pools *pools, struct shard *shard);
/* The nodes of a shard that ends are Default's, absent until told again. */
void posts_leave(struct pools *pools, const struct shard *shard);
