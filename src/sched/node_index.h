/*
 * node_index - the nodes of a pool in the order in which they are to be
 * filled (model.md 2.10): least weighted free amount first, ties by rank,
 * which is the order of names.
 *
 * Sorted blocks, each with an upper bound of what its nodes have free, so
 * that whole blocks are passed over.  Free amounts and ranks are the
 * caller's, in arrays by node.
 *
 * Zeroed memory is an empty index.  Threads: one owner.
 */
#pragma once

#include "sched/amounts.h"

enum { NODE_INDEX_BLOCK = 64, NODE_INDEX_NONE = UINT32_MAX };

struct node_index_block {
    struct resource_vec free_max; /* an upper bound, tightened by searches */
    uint32_t count;
    bool is_loose; /* free_max may be more than what the nodes have */
    uint32_t nodes[NODE_INDEX_BLOCK];
    uint64_t keys[NODE_INDEX_BLOCK];
};

struct node_index {
    struct node_index_block *blocks; /* owned; in no order */
    uint32_t *order;                 /* owned; blocks by key */
    uint32_t *spare;                 /* owned; blocks not in use */
    uint32_t order_count, spare_count, capacity;
    const uint32_t *ranks;           /* borrowed, by node */
    const struct resource_vec *free; /* borrowed, by node */
};

/* Whether a node that has room is otherwise fit. */
typedef bool node_match_fn(void *context, uint32_t node);

/* Free the memory and leave an empty index. */
void node_index_fini(struct node_index *index);
/* Forget all nodes. */
void node_index_clear(struct node_index *index);
/* Add a node that is not there. */
void node_index_insert(struct node_index *index, uint32_t node, uint64_t key);
/* Take out a node that is there with this key. */
void node_index_remove(struct node_index *index, uint32_t node, uint64_t key);
/* Fill an empty index with nodes that are sorted by key and rank. */
void node_index_fill(struct node_index *index, const uint32_t *nodes,
                     const uint64_t *keys, uint32_t count);
/* What a node has free has grown while its key stayed. */
void node_index_widen(struct node_index *index, uint32_t node, uint64_t key);
/* The first node that has room for `request` and matches, or NODE_INDEX_NONE;
 * nodes before (key_min, rank_min) are known not to, and may be skipped.  Adds
 * to `examined` the nodes that were asked about. */
uint32_t node_index_find(struct node_index *index,
                         const struct resource_vec *request, uint64_t key_min,
                         uint32_t rank_min, node_match_fn *match, void *context,
                         uint64_t *examined);
