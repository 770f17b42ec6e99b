/* Searches the index, and keeps recently moved nodes beside the blocks. */
#include "sched/data/node_index_private.h"

/* A search under way. */
struct walk {
    const struct node_index *index;
    const struct node_query *query;
    uint64_t word;     /* of the request */
    uint64_t kinds;    /* as in tops: that may do */
    uint64_t key_max;  /* the query's, UINT64_MAX where it has none */
    uint32_t at, item; /* the next that was not looked at: block, place there */
    /* Of those that moved loosely those that have room, in order. */
    uint32_t loose[NODE_INDEX_LOOSE_MAX];
    uint32_t loose_count;
};

/* Whether, of those that moved loosely, `a` goes before `b`. */
static bool is_loose_before(const struct node_index *index, uint32_t a,
                            uint32_t b)
{
    const struct node_index_loose *loose = &index->loose;

    return loose->keys[a] != loose->keys[b]
               ? loose->keys[a] < loose->keys[b]
               : index->ranks[loose->nodes[a]] < index->ranks[loose->nodes[b]];
}

static bool is_loose_refused(const struct walk *walk, uint32_t i)
{
    const struct node_index *index = walk->index;
    uint32_t node = index->loose.nodes[i];

    return kinds_refuse(walk->query->kinds,
                        index->kinds ? index->kinds[node] : 0);
}

/* Whether one of those that moved loosely has room, and is not before where
 * the search begins. */
static bool is_loose_fit(const struct walk *walk, uint32_t i)
{
    const struct node_index *index = walk->index;
    const struct node_query *query = walk->query;
    uint32_t node = index->loose.nodes[i];
    uint64_t key = index->loose.keys[i];

    if (key < query->key_min || key > walk->key_max ||
        (key == query->key_min && index->ranks[node] < query->rank_min)) {
        return false;
    }
    return !is_loose_refused(walk, i) &&
           amounts_fit(query->request, &index->free[node]);
}

static void gather_loose(struct walk *walk)
{
    const struct node_index_loose *loose = &walk->index->loose;

    walk->loose_count = 0;
    for (uint32_t i = 0; i < loose->count; i++) {
        if (!packed_fits(walk->word, loose->words[i]) ||
            !is_loose_fit(walk, i)) {
            continue;
        }
        uint32_t at = walk->loose_count++;
        for (; at > 0 && is_loose_before(walk->index, i, walk->loose[at - 1]);
             at--) {
            walk->loose[at] = walk->loose[at - 1];
        }
        walk->loose[at] = i;
    }
}

/* The next item of a block that has room, from `item` on; its count when there
 * is none. */
static uint32_t next_in_block(const struct walk *walk,
                              const struct node_index_block *block,
                              uint32_t item)
{
    const struct node_query *query = walk->query;

    while (item < block->count) {
        uint32_t part = item / NODE_INDEX_PART;
        uint32_t end = (part + 1) * NODE_INDEX_PART;
        end = end < block->count ? end : block->count;
        if (!tops_may_have(&block->tops[part], walk->word, walk->kinds)) {
            item = end;
            continue;
        }
        for (; item < end; item++) {
            if (packed_fits(walk->word, block->words[item]) &&
                !kinds_refuse(query->kinds, block->kinds[item]) &&
                amounts_fit(query->request,
                            &walk->index->free[block->nodes[item]])) {
                return item;
            }
        }
    }
    return block->count;
}

/* The next node of the blocks that has room, if it is before (key, rank);
 * NODE_INDEX_NONE otherwise. */
static uint32_t next_in_blocks(struct walk *walk, uint64_t key, uint32_t rank)
{
    const struct node_index *index = walk->index;

    for (; walk->at < index->order_count; walk->at++, walk->item = 0) {
        if (tops_may_have(&index->tops[walk->at], walk->word, walk->kinds)) {
            const struct node_index_block *block =
                node_index_block_at(index, walk->at);
            walk->item = next_in_block(walk, block, walk->item);
            if (walk->item < block->count) {
                return node_index_is_before(index, block, walk->item, key, rank)
                           ? block->nodes[walk->item++]
                           : NODE_INDEX_NONE;
            }
        }
        if (index->ends[walk->at] > key) {
            return NODE_INDEX_NONE;
        }
    }
    return NODE_INDEX_NONE;
}

static void begin(struct walk *walk, const struct node_index *index,
                  const struct node_query *query)
{
    walk->index = index;
    walk->query = query;
    walk->word = packed_of(&index->scale, query->request);
    walk->key_max = query->key_max ? query->key_max : UINT64_MAX;
    walk->kinds = kinds_asked(query->kinds, index->kind_max);
    walk->at = node_index_block_of(index, query->key_min, query->rank_min);
    walk->item = 0;
    if (walk->at < index->order_count) {
        walk->item =
            node_index_place_of(index, node_index_block_at(index, walk->at),
                                query->key_min, query->rank_min);
    }
    gather_loose(walk);
}

uint32_t node_index_find(const struct node_index *index,
                         const struct node_query *query, uint64_t *examined)
{
    struct walk walk;
    const struct node_index_loose *loose = &index->loose;
    uint32_t loose_done = 0;

    begin(&walk, index, query);
    for (;;) {
        bool has_loose = loose_done < walk.loose_count;
        uint32_t next = has_loose ? walk.loose[loose_done] : 0;
        uint32_t node = next_in_blocks(
            &walk, has_loose ? loose->keys[next] : walk.key_max,
            has_loose ? index->ranks[loose->nodes[next]] : UINT32_MAX);
        if (node == NODE_INDEX_NONE && !has_loose) {
            return NODE_INDEX_NONE;
        }
        if (node == NODE_INDEX_NONE) {
            node = loose->nodes[next];
            loose_done++;
            if (is_loose_refused(&walk, next)) { /* as was learnt by now */
                continue;
            }
        }
        ++*examined;
        if (query->match(query->context, node)) {
            return node;
        }
        walk.kinds = kinds_asked(query->kinds,
                                 index->kind_max); /* as was learnt by this */
    }
}
