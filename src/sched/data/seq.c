#include "sched/data/seq.h"

#include <string.h>

enum { ITEMS_MIN = 2 };

void seq_fini(struct seq *seq)
{
    for (uint32_t i = 0; i < seq->block_count; i++) {
        mem_free(seq->blocks[i].items);
    }
    mem_free(seq->blocks);
    *seq = (struct seq){0};
}

/* The first block whose last item is not before `item`, or the last block. */
static uint32_t find_block(const struct seq *seq, uint32_t item,
                           seq_less_fn *less, const void *context)
{
    uint32_t low = 0, high = seq->block_count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct seq_block *block = &seq->blocks[middle];
        if (less(context, block->items[block->count - 1], item)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first place in a block whose item is not before `item`. */
static uint32_t find_offset(const struct seq_block *block, uint32_t item,
                            seq_less_fn *less, const void *context)
{
    uint32_t low = 0, high = block->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (less(context, block->items[middle], item)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Open a place for a new, empty block at `at`. */
static struct seq_block *add_block(struct seq *seq, uint32_t at)
{
    if (seq->block_count == seq->block_capacity) {
        seq->block_capacity = seq->block_capacity ? seq->block_capacity * 2 : 1;
        seq->blocks = mem_grow_array(seq->blocks, seq->block_capacity,
                                     sizeof(*seq->blocks));
    }
    memmove(&seq->blocks[at + 1], &seq->blocks[at],
            (seq->block_count - at) * sizeof(*seq->blocks));
    seq->block_count++;
    seq->blocks[at] = (struct seq_block){0};
    return &seq->blocks[at];
}

static void reserve(struct seq_block *block, uint32_t count)
{
    if (count > block->capacity) {
        uint32_t capacity = block->capacity ? block->capacity : ITEMS_MIN;
        while (capacity < count) {
            capacity *= 2;
        }
        block->items =
            mem_grow_array(block->items, capacity, sizeof(*block->items));
        block->capacity = (uint16_t)capacity;
    }
}

/* Make room in the full block `at` for an item at `offset`: at the very end
 * a fresh block, so that what is only appended to has full blocks; else the
 * block is halved.  Returns the block that now takes the item. */
static uint32_t split(struct seq *seq, uint32_t at, uint32_t offset)
{
    if (at == seq->block_count - 1 && offset == SEQ_BLOCK_ITEMS) {
        add_block(seq, at + 1);
        return at + 1;
    }
    struct seq_block *fresh = add_block(seq, at + 1);
    struct seq_block *full = &seq->blocks[at];
    uint16_t half = (uint16_t)(full->count / 2);
    reserve(fresh, (uint32_t)full->count - half);
    memcpy(fresh->items, full->items + half,
           (size_t)(full->count - half) * sizeof(*full->items));
    fresh->count = (uint16_t)(full->count - half);
    full->count = half;
    ASSERT(fresh->count > 0 && full->count > 0); /* no block is empty */
    return offset > half ? at + 1 : at;
}

void seq_insert(struct seq *seq, uint32_t item, seq_less_fn *less,
                const void *context)
{
    uint32_t at = seq->block_count ? seq->block_count - 1 : 0;

    if (seq->block_count == 0) {
        add_block(seq, 0);
    } else if (!less(context, seq_last(seq), item)) {
        at = find_block(seq, item, less, context);
    }
    uint32_t offset = find_offset(&seq->blocks[at], item, less, context);
    if (seq->blocks[at].count == SEQ_BLOCK_ITEMS) {
        at = split(seq, at, offset);
        offset = find_offset(&seq->blocks[at], item, less, context);
    }
    struct seq_block *block = &seq->blocks[at];
    reserve(block, (uint32_t)block->count + 1);
    memmove(&block->items[offset + 1], &block->items[offset],
            (block->count - offset) * sizeof(*block->items));
    block->items[offset] = item;
    block->count++;
    seq->count++;
    ASSERT(block->count <= SEQ_BLOCK_ITEMS);
    ASSERT_SLOW(offset + 1 == block->count ||
                !less(context, block->items[offset + 1], item));
}

void seq_remove(struct seq *seq, uint32_t item, seq_less_fn *less,
                const void *context)
{
    ASSERT(seq->count > 0);
    uint32_t at = find_block(seq, item, less, context);
    struct seq_block *block = &seq->blocks[at];
    uint32_t offset = find_offset(block, item, less, context);

    ASSERT(offset < block->count && block->items[offset] == item);
    block->count--;
    memmove(&block->items[offset], &block->items[offset + 1],
            (block->count - offset) * sizeof(*block->items));
    if (block->count == 0) {
        mem_free(block->items);
        seq->block_count--;
        memmove(block, block + 1,
                (seq->block_count - at) * sizeof(*seq->blocks));
    }
    if (--seq->count == 0) {
        seq_fini(seq);
    }
}

bool seq_find(const struct seq *seq, uint32_t item, seq_less_fn *less,
              const void *context, struct seq_cursor *ret_at)
{
    *ret_at = (struct seq_cursor){0};
    if (seq->count == 0) {
        return false;
    }
    uint32_t at = find_block(seq, item, less, context);
    uint32_t offset = find_offset(&seq->blocks[at], item, less, context);
    if (offset == seq->blocks[at].count) {
        ASSERT(at + 1 ==
               seq->block_count); /* only the last may be all before */
        *ret_at = (struct seq_cursor){.block = seq->block_count};
        return false;
    }
    *ret_at = (struct seq_cursor){.block = at, .offset = offset};
    return seq->blocks[at].items[offset] == item;
}
