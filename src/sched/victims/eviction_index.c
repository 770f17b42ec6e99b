#include "sched/victims/eviction_index.h"

#include <string.h>

#include "sched/data/packed.h"
#include "sched/data/place_heap.h"
#include "sched/state/node_shapes.h"
#include "sched/victims/lend.h"

enum { BLOCK = 64, CROWN = BLOCK * BLOCK, LOG_MIN = 64 };

/* A rung whose room grew. */
struct growth {
    uint64_t word;
    uint32_t place;
};

/* The rooms as classes of one level see them, by place. */
struct tier {
    struct tier *next;
    uint64_t *words;  /* at least the room; 0 where there is nothing to take */
    uint64_t *tops;   /* at least the largest fields of each BLOCK words */
    uint64_t *crowns; /* likewise of CROWN words */
    struct growth *log;
    uint32_t log_count, log_capacity;
    uint8_t level;
};

struct ladder {
    struct packed_scale scale;
    uint32_t *rung_at; /* by place */
    uint32_t *kind_at; /* likewise, of the node */
    uint32_t count;
    uint8_t level_max; /* of all rungs */
    struct tier *tiers;
    size_t grown_seen; /* of round.grown */
};

/* How far a class has come.  No rung before `place` will do, but for those
 * that grew since: `pending` has what the log said so far. */
struct climb {
    struct tier *tier;
    uint32_t place, log_seen;
    struct place_heap pending;
};

/* Making it. */

/* Note the rungs of one node, and count them by ordinal. */
static void add_node(const struct round *round, struct ladder *ladder,
                     uint32_t index, uint32_t *counts,
                     struct resource_vec *largest)
{
    const struct node *node = &round->sched->nodes.items[index];

    for (uint32_t e = node->evicted_first; e < node->evicted_end; e++) {
        const struct rung *rung = &round->rungs[e];
        counts[rung->ordinal - round->ordinal_first]++;
        ladder->count++;
        ladder->level_max =
            rung->level > ladder->level_max ? rung->level : ladder->level_max;
    }
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t v = node->capacity.v[r];
        largest->v[r] = v > largest->v[r] ? v : largest->v[r];
    }
}

/* Places go to the later ordinals first, and of one ordinal in the order in
 * which `nodes` has them. */
static void place_rungs(const struct round *round, struct ladder *ladder,
                        const uint32_t *nodes, uint32_t *counts)
{
    uint32_t next = 0;

    for (uint32_t o = round->unit_count; o > 0; o--) {
        uint32_t count = counts[o - 1];
        counts[o - 1] = next;
        next += count;
    }
    for (uint32_t i = 0; i < round->sched->nodes.count; i++) {
        if (nodes[i] == NONE) {
            continue;
        }
        const struct node *node = &round->sched->nodes.items[nodes[i]];
        for (uint32_t e = node->evicted_end; e > node->evicted_first; e--) {
            struct rung *rung = &round->rungs[e - 1];
            rung->place = counts[rung->ordinal - round->ordinal_first]++;
            ladder->rung_at[rung->place] = e - 1;
            ladder->kind_at[rung->place] = round->sched->kinds_of[nodes[i]];
        }
    }
}

static struct ladder *ladder_of(struct round *round)
{
    struct sched *sched = round->sched;

    if (round->ladder) {
        return round->ladder;
    }
    struct ladder *ladder = arena_alloc(round->arena, sizeof(*ladder));
    uint32_t *counts =
        arena_alloc_array(round->arena, round->unit_count, sizeof(*counts));
    /* By rank; ranks have gaps where nodes were forgotten. */
    uint32_t *nodes =
        arena_alloc_array(round->arena, sched->nodes.count, sizeof(*nodes));
    struct resource_vec largest = {0};

    ladder->rung_at = arena_alloc_array(round->arena, round->member_count,
                                        sizeof(*ladder->rung_at));
    ladder->kind_at = arena_alloc_array(round->arena, round->member_count,
                                        sizeof(*ladder->kind_at));
    memset(nodes, 0xff, sched->nodes.count * sizeof(*nodes));
    for (uint32_t i = 0; i < round->evicted_node_count; i++) {
        uint32_t node = round->evicted_nodes[i];
        nodes[sched->ranks[node]] = node;
        add_node(round, ladder, node, counts, &largest);
    }
    place_rungs(round, ladder, nodes, counts);
    ladder->scale = packed_scale_for(&largest);
    ladder->grown_seen = round->grown.count;
    round->ladder = ladder;
    return ladder;
}

/* Words. */

static bool is_takeable(const struct tier *tier, const struct rung *rung)
{
    return rung->level <= tier->level && rung->is_out;
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
    if (!packed_fits(word, tier->words[place])) {
        uint64_t *top = &tier->tops[place / BLOCK];
        uint64_t *crown = &tier->crowns[place / CROWN];
        *top = packed_max(*top, word);
        *crown = packed_max(*crown, word);
        log_growth(round, tier, place, word);
    }
    tier->words[place] = word;
}

/* The word of a room.  Where a node is overcommitted nothing fits, which a
 * field cannot say: that it grows from there must be noticed. */
static uint64_t word_of(const struct ladder *ladder,
                        const struct resource_vec *room)
{
    const struct resource_vec nothing = {0};

    return amounts_fit(&nothing, room) ? packed_of(&ladder->scale, room) : 0;
}

/* Bring the words of a node up to date, down to the rung at `down_to`; what
 * there is room for then is in `ret_room`. */
static void refresh(struct round *round, struct tier *tier, uint32_t index,
                    uint32_t down_to, struct resource_vec *ret_room)
{
    const struct ladder *ladder = round->ladder;
    const struct node *node = &round->sched->nodes.items[index];

    *ret_room = round->sched->free[index];
    lend_add_room(round, index, ret_room);
    for (uint32_t e = node->evicted_end; e > down_to; e--) {
        const struct rung *rung = &round->rungs[e - 1];
        if (!is_takeable(tier, rung)) {
            tier->words[rung->place] = 0;
            continue;
        }
        amounts_add(ret_room, &class_at(round, rung->class_index)->request);
        set_word(round, tier, rung->place, word_of(ladder, ret_room));
    }
}

/* The tier of a level.  Its log begins empty: nobody has looked yet. */
static struct tier *tier_of(struct round *round, uint8_t level)
{
    struct ladder *ladder = ladder_of(round);
    uint32_t count = ladder->count;
    struct resource_vec room;

    level = level < ladder->level_max ? level : ladder->level_max;
    for (struct tier *tier = ladder->tiers; tier; tier = tier->next) {
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
    for (uint32_t i = 0; i < round->evicted_node_count; i++) {
        uint32_t node = round->evicted_nodes[i];
        refresh(round, tier, node,
                round->sched->nodes.items[node].evicted_first, &room);
        tier->log_count = 0;
    }
    tier->next = ladder->tiers;
    ladder->tiers = tier;
    return tier;
}

/* Rooms that grew are put right before anybody looks. */
static void sync_growth(struct round *round)
{
    struct ladder *ladder = ladder_of(round);
    struct resource_vec room;

    for (; ladder->grown_seen < round->grown.count; ladder->grown_seen++) {
        uint32_t index = round->grown.items[ladder->grown_seen];
        const struct node *node = &round->sched->nodes.items[index];
        for (struct tier *tier = ladder->tiers;
             tier && node->stamp == round->sched->stamp; tier = tier->next) {
            refresh(round, tier, index, node->evicted_first, &room);
        }
    }
}

/* Searching. */

static void tighten(struct tier *tier, uint32_t block, uint32_t count)
{
    uint32_t first = block * BLOCK;
    uint32_t end = first + BLOCK < count ? first + BLOCK : count;
    uint64_t top = 0, crown = 0;

    for (uint32_t i = first; i < end; i++) {
        top = packed_max(top, tier->words[i]);
    }
    tier->tops[block] = top;
    if ((block + 1) % BLOCK == 0 || end == count) {
        for (uint32_t b = block / BLOCK * BLOCK; b <= block; b++) {
            crown = packed_max(crown, tier->tops[b]);
        }
        tier->crowns[block / BLOCK] = crown;
    }
}

/* The first place from `from` on whose word fits; `count` when none does. */
static uint32_t next_place(struct tier *tier, uint32_t from, uint32_t count,
                           uint64_t request)
{
    for (uint32_t at = from; at < count;) {
        uint32_t block = at / BLOCK;
        if (!packed_fits(request, tier->crowns[at / CROWN])) {
            at = (at / CROWN + 1) * CROWN;
            continue;
        }
        uint32_t end = (block + 1) * BLOCK;
        end = end < count ? end : count;
        if (!packed_fits(request, tier->tops[block])) {
            at = end;
            continue;
        }
        bool is_whole = at == block * BLOCK;
        for (; at < end; at++) {
            if (packed_fits(request, tier->words[at])) {
                return at;
            }
        }
        if (is_whole) {
            tighten(tier, block, count);
        }
    }
    return count;
}

/* Whether a rung whose word fits will do. */
static bool will_do(const struct search *search, struct tier *tier,
                    uint32_t place)
{
    struct round *round = search->round;
    const struct ladder *ladder = round->ladder;
    struct resource_vec room;

    if (kinds_refuse(class_at(round, search->class_index)->kinds,
                     ladder->kind_at[place])) {
        return false;
    }
    uint32_t at = ladder->rung_at[place];
    const struct rung *rung = &round->rungs[at];
    if (!place_allows(search, rung->node)) {
        return false;
    }
    refresh(round, tier, rung->node, at, &room);
    return is_takeable(tier, rung) &&
           amounts_fit(&class_at(round, search->class_index)->request, &room);
}

static void read_log(struct round *round, struct climb *climb, uint64_t request)
{
    const struct tier *tier = climb->tier;

    for (; climb->log_seen < tier->log_count; climb->log_seen++) {
        const struct growth *growth = &tier->log[climb->log_seen];
        if (packed_fits(request, growth->word) &&
            growth->place < climb->place) {
            place_heap_push(round->arena, &climb->pending, growth->place);
        }
    }
}

/* The first of the rungs that grew behind the climb, or NONE.  Those that no
 * longer fit are in the way only once they are the first, and the log tells of
 * them again when they grow. */
static uint32_t find_pending(const struct search *search, struct climb *climb,
                             uint64_t request)
{
    while (climb->pending.count) {
        uint32_t place = climb->pending.items[0];
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
    uint32_t count = search->round->ladder->count;

    for (;;) {
        climb->place = next_place(climb->tier, climb->place, count, request);
        if (climb->place == count) {
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

uint32_t ladder_find(const struct search *search, uint32_t *ret_cut)
{
    struct round *round = search->round;

    sync_growth(round);
    struct climb *climb = climb_of(search);
    uint64_t request = packed_of(
        &round->ladder->scale, &class_at(round, search->class_index)->request);
    read_log(round, climb, request);
    uint32_t place = find_pending(search, climb, request);
    *ret_cut = 0;
    if (place == NONE) {
        place = find_onward(search, climb, request);
    }
    if (place == NONE) {
        return NONE;
    }
    const struct rung *rung = &round->rungs[round->ladder->rung_at[place]];
    *ret_cut = rung->ordinal + 1;
    return rung->node;
}
