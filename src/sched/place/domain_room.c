#include "sched/place/domain_room.h"

#include "sched/order/lanes.h"
#include "sched/place/exclusive_node.h"
#include "sched/place/place.h"
#include "sched/state/extras.h"

enum {
    /* Moved nodes, as a part of all, from which on all are counted anew. */
    RECOUNT_PART = 4,
};

/* How many members a node holds; `job` is one of them where that matters. */
static uint32_t count_on(struct round *round, uint32_t class_index,
                         uint32_t job, uint32_t node)
{
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_index);
    struct search search = {round, class_index, NONE, NULL};
    uint32_t count = amounts_times(&class->request, &sched->free[node]);

    count = extras_times(sched, node, class, count);
    if (count == 0 || !place_matches_class(&search, node) ||
        exclusive_node_bars(round, job, node) ||
        exclusive_node_is_kept(round, job, class_index, node)) {
        return 0;
    }
    if (sched->nodes.items[node].is_on_trial) {
        count = 1;
    }
    count = reserve_pass_count(round, round->reserve.hold, class, node, count);
    return reserve_pass_count(round, round->reserve.own, class, node, count);
}

/* What it is counted beside: nothing, or what is reserved; which what gangs
 * grow by may use. */
static uint32_t beside(const struct round *round)
{
    return round->reserve.hold ? 1 + round->is_growing : 0;
}

static void count_node(struct round *round, uint32_t class_index, uint32_t job,
                       struct domain_room *room, uint32_t place)
{
    uint32_t node = room->topology->nodes[place];

    room->counts[place] = count_on(round, class_index, job, node);
    if (room->counts[place] > room->count_max) {
        room->count_max = room->counts[place];
    }
    room->keys[place] = room->counts[place]
                            ? pool_weigh(round->pool, &round->sched->free[node])
                            : 0;
}

void domain_room_sum(struct domain_room *room)
{
    const struct topology *topology = room->topology;

    for (uint32_t d = 0; d < topology->domain_count; d++) {
        room->domain_sums[d] = room->domain_keys[d] = 0;
    }
    for (uint32_t i = 0; i < topology->node_count; i++) {
        room->domain_sums[topology->lowest[i]] += room->counts[i];
        room->domain_keys[topology->lowest[i]] += room->keys[i];
    }
    for (uint32_t d = 0; d < topology->domain_count; d++) {
        uint32_t parent = topology->domains[d].parent;
        ASSERT(parent == NONE || parent > d); /* parts are summed up first */
        if (parent != NONE) {
            room->domain_sums[parent] += room->domain_sums[d];
            room->domain_keys[parent] += room->domain_keys[d];
        }
    }
}

static void count_all(struct round *round, uint32_t class_index, uint32_t job,
                      struct domain_room *room)
{
    room->count_max = 0;
    for (uint32_t i = 0; i < room->topology->node_count; i++) {
        count_node(round, class_index, job, room, i);
    }
    round->counters->nodes_examined += room->topology->node_count;
    room->moved_seen = (uint32_t)round->watch.moved.count;
    room->reserved_by = beside(round);
    domain_room_sum(room);
}

struct domain_room *domain_room_make(struct round *round)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    struct arena *arena = round->arena;
    uint32_t n = topology->node_count, d = topology->domain_count;
    struct domain_room *room = arena_alloc(arena, sizeof(*room));

    room->topology = topology;
    room->counts = arena_alloc_array(arena, n, sizeof(*room->counts));
    room->keys = arena_alloc_array(arena, n, sizeof(*room->keys));
    room->domain_sums = arena_alloc_array(arena, d, sizeof(*room->domain_sums));
    room->domain_keys = arena_alloc_array(arena, d, sizeof(*room->domain_keys));
    return room;
}

/* The sums follow a node that moved. */
static void recount(struct round *round, uint32_t class_index, uint32_t job,
                    struct domain_room *room, uint32_t node)
{
    const struct topology *topology = room->topology;
    uint32_t place = topology->place[node];

    if (place == NONE) {
        return;
    }
    uint64_t count = room->counts[place], key = room->keys[place];
    count_node(round, class_index, job, room, place);
    for (uint32_t d = topology->lowest[place]; d != NONE;
         d = topology->domains[d].parent) {
        ASSERT(room->domain_sums[d] >= count && room->domain_keys[d] >= key);
        room->domain_sums[d] += room->counts[place] - count;
        room->domain_keys[d] += room->keys[place] - key;
    }
}

/* Bring a room up to date, or make it. */
static struct domain_room *follow(struct round *round, uint32_t class_index,
                                  uint32_t job, struct domain_room *room)
{
    place_flush(round);
    if (!room) {
        room = domain_room_make(round);
        count_all(round, class_index, job, room);
        return room;
    }
    ASSERT(room->moved_seen <= round->watch.moved.count);
    size_t moved = round->watch.moved.count - room->moved_seen;
    if (round->reserve.own ||
        moved > room->topology->node_count / RECOUNT_PART ||
        room->reserved_by != beside(round)) {
        count_all(round, class_index, job, room);
    }
    for (; room->moved_seen < round->watch.moved.count; room->moved_seen++) {
        recount(round, class_index, job, room,
                round->watch.moved.items[room->moved_seen]);
    }
    if (round->reserve.own) {
        room->reserved_by = NONE; /* it is not asked beside the next */
    }
    return room;
}

const struct domain_room *domain_room_of(struct round *round,
                                         uint32_t class_index)
{
    struct class *class = class_round(round, class_index);

    class->domain_room = follow(round, class_index, NONE, class->domain_room);
    return class->domain_room;
}

const struct domain_room *domain_room_whole(struct round *round,
                                            uint32_t class_index, uint32_t job,
                                            bool has_nodes)
{
    struct class *class = class_round(round, class_index);

    if (has_nodes) {
        return follow(round, class_index, job, NULL);
    }
    class->empty_room = follow(round, class_index, job, class->empty_room);
    return class->empty_room;
}

const struct domain_room *domain_room_held(struct round *round,
                                           uint32_t class_index, uint32_t job)
{
    struct class *class = class_round(round, class_index);
    uint32_t gang = round->sched->jobs.items[job].gang;
    struct domain_room *room = class->held_room;

    if (room && room->gang != gang) {
        place_flush(round);
        count_all(round, class_index, job, room);
    } else {
        room = follow(round, class_index, job, room);
    }
    room->gang = gang;
    class->held_room = room;
    return room;
}
