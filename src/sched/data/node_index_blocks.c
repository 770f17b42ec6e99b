/* The blocks of the index: their order, and what each has at most. */
#include <string.h>

#include "sched/data/node_index_private.h"

enum { BLOCKS_MIN = 16 };

void node_index_fini(struct node_index *index)
{
    mem_free(index->blocks);
    mem_free(index->order);
    mem_free(index->tops);
    mem_free(index->ends);
    mem_free(index->spare);
    *index = (struct node_index){0};
}

void node_index_clear(struct node_index *index)
{
    index->loose.count = 0;
    index->kind_max = 0;
    index->order_count = 0;
    index->spare_count = 0;
    for (uint32_t i = index->capacity; i > 0; i--) {
        index->spare[index->spare_count++] = i - 1;
    }
}

static void grow(struct node_index *index)
{
    uint32_t capacity = index->capacity ? index->capacity * 2 : BLOCKS_MIN;

    index->blocks =
        mem_grow_array(index->blocks, capacity, sizeof(*index->blocks));
    index->order =
        mem_grow_array(index->order, capacity, sizeof(*index->order));
    index->tops = mem_grow_array(index->tops, capacity, sizeof(*index->tops));
    index->ends = mem_grow_array(index->ends, capacity, sizeof(*index->ends));
    index->spare =
        mem_grow_array(index->spare, capacity, sizeof(*index->spare));
    for (uint32_t i = capacity; i > index->capacity; i--) {
        index->spare[index->spare_count++] = i - 1;
    }
    index->capacity = capacity;
}

struct node_index_block *node_index_add_block(struct node_index *index,
                                              uint32_t at)
{
    if (index->spare_count == 0) {
        grow(index);
    }
    uint32_t fresh = index->spare[--index->spare_count];
    uint32_t behind = index->order_count - at;
    memmove(&index->order[at + 1], &index->order[at],
            behind * sizeof(*index->order));
    memmove(&index->tops[at + 1], &index->tops[at],
            behind * sizeof(*index->tops));
    memmove(&index->ends[at + 1], &index->ends[at],
            behind * sizeof(*index->ends));
    index->order[at] = fresh;
    index->tops[at] = (struct tops){0};
    index->ends[at] = 0;
    index->order_count++;
    struct node_index_block *block = &index->blocks[fresh];
    block->count = 0;
    return block;
}

void node_index_drop_block(struct node_index *index, uint32_t at)
{
    index->spare[index->spare_count++] = index->order[at];
    uint32_t behind = --index->order_count - at;
    memmove(&index->order[at], &index->order[at + 1],
            behind * sizeof(*index->order));
    memmove(&index->tops[at], &index->tops[at + 1],
            behind * sizeof(*index->tops));
    memmove(&index->ends[at], &index->ends[at + 1],
            behind * sizeof(*index->ends));
}

uint64_t node_index_word(const struct node_index *index, uint32_t node)
{
    uint64_t word = packed_of(&index->scale, &index->free[node]);

    if (index->node_words) {
        index->node_words[node] = word;
    }
    return word;
}

void node_index_set_tops(struct node_index *index, uint32_t at, uint32_t first,
                         uint32_t last)
{
    struct node_index_block *block = node_index_block_at(index, at);
    uint32_t part_count =
        (block->count + NODE_INDEX_PART - 1) / NODE_INDEX_PART;
    struct tops tops = {0};

    for (uint32_t p = first / NODE_INDEX_PART;
         p < part_count && p <= last / NODE_INDEX_PART; p++) {
        uint32_t end = (p + 1) * NODE_INDEX_PART;
        struct tops part = {0};
        end = end < block->count ? end : block->count;
        for (uint32_t i = p * NODE_INDEX_PART; i < end; i++) {
            tops_add(&part, tops_of(block->words[i], block->kinds[i]));
        }
        block->tops[p] = part;
    }
    for (uint32_t p = 0; p < part_count; p++) {
        tops_add(&tops, block->tops[p]);
    }
    index->tops[at] = tops;
}

bool node_index_is_block_before(const struct node_index *index, uint32_t at,
                                uint64_t key, uint32_t rank)
{
    const struct node_index_block *block;

    if (index->ends[at] != key) {
        return index->ends[at] < key;
    }
    block = node_index_block_at(index, at);
    return index->ranks[block->nodes[block->count - 1]] < rank;
}

uint32_t node_index_block_of(const struct node_index *index, uint64_t key,
                             uint32_t rank)
{
    uint32_t low = 0, high = index->order_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (node_index_is_block_before(index, middle, key, rank)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

uint32_t node_index_place_of(const struct node_index *index,
                             const struct node_index_block *block, uint64_t key,
                             uint32_t rank)
{
    uint32_t low = 0, high = block->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (node_index_is_before(index, block, middle, key, rank)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
