#include "sched/node_index.h"

#include <string.h>

enum { BLOCKS_MIN = 16 };

void node_index_fini(struct node_index *index)
{
    mem_free(index->blocks);
    mem_free(index->order);
    mem_free(index->spare);
    *index = (struct node_index){0};
}

void node_index_clear(struct node_index *index)
{
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
    memmove(&index->order[at + 1], &index->order[at],
            (index->order_count - at) * sizeof(*index->order));
    index->order[at] = fresh;
    index->order_count++;
    struct node_index_block *block = &index->blocks[fresh];
    block->count = 0;
    block->is_loose = false;
    block->free_max = (struct resource_vec){0};
    return block;
}

static void drop_block(struct node_index *index, uint32_t at)
{
    index->spare[index->spare_count++] = index->order[at];
    index->order_count--;
    memmove(&index->order[at], &index->order[at + 1],
            (index->order_count - at) * sizeof(*index->order));
}

static struct node_index_block *block_at(const struct node_index *index,
                                         uint32_t at)
{
    return &index->blocks[index->order[at]];
}

static void raise_max(struct resource_vec *max, const struct resource_vec *v)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        max->v[r] = v->v[r] > max->v[r] ? v->v[r] : max->v[r];
    }
}

static void tighten(const struct node_index *index,
                    struct node_index_block *block)
{
    struct resource_vec max = index->free[block->nodes[0]];

    for (uint32_t i = 1; i < block->count; i++) {
        raise_max(&max, &index->free[block->nodes[i]]);
    }
    block->free_max = max;
    block->is_loose = false;
}

/* Whether (key, rank) of the item at `i` of a block is before the given. */
static bool is_before(const struct node_index *index,
                      const struct node_index_block *block, uint32_t i,
                      uint64_t key, uint32_t rank)
{
    return block->keys[i] != key ? block->keys[i] < key
                                 : index->ranks[block->nodes[i]] < rank;
}

/* The first block whose last item is not before (key, rank); order_count
 * when there is none. */
static uint32_t find_block(const struct node_index *index, uint64_t key,
                           uint32_t rank)
{
    uint32_t low = 0, high = index->order_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct node_index_block *block = block_at(index, middle);
        if (is_before(index, block, block->count - 1, key, rank)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first place in a block whose item is not before (key, rank). */
static uint32_t find_place(const struct node_index *index,
                           const struct node_index_block *block, uint64_t key,
                           uint32_t rank)
{
    uint32_t low = 0, high = block->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (is_before(index, block, middle, key, rank)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void split(struct node_index *index, uint32_t at)
{
    struct node_index_block *upper = add_block(index, at + 1);
    struct node_index_block *lower = block_at(index, at);
    uint32_t half = lower->count / 2;

    upper->count = lower->count - half;
    memcpy(upper->nodes, lower->nodes + half,
           upper->count * sizeof(*upper->nodes));
    memcpy(upper->keys, lower->keys + half,
           upper->count * sizeof(*upper->keys));
    lower->count = half;
    upper->free_max = lower->free_max;
    upper->is_loose = lower->is_loose = true;
}

void node_index_insert(struct node_index *index, uint32_t node, uint64_t key)
{
    uint32_t rank = index->ranks[node];
    uint32_t at = find_block(index, key, rank);

    if (index->order_count == 0) {
        add_block(index, 0);
    } else if (at == index->order_count) {
        at--;
    }
    if (block_at(index, at)->count == NODE_INDEX_BLOCK) {
        split(index, at);
        const struct node_index_block *lower = block_at(index, at);
        at += is_before(index, lower, lower->count - 1, key, rank);
    }
    struct node_index_block *block = block_at(index, at);
    uint32_t place = find_place(index, block, key, rank);
    memmove(&block->nodes[place + 1], &block->nodes[place],
            (block->count - place) * sizeof(*block->nodes));
    memmove(&block->keys[place + 1], &block->keys[place],
            (block->count - place) * sizeof(*block->keys));
    block->nodes[place] = node;
    block->keys[place] = key;
    block->count++;
    raise_max(&block->free_max, &index->free[node]);
}

void node_index_remove(struct node_index *index, uint32_t node, uint64_t key)
{
    uint32_t at = find_block(index, key, index->ranks[node]);

    ASSERT(at < index->order_count);
    struct node_index_block *block = block_at(index, at);
    uint32_t place = find_place(index, block, key, index->ranks[node]);
    ASSERT(place < block->count && block->nodes[place] == node);
    block->count--;
    block->is_loose = true;
    memmove(&block->nodes[place], &block->nodes[place + 1],
            (block->count - place) * sizeof(*block->nodes));
    memmove(&block->keys[place], &block->keys[place + 1],
            (block->count - place) * sizeof(*block->keys));
    if (block->count == 0) {
        drop_block(index, at);
    }
}

void node_index_widen(struct node_index *index, uint32_t node, uint64_t key)
{
    uint32_t at = find_block(index, key, index->ranks[node]);

    ASSERT(at < index->order_count);
    raise_max(&block_at(index, at)->free_max, &index->free[node]);
}

void node_index_fill(struct node_index *index, const uint32_t *nodes,
                     const uint64_t *keys, uint32_t count)
{
    enum { FILL = NODE_INDEX_BLOCK * 3 / 4 };

    ASSERT(index->order_count == 0);
    for (uint32_t done = 0; done < count;) {
        uint32_t n = count - done < FILL ? count - done : FILL;
        struct node_index_block *block = add_block(index, index->order_count);
        memcpy(block->nodes, nodes + done, n * sizeof(*nodes));
        memcpy(block->keys, keys + done, n * sizeof(*keys));
        block->count = n;
        tighten(index, block);
        done += n;
    }
}

uint32_t node_index_find(struct node_index *index,
                         const struct resource_vec *request, uint64_t key_min,
                         uint32_t rank_min, node_match_fn *match, void *context,
                         uint64_t *examined)
{
    for (uint32_t at = find_block(index, key_min, rank_min);
         at < index->order_count; at++) {
        struct node_index_block *block = block_at(index, at);
        if (!amounts_fit(request, &block->free_max)) {
            continue;
        }
        bool has_room = false;
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t node = block->nodes[i];
            if (!amounts_fit(request, &index->free[node])) {
                continue;
            }
            has_room = true;
            ++*examined;
            if (match(context, node)) {
                return node;
            }
        }
        if (!has_room && block->is_loose) {
            tighten(index, block);
        }
    }
    return NODE_INDEX_NONE;
}
