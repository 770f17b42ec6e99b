#include "sched/gang/locality_place.h"

#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_private.h"
#include "sched/gang/price.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/state/exclusive.h"
#include "sched/victims/group_room.h"

/* A gang in the making. */

struct locality_state locality_state_of(const struct locality_attempt *locality)
{
    return (struct locality_state){
        .mark = attempt_mark(locality->attempt->round),
        .placed_count = locality->attempt->placed_count,
        .placed_sum = locality->attempt->placed_sum,
        .nearness = locality->nearness,
    };
}

void locality_go_back(struct locality_attempt *locality,
                      const struct locality_state *state)
{
    struct attempt *attempt = locality->attempt;

    ASSERT(state->placed_count <= attempt->placed_count);
    attempt_back(attempt->round, state->mark);
    attempt->placed_count = state->placed_count;
    attempt->placed_sum = state->placed_sum;
    locality->nearness = state->nearness;
    if (attempt->preempt_until) {
        /* What its queue loses and gets back within the try is ordered by what
         * it has then. */
        lane_rewind(attempt->round, attempt->lane);
    }
    if (locality->is_whole) {
        exclusive_node_retake(attempt); /* its own room stays as counted */
    }
}

struct label_group locality_group_of(const struct locality_attempt *locality,
                                     uint32_t first, uint32_t count)
{
    struct label_group group = {
        .executor = locality->outer ? locality->outer->executor : 0,
        .nodes = locality->topology->nodes + first,
        .count = count,
    };

    ASSERT(first + count <= locality->topology->node_count);
    if (locality->allowed) {
        group.nodes = arena_alloc_array(locality->attempt->round->arena, count,
                                        sizeof(*group.nodes));
        group.count = 0;
        for (uint32_t i = first; i < first + count; i++) {
            if (locality->allowed[locality->topology->nodes[i]]) {
                group.nodes[group.count++] = locality->topology->nodes[i];
            }
        }
    }
    return group;
}

bool locality_place_members(struct locality_attempt *locality,
                            const struct seq *asked,
                            const struct label_group *group)
{
    struct attempt *attempt = locality->attempt;

    attempt->only = group;
    attempt->last_node = NONE;
    for (struct seq_cursor c = {0}; !seq_is_end(asked, c);
         seq_next(asked, &c)) {
        uint32_t job = seq_get(asked, c), class_there;
        uint32_t node = attempt_find(attempt, job, &class_there);
        if (node == NONE) {
            return false;
        }
        attempt_lease(attempt, job, node, class_there);
        if (gang_price_is_over(attempt)) {
            return false;
        }
    }
    return true;
}

/* One group of nodes. */

/* Place the sub-groups from the one at `index` on. */
static bool place_from(struct locality_attempt *locality, uint32_t index)
{
    return index == locality->count ||
           locality_place_free(locality, index, place_from);
}

void locality_cluster(const struct sched *sched,
                      const struct topology *topology, uint32_t executor,
                      uint32_t *ret_first, uint32_t *ret_end)
{
    struct str name = sched->executors.items[executor].name;

    *ret_first = *ret_end = 0;
    for (uint32_t d = topology->level_first[topology->level_count + 1];
         d < topology->domain_count; d++) {
        if (str_equal(topology->domains[d].value, name)) {
            *ret_first = topology->domains[d].first;
            *ret_end = *ret_first + topology->domains[d].count;
        }
    }
}

/* Keep to the nodes of a group: a cluster, or a value of a label in one. */
static void keep_to(struct locality_attempt *locality,
                    const struct label_group *outer)
{
    const struct topology *topology = locality->topology;
    const struct sched *sched = locality->attempt->round->sched;

    for (uint32_t i = 0; locality->allowed && i < locality->outer->count; i++) {
        locality->allowed[locality->outer->nodes[i]] = false;
    }
    locality->outer = outer;
    locality->first = 0;
    locality->end = topology->node_count;
    if (!outer) {
        return;
    }
    locality_cluster(sched, topology, outer->executor, &locality->first,
                     &locality->end);
    ASSERT(locality->first <= locality->end &&
           locality->end <= topology->node_count);
    if (locality->attempt->gang->uniformity[0]) {
        if (!locality->allowed) {
            locality->allowed = arena_alloc_array(
                locality->attempt->round->arena, sched->nodes.count,
                sizeof(*locality->allowed));
        }
        for (uint32_t i = 0; i < outer->count; i++) {
            locality->allowed[outer->nodes[i]] = true;
        }
    }
}

static bool try_group(struct locality_attempt *locality,
                      const struct label_group *outer)
{
    struct attempt *attempt = locality->attempt;

    keep_to(locality, outer);
    attempt->placed_count = 0;
    attempt->placed_sum = (struct resource_vec){0};
    locality->try_count = 0;
    locality->nearness = (struct nearness){0};
    if (attempt->preempt_until || attempt->may_go_away) {
        locality->tries_max = LOCALITY_WAYS_MAX;
        return locality_force(locality, 0);
    }
    locality->tries_max = LOCALITY_TRIES_MAX;
    return place_from(locality, 0);
}

/* One after the other. */

static bool is_nearer(const struct nearness *a, const struct nearness *b)
{
    if (a->levels != b->levels) {
        return a->levels < b->levels;
    }
    return a->count != b->count ? a->count < b->count : a->key < b->key;
}

/* Whether a try costs less than the best so far; in free space, is nearer. */
static bool is_better(const struct locality_attempt *locality,
                      const struct victim_set *price,
                      const struct victim_set *best,
                      const struct nearness *nearest)
{
    if (price->count == 0 && best->count == 0) {
        return is_nearer(&locality->nearness, nearest);
    }
    return victim_set_compare(locality->attempt->round, price, best) < 0;
}

/* Whether a group is to be tried: it might hold the gang, now and if its nodes
 * were empty.  A label may have as many values as there are nodes. */
static bool is_candidate(const struct attempt *attempt,
                         const struct label_index *index, uint32_t group)
{
    struct round *round = attempt->round;
    bool is_unknown = attempt->class_index == NONE || attempt->may_go_away;

    return place_is_open(round, attempt->gang, &index->groups[group]) &&
           (is_unknown || group_holds_empty(round, attempt->class_index, index,
                                            group) >= attempt->needed) &&
           attempt_may_hold(attempt, &index->groups[group]);
}

/* Try one cluster after the other; the best one stands. */
static bool try_groups(struct locality_attempt *locality,
                       const struct label_index *index)
{
    struct attempt *attempt = locality->attempt;
    struct round *round = attempt->round;
    struct mark mark = attempt_mark(round);
    const struct label_group *best = NULL;
    struct nearness nearest = {0};
    struct victim_set best_price;

    for (uint32_t i = 0; i < index->group_count; i++) {
        const struct label_group *group = &index->groups[i];
        if (!is_candidate(attempt, index, i)) {
            continue;
        }
        if (try_group(locality, group)) {
            struct victim_set price = gang_price_of(attempt);
            if (!best || is_better(locality, &price, &best_price, &nearest)) {
                best = group;
                best_price = price;
                nearest = locality->nearness;
            }
        }
        attempt_back(round, mark);
    }
    return best && try_group(locality, best);
}

bool locality_try(struct attempt *attempt)
{
    struct round *round = attempt->round;
    const struct label_index *index = place_groups(round, attempt->gang);
    struct locality_attempt locality = {
        .attempt = attempt,
        .topology = topology_of(round->sched, round->p),
        .is_whole = exclusive_node_is_for(attempt->gang),
    };

    locality.count = locality_order(round, attempt->gang, locality.order,
                                    locality.level_max);
    ASSERT(locality.count > 0); /* it is tried for members that it asks for */
    return index ? try_groups(&locality, index) : try_group(&locality, NULL);
}
