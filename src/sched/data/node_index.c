#include "sched/data/node_index.h"

#include <string.h>

#include "sched/data/node_index_private.h"

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

/* Move `count` items of a block from place `from` to place `to`. */
static void shift(struct node_index_block *block, uint32_t to, uint32_t from,
                  uint32_t count)
{
    memmove(&block->nodes[to], &block->nodes[from],
            count * sizeof(*block->nodes));
    memmove(&block->keys[to], &block->keys[from], count * sizeof(*block->keys));
    memmove(&block->words[to], &block->words[from],
            count * sizeof(*block->words));
    memmove(&block->kinds[to], &block->kinds[from],
            count * sizeof(*block->kinds));
}

/* The kind of a node that is put in. */
static uint32_t kind_of(struct node_index *index, uint32_t node)
{
    uint32_t kind = index->kinds ? index->kinds[node] : 0;

    index->kind_max = kind > index->kind_max ? kind : index->kind_max;
    return kind;
}

/* Write an item at a place that is free for it; the tops are the caller's. */
static void put(struct node_index *index, uint32_t at, uint32_t place,
                uint32_t node, uint64_t key, uint64_t word)
{
    struct node_index_block *block = node_index_block_at(index, at);

    block->nodes[place] = node;
    block->keys[place] = key;
    block->words[place] = word;
    block->kinds[place] = kind_of(index, node);
    index->ends[at] = block->keys[block->count - 1];
}

static void split(struct node_index *index, uint32_t at)
{
    struct node_index_block *upper = node_index_add_block(index, at + 1);
    struct node_index_block *lower = node_index_block_at(index, at);
    uint32_t half = lower->count / 2;

    upper->count = lower->count - half;
    memcpy(upper->nodes, lower->nodes + half,
           upper->count * sizeof(*upper->nodes));
    memcpy(upper->keys, lower->keys + half,
           upper->count * sizeof(*upper->keys));
    memcpy(upper->words, lower->words + half,
           upper->count * sizeof(*upper->words));
    memcpy(upper->kinds, lower->kinds + half,
           upper->count * sizeof(*upper->kinds));
    lower->count = half;
    index->ends[at + 1] = index->ends[at];
    index->ends[at] = lower->keys[half - 1];
    node_index_set_tops(index, at, 0, NODE_INDEX_BLOCK);
    node_index_set_tops(index, at + 1, 0, NODE_INDEX_BLOCK);
}

static void insert(struct node_index *index, uint32_t node, uint64_t key,
                   uint64_t word)
{
    uint32_t rank = index->ranks[node];
    uint32_t at = node_index_block_of(index, key, rank);

    if (index->order_count == 0) {
        node_index_add_block(index, 0);
    } else if (at == index->order_count) {
        at--;
    }
    if (node_index_block_at(index, at)->count == NODE_INDEX_BLOCK) {
        split(index, at);
        at += node_index_is_block_before(index, at, key, rank);
    }
    struct node_index_block *block = node_index_block_at(index, at);
    uint32_t place = node_index_place_of(index, block, key, rank);
    shift(block, place + 1, place, block->count - place);
    block->count++;
    put(index, at, place, node, key, word);
    node_index_set_tops(index, at, place, block->count);
}

void node_index_insert(struct node_index *index, uint32_t node, uint64_t key)
{
    insert(index, node, key, node_index_word(index, node));
}

/* Where a node is that is there. */
static uint32_t locate(const struct node_index *index, uint32_t node,
                       uint64_t key, uint32_t *ret_block)
{
    uint32_t at = node_index_block_of(index, key, index->ranks[node]);

    ASSERT(at < index->order_count);
    const struct node_index_block *block = node_index_block_at(index, at);
    uint32_t place = node_index_place_of(index, block, key, index->ranks[node]);
    ASSERT(place < block->count && block->nodes[place] == node);
    *ret_block = at;
    return place;
}

static void take_out(struct node_index *index, uint32_t at, uint32_t place)
{
    struct node_index_block *block = node_index_block_at(index, at);

    block->count--;
    shift(block, place, place + 1, block->count - place);
    if (block->count == 0) {
        node_index_drop_block(index, at);
    } else {
        index->ends[at] = block->keys[block->count - 1];
        node_index_set_tops(index, at, place, block->count);
    }
}

void node_index_remove(struct node_index *index, uint32_t node, uint64_t key)
{
    uint32_t at;

    (void)node_index_fasten(index, node, &key);
    uint32_t place = locate(index, node, key, &at);
    take_out(index, at, place);
}

void node_index_relocate(struct node_index *index, uint32_t node,
                         uint64_t old_key, uint64_t key, uint64_t word)
{
    uint32_t at, rank = index->ranks[node];
    uint32_t from = locate(index, node, old_key, &at);
    struct node_index_block *block = node_index_block_at(index, at);

    bool is_in =
        key < old_key
            ? from > 0 && node_index_is_before(index, block, 0, key, rank)
            : from + 1 < block->count &&
                  !node_index_is_before(index, block, block->count - 1, key,
                                        rank);
    if (!is_in && key != old_key) {
        take_out(index, at, from);
        insert(index, node, key, word);
        return;
    }
    uint32_t to =
        key == old_key ? from : node_index_place_of(index, block, key, rank);
    if (to < from) {
        shift(block, to + 1, to, from - to);
    } else if (to > from) {
        to--;
        shift(block, from, from + 1, to - from);
    }
    put(index, at, to, node, key, word);
    node_index_set_tops(index, at, to < from ? to : from,
                        to < from ? from : to);
}

void node_index_move(struct node_index *index, uint32_t node, uint64_t old_key,
                     uint64_t key)
{
    (void)node_index_fasten(index, node, &old_key);
    node_index_relocate(index, node, old_key, key,
                        node_index_word(index, node));
}

/* Stable sort by key, a digit after the other; returns where the result is. */
static struct node_index_entry *sort_entries(struct node_index_entry *items,
                                             struct node_index_entry *spare,
                                             uint32_t count)
{
    uint64_t differing = 0;

    for (uint32_t i = 1; i < count; i++) {
        differing |= items[i].key ^ items[0].key;
    }
    for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
        uint32_t starts[DIGITS + 1] = {0};
        if ((differing >> shift & (DIGITS - 1)) == 0) {
            continue;
        }
        for (uint32_t i = 0; i < count; i++) {
            starts[(items[i].key >> shift & (DIGITS - 1)) + 1]++;
        }
        for (uint32_t d = 0; d < DIGITS; d++) {
            starts[d + 1] += starts[d];
        }
        for (uint32_t i = 0; i < count; i++) {
            spare[starts[items[i].key >> shift & (DIGITS - 1)]++] = items[i];
        }
        struct node_index_entry *swap = items;
        items = spare;
        spare = swap;
    }
    return items;
}

void node_index_fill(struct node_index *index, struct node_index_entry *entries,
                     struct node_index_entry *spare, uint32_t count)
{
    enum { FILL = NODE_INDEX_BLOCK * 3 / 4 };

    ASSERT(index->order_count == 0);
    entries = sort_entries(entries, spare, count);
    for (uint32_t done = 0; done < count;) {
        uint32_t n = count - done < FILL ? count - done : FILL;
        uint32_t at = index->order_count;
        struct node_index_block *block = node_index_add_block(index, at);
        for (uint32_t i = 0; i < n; i++) {
            block->nodes[i] = entries[done + i].node;
            block->keys[i] = entries[done + i].key;
            block->words[i] = node_index_word(index, block->nodes[i]);
            block->kinds[i] = kind_of(index, block->nodes[i]);
        }
        block->count = n;
        index->ends[at] = block->keys[n - 1];
        node_index_set_tops(index, at, 0, NODE_INDEX_BLOCK);
        done += n;
    }
}
