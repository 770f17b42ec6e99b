/* Places a sub-group close together in free space. */

#include <stdlib.h>

#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_private.h"
#include "sched/place/place.h"
#include "sched/state/extras.h"
#include "sched/state/sub_groups.h"

/* Ways of a sub-group that a label does not allow, and that are passed over. */
enum { SKIPS_MAX = 1024 };

/* A node that takes some members. */
struct taker {
    uint64_t key;
    uint32_t rank, node, count;
};

static int compare_takers(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The nodes of a pick, the fullest first, as far as they are needed. */
static struct taker *takers_of(const struct locality_attempt *locality,
                               const struct domain_room *room,
                               const struct locality_pick *pick,
                               uint32_t *ret_count)
{
    struct round *round = locality->attempt->round;
    const uint32_t *ranks = round->sched->ranks;
    struct taker *takers =
        arena_alloc_array(round->arena, pick->nodes, sizeof(*takers));
    uint32_t count = 0;

    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        uint32_t node = room->topology->nodes[i];
        if (room->counts[i] &&
            (!locality->allowed || locality->allowed[node])) {
            takers[count++] = (struct taker){room->keys[i], ranks[node], node,
                                             room->counts[i]};
        }
    }
    ASSERT(count <= pick->nodes);
    qsort(takers, count, sizeof(*takers), compare_takers);
    *ret_count = count;
    return takers;
}

/* Members that are all alike: node after node is filled. */
static bool fill(struct locality_attempt *locality, const struct seq *asked,
                 const struct domain_room *room,
                 const struct locality_pick *pick)
{
    struct attempt *attempt = locality->attempt;
    uint32_t count, at = 0;
    struct taker *takers = takers_of(locality, room, pick, &count);

    for (struct seq_cursor c = {0}; !seq_is_end(asked, c);
         seq_next(asked, &c)) {
        uint32_t job = seq_get(asked, c);
        while (at < count && takers[at].count == 0) {
            at++;
        }
        if (at == count) {
            return false;
        }
        takers[at].count--;
        uint32_t class_index = class_of_job(attempt->round->sched, job);
        if (!extras_fit(attempt->round->sched, takers[at].node,
                        class_at(attempt->round, class_index))) {
            return false; /* others have taken them since they were counted */
        }
        attempt_lease(attempt, job, takers[at].node, class_index);
    }
    return true;
}

/* Place a sub-group at a pick. */
static bool put_at(struct locality_attempt *locality, uint32_t sub_group,
                   bool alike, const struct domain_room *room,
                   const struct locality_pick *pick)
{
    const struct seq *asked =
        sub_group_required(locality->attempt->gang, sub_group);
    bool is_placed;

    if (!locality->is_whole && alike) {
        return fill(locality, asked, room, pick);
    }
    struct label_group group =
        locality_group_of(locality, pick->first, pick->nodes);
    if (locality->is_whole) {
        locality->attempt->only = &group;
        is_placed =
            exclusive_node_place_sub_group(locality->attempt, sub_group);
    } else {
        is_placed = locality_place_members(locality, asked, &group);
    }
    locality->attempt->only = NULL;
    return is_placed;
}

static const struct domain_room *
room_for(const struct locality_attempt *locality, uint32_t job)
{
    struct round *round = locality->attempt->round;
    uint32_t class_index = class_of_job(round->sched, job);

    bool has_nodes = locality->attempt->gang->leased.count ||
                     locality->attempt->placed_count;

    return locality->is_whole
               ? domain_room_whole(round, class_index, job, has_nodes)
               : domain_room_of(round, class_index);
}

static void undo(struct locality_attempt *locality,
                 const struct locality_state *state, uint32_t first)
{
    locality_go_back(locality, state);
    if (!locality->is_whole) {
        (void)room_for(locality, first); /* the same, and again as it was */
    }
}

/* Whether so many members have room on those nodes of a pick that a label
 * allows; what it does not is no way to be tried. */
static bool is_allowed_for(const struct locality_attempt *locality,
                           const struct domain_room *room,
                           const struct locality_pick *pick, uint32_t needed)
{
    uint64_t count = 0;

    for (uint32_t i = pick->first;
         locality->allowed && count < needed && i < pick->first + pick->nodes;
         i++) {
        count +=
            locality->allowed[room->topology->nodes[i]] ? room->counts[i] : 0;
    }
    return !locality->allowed || count >= needed;
}

bool locality_place_free(struct locality_attempt *locality, uint32_t index,
                         locality_fn *place_rest)
{
    struct attempt *attempt = locality->attempt;
    struct round *round = attempt->round;
    uint32_t sub_group = locality->order[index];
    const struct seq *asked = sub_group_required(attempt->gang, sub_group);
    uint32_t first = seq_get(asked, (struct seq_cursor){0});
    bool alike = locality_is_alike(round->sched, asked);
    uint32_t skip_count = 0;
    struct locality_pick pick = LOCALITY_NO_PICK;
    struct locality_query query = {
        .room = room_for(locality, first),
        .ranks = round->sched->ranks,
        .needed = asked->count,
        .level_max = locality->level_max[sub_group],
        .first = locality->first,
        .end = locality->end,
    };

    ASSERT(index < locality->count && asked->count > 0);
    locality_anchor_of(round->sched, round->p, attempt->gang, sub_group,
                       &query.anchor);
    while (locality->try_count < locality->tries_max &&
           skip_count < SKIPS_MAX && locality_next(&query, &pick)) {
        if (!is_allowed_for(locality, query.room, &pick,
                            alike ? asked->count : 1)) {
            skip_count++;
            continue;
        }
        struct locality_state state = locality_state_of(locality);
        locality->try_count++;
        bool is_put = put_at(locality, sub_group, alike, query.room, &pick);
        locality->nearness.levels += pick.level;
        locality->nearness.count += pick.count;
        locality->nearness.key += pick.key;
        if (is_put && place_rest(locality, index + 1)) {
            return true;
        }
        undo(locality, &state, first);
    }
    return false;
}
