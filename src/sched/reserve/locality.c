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
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"

/* Nodes and domains looked at for one gang, so that no job makes a round slow
 * for the others. */
enum { RESERVE_LOCALITY_LOOKS_MAX = 1 << 23 };

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
struct reserve_locality {
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

static const struct resource_vec *
request_of(const struct reserve_locality *locality, const struct seq *asked)
{
    uint32_t job = seq_get(asked, (struct seq_cursor){0});

    return &class_at(locality->round, class_of_job(locality->round->sched, job))
                ->request;
}

static void measure(struct reserve_locality *locality, const struct seq *asked,
                    struct domain_room *room)
{
    struct round *round = locality->round;
    uint32_t job = seq_get(asked, (struct seq_cursor){0});
    struct search search = {round, class_of_job(round->sched, job), job, NULL};
    const struct class *class = class_round(round, search.class_index);
    uint32_t n = locality->topology->node_count;

    room->count_max = 0;
    memset(room->counts, 0, n * sizeof(*room->counts));
    memset(room->keys, 0, n * sizeof(*room->keys));
    for (uint32_t i = 0; i < n; i++) {
        const struct exclusive_room *here = &locality->rooms[i];
        uint32_t count = class->is_impossible
                             ? 0
                             : amounts_times(&class->request, &here->left);
        count = extras_times(round->sched, here->node, class, count);
        if (count && place_matches_ever(&search, here->node)) {
            room->counts[i] = count;
            room->keys[i] = pool_weigh(round->pool, &here->left);
            room->count_max = count > room->count_max ? count : room->count_max;
        }
    }
    locality->looks += n;
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
static uint32_t set_takers(struct reserve_locality *locality,
                           const struct domain_room *room,
                           const struct locality_pick *pick)
{
    const struct sched *sched = locality->round->sched;
    struct taker *takers = locality->takers;
    uint32_t count = 0;

    ASSERT(pick->first + pick->nodes <= locality->topology->node_count);
    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        if (room->counts[i]) {
            takers[count++] = (struct taker){
                room->keys[i], sched->ranks[locality->rooms[i].node], i};
        }
    }
    qsort(takers, count, sizeof(*takers), compare_takers);
    return count;
}

/* Node after node is filled; the number of nodes. */
static uint32_t take_shared(struct reserve_locality *locality,
                            const struct seq *asked,
                            const struct domain_room *room,
                            const struct locality_pick *pick,
                            struct take *takes)
{
    uint32_t left = asked->count, count = 0;
    uint32_t taker_count = set_takers(locality, room, pick);
    const struct taker *takers = locality->takers;

    for (uint32_t i = 0; i < taker_count && left; i++) {
        uint32_t here = room->counts[takers[i].place];
        here = here < left ? here : left;
        left -= here;
        takes[count] = (struct take){.place = takers[i].place};
        amounts_add_times(&takes[count++].amounts, request_of(locality, asked),
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
static uint32_t take_whole(struct reserve_locality *locality,
                           uint32_t sub_group, const struct domain_room *room,
                           const struct locality_pick *pick, struct take *takes)
{
    const struct resource_vec none = {0};
    uint32_t room_count = set_takers(locality, room, pick), count = 0;
    struct taker *takers = locality->takers;
    struct exclusive_room *rooms = locality->covered;

    qsort(takers, room_count, sizeof(*takers), compare_places);
    for (uint32_t i = 0; i < room_count; i++) {
        rooms[i] = locality->rooms[takers[i].place];
    }
    if (!exclusive_node_fits_one(locality->round, locality->gang, sub_group,
                                 rooms, room_count)) {
        return 0;
    }
    for (uint32_t i = 0; i < room_count; i++) {
        struct take take = {takers[i].place, rooms[i].taken};
        amounts_subtract(&take.amounts, &locality->rooms[take.place].taken);
        if (!amounts_fit(&take.amounts, &none)) {
            takes[count++] = take;
        }
    }
    return count;
}

static void apply(struct reserve_locality *locality, const struct take *takes,
                  uint32_t count, int64_t sign)
{
    for (uint32_t i = 0; i < count; i++) {
        struct exclusive_room *room = &locality->rooms[takes[i].place];
        amounts_add_times(&room->left, &takes[i].amounts, -sign);
        amounts_add_times(&room->taken, &takes[i].amounts, sign);
        ASSERT(amounts_is_sum(&room->taken));
    }
}

bool reserve_locality_is_spent(const struct reserve_locality *locality)
{
    return locality->looks >= RESERVE_LOCALITY_LOOKS_MAX;
}

/* Take what a sub-group asks for from a pick; the number of nodes. */
static uint32_t take(struct reserve_locality *locality, uint32_t sub_group,
                     const struct depth *depth,
                     const struct locality_pick *pick)
{
    const struct seq *asked = sub_group_required(locality->gang, sub_group);

    locality->try_count++;
    locality->looks +=
        locality->topology->node_count + locality->topology->domain_count;
    return exclusive_node_is_for(locality->gang)
               ? take_whole(locality, sub_group, depth->room, pick,
                            depth->takes)
               : take_shared(locality, asked, depth->room, pick, depth->takes);
}

/* Place the sub-groups from the one at `index` on. */
static bool fits_from(struct reserve_locality *locality, uint32_t index)
{
    ASSERT(index <= locality->count);
    if (index == locality->count) {
        return true;
    }
    uint32_t sub_group = locality->order[index];
    const struct depth *depth = &locality->depths[index];
    const struct seq *asked = sub_group_required(locality->gang, sub_group);
    struct locality_pick pick = LOCALITY_NO_PICK;
    struct locality_query query = {
        .room = depth->room,
        .ranks = locality->round->sched->ranks,
        .needed = asked->count,
        .level_max = locality->level_max[sub_group],
        .end = locality->topology->node_count,
    };

    measure(locality, asked, depth->room);
    locality_anchor_of(locality->round->sched, locality->round->p,
                       locality->gang, sub_group, &query.anchor);
    while (locality->try_count < LOCALITY_TRIES_MAX &&
           !reserve_locality_is_spent(locality) &&
           locality_next(&query, &pick)) {
        uint32_t count = take(locality, sub_group, depth, &pick);
        apply(locality, depth->takes, count, 1);
        if (count && fits_from(locality, index + 1)) {
            return true;
        }
        apply(locality, depth->takes, count, -1);
    }
    return false;
}

bool reserve_locality_matters(const struct round *round,
                              const struct gang *gang)
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

struct reserve_locality *reserve_locality_begin(struct round *round,
                                                const struct gang *gang)
{
    struct arena *arena = round->arena;
    struct reserve_locality *locality = arena_alloc(arena, sizeof(*locality));
    const struct topology *topology = topology_of(round->sched, round->p);
    uint32_t n = topology->node_count;

    locality->round = round;
    locality->gang = gang;
    locality->topology = topology;
    locality->rooms = arena_alloc_array(arena, n, sizeof(*locality->rooms));
    locality->takers = arena_alloc_array(arena, n, sizeof(*locality->takers));
    locality->covered = arena_alloc_array(arena, n, sizeof(*locality->covered));
    locality->count =
        locality_order(round, gang, locality->order, locality->level_max);
    for (uint32_t i = 0; i < locality->count; i++) {
        uint32_t asked = sub_group_required(gang, locality->order[i])->count;
        locality->depths[i].room = domain_room_make(round);
        locality->depths[i].takes = arena_alloc_array(
            arena, asked < n ? asked : n, sizeof(*locality->depths[i].takes));
    }
    return locality;
}

struct exclusive_room *reserve_locality_rooms(struct reserve_locality *locality)
{
    for (uint32_t i = 0; i < locality->topology->node_count; i++) {
        locality->rooms[i] =
            (struct exclusive_room){.node = locality->topology->nodes[i]};
    }
    return locality->rooms;
}

bool reserve_locality_is_long(const struct reserve_locality *locality)
{
    return locality->looks >= RESERVE_LOCALITY_LOOKS_MAX / 2;
}

bool reserve_locality_fits(struct reserve_locality *locality)
{
    locality->try_count = 0;
    return fits_from(locality, 0);
}
