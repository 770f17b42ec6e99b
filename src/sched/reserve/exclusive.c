/* Where a gang of equal members with exclusive nodes would start at a later
 * time: a node that it does not hold has all of its room by then, or none. */
#include <stdlib.h>

#include "sched/gang/exclusive_place.h"
#include "sched/order/round.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"

/* A room, and the node's place in the order of names. */
struct option {
    struct exclusive_room room;
    uint32_t rank;
};

static int compare_ranks(const void *a, const void *b)
{
    const struct option *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct exclusive_room *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

/* Nodes with room at a time, in order of names. */
static struct exclusive_room *rooms_of(const struct reserving *r, int64_t at_ms,
                                       const struct label_group *group,
                                       const uint8_t *allowed,
                                       uint32_t *ret_count)
{
    const struct profile_memory *m = r->memory;
    uint32_t most = group ? group->count : (uint32_t)m->nodes.count, count = 0;
    struct arena *arena = r->round->arena;
    struct option *options = arena_alloc_array(arena, most, sizeof(*options));

    for (uint32_t i = 0; i < most; i++) {
        uint32_t node = group ? group->nodes[i] : i;
        uint32_t held = allowed[node] ? reserve_count_on(m, node, at_ms) : 0;
        if (held) {
            struct option *option = &options[count++];
            *option = (struct option){
                .room.node = node,
                .room.left = r->round->sched->nodes.items[node].capacity,
                .rank = r->round->sched->ranks[node],
            };
            /* At no time does a node hold more than when it is empty. */
            ASSERT(held <= amounts_times(&m->request, &option->room.left));
            if (amounts_times(&m->request, &option->room.left) != held) {
                /* It holds it, and others of it stay there. */
                option->room.left = (struct resource_vec){0};
                amounts_add_times(&option->room.left, &m->request, held);
            }
        }
    }
    qsort(options, count, sizeof(*options), compare_ranks);
    struct exclusive_room *rooms =
        arena_alloc_array(arena, count, sizeof(*rooms));
    for (uint32_t i = 0; i < count; i++) {
        rooms[i] = options[i].room;
    }
    *ret_count = count;
    return rooms;
}

bool reserve_exclusive(struct reserving *r, const struct gang *gang,
                       int64_t at_ms, const struct label_group *group,
                       const uint8_t *allowed)
{
    const struct resource_vec none = {0};
    uint32_t count;
    struct exclusive_room *rooms = rooms_of(r, at_ms, group, allowed, &count);

    ASSERT(&r->round->sched->gangs.items[r->holder - 1] == gang);
    if (!exclusive_node_fits(r->round, gang, rooms, count)) {
        return false;
    }
    qsort(rooms, count, sizeof(*rooms), compare_nodes);
    r->reservation->nodes = arena_alloc_array(r->round->arena, count,
                                              sizeof(*r->reservation->nodes));
    for (uint32_t i = 0; i < count; i++) {
        if (!amounts_fit(&rooms[i].taken, &none)) {
            /* Nothing is left beside it. */
            reserve_add(r, rooms[i].node, &rooms[i].taken, &rooms[i].taken);
        }
    }
    return true;
}
