/* Where a gang with a topology would start at a later time: by the rule of
 * locality_place.h for free space, with the room that nodes have then. */
#include <stdlib.h>
#include <string.h>

#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_place.h"
#include "sched/order/lanes.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"
#include "sched/state/exclusive.h"
#include "sched/state/sub_groups.h"

/* Nodes and domains looked at for one gang, so that no job makes a round slow
 * for the others. */
enum { RESERVE_NEAR_LOOKS_MAX = 1 << 23 };

/* What a sub-group takes on a node. */
struct take {
    uint32_t place; /* in topology.nodes */
    struct resource_vec amounts;
};

/* A node that takes some members. */
struct taker {
    uint64_t key;
    uint32_t rank, place;
};

/* What a sub-group is tried with: one that comes after another has its own. */
struct depth {
    struct domain_room *room;
    struct take *takes;
};

/* A gang in the making.  The search tries many times to start it, so all of
 * this is made once. */
struct reserve_near {
    struct round *round;
    const struct gang *gang;
    const struct topology *topology;
    struct exclusive_room *rooms; /* by place in topology.nodes */
    uint32_t order[SUB_GROUPS_MAX], level_max[SUB_GROUPS_MAX];
    uint32_t count, try_count;
    struct depth depths[SUB_GROUPS_MAX];
    struct taker *takers;
    struct exclusive_room *covered;
    uint64_t looks;
};

static const struct resource_vec *request_of(const struct reserve_near *near,
                                             const struct seq *asked)
{
    uint32_t job = seq_get(asked, (struct seq_cursor){0});

    return &class_at(near->round, class_of_job(near->round->sched, job))
                ->request;
}

static void measure(struct reserve_near *near, const struct seq *asked,
                    struct domain_room *room)
{
    struct round *round = near->round;
    uint32_t job = seq_get(asked, (struct seq_cursor){0});
    struct search search = {round, class_of_job(round->sched, job), job, NULL};
    const struct class *class = class_round(round, search.class_index);
    uint32_t n = near->topology->node_count;

    room->count_max = 0;
    memset(room->counts, 0, n * sizeof(*room->counts));
    memset(room->keys, 0, n * sizeof(*room->keys));
    for (uint32_t i = 0; i < n; i++) {
        const struct exclusive_room *here = &near->rooms[i];
        uint32_t count = class->is_impossible
                             ? 0
                             : amounts_times(&class->request, &here->left);
        if (count && place_matches_ever(&search, here->node)) {
            room->counts[i] = count;
            room->keys[i] = pool_weigh(round->pool, &here->left);
            room->count_max = count > room->count_max ? count : room->count_max;
        }
    }
    near->looks += n;
    round->counters->nodes_examined += n;
    domain_room_sum(room);
}

static int compare_takers(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The nodes of a pick, the fullest first; their number. */
static uint32_t set_takers(struct reserve_near *near,
                           const struct domain_room *room,
                           const struct locality_pick *pick)
{
    const struct sched *sched = near->round->sched;
    struct taker *takers = near->takers;
    uint32_t count = 0;

    ASSERT(pick->first + pick->nodes <= near->topology->node_count);
    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        if (room->counts[i]) {
            takers[count++] = (struct taker){
                room->keys[i], sched->ranks[near->rooms[i].node], i};
        }
    }
    qsort(takers, count, sizeof(*takers), compare_takers);
    return count;
}

/* Node after node is filled; the number of nodes. */
static uint32_t take_shared(struct reserve_near *near, const struct seq *asked,
                            const struct domain_room *room,
                            const struct locality_pick *pick,
                            struct take *takes)
{
    uint32_t left = asked->count, count = 0;
    uint32_t taker_count = set_takers(near, room, pick);
    const struct taker *takers = near->takers;

    for (uint32_t i = 0; i < taker_count && left; i++) {
        uint32_t here = room->counts[takers[i].place];
        here = here < left ? here : left;
        left -= here;
        takes[count] = (struct take){.place = takers[i].place};
        amounts_add_times(&takes[count++].amounts, request_of(near, asked),
                          here);
    }
    ASSERT(count <= asked->count);
    return left ? 0 : count;
}

static int compare_places(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The least costly cover; the number of nodes. */
static uint32_t take_whole(struct reserve_near *near, uint32_t sub_group,
                           const struct domain_room *room,
                           const struct locality_pick *pick, struct take *takes)
{
    const struct resource_vec none = {0};
    uint32_t room_count = set_takers(near, room, pick), count = 0;
    struct taker *takers = near->takers;
    struct exclusive_room *rooms = near->covered;

    qsort(takers, room_count, sizeof(*takers), compare_places);
    for (uint32_t i = 0; i < room_count; i++) {
        rooms[i] = near->rooms[takers[i].place];
    }
    if (!exclusive_node_fits_one(near->round, near->gang, sub_group, rooms,
                                 room_count)) {
        return 0;
    }
    for (uint32_t i = 0; i < room_count; i++) {
        struct take take = {takers[i].place, rooms[i].taken};
        amounts_subtract(&take.amounts, &near->rooms[take.place].taken);
        if (!amounts_fit(&take.amounts, &none)) {
            takes[count++] = take;
        }
    }
    return count;
}

static void apply(struct reserve_near *near, const struct take *takes,
                  uint32_t count, int64_t sign)
{
    for (uint32_t i = 0; i < count; i++) {
        struct exclusive_room *room = &near->rooms[takes[i].place];
        amounts_add_times(&room->left, &takes[i].amounts, -sign);
        amounts_add_times(&room->taken, &takes[i].amounts, sign);
        ASSERT(amounts_is_sum(&room->taken));
    }
}

bool reserve_near_is_spent(const struct reserve_near *near)
{
    return near->looks >= RESERVE_NEAR_LOOKS_MAX;
}

/* Take what a sub-group asks for from a pick; the number of nodes. */
static uint32_t take(struct reserve_near *near, uint32_t sub_group,
                     const struct depth *depth,
                     const struct locality_pick *pick)
{
    const struct seq *asked = sub_group_required(near->gang, sub_group);

    near->try_count++;
    near->looks += near->topology->node_count + near->topology->domain_count;
    return exclusive_node_is_for(near->gang)
               ? take_whole(near, sub_group, depth->room, pick, depth->takes)
               : take_shared(near, asked, depth->room, pick, depth->takes);
}

/* Place the sub-groups from the one at `index` on. */
static bool fits_from(struct reserve_near *near, uint32_t index)
{
    ASSERT(index <= near->count);
    if (index == near->count) {
        return true;
    }
    uint32_t sub_group = near->order[index];
    const struct depth *depth = &near->depths[index];
    const struct seq *asked = sub_group_required(near->gang, sub_group);
    struct locality_pick pick = LOCALITY_NO_PICK;
    struct locality_query query = {
        .room = depth->room,
        .ranks = near->round->sched->ranks,
        .needed = asked->count,
        .level_max = near->level_max[sub_group],
        .end = near->topology->node_count,
    };

    measure(near, asked, depth->room);
    locality_anchor_of(near->round->sched, near->round->p, near->gang,
                       sub_group, &query.anchor);
    while (near->try_count < LOCALITY_TRIES_MAX &&
           !reserve_near_is_spent(near) && locality_next(&query, &pick)) {
        uint32_t count = take(near, sub_group, depth, &pick);
        apply(near, depth->takes, count, 1);
        if (count && fits_from(near, index + 1)) {
            return true;
        }
        apply(near, depth->takes, count, -1);
    }
    return false;
}

bool reserve_goes_near(const struct round *round, const struct gang *gang)
{
    if (!locality_matters(round, gang) || gang->uniformity[0]) {
        return false;
    }
    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct seq *asked = sub_group_required(gang, i);
        if (asked->count && !locality_is_alike(round->sched, asked)) {
            return false;
        }
    }
    return true;
}

struct reserve_near *reserve_near_begin(struct round *round,
                                        const struct gang *gang)
{
    struct arena *arena = round->arena;
    struct reserve_near *near = arena_alloc(arena, sizeof(*near));
    const struct topology *topology = topology_of(round->sched, round->p);
    uint32_t n = topology->node_count;

    near->round = round;
    near->gang = gang;
    near->topology = topology;
    near->rooms = arena_alloc_array(arena, n, sizeof(*near->rooms));
    near->takers = arena_alloc_array(arena, n, sizeof(*near->takers));
    near->covered = arena_alloc_array(arena, n, sizeof(*near->covered));
    near->count = locality_order(round, gang, near->order, near->level_max);
    for (uint32_t i = 0; i < near->count; i++) {
        uint32_t asked = sub_group_required(gang, near->order[i])->count;
        near->depths[i].room = domain_room_make(round);
        near->depths[i].takes = arena_alloc_array(
            arena, asked < n ? asked : n, sizeof(*near->depths[i].takes));
    }
    return near;
}

struct exclusive_room *reserve_near_rooms(struct reserve_near *near)
{
    for (uint32_t i = 0; i < near->topology->node_count; i++) {
        near->rooms[i] =
            (struct exclusive_room){.node = near->topology->nodes[i]};
    }
    return near->rooms;
}

bool reserve_near_is_long(const struct reserve_near *near)
{
    return near->looks >= RESERVE_NEAR_LOOKS_MAX / 2;
}

bool reserve_fits_near(struct reserve_near *near)
{
    near->try_count = 0;
    return fits_from(near, 0);
}
