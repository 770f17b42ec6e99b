/* The best node with free space: from where the last search of the class ended,
 * and among nodes that moved since. */
#include "sched/data/packed.h"
#include "sched/order/lanes.h"
#include "sched/place/changes.h"
#include "sched/place/place.h"
#include "sched/place/recent.h"
#include "sched/place/wishes.h"
#include "sched/state/extras.h"

/* A class that was not asked for longer searches afresh.  One that goes to a
 * node that moved keeps its cursor, which is further on, as long as not too
 * many have moved since. */
enum { MOVED_MAX = 2048, MOVED_NEAR_MAX = 256 };

static bool is_match(void *context, uint32_t node)
{
    return place_allows(context, node);
}

static uint32_t find_in_group(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct resource_vec *request =
        &class_at(round, search->class_index)->request;
    bool has_wishes = wishes_has(search);
    uint32_t best = NONE;
    uint64_t best_key = 0;
    int64_t best_score = 0;
    uint64_t word = packed_of(&round->pool->index.scale, request);

    for (uint32_t i = 0; i < search->only->count; i++) {
        uint32_t node = search->only->nodes[i];
        round->counters->nodes_examined++;
        /* Words lag behind what was placed last, and only say too much. */
        if (!packed_fits(word, sched->free_words[node]) ||
            !amounts_fit(request, &sched->free[node]) ||
            !place_allows(search, node)) {
            continue;
        }
        uint64_t key = pool_weigh(round->pool, &sched->free[node]);
        int64_t score = has_wishes ? wishes_score(search, node) : 0;
        if (best == NONE || key < best_key ||
            (key == best_key &&
             (score != best_score ? score > best_score
                                  : sched->ranks[node] < sched->ranks[best]))) {
            best = node;
            best_key = key;
            best_score = score;
        }
    }
    return best;
}

/* Whether node `a` goes before the place (key, rank) of the index. */
static bool is_before(const struct sched *sched, uint32_t a, uint64_t key,
                      uint32_t rank)
{
    uint64_t a_key = sched->nodes.items[a].key;

    return a_key != key ? a_key < key : sched->ranks[a] < rank;
}

/* The best of the nodes that moved before the class's cursor since its last
 * search, or NONE. */
static uint32_t find_moved(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct recent *recent = &round->changes->recent;
    const struct class *class = class_at(round, search->class_index);
    uint64_t key = class->cursor_key;
    uint32_t rank = class->cursor_rank, best = NONE;
    uint64_t word = packed_of(&round->pool->index.scale, &class->request);

    ASSERT(class->moved_seen <= round->watch.moved.count);
    for (size_t i = recent_since(recent, class->moved_seen);
         (i = recent_next(recent, i, word, key)) < recent->nodes.count; i++) {
        uint32_t node = recent->nodes.items[i];
        if (amounts_fit(&class->request, &sched->free[node]) &&
            is_before(sched, node, key, rank) && place_allows(search, node)) {
            best = node;
            key = sched->nodes.items[node].key;
            rank = sched->ranks[node];
        }
    }
    return best;
}

/* Search the index, from the cursor on if it still holds. */
static uint32_t find_indexed(const struct search *search, bool has_cursor)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);
    struct search context = *search;
    uint64_t key = has_cursor ? class->cursor_key
                              : pool_weigh(round->pool, &class->request);

    struct node_query query = {
        .request = &class->request,
        .key_min = key,
        .rank_min = has_cursor ? class->cursor_rank : 0,
        .kinds = place_kinds(round, class),
        .match = is_match,
        .context = &context,
    };
    return node_index_find(&round->pool->index, &query,
                           &round->counters->nodes_examined);
}

static void set_cursor(const struct round *round, struct class *class,
                       uint32_t node)
{
    class->has_cursor = true;
    class->moved_seen = (uint32_t)round->watch.moved.count;
    class->cursor_key = UINT64_MAX;
    class->cursor_rank = UINT32_MAX;
    if (node != NONE) {
        class->cursor_key = round->sched->nodes.items[node].key;
        class->cursor_rank = round->sched->ranks[node];
    }
}

/* What was learnt while nodes with GPUs were kept holds no longer when they
 * are not; nor what was learnt beside a reservation, for gangs that grow. */
static void note_keeping(const struct round *round, struct class *class)
{
    bool opens =
        round->is_growing && !class->was_growing && round->reserve.hold;

    if ((class->was_kept && !round->is_growth_off_gpus) || opens) {
        class->cached_node = NONE;
        class->has_cursor = false;
    }
    class->was_kept = round->is_growth_off_gpus;
    class->was_growing = round->is_growing;
}

uint32_t place_find(const struct search *search)
{
    struct round *round = search->round;
    struct class *class = class_round(round, search->class_index);
    bool is_special = place_is_special(search);
    uint32_t node = NONE;

    if (class->is_impossible) {
        return NONE;
    }
    if (search->only) {
        return find_in_group(search);
    }
    note_keeping(round, class);
    if (!is_special && class->cached_node != NONE &&
        class->cached_version == round->changes->version &&
        amounts_fit(&class->request, &round->sched->free[class->cached_node]) &&
        extras_fit(round->sched, class->cached_node, class) &&
        place_passes(search, class->cached_node)) {
        return class->cached_node;
    }
    place_flush(round);
    bool has_cursor = !is_special && class->has_cursor &&
                      round->watch.moved.count - class->moved_seen < MOVED_MAX;
    if (has_cursor) {
        node = find_moved(search);
    }
    bool is_near =
        node != NONE &&
        round->watch.moved.count - class->moved_seen < MOVED_NEAR_MAX;
    if (node == NONE) {
        node = find_indexed(search, has_cursor);
    }
    if (!is_near && !is_special) {
        set_cursor(round, class, node);
    }
    if (node != NONE && wishes_has(search)) {
        node = wishes_choose(search, node);
    }
    if (is_near || !is_special) {
        class->cached_node = node;
        class->cached_version = round->changes->version;
    }
    round->counters->failed_searches += node == NONE;
    return node;
}
