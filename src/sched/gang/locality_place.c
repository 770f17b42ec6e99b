#include "sched/gang/locality_place.h"

#include "sched/gang/exclusive_place.h"
#include "sched/gang/locality_private.h"
#include "sched/gang/price.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/state/exclusive.h"
#include "sched/victims/group_room.h"

/* A gang in the making. */

struct locality_state locality_state_of(const struct near *near)
{
    return (struct locality_state){
        .mark = attempt_mark(near->attempt->round),
        .placed_count = near->attempt->placed_count,
        .placed_sum = near->attempt->placed_sum,
        .nearness = near->nearness,
    };
}

void locality_go_back(struct near *near, const struct locality_state *state)
{
    struct attempt *attempt = near->attempt;

    ASSERT(state->placed_count <= attempt->placed_count);
    attempt_back(attempt->round, state->mark);
    attempt->placed_count = state->placed_count;
    attempt->placed_sum = state->placed_sum;
    near->nearness = state->nearness;
    if (attempt->preempt_until) {
        /* What its queue loses and gets back within the try is ordered by what
         * it has then. */
        lane_rewind(attempt->round, attempt->lane);
    }
    if (near->is_whole) {
        exclusive_node_retake(attempt); /* its own room stays as counted */
    }
}

struct label_group locality_group_of(const struct near *near, uint32_t first,
                                     uint32_t count)
{
    struct label_group group = {
        .executor = near->outer ? near->outer->executor : 0,
        .nodes = near->topology->nodes + first,
        .count = count,
    };

    ASSERT(first + count <= near->topology->node_count);
    if (near->allowed) {
        group.nodes = arena_alloc_array(near->attempt->round->arena, count,
                                        sizeof(*group.nodes));
        group.count = 0;
        for (uint32_t i = first; i < first + count; i++) {
            if (near->allowed[near->topology->nodes[i]]) {
                group.nodes[group.count++] = near->topology->nodes[i];
            }
        }
    }
    return group;
}

bool locality_place_members(struct near *near, const struct seq *asked,
                            const struct label_group *group)
{
    struct attempt *attempt = near->attempt;

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
static bool place_from(struct near *near, uint32_t index)
{
    return index == near->count || locality_place_free(near, index, place_from);
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
static void keep_to(struct near *near, const struct label_group *outer)
{
    const struct topology *topology = near->topology;
    const struct sched *sched = near->attempt->round->sched;

    for (uint32_t i = 0; near->allowed && i < near->outer->count; i++) {
        near->allowed[near->outer->nodes[i]] = false;
    }
    near->outer = outer;
    near->first = 0;
    near->end = topology->node_count;
    if (!outer) {
        return;
    }
    locality_cluster(sched, topology, outer->executor, &near->first,
                     &near->end);
    ASSERT(near->first <= near->end && near->end <= topology->node_count);
    if (near->attempt->gang->uniformity[0]) {
        if (!near->allowed) {
            near->allowed =
                arena_alloc_array(near->attempt->round->arena,
                                  sched->nodes.count, sizeof(*near->allowed));
        }
        for (uint32_t i = 0; i < outer->count; i++) {
            near->allowed[outer->nodes[i]] = true;
        }
    }
}

static bool try_group(struct near *near, const struct label_group *outer)
{
    struct attempt *attempt = near->attempt;

    keep_to(near, outer);
    attempt->placed_count = 0;
    attempt->placed_sum = (struct resource_vec){0};
    near->try_count = 0;
    near->nearness = (struct nearness){0};
    if (attempt->preempt_until || attempt->may_go_away) {
        near->tries_max = LOCALITY_WAYS_MAX;
        return locality_force(near, 0);
    }
    near->tries_max = LOCALITY_TRIES_MAX;
    return place_from(near, 0);
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
static bool is_better(const struct near *near, const struct victim_set *price,
                      const struct victim_set *best,
                      const struct nearness *nearest)
{
    if (price->count == 0 && best->count == 0) {
        return is_nearer(&near->nearness, nearest);
    }
    return victim_set_compare(near->attempt->round, price, best) < 0;
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
static bool try_groups(struct near *near, const struct label_index *index)
{
    struct attempt *attempt = near->attempt;
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
        if (try_group(near, group)) {
            struct victim_set price = gang_price_of(attempt);
            if (!best || is_better(near, &price, &best_price, &nearest)) {
                best = group;
                best_price = price;
                nearest = near->nearness;
            }
        }
        attempt_back(round, mark);
    }
    return best && try_group(near, best);
}

bool locality_try(struct attempt *attempt)
{
    struct round *round = attempt->round;
    const struct label_index *index = place_groups(round, attempt->gang);
    struct near near = {
        .attempt = attempt,
        .topology = topology_of(round->sched, round->p),
        .is_whole = exclusive_node_is_for(attempt->gang),
    };

    near.count =
        locality_order(round, attempt->gang, near.order, near.level_max);
    ASSERT(near.count > 0); /* it is tried for members that it asks for */
    return index ? try_groups(&near, index) : try_group(&near, NULL);
}
