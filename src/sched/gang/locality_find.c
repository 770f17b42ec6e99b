/* Places another member close to the running ones of its sub-group. */

#include "sched/gang/locality_private.h"
#include "sched/place/place.h"
#include "sched/state/exclusive.h"
#include "sched/state/sub_groups.h"

/* Whether a label keeps the gang from a node; few gangs have one. */
static bool is_outside(const struct search *search, const struct gang *gang,
                       uint32_t node)
{
    if (!search->only || !gang->uniformity[0]) {
        return false;
    }
    for (uint32_t i = 0; i < search->only->count; i++) {
        if (search->only->nodes[i] == node) {
            return false;
        }
    }
    return true;
}

/* The best free node among those of a pick, or NONE. */
static uint32_t best_in(const struct search *search, const struct gang *gang,
                        const struct domain_room *room,
                        const struct locality_pick *pick)
{
    const struct sched *sched = search->round->sched;
    uint32_t best = NONE;
    uint64_t best_key = 0;

    ASSERT(pick->first + pick->nodes <= room->topology->node_count);
    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        uint32_t node = room->topology->nodes[i];
        bool is_better =
            room->counts[i] && (best == NONE || room->keys[i] < best_key ||
                                (room->keys[i] == best_key &&
                                 sched->ranks[node] < sched->ranks[best]));
        if (is_better && place_allows(search, node) &&
            !is_outside(search, gang, node)) {
            best = node;
            best_key = room->keys[i];
        }
    }
    return best;
}

/* The best node of the pool, if it is one of a pick: then it is the best there
 * too, and was found by the pool's index. */
static uint32_t best_of_pool(const struct search *search,
                             const struct gang *gang,
                             const struct domain_room *room,
                             const struct locality_pick *pick)
{
    struct search anywhere = *search;

    anywhere.only = NULL;
    uint32_t node = place_find(&anywhere);
    uint32_t place = node == NONE ? NONE : room->topology->place[node];
    bool is_inside = place != NONE && place >= pick->first &&
                     place - pick->first < pick->nodes;

    return is_inside && !is_outside(search, gang, node) ? node : NONE;
}

uint32_t locality_find(const struct search *search, const struct gang *gang,
                       uint32_t sub_group, const struct locality_anchor *anchor)
{
    struct round *round = search->round;
    const struct domain_room *room =
        exclusive_node_is_for(gang)
            ? domain_room_held(round, search->class_index, search->job)
            : domain_room_of(round, search->class_index);
    struct locality_pick pick = LOCALITY_NO_PICK;
    struct locality_query query = {
        .room = room,
        .ranks = round->sched->ranks,
        .needed = 1,
        .level_max = topology_level_max(
            room->topology, sub_group_terms(gang, sub_group)->hops_max),
        .end = room->topology->node_count,
        .anchor = *anchor,
    };

    if (search->only) {
        locality_cluster(round->sched, room->topology, search->only->executor,
                         &query.first, &query.end);
    }
    ASSERT(query.first <= query.end && query.end <= room->topology->node_count);
    for (uint32_t i = 0; i < LOCALITY_TRIES_MAX && locality_next(&query, &pick);
         i++) {
        uint32_t node = NONE;
        if (pick.nodes > room->topology->node_count / 2) {
            node = best_of_pool(search, gang, room, &pick);
        }
        if (node == NONE) {
            node = best_in(search, gang, room, &pick);
        }
        if (node != NONE) {
            return node;
        }
    }
    return NONE;
}
