/*
 * node_index_private - what the files of the index show to each other:
 * node_index_blocks.c has the blocks, node_index.c puts entries into them,
 * node_index_find.c searches them, node_index_loose.c has what moved loosely.
 *
 * Private to these four.
 */
#pragma once

#include "sched/data/node_index.h"

/* The block at a place of the order. */
static inline struct node_index_block *
node_index_block_at(const struct node_index *index, uint32_t at)
{
    return &index->blocks[index->order[at]];
}

/* Whether (key, rank) of the item at `i` of a block is before the given. */
static inline bool node_index_is_before(const struct node_index *index,
                                        const struct node_index_block *block,
                                        uint32_t i, uint64_t key, uint32_t rank)
{
    return block->keys[i] != key ? block->keys[i] < key
                                 : index->ranks[block->nodes[i]] < rank;
}

/* What a node has free, packed; the caller of the index is told as well. */
uint64_t node_index_word(const struct node_index *index, uint32_t node);
/* The place in the order of the first block whose last item is not before
 * (key, rank); order_count when there is none. */
uint32_t node_index_block_of(const struct node_index *index, uint64_t key,
                             uint32_t rank);
/* The first place in a block whose item is not before (key, rank). */
uint32_t node_index_place_of(const struct node_index *index,
                             const struct node_index_block *block, uint64_t key,
                             uint32_t rank);
/* The entry of a node, which is there with `old_key`, comes to where it
 * belongs with `key` and `word`. */
void node_index_relocate(struct node_index *index, uint32_t node,
                         uint64_t old_key, uint64_t key, uint64_t word);
/* Forget that a node moved loosely: its key is set to that in the blocks.
 * False: it did not. */
bool node_index_fasten(struct node_index *index, uint32_t node, uint64_t *key);

/* Put an empty block at place `at` of the order. */
struct node_index_block *node_index_add_block(struct node_index *index,
                                              uint32_t at);
/* Free the block at place `at` of the order. */
void node_index_drop_block(struct node_index *index, uint32_t at);
/* Words of a block have changed, at `first` to `last` at the most. */
void node_index_set_tops(struct node_index *index, uint32_t at, uint32_t first,
                         uint32_t last);
/* Whether all of the block at `at` is before (key, rank). */
bool node_index_is_block_before(const struct node_index *index, uint32_t at,
                                uint64_t key, uint32_t rank);
