#include <string.h>

#include "sched/data/node_index_private.h"

enum { BLOCKS_MIN = 16, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

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

/* Put an empty block at place `at` of the order. */
static struct node_index_block *add_block(struct node_index *index, uint32_t at)
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
    index->tops[at] = (struct node_index_tops){0};
    index->ends[at] = 0;
    index->order_count++;
    struct node_index_block *block = &index->blocks[fresh];
    block->count = 0;
    return block;
}

static void drop_block(struct node_index *index, uint32_t at)
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

static void add_tops(struct node_index_tops *tops, struct node_index_tops other)
{
    tops->even = packed_max(tops->even, other.even);
    tops->odd = packed_max(tops->odd, other.odd);
    tops->kinds |= other.kinds;
}

static struct node_index_tops tops_of(uint64_t word, uint32_t kind)
{
    uint64_t odd = -(uint64_t)(kind & 1);

    return (struct node_index_tops){
        .even = word & ~odd,
        .odd = word & odd,
        .kinds = UINT64_C(1) << (kind % 32 * 2),
    };
}

/* Words of a block have changed, at `first` to `last` at the most. */
static void set_tops(struct node_index *index, uint32_t at, uint32_t first,
                     uint32_t last)
{
    struct node_index_block *block = node_index_block_at(index, at);
    uint32_t part_count =
        (block->count + NODE_INDEX_PART - 1) / NODE_INDEX_PART;
    struct node_index_tops tops = {0};

    for (uint32_t p = first / NODE_INDEX_PART;
         p < part_count && p <= last / NODE_INDEX_PART; p++) {
        uint32_t end = (p + 1) * NODE_INDEX_PART;
        struct node_index_tops part = {0};
        end = end < block->count ? end : block->count;
        for (uint32_t i = p * NODE_INDEX_PART; i < end; i++) {
            add_tops(&part, tops_of(block->words[i], block->kinds[i]));
        }
        block->tops[p] = part;
    }
    for (uint32_t p = 0; p < part_count; p++) {
        add_tops(&tops, block->tops[p]);
    }
    index->tops[at] = tops;
}

/* Whether all of the block at `at` is before (key, rank). */
static bool is_block_before(const struct node_index *index, uint32_t at,
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
        if (is_block_before(index, middle, key, rank)) {
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
    struct node_index_block *upper = add_block(index, at + 1);
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
    set_tops(index, at, 0, NODE_INDEX_BLOCK);
    set_tops(index, at + 1, 0, NODE_INDEX_BLOCK);
}

static void insert(struct node_index *index, uint32_t node, uint64_t key,
                   uint64_t word)
{
    uint32_t rank = index->ranks[node];
    uint32_t at = node_index_block_of(index, key, rank);

    if (index->order_count == 0) {
        add_block(index, 0);
    } else if (at == index->order_count) {
        at--;
    }
    if (node_index_block_at(index, at)->count == NODE_INDEX_BLOCK) {
        split(index, at);
        at += is_block_before(index, at, key, rank);
    }
    struct node_index_block *block = node_index_block_at(index, at);
    uint32_t place = node_index_place_of(index, block, key, rank);
    shift(block, place + 1, place, block->count - place);
    block->count++;
    put(index, at, place, node, key, word);
    set_tops(index, at, place, block->count);
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
        drop_block(index, at);
    } else {
        index->ends[at] = block->keys[block->count - 1];
        set_tops(index, at, place, block->count);
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
    set_tops(index, at, to < from ? to : from, to < from ? from : to);
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
        struct node_index_block *block = add_block(index, at);
        for (uint32_t i = 0; i < n; i++) {
            block->nodes[i] = entries[done + i].node;
            block->keys[i] = entries[done + i].key;
            block->words[i] = node_index_word(index, block->nodes[i]);
            block->kinds[i] = kind_of(index, block->nodes[i]);
        }
        block->count = n;
        index->ends[at] = block->keys[n - 1];
        set_tops(index, at, 0, NODE_INDEX_BLOCK);
        done += n;
    }
}
