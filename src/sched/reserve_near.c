/* Where a gang would go at a time to come, where the topology says how: by the
 * rule of near_place.h for free space, with what nodes have then. */
#include <stdlib.h>

#include "sched/lanes.h"
#include "sched/near_place.h"
#include "sched/reserve.h"
#include "sched/round.h"
#include "sched/sub_groups.h"
#include "sched/whole_node.h"

/* What a sub-group takes on a node. */
struct take {
    uint32_t place; /* in topology.nodes */
    struct resource_vec amounts;
};

/* A gang in the making. */
struct trying {
    struct round *round;
    const struct gang *gang;
    const struct topology *topology;
    struct whole_room *rooms; /* by place in topology.nodes */
    uint32_t order[SUB_GROUPS_MAX], level_max[SUB_GROUPS_MAX];
    uint32_t count, try_count;
};

/* A node that takes some members. */
struct taker {
    uint64_t key;
    uint32_t rank, place;
};

static const struct resource_vec *request_of(const struct trying *trying,
                                             const struct seq *asked)
{
    uint32_t job = seq_get(asked, (struct seq_cursor){0});

    return &class_at(trying->round, class_of_job(trying->round->sched, job))
                ->request;
}

static const struct domain_room *measure(const struct trying *trying,
                                         const struct seq *asked)
{
    struct round *round = trying->round;
    uint32_t job = seq_get(asked, (struct seq_cursor){0});
    struct search search = {round, class_of_job(round->sched, job), job, NULL};
    const struct class *class = class_round(round, search.class_index);
    struct domain_room *room = domain_room_make(round);

    for (uint32_t i = 0; i < trying->topology->node_count; i++) {
        const struct whole_room *here = &trying->rooms[i];
        uint32_t count = class->is_impossible
                             ? 0
                             : amounts_times(&class->request, &here->left);
        if (count && place_matches_ever(&search, here->node)) {
            room->counts[i] = count;
            room->keys[i] = pool_weigh(round->pool, &here->left);
            room->count_max = count > room->count_max ? count : room->count_max;
        }
    }
    round->counters->nodes_examined += trying->topology->node_count;
    domain_room_sum(room);
    return room;
}

static int compare_takers(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The nodes of a pick, the fullest first. */
static struct taker *takers_of(const struct trying *trying,
                               const struct domain_room *room,
                               const struct near_pick *pick,
                               uint32_t *ret_count)
{
    const struct sched *sched = trying->round->sched;
    struct taker *takers =
        arena_alloc_array(trying->round->arena, pick->nodes, sizeof(*takers));
    uint32_t count = 0;

    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        if (room->counts[i]) {
            takers[count++] = (struct taker){
                room->keys[i], sched->ranks[trying->rooms[i].node], i};
        }
    }
    qsort(takers, count, sizeof(*takers), compare_takers);
    *ret_count = count;
    return takers;
}

/* Node after node is filled; the number of nodes. */
static uint32_t take_shared(const struct trying *trying,
                            const struct seq *asked,
                            const struct domain_room *room,
                            const struct near_pick *pick, struct take *takes)
{
    uint32_t taker_count, left = asked->count, count = 0;
    const struct taker *takers = takers_of(trying, room, pick, &taker_count);

    for (uint32_t i = 0; i < taker_count && left; i++) {
        uint32_t here = room->counts[takers[i].place];
        here = here < left ? here : left;
        left -= here;
        takes[count] = (struct take){.place = takers[i].place};
        amounts_add_times(&takes[count++].amounts, request_of(trying, asked),
                          here);
    }
    return left ? 0 : count;
}

static int compare_places(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The least costly cover; the number of nodes. */
static uint32_t take_whole(const struct trying *trying, uint32_t sub_group,
                           const struct domain_room *room,
                           const struct near_pick *pick, struct take *takes)
{
    const struct resource_vec none = {0};
    uint32_t room_count, count = 0;
    struct taker *takers = takers_of(trying, room, pick, &room_count);
    struct whole_room *rooms =
        arena_alloc_array(trying->round->arena, room_count, sizeof(*rooms));

    qsort(takers, room_count, sizeof(*takers), compare_places);
    for (uint32_t i = 0; i < room_count; i++) {
        rooms[i] = trying->rooms[takers[i].place];
    }
    if (!whole_node_fits_one(trying->round, trying->gang, sub_group, rooms,
                             room_count)) {
        return 0;
    }
    for (uint32_t i = 0; i < room_count; i++) {
        struct take take = {takers[i].place, rooms[i].taken};
        amounts_subtract(&take.amounts, &trying->rooms[take.place].taken);
        if (!amounts_fit(&take.amounts, &none)) {
            takes[count++] = take;
        }
    }
    return count;
}

static void apply(struct trying *trying, const struct take *takes,
                  uint32_t count, int64_t sign)
{
    for (uint32_t i = 0; i < count; i++) {
        struct whole_room *room = &trying->rooms[takes[i].place];
        amounts_add_times(&room->left, &takes[i].amounts, -sign);
        amounts_add_times(&room->taken, &takes[i].amounts, sign);
    }
}

/* Place the sub-groups from the one at `index` on. */
static bool fits_from(struct trying *trying, uint32_t index)
{
    struct round *round = trying->round;

    if (index == trying->count) {
        return true;
    }
    uint32_t sub_group = trying->order[index];
    const struct seq *asked = &trying->gang->subs->items[sub_group].asked;
    struct near_pick pick = NEAR_NO_PICK;
    struct near_query query = {
        .room = measure(trying, asked),
        .ranks = round->sched->ranks,
        .needed = asked->count,
        .level_max = trying->level_max[sub_group],
        .end = trying->topology->node_count,
    };
    struct take *takes =
        arena_alloc_array(round->arena, asked->count, sizeof(*takes));

    near_anchor_of(round, trying->gang, sub_group, &query.anchor);
    while (trying->try_count < NEAR_TRIES_MAX && near_next(&query, &pick)) {
        uint32_t count =
            whole_node_is_for(trying->gang)
                ? take_whole(trying, sub_group, query.room, &pick, takes)
                : take_shared(trying, asked, query.room, &pick, takes);
        trying->try_count++;
        apply(trying, takes, count, 1);
        if (count && fits_from(trying, index + 1)) {
            return true;
        }
        apply(trying, takes, count, -1);
    }
    return false;
}

bool reserve_goes_near(const struct round *round, const struct gang *gang)
{
    if (!near_matters(round, gang) || gang->uniformity[0]) {
        return false;
    }
    for (uint32_t i = 0; i < gang->subs->terms.sub_group_count; i++) {
        const struct seq *asked = &gang->subs->items[i].asked;
        if (asked->count && !near_is_alike(round->sched, asked)) {
            return false;
        }
    }
    return true;
}

bool reserve_fits_near(struct round *round, const struct gang *gang,
                       struct whole_room *rooms)
{
    struct trying trying = {
        .round = round,
        .gang = gang,
        .topology = topology_of(round->sched, round->p),
        .rooms = rooms,
    };

    trying.count = near_order(round, gang, trying.order, trying.level_max);
    return fits_from(&trying, 0);
}
