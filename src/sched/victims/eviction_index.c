#include "sched/victims/eviction_index.h"

#include <string.h>

#include "sched/data/place_heap.h"
#include "sched/data/tops.h"
#include "sched/evict/evicted.h"
#include "sched/place/place.h"
#include "sched/state/node_shapes.h"
#include "sched/victims/recall.h"
#include "sched/victims/searches.h"

enum { BLOCK = 64, CROWN = BLOCK * BLOCK, LOG_MIN = 64 };

/* A evicted run whose room grew. */
struct growth {
    uint64_t word;
    uint32_t place;
};

/* The rooms as classes of one level see them, by place. */
struct tier {
    struct tier *next;
    uint64_t *words;   /* at least the room; 0 where there is nothing to take */
    struct tops *tops; /* at least those of each BLOCK words */
    struct tops *crowns; /* likewise of CROWN words */
    struct growth *log;
    uint32_t log_count, log_capacity;
    uint8_t level;
};

struct eviction_index {
    struct packed_scale scale;
    uint32_t *evicted_run_at; /* by place */
    uint32_t *kind_at;        /* likewise, of the node */
    uint32_t kind_max;        /* of those */
    uint32_t count;
    uint8_t level_max; /* of all evicted runs */
    struct tier *tiers;
    size_t grown_seen; /* of round.watch.grown */
};

/* How far a class has come.  No evicted run before `place` will do, but for
 * those that grew since: `pending` has what the log said so far. */
struct climb {
    struct tier *tier;
    uint32_t place, log_seen;
    struct place_heap pending;
};

/* Making it. */

/* Note the evicted runs of one node, and count them by ordinal. */
static void add_node(const struct round *round,
                     struct eviction_index *eviction_index, uint32_t index,
                     uint32_t *counts, struct resource_vec *largest)
{
    const struct node *node = &round->sched->nodes.items[index];

    ASSERT(node->evicted_first <= node->evicted_end);
    for (uint32_t e = node->evicted_first; e < node->evicted_end; e++) {
        const struct evicted_run *evicted_run = &round->evicted->runs[e];
        counts[evicted_run->ordinal - round->units.ordinal_first]++;
        eviction_index->count++;
        eviction_index->level_max =
            evicted_run->level > eviction_index->level_max
                ? evicted_run->level
                : eviction_index->level_max;
    }
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t v = node->capacity.v[r];
        largest->v[r] = v > largest->v[r] ? v : largest->v[r];
    }
}

/* Places go to the later ordinals first, and of one ordinal in the order in
 * which `nodes` has them. */
static void place_evicted_runs(const struct round *round,
                               struct eviction_index *eviction_index,
                               const uint32_t *nodes, uint32_t *counts)
{
    uint32_t next = 0;

    for (uint32_t o = round->units.count; o > 0; o--) {
        uint32_t count = counts[o - 1];
        counts[o - 1] = next;
        next += count;
    }
    ASSERT(next == eviction_index->count); /* each run has one place */
    for (uint32_t i = 0; i < round->sched->nodes.count; i++) {
        if (nodes[i] == NONE) {
            continue;
        }
        const struct node *node = &round->sched->nodes.items[nodes[i]];
        uint32_t kind = round->sched->kinds_of[nodes[i]];
        if (kind > eviction_index->kind_max) {
            eviction_index->kind_max = kind;
        }
        for (uint32_t e = node->evicted_end; e > node->evicted_first; e--) {
            struct evicted_run *evicted_run = &round->evicted->runs[e - 1];
            evicted_run->place =
                counts[evicted_run->ordinal - round->units.ordinal_first]++;
            eviction_index->evicted_run_at[evicted_run->place] = e - 1;
            eviction_index->kind_at[evicted_run->place] = kind;
        }
    }
}

static struct eviction_index *eviction_index_of(struct round *round)
{
    struct sched *sched = round->sched;

    if (round->searches->eviction_index) {
        return round->searches->eviction_index;
    }
    struct eviction_index *eviction_index =
        arena_alloc(round->arena, sizeof(*eviction_index));
    uint32_t *counts =
        arena_alloc_array(round->arena, round->units.count, sizeof(*counts));
    /* By rank; ranks have gaps where nodes were forgotten. */
    uint32_t *nodes =
        arena_alloc_array(round->arena, sched->nodes.count, sizeof(*nodes));
    struct resource_vec largest = {0};

    eviction_index->evicted_run_at =
        arena_alloc_array(round->arena, round->units.member_count,
                          sizeof(*eviction_index->evicted_run_at));
    eviction_index->kind_at =
        arena_alloc_array(round->arena, round->units.member_count,
                          sizeof(*eviction_index->kind_at));
    memset(nodes, 0xff, sched->nodes.count * sizeof(*nodes));
    for (uint32_t i = 0; i < round->evicted->node_count; i++) {
        uint32_t node = round->evicted->nodes[i];
        nodes[sched->ranks[node]] = node;
        add_node(round, eviction_index, node, counts, &largest);
    }
    place_evicted_runs(round, eviction_index, nodes, counts);
    eviction_index->scale = packed_scale_for(&largest);
    eviction_index->grown_seen = round->watch.grown.count;
    round->searches->eviction_index = eviction_index;
    return eviction_index;
}

/* Words. */

static bool is_takeable(const struct tier *tier,
                        const struct evicted_run *evicted_run)
{
    return evicted_run->level <= tier->level && evicted_run->is_out;
}

static void log_growth(struct round *round, struct tier *tier, uint32_t place,
                       uint64_t word)
{
    if (tier->log_count == tier->log_capacity) {
        uint32_t capacity = tier->log_count ? tier->log_count * 2 : LOG_MIN;
        struct growth *log =
            arena_alloc_array(round->arena, capacity, sizeof(*log));
        if (tier->log_count) {
            memcpy(log, tier->log, tier->log_count * sizeof(*log));
        }
        tier->log = log;
        tier->log_capacity = capacity;
    }
    tier->log[tier->log_count++] = (struct growth){word, place};
}

static void set_word(struct round *round, struct tier *tier, uint32_t place,
                     uint64_t word)
{
    const struct eviction_index *eviction_index =
        round->searches->eviction_index;

    ASSERT(place < eviction_index->count);
    if (!packed_fits(word, tier->words[place])) {
        struct tops tops = tops_of(word, eviction_index->kind_at[place]);
        tops_add(&tier->tops[place / BLOCK], tops);
        tops_add(&tier->crowns[place / CROWN], tops);
        log_growth(round, tier, place, word);
    }
    tier->words[place] = word;
}

/* The word of a room.  Where a node is overcommitted nothing fits, which a
 * field cannot say: that it grows from there must be noticed. */
static uint64_t word_of(const struct eviction_index *eviction_index,
                        const struct resource_vec *room)
{
    const struct resource_vec nothing = {0};

    return amounts_fit(&nothing, room) ? packed_of(&eviction_index->scale, room)
                                       : 0;
}

/* Bring the words of a node up to date, down to the evicted run at `down_to`;
 * what there is room for then is in `ret_room`. */
static void refresh(struct round *round, struct tier *tier, uint32_t index,
                    uint32_t down_to, struct resource_vec *ret_room)
{
    const struct eviction_index *eviction_index =
        round->searches->eviction_index;
    const struct node *node = &round->sched->nodes.items[index];

    *ret_room = round->sched->free[index];
    recall_add_room(round, index, ret_room);
    for (uint32_t e = node->evicted_end; e > down_to; e--) {
        const struct evicted_run *evicted_run = &round->evicted->runs[e - 1];
        if (!is_takeable(tier, evicted_run)) {
            tier->words[evicted_run->place] = 0;
            continue;
        }
        amounts_add(ret_room,
                    &class_at(round, evicted_run->class_index)->request);
        set_word(round, tier, evicted_run->place,
                 word_of(eviction_index, ret_room));
    }
}

/* The tier of a level.  Its log begins empty: nobody has looked yet. */
static struct tier *tier_of(struct round *round, uint8_t level)
{
    struct eviction_index *eviction_index = eviction_index_of(round);
    uint32_t count = eviction_index->count;
    struct resource_vec room;

    level =
        level < eviction_index->level_max ? level : eviction_index->level_max;
    for (struct tier *tier = eviction_index->tiers; tier; tier = tier->next) {
        if (tier->level == level) {
            return tier;
        }
    }
    struct tier *tier = arena_alloc(round->arena, sizeof(*tier));
    tier->level = level;
    tier->words = arena_alloc_array(round->arena, count, sizeof(*tier->words));
    tier->tops =
        arena_alloc_array(round->arena, count / BLOCK + 1, sizeof(*tier->tops));
    tier->crowns = arena_alloc_array(round->arena, count / CROWN + 1,
                                     sizeof(*tier->crowns));
    for (uint32_t i = 0; i < round->evicted->node_count; i++) {
        uint32_t node = round->evicted->nodes[i];
        refresh(round, tier, node,
                round->sched->nodes.items[node].evicted_first, &room);
        tier->log_count = 0;
    }
    ASSERT(tier->level <= eviction_index->level_max);
    tier->next = eviction_index->tiers;
    eviction_index->tiers = tier;
    return tier;
}

/* Rooms that grew are put right before anybody looks. */
static void sync_growth(struct round *round)
{
    struct eviction_index *eviction_index = eviction_index_of(round);
    struct resource_vec room;

    ASSERT(eviction_index->grown_seen <= round->watch.grown.count);
    for (; eviction_index->grown_seen < round->watch.grown.count;
         eviction_index->grown_seen++) {
        uint32_t index = round->watch.grown.items[eviction_index->grown_seen];
        const struct node *node = &round->sched->nodes.items[index];
        for (struct tier *tier = eviction_index->tiers;
             tier && node->stamp == round->sched->stamp; tier = tier->next) {
            refresh(round, tier, index, node->evicted_first, &room);
        }
    }
}

/* Searching. */

/* What a search asks for: a request, and the kinds that are not known to be
 * refused. */
struct ask {
    uint64_t request;
    const uint64_t *kinds;
    uint64_t asked;
};

static void tighten(const struct eviction_index *eviction_index,
                    struct tier *tier, uint32_t block)
{
    uint32_t first = block * BLOCK, count = eviction_index->count;
    uint32_t end = first + BLOCK < count ? first + BLOCK : count;
    struct tops top = {0}, crown = {0};

    for (uint32_t i = first; i < end; i++) {
        tops_add(&top, tops_of(tier->words[i], eviction_index->kind_at[i]));
    }
    tier->tops[block] = top;
    if ((block + 1) % BLOCK == 0 || end == count) {
        for (uint32_t b = block / BLOCK * BLOCK; b <= block; b++) {
            tops_add(&crown, tier->tops[b]);
        }
        tier->crowns[block / BLOCK] = crown;
    }
}

/* The first place from `from` on whose word fits, and whose kind is not
 * refused; `count` when there is none. */
static uint32_t next_place(const struct eviction_index *eviction_index,
                           struct tier *tier, uint32_t from,
                           const struct ask *ask)
{
    uint32_t count = eviction_index->count;

    for (uint32_t at = from; at < count;) {
        uint32_t block = at / BLOCK;
        if (!tops_may_have(&tier->crowns[at / CROWN], ask->request,
                           ask->asked)) {
            at = (at / CROWN + 1) * CROWN;
            continue;
        }
        uint32_t end = (block + 1) * BLOCK;
        end = end < count ? end : count;
        if (!tops_may_have(&tier->tops[block], ask->request, ask->asked)) {
            at = end;
            continue;
        }
        bool is_whole = at == block * BLOCK;
        for (; at < end; at++) {
            if (packed_fits(ask->request, tier->words[at]) &&
                !kinds_refuse(ask->kinds, eviction_index->kind_at[at])) {
                return at;
            }
        }
        if (is_whole) {
            tighten(eviction_index, tier, block);
        }
    }
    return count;
}

/* Whether an evicted run whose word fits will do. */
static bool will_do(const struct search *search, struct tier *tier,
                    uint32_t place)
{
    struct round *round = search->round;
    const struct eviction_index *eviction_index =
        round->searches->eviction_index;
    struct resource_vec room;

    if (kinds_refuse(class_at(round, search->class_index)->kinds,
                     eviction_index->kind_at[place])) {
        return false;
    }
    uint32_t at = eviction_index->evicted_run_at[place];
    const struct evicted_run *evicted_run = &round->evicted->runs[at];
    ASSERT(evicted_run->place == place);
    if (!place_allows(search, evicted_run->node)) {
        return false;
    }
    refresh(round, tier, evicted_run->node, at, &room);
    return is_takeable(tier, evicted_run) &&
           amounts_fit(&class_at(round, search->class_index)->request, &room);
}

static void read_log(struct round *round, struct climb *climb, uint64_t request)
{
    const struct tier *tier = climb->tier;

    ASSERT(climb->log_seen <= tier->log_count);
    for (; climb->log_seen < tier->log_count; climb->log_seen++) {
        const struct growth *growth = &tier->log[climb->log_seen];
        if (packed_fits(request, growth->word) &&
            growth->place < climb->place) {
            place_heap_push(round->arena, &climb->pending, growth->place);
        }
    }
}

/* The first of the evicted runs that grew behind the climb, or NONE.  Those
 * that no longer fit are in the way only once they are the first, and the log
 * tells of them again when they grow. */
static uint32_t find_pending(const struct search *search, struct climb *climb,
                             uint64_t request)
{
    while (climb->pending.count) {
        uint32_t place = climb->pending.items[0];
        ASSERT(place < climb->place); /* it grew behind the climb */
        if (packed_fits(request, climb->tier->words[place]) &&
            will_do(search, climb->tier, place)) {
            return place;
        }
        place_heap_pop(&climb->pending);
    }
    return NONE;
}

static uint32_t find_onward(const struct search *search, struct climb *climb,
                            uint64_t request)
{
    const struct eviction_index *eviction_index =
        search->round->searches->eviction_index;
    const struct class *class = class_at(search->round, search->class_index);

    for (;;) {
        struct ask ask = {
            /* as was learnt by now */
            .request = request,
            .kinds = class->kinds,
            .asked = kinds_asked(class->kinds, eviction_index->kind_max),
        };
        climb->place =
            next_place(eviction_index, climb->tier, climb->place, &ask);
        if (climb->place == eviction_index->count) {
            return NONE;
        }
        if (will_do(search, climb->tier, climb->place)) {
            return climb->place;
        }
        climb->place++;
    }
}

/* Where the class stands; what is about a job alone begins afresh. */
static struct climb *climb_of(const struct search *search)
{
    struct round *round = search->round;
    struct class *class = class_at(round, search->class_index);
    bool is_special = place_is_special(search);

    if (class->climb && !is_special) {
        return class->climb;
    }
    struct climb *climb = arena_alloc(round->arena, sizeof(*climb));
    climb->tier = tier_of(round, class->level);
    climb->log_seen = climb->tier->log_count;
    if (!is_special) {
        class->climb = climb;
    }
    return climb;
}

uint32_t eviction_index_find(const struct search *search, uint32_t *ret_depth)
{
    struct round *round = search->round;

    sync_growth(round);
    struct climb *climb = climb_of(search);
    uint64_t request =
        packed_of(&round->searches->eviction_index->scale,
                  &class_at(round, search->class_index)->request);
    read_log(round, climb, request);
    uint32_t place = find_pending(search, climb, request);
    *ret_depth = 0;
    if (place == NONE) {
        place = find_onward(search, climb, request);
    }
    if (place == NONE) {
        return NONE;
    }
    const struct evicted_run *evicted_run =
        &round->evicted
             ->runs[round->searches->eviction_index->evicted_run_at[place]];
    ASSERT(evicted_run->is_out && evicted_run->place == place);
    *ret_depth = evicted_run->ordinal + 1;
    return evicted_run->node;
}
