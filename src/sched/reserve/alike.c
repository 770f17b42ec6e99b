/* Where a gang of equal members would start: the remembered steps of nodes
 * (reserve/steps.c) say how many members each node holds, so that only the
 * relevant nodes are examined further. */
#include "sched/data/merge_sort.h"
#include "sched/gang/locality_place.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"

/* A node that may be chosen. */
struct option {
    uint64_t key;
    uint32_t node, count; /* members that it holds */
};

struct options {
    struct option *items, *spare;
    uint32_t count;
};

static struct options options_make(struct reserving *r, size_t count)
{
    struct arena *arena = r->round->arena;

    return (struct options){
        .items = arena_alloc_array(arena, count, sizeof(struct option)),
        .spare = arena_alloc_array(arena, count, sizeof(struct option)),
    };
}

static void sort(const struct sched *sched, struct options *options,
                 bool is_emptiest_first)
{
    struct option *items = options->items;
    const uint32_t *ranks = sched->ranks;

#define GOES_BEFORE(b, a)                                              \
    ((a)->key != (b)->key ? ((b)->key < (a)->key) != is_emptiest_first \
                          : ranks[(b)->node] < ranks[(a)->node])
    options->items =
        MERGE_SORT(items, options->spare, options->count, GOES_BEFORE);
#undef GOES_BEFORE
    options->spare = options->items == items ? options->spare : items;
}

static void sort_by_node(struct options *options)
{
    struct option *items = options->items;

#define GOES_BEFORE(b, a) ((b)->node < (a)->node)
    options->items =
        MERGE_SORT(items, options->spare, options->count, GOES_BEFORE);
#undef GOES_BEFORE
}

/* What is there on a node at a time: of what is bounded that which is gone by
 * then. */
static struct resource_vec room_at(struct reserving *r, uint32_t node,
                                   int64_t at_ms)
{
    struct resource_vec now = reserve_room(r, node);

    r->releases.count = 0;
    reserve_gather(r, node);
    return profile_room_at(&now, r->releases.items, r->releases.count, at_ms);
}

/* Take the first until all have a place, and keep these nodes. */
static bool take(struct reserving *r, struct options *options, uint32_t needed,
                 int64_t at_ms)
{
    struct profile_memory *m = r->memory;
    uint32_t taken = 0, count = 0;

    while (count < options->count && taken < needed) {
        struct option *option = &options->items[count++];
        ASSERT(option->count > 0);
        uint32_t most = needed - taken;
        option->count = option->count < most ? option->count : most;
        taken += option->count;
    }
    if (taken < needed) {
        return false;
    }
    ASSERT(taken == needed); /* nobody gets two places */
    options->count = count;
    sort_by_node(options);
    r->reservation->nodes = arena_alloc_array(r->round->arena, count,
                                              sizeof(*r->reservation->nodes));
    for (uint32_t i = 0; i < count; i++) {
        const struct option *option = &options->items[i];
        struct resource_vec sum = {0};
        struct resource_vec room = room_at(r, option->node, at_ms);
        amounts_add_times(&sum, &m->request, option->count);
        /* Of a node that it has whole nothing is left beside it. */
        reserve_add(r, option->node, &sum, r->holder ? &sum : &room);
    }
    return true;
}

/* At a known time: each to the fullest node that has room for it. */
static bool take_at(struct reserving *r, uint32_t needed, int64_t at_ms,
                    const struct label_group *group, const uint8_t *allowed)
{
    const struct profile_memory *m = r->memory;
    uint32_t count = group ? group->count : (uint32_t)m->nodes.count;
    struct options options = options_make(r, count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = group ? group->nodes[i] : i;
        uint32_t here = allowed[node] ? reserve_count_on(m, node, at_ms) : 0;
        if (here) {
            struct resource_vec room = room_at(r, node, at_ms);
            options.items[options.count++] =
                (struct option){pool_weigh(r->round->pool, &room), node, here};
        }
    }
    sort(r->round->sched, &options, false);
    return take(r, &options, needed, at_ms);
}

/* What an empty node holds. */
static uint32_t empty_count(const struct reserving *r, uint32_t node)
{
    return amounts_times(&r->memory->request,
                         &r->round->sched->nodes.items[node].capacity);
}

/* Whether the empty nodes of a group, or of the pool, hold that many. */
static bool holds_empty(const struct reserving *r,
                        const struct label_group *group, uint32_t needed,
                        const uint8_t *allowed)
{
    uint32_t count = group ? group->count : (uint32_t)r->memory->nodes.count;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < count && sum < needed; i++) {
        uint32_t node = group ? group->nodes[i] : i;
        sum += allowed[node] ? empty_count(r, node) : 0;
    }
    return sum >= needed;
}

/* Without a time: where most of the room is free or bounded. */
static bool take_emptiest(struct reserving *r, uint32_t needed,
                          const struct label_group *group,
                          const uint8_t *allowed)
{
    const struct profile_memory *m = r->memory;
    uint32_t count = group ? group->count : (uint32_t)m->nodes.count;
    struct options options = options_make(r, count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = group ? group->nodes[i] : i;
        if (allowed[node] && !m->nodes.items[node].is_too_small) {
            options.items[options.count++] = (struct option){
                m->nodes.items[node].key, node, empty_count(r, node)};
        }
    }
    sort(r->round->sched, &options, true);
    return take(r, &options, needed, SCHED_START_UNKNOWN);
}

bool reserve_alike(struct reserving *r, const struct gang *gang,
                   uint32_t needed, int64_t at_ms,
                   const struct label_group *group, const uint8_t *allowed)
{
    ASSERT(at_ms >= r->round->now_ms);
    if (at_ms != SCHED_START_UNKNOWN) {
        return take_at(r, needed, at_ms, group, allowed);
    }
    const struct label_index *index = locality_groups(r->round, gang);
    for (uint32_t i = 0; index && i < index->group_count; i++) {
        if (place_is_open(r->round, gang, &index->groups[i]) &&
            holds_empty(r, &index->groups[i], needed, allowed)) {
            return take_emptiest(r, needed, &index->groups[i], allowed);
        }
    }
    return !index && take_emptiest(r, needed, NULL, allowed);
}
