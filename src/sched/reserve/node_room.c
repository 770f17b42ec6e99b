/* What a node has for a reservation, and what a reservation takes of it. */
#include "sched/order/lanes.h"
#include "sched/place/exclusive_node.h"
#include "sched/place/place.h"
#include "sched/reserve/private.h"
#include "sched/state/extras.h"

bool reserve_opens_whole(const struct reserving *r, uint32_t node)
{
    const struct round *round = r->round;

    return exclusive_is_any(round->sched) &&
           exclusive_node_opens_whole(round, r->holder, node);
}

struct resource_vec reserve_room(const struct reserving *r, uint32_t node)
{
    const struct resource_vec none = {0};

    ASSERT_SLOW(amounts_fit(&r->round->sched->free[node],
                            &r->round->sched->nodes.items[node].capacity));
    return reserve_opens_whole(r, node) ? none : r->round->sched->free[node];
}

bool reserve_matches(const struct reserving *r, uint32_t job, uint32_t node)
{
    struct search search = {
        .round = r->round,
        .class_index = class_of_job(r->round->sched, job),
        .job = job,
    };

    /* A gang's members may be of classes that this round has not met. */
    const struct class *class = class_round(r->round, search.class_index);
    /* Nobody knows when others end that have its extras. */
    return extras_fit(r->round->sched, node, class) &&
           place_matches_ever(&search, node);
}

void reserve_add(struct reserving *r, uint32_t node,
                 const struct resource_vec *taken,
                 const struct resource_vec *room)
{
    struct reservation *reservation = r->reservation;
    struct reserved_node *item = &reservation->nodes[reservation->node_count++];

    /* Nodes follow each other, so that one is soon found. */
    ASSERT(item == reservation->nodes || item[-1].node < node);
    /* A reservation is of nodes of its pool, and of nothing below zero. */
    ASSERT(r->round->sched->nodes.items[node].pool == r->round->p);
    ASSERT(amounts_is_sum(taken));
    *item = (struct reserved_node){
        .node = node,
        .taken = *taken,
        .extra = *room,
    };
    amounts_subtract(&item->extra, taken);
    for (int c = 0; c < RESOURCE_COLUMNS_MAX; c++) {
        item->extra.v[c] = item->extra.v[c] > 0 ? item->extra.v[c] : 0;
    }
    r->round->sched->nodes.items[node].reserved_stamp = r->round->sched->stamp;
}
