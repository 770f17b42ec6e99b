/*
 * node_index - the nodes of a pool in the order in which they are to be
 * filled (model.md 2.10): least weighted free amount first, ties by rank,
 * which is the order of names.
 *
 * Sorted blocks.  Beside each node stands what it has free as a packed word,
 * and for each block, and each part of one, the largest fields of its words,
 * so that nodes and whole blocks are passed over without a look at anything
 * else.  Free amounts and
 * ranks are the caller's, in arrays by node.
 *
 * Nodes are of *kinds* (node_shapes.h), and a search knows of some that they
 * are not for it.  So beside the largest fields, of even and of odd kinds
 * apart, stands which kinds there are: what only such nodes could serve is
 * passed over, too.
 *
 * Who fills a pool moves the same few nodes again and again.  So what moves
 * *loosely* stands beside the blocks at first, its entry there as a word that
 * nothing fits, and takes its place when many others have moved since.  All
 * else is as if it had moved at once.
 *
 * Zeroed memory is an empty index.  Threads: one owner.
 */
#pragma once

#include "sched/data/tops.h"

enum {
    NODE_INDEX_BLOCK = 64,
    NODE_INDEX_PART = 8,
    NODE_INDEX_PARTS = NODE_INDEX_BLOCK / NODE_INDEX_PART,
    NODE_INDEX_LOOSE_MAX = 64,
    NODE_INDEX_NONE = UINT32_MAX,
};

struct node_index_block {
    uint32_t count;
    struct tops tops[NODE_INDEX_PARTS]; /* of each part */
    uint32_t nodes[NODE_INDEX_BLOCK];
    uint64_t keys[NODE_INDEX_BLOCK];
    uint64_t words[NODE_INDEX_BLOCK]; /* what the nodes have free, packed */
    uint32_t kinds[NODE_INDEX_BLOCK]; /* see node_shapes.h */
};

/* Nodes that moved loosely, those that did so last at the end. */
struct node_index_loose {
    uint32_t count;
    uint32_t nodes[NODE_INDEX_LOOSE_MAX];
    uint64_t keys[NODE_INDEX_LOOSE_MAX];
    uint64_t words[NODE_INDEX_LOOSE_MAX];
    uint64_t block_keys[NODE_INDEX_LOOSE_MAX]; /* as in the blocks */
};

struct node_index {
    struct node_index_block *blocks; /* owned; in no order */
    uint32_t *order;                 /* owned; blocks by key */
    struct tops *tops;               /* owned; as `order` */
    uint64_t *ends;                  /* owned; as `order`: the last key */
    uint32_t *spare;                 /* owned; blocks not in use */
    uint32_t kind_max;               /* that was put in since it was cleared */
    uint32_t order_count, spare_count, capacity;
    const uint32_t *ranks;           /* borrowed, by node */
    const struct resource_vec *free; /* borrowed, by node */
    const uint32_t *kinds;           /* borrowed, by node; NULL: of no use */
    uint64_t *node_words; /* the caller's, by node: set to the node's word; or
                             NULL: not wanted */
    struct packed_scale scale; /* the caller's; set while empty */
    struct node_index_loose loose;
};

/* A node that is to be in an index. */
struct node_index_entry {
    uint64_t key;
    uint32_t node;
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
/* Fill an empty index with entries that are sorted by rank.  `spare` is as
 * long as `entries`; both are scratch afterwards. */
void node_index_fill(struct node_index *index, struct node_index_entry *entries,
                     struct node_index_entry *spare, uint32_t count);
/* A node that is there has other amounts free, and so another key (or not). */
void node_index_move(struct node_index *index, uint32_t node, uint64_t old_key,
                     uint64_t key);
/* The same for a node that will move again soon. */
void node_index_move_loosely(struct node_index *index, uint32_t node,
                             uint64_t old_key, uint64_t key);
/* What is searched for. */
struct node_query {
    const struct resource_vec *request;
    uint64_t key_min;  /* nodes before (key_min, rank_min) are known not to */
    uint32_t rank_min; /* match, and may be skipped */
    uint64_t key_max;  /* nodes with a larger key are not wanted; 0: all are */
    /* Two bits a kind: known, and then let through by `match`; or NULL. */
    const uint64_t *kinds;
    node_match_fn *match;
    void *context;
};

/* The first node that has room and matches, or NODE_INDEX_NONE.  Adds to
 * `examined` the nodes that were asked about: all that have room, up to it. */
uint32_t node_index_find(const struct node_index *index,
                         const struct node_query *query, uint64_t *examined);
