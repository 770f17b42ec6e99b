/* Places the sub-groups of a gang close together by preemption. */

#include <stdlib.h>

#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_private.h"
#include "sched/gang/price.h"
#include "sched/place/place.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/group_room.h"

/* A domain that a sub-group with a cap may have. */
struct ground {
    uint64_t most; /* members that it may hold, if no surplus goes */
    uint32_t level, first, count;
    bool is_tried;
};

struct grounds {
    struct locality_attempt *locality;
    struct ground *items;
    uint32_t count;
    uint32_t sub_group, class_index, needed;
};

/* Those that are tried at all come first. */
static int compare_grounds(const void *a, const void *b)
{
    const struct ground *x = a, *y = b;

    if (x->level != y->level) {
        return x->level > y->level ? -1 : 1;
    }
    if (x->most != y->most) {
        return x->most > y->most ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

/* In the topology's order, a domain before what is part of it. */
static bool stands_before(const struct ground *a, const struct ground *b)
{
    return a->first != b->first ? a->first < b->first : a->count > b->count;
}

static void add_ground(struct grounds *grounds, uint32_t level, uint32_t first,
                       uint32_t count)
{
    const struct locality_attempt *locality = grounds->locality;
    struct attempt *attempt = locality->attempt;
    struct round *round = attempt->round;
    bool is_unknown = attempt->may_go_away || !group_room_is_known(round) ||
                      locality->is_whole;

    ASSERT(count > 0 && first + count <= locality->topology->node_count);
    if (first < locality->first || first + count > locality->end) {
        return;
    }
    struct label_group group = locality_group_of(locality, first, count);
    uint64_t most = group_room_most(round, grounds->class_index, &group);
    if (most >= grounds->needed || is_unknown) {
        grounds->items[grounds->count++] =
            (struct ground){most, level, first, count, false};
    }
}

/* The highest domains that a level allows; a node that is in none of them is
 * one by itself. */
static void add_highest(struct grounds *grounds, uint32_t level_max)
{
    const struct topology *topology = grounds->locality->topology;

    for (uint32_t i = 0; i < topology->node_count; i++) {
        if (topology->domains[topology->lowest[i]].level > level_max) {
            add_ground(grounds, level_max, i, 1);
        }
    }
    for (uint32_t d = 0; level_max > 0 && d < topology->domain_count; d++) {
        const struct domain *domain = &topology->domains[d];
        if (domain->level <= level_max &&
            topology_is_highest(topology, d, level_max)) {
            add_ground(grounds, level_max, domain->first, domain->count);
        }
    }
}

/* The domains, or nodes, of a lower level that are part of one of these. */
static void add_lower(struct grounds *grounds, uint32_t level_max,
                      uint32_t level)
{
    const struct topology *topology = grounds->locality->topology;

    for (uint32_t i = 0; level == 0 && i < topology->node_count; i++) {
        if (topology->domains[topology->lowest[i]].level <= level_max) {
            add_ground(grounds, 0, i, 1);
        }
    }
    for (uint32_t d = 0; level > 0 && d < topology->domain_count; d++) {
        if (topology->domains[d].level == level &&
            !topology_is_highest(topology, d, level_max)) {
            add_ground(grounds, level, topology->domains[d].first,
                       topology->domains[d].count);
        }
    }
}

/* Those that hold what runs, the highest first. */
static void add_around(struct grounds *grounds, uint32_t level_max,
                       const struct locality_anchor *anchor)
{
    const struct topology *topology = grounds->locality->topology;
    uint32_t spread = locality_anchor_level(topology, anchor);
    uint32_t first, count, last_count = 0;

    for (uint32_t level = level_max > spread ? level_max : spread;; level--) {
        if (locality_around(topology, level, anchor, &first, &count) &&
            count != last_count) {
            add_ground(grounds, level, first, count);
            last_count = count;
        }
        if (level == spread) {
            return;
        }
    }
}

static void add_all(struct grounds *grounds, uint32_t level_max)
{
    const struct locality_attempt *locality = grounds->locality;
    struct locality_anchor anchor;

    locality_anchor_of(locality->attempt->round->sched,
                       locality->attempt->round->p, locality->attempt->gang,
                       grounds->sub_group, &anchor);
    if (anchor.node_count) {
        add_around(grounds, level_max, &anchor);
        return;
    }
    add_highest(grounds, level_max);
    for (uint32_t level = level_max;
         level > 0 && grounds->count < LOCALITY_FORCE_MAX; level--) {
        add_lower(grounds, level_max, level - 1);
    }
}

/* What a sub-group asks for, on nodes of a group (NULL: the pool). */
static bool put(struct locality_attempt *locality, uint32_t sub_group,
                const struct label_group *group)
{
    struct attempt *attempt = locality->attempt;
    bool is_put;

    if (locality->is_whole) {
        attempt->only = group;
        is_put = exclusive_node_place_sub_group(attempt, sub_group);
    } else {
        is_put = locality_place_members(
            locality, sub_group_required(attempt->gang, sub_group), group);
    }
    attempt->only = NULL;
    return is_put;
}

/* Whether nobody made way since; then free space had that room, too, but for
 * nodes that are not home. */
static bool is_free(const struct locality_attempt *locality,
                    const struct locality_state *state)
{
    const struct attempt *attempt = locality->attempt;

    ASSERT(state->placed_count <= attempt->placed_count);
    return !attempt->may_go_away &&
           attempt->round->sched->decisions.count - state->mark.decisions ==
               attempt->placed_count - state->placed_count;
}

/* Try a ground, giving up once it costs others more than `limit`. */
static bool try_ground(const struct grounds *grounds,
                       const struct ground *ground,
                       const struct victim_set *limit)
{
    struct locality_attempt *locality = grounds->locality;
    struct label_group group =
        locality_group_of(locality, ground->first, ground->count);

    gang_price_limit(locality->attempt, limit);
    bool is_put = put(locality, grounds->sub_group, &group);
    gang_price_limit(locality->attempt, NULL);
    return is_put;
}

/* Of the grounds that are left the one that costs least, or NULL. */
static struct ground *best_of(struct grounds *grounds)
{
    struct locality_attempt *locality = grounds->locality;
    struct attempt *attempt = locality->attempt;
    struct locality_state state = locality_state_of(locality);
    struct ground *best = NULL;
    struct victim_set best_price;

    for (uint32_t i = 0; i < grounds->count; i++) {
        struct ground *ground = &grounds->items[i];
        if (ground->is_tried) {
            continue;
        }
        bool is_put = try_ground(grounds, ground, best ? &best_price : NULL);
        if (is_put && !is_free(locality, &state)) {
            struct victim_set price = gang_price_of(attempt);
            int c =
                best ? victim_set_compare(attempt->round, &price, &best_price)
                     : -1;
            if (c < 0 || (c == 0 && stands_before(ground, best))) {
                best = ground;
                best_price = price;
            }
        }
        locality_go_back(locality, &state);
    }
    return best;
}

/* A sub-group without a cap, wherever its members are best. */
static bool force_anywhere(struct locality_attempt *locality, uint32_t index)
{
    struct locality_state state = locality_state_of(locality);

    if (put(locality, locality->order[index], locality->outer) &&
        !is_free(locality, &state) &&
        locality->try_count++ < locality->tries_max &&
        locality_force(locality, index + 1)) {
        return true;
    }
    locality_go_back(locality, &state);
    return false;
}

static bool force_by_locality(struct locality_attempt *locality, uint32_t index)
{
    struct round *round = locality->attempt->round;
    uint32_t sub_group = locality->order[index];
    const struct topology *topology = locality->topology;
    const struct seq *asked =
        sub_group_required(locality->attempt->gang, sub_group);
    size_t most = (size_t)topology->node_count + topology->domain_count;
    struct grounds grounds = {
        .locality = locality,
        .items = arena_alloc_array(round->arena, most, sizeof(*grounds.items)),
        .sub_group = sub_group,
        .class_index =
            class_of_job(round->sched, seq_get(asked, (struct seq_cursor){0})),
        .needed = asked->count,
    };
    struct locality_state state = locality_state_of(locality);

    add_all(&grounds, locality->level_max[sub_group]);
    ASSERT(grounds.count <= most); /* none is there twice */
    qsort(grounds.items, grounds.count, sizeof(*grounds.items),
          compare_grounds);
    grounds.count =
        grounds.count < LOCALITY_FORCE_MAX ? grounds.count : LOCALITY_FORCE_MAX;
    while (locality->try_count < locality->tries_max) {
        struct ground *ground = best_of(&grounds);
        if (!ground) {
            return false;
        }
        locality->try_count++;
        ground->is_tried = true;
        if (try_ground(&grounds, ground, NULL) &&
            locality_force(locality, index + 1)) {
            return true;
        }
        locality_go_back(locality, &state);
    }
    return false;
}

bool locality_force(struct locality_attempt *locality, uint32_t index)
{
    ASSERT(index <= locality->count);
    if (index == locality->count ||
        locality_place_free(locality, index, locality_force)) {
        return true;
    }
    return locality->level_max[locality->order[index]] >
                   locality->topology->level_count
               ? force_anywhere(locality, index)
               : force_by_locality(locality, index);
}
