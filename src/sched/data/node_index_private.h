/*
 * node_index_private - what node_index.c, which keeps the blocks, and
 * node_index_find.c, which searches them and keeps what moved loosely, have
 * of each other.
 *
 * Private to these two.
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
