/*
 * seq - a sorted sequence of u32 items, in blocks.
 *
 * Appending at the end and taking from the front cost next to nothing, the
 * rest a binary search and the move of half a block.  The order is the
 * caller's: a total order that does not change while the items are in.
 *
 * Zeroed memory is an empty sequence.  Threads: one owner.
 */
#pragma once

#include "base/base.h"

enum { SEQ_BLOCK_ITEMS = 256 };

struct seq_block {
    uint32_t *items; /* owned */
    uint16_t count, capacity;
};

struct seq {
    struct seq_block *blocks; /* owned, none of them empty */
    uint32_t block_count, block_capacity;
    uint32_t count;
};

/* A place in a sequence; valid until the sequence changes. */
struct seq_cursor {
    uint32_t block, offset;
};

/* A place in a sequence that stays as it is, from which to read on with no look
 * at anything but the items.  Zeroed: at the first. */
struct seq_reader {
    const uint32_t *items; /* what is left of the block; NULL: none yet */
    uint32_t left, block;  /* how many these are; the block that is next */
};

/* Whether item `a` goes before item `b`. */
typedef bool seq_less_fn(const void *context, uint32_t a, uint32_t b);

/* Free the memory and leave an empty sequence. */
void seq_fini(struct seq *seq);
/* Add an item that is not there. */
void seq_insert(struct seq *seq, uint32_t item, seq_less_fn *less,
                const void *context);
/* Take out an item that is there. */
void seq_remove(struct seq *seq, uint32_t item, seq_less_fn *less,
                const void *context);

/* Where an item is; false if it is not there, and `*ret_at` is where it would
 * stand: at the first item that does not go before it, or at the end. */
bool seq_find(const struct seq *seq, uint32_t item, seq_less_fn *less,
              const void *context, struct seq_cursor *ret_at);

/* The last item of a sequence that is not empty. */
static inline uint32_t seq_last(const struct seq *seq)
{
    const struct seq_block *block = &seq->blocks[seq->block_count - 1];

    return block->items[block->count - 1];
}

/* The place of the last item of a sequence that is not empty. */
static inline struct seq_cursor seq_at_last(const struct seq *seq)
{
    return (struct seq_cursor){
        .block = seq->block_count - 1,
        .offset = seq->blocks[seq->block_count - 1].count - 1u,
    };
}

/* Move to the item before; false: there is none. */
static inline bool seq_previous(const struct seq *seq, struct seq_cursor *at)
{
    if (at->offset == 0 && at->block == 0) {
        return false;
    }
    if (at->offset-- == 0) {
        at->block--;
        at->offset = seq->blocks[at->block].count - 1u;
    }
    return true;
}

/* Whether the cursor is past the end. */
static inline bool seq_is_end(const struct seq *seq, struct seq_cursor at)
{
    return at.block >= seq->block_count;
}

/* The item at a cursor that is not past the end. */
static inline uint32_t seq_get(const struct seq *seq, struct seq_cursor at)
{
    return seq->blocks[at.block].items[at.offset];
}

/* Move to the next item. */
static inline void seq_next(const struct seq *seq, struct seq_cursor *at)
{
    if (++at->offset >= seq->blocks[at->block].count) {
        at->block++;
        at->offset = 0;
    }
}

/* What a reader stands at; false: it is at the end. */
static inline bool seq_read(const struct seq *seq, struct seq_reader *reader,
                            uint32_t *ret_item)
{
    if (reader->left == 0) {
        if (reader->block >= seq->block_count) {
            return false;
        }
        reader->items = seq->blocks[reader->block].items;
        reader->left = seq->blocks[reader->block++].count;
    }
    *ret_item = *reader->items;
    return true;
}

/* Move a reader that is not at the end to the next item. */
static inline void seq_read_on(const struct seq *seq, struct seq_reader *reader)
{
    uint32_t item;

    if (seq_read(seq, reader, &item)) {
        reader->items++;
        reader->left--;
    }
}
