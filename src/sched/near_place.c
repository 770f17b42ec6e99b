#include <stdlib.h>

#include "sched/gang_price.h"
#include "sched/group_room.h"
#include "sched/hops.h"
#include "sched/lanes.h"
#include "sched/near_force.h"
#include "sched/sub_groups.h"
#include "sched/whole_node.h"

/* Ways of a sub-group that a label does not allow, and that are passed over. */
enum { SKIPS_MAX = 1024 };

/* A node that takes some members. */
struct taker {
    uint64_t key;
    uint32_t rank, node, count;
};

/* Caps. */

bool near_matters(const struct round *round, const struct gang *gang)
{
    const struct topology *topology = topology_of(round->sched, round->p);

    return gang->subs && topology &&
           (topology->level_count > 0 || hops_are_capped(gang));
}

uint32_t near_level_max(struct round *round, const struct gang *gang,
                        uint32_t sub_group)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    int64_t end_ms = hops_end_ms(round->sched, gang, sub_group);

    if (round->now_ms >= end_ms) {
        return topology->level_count + 1;
    }
    round_wake_by(round, end_ms);
    return topology_level_max(topology,
                              gang->subs->terms.sub_groups[sub_group].hops_max);
}

bool near_is_capped(struct round *round, const struct gang *gang)
{
    const struct topology *topology = topology_of(round->sched, round->p);
    bool is_capped = false;

    for (uint32_t i = 0; i < gang->subs->terms.sub_group_count; i++) {
        is_capped |= near_level_max(round, gang, i) <= topology->level_count;
    }
    return is_capped;
}

void near_anchor_of(const struct round *round, const struct gang *gang,
                    uint32_t sub_group, struct near_anchor *ret_anchor)
{
    const struct sched *sched = round->sched;
    const struct topology *topology = topology_of(sched, round->p);
    const struct seq *leased = &gang->subs->items[sub_group].leased;

    *ret_anchor = (struct near_anchor){.domain = NONE};
    for (struct seq_cursor at = {0}; !seq_is_end(leased, at);
         seq_next(leased, &at)) {
        const struct run *run =
            &sched->runs.items[sched->jobs.items[seq_get(leased, at)].run];
        if (run->state != RUN_PREEMPTED) {
            near_anchor_add(topology, ret_anchor, run->node);
        }
    }
}

struct near_state near_state_of(const struct near *near)
{
    return (struct near_state){
        .mark = attempt_mark(near->attempt->round),
        .placed_count = near->attempt->placed_count,
        .placed_sum = near->attempt->placed_sum,
        .nearness = near->nearness,
    };
}

void near_go_back(struct near *near, const struct near_state *state)
{
    struct attempt *attempt = near->attempt;

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
        whole_node_retake(attempt); /* its own room stays as counted */
    }
}

/* Free space. */

static int compare_takers(const void *a, const void *b)
{
    const struct taker *x = a, *y = b;

    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The nodes of a pick, the fullest first, as far as they are needed. */
static struct taker *takers_of(const struct near *near,
                               const struct domain_room *room,
                               const struct near_pick *pick,
                               uint32_t *ret_count)
{
    struct round *round = near->attempt->round;
    const uint32_t *ranks = round->sched->ranks;
    struct taker *takers =
        arena_alloc_array(round->arena, pick->nodes, sizeof(*takers));
    uint32_t count = 0;

    for (uint32_t i = pick->first; i < pick->first + pick->nodes; i++) {
        uint32_t node = room->topology->nodes[i];
        if (room->counts[i] && (!near->allowed || near->allowed[node])) {
            takers[count++] = (struct taker){room->keys[i], ranks[node], node,
                                             room->counts[i]};
        }
    }
    qsort(takers, count, sizeof(*takers), compare_takers);
    *ret_count = count;
    return takers;
}

/* Members that are all alike: node after node is filled. */
static bool fill(struct near *near, const struct seq *asked,
                 const struct domain_room *room, const struct near_pick *pick)
{
    struct attempt *attempt = near->attempt;
    uint32_t count, at = 0;
    struct taker *takers = takers_of(near, room, pick, &count);

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
        attempt_lease(attempt, job, takers[at].node,
                      class_of_job(attempt->round->sched, job));
    }
    return true;
}

struct label_group near_group_of(const struct near *near, uint32_t first,
                                 uint32_t count)
{
    struct label_group group = {
        .executor = near->outer ? near->outer->executor : 0,
        .nodes = near->topology->nodes + first,
        .count = count,
    };

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

bool near_place_members(struct near *near, const struct seq *asked,
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

bool near_is_alike(const struct sched *sched, const struct seq *asked)
{
    uint32_t class_index =
        class_of_job(sched, seq_get(asked, (struct seq_cursor){0}));

    for (struct seq_cursor c = {0}; !seq_is_end(asked, c);
         seq_next(asked, &c)) {
        uint32_t job = seq_get(asked, c);
        if (class_of_job(sched, job) != class_index ||
            sched->job_flags.items[job] & JOB_AVOIDS) {
            return false;
        }
    }
    return true;
}

/* Place a sub-group at a pick. */
static bool put_at(struct near *near, uint32_t sub_group, bool alike,
                   const struct domain_room *room, const struct near_pick *pick)
{
    const struct seq *asked =
        &near->attempt->gang->subs->items[sub_group].asked;
    bool is_placed;

    if (!near->is_whole && alike) {
        return fill(near, asked, room, pick);
    }
    struct label_group group = near_group_of(near, pick->first, pick->nodes);
    if (near->is_whole) {
        near->attempt->only = &group;
        is_placed = whole_node_place_sub_group(near->attempt, sub_group);
    } else {
        is_placed = near_place_members(near, asked, &group);
    }
    near->attempt->only = NULL;
    return is_placed;
}

static const struct domain_room *room_for(const struct near *near, uint32_t job)
{
    struct round *round = near->attempt->round;
    uint32_t class_index = class_of_job(round->sched, job);

    bool has_nodes =
        near->attempt->gang->leased.count || near->attempt->placed_count;

    return near->is_whole
               ? domain_room_whole(round, class_index, job, has_nodes)
               : domain_room_of(round, class_index);
}

static void undo(struct near *near, const struct near_state *state,
                 uint32_t first)
{
    near_go_back(near, state);
    if (!near->is_whole) {
        (void)room_for(near, first); /* the same, and again as it was */
    }
}

/* Whether so many members have room on those nodes of a pick that a label
 * allows; what it does not is no way to be tried. */
static bool is_allowed_for(const struct near *near,
                           const struct domain_room *room,
                           const struct near_pick *pick, uint32_t needed)
{
    uint64_t count = 0;

    for (uint32_t i = pick->first;
         near->allowed && count < needed && i < pick->first + pick->nodes;
         i++) {
        count += near->allowed[room->topology->nodes[i]] ? room->counts[i] : 0;
    }
    return !near->allowed || count >= needed;
}

bool near_place_free(struct near *near, uint32_t index, near_fn *place_rest)
{
    struct attempt *attempt = near->attempt;
    struct round *round = attempt->round;
    uint32_t sub_group = near->order[index];
    const struct seq *asked = &attempt->gang->subs->items[sub_group].asked;
    uint32_t first = seq_get(asked, (struct seq_cursor){0});
    bool alike = near_is_alike(round->sched, asked);
    uint32_t skip_count = 0;
    struct near_pick pick = NEAR_NO_PICK;
    struct near_query query = {
        .room = room_for(near, first),
        .ranks = round->sched->ranks,
        .needed = asked->count,
        .level_max = near->level_max[sub_group],
        .first = near->first,
        .end = near->end,
    };

    near_anchor_of(round, attempt->gang, sub_group, &query.anchor);
    while (near->try_count < near->tries_max && skip_count < SKIPS_MAX &&
           near_next(&query, &pick)) {
        if (!is_allowed_for(near, query.room, &pick,
                            alike ? asked->count : 1)) {
            skip_count++;
            continue;
        }
        struct near_state state = near_state_of(near);
        near->try_count++;
        bool is_put = put_at(near, sub_group, alike, query.room, &pick);
        near->nearness.levels += pick.level;
        near->nearness.count += pick.count;
        near->nearness.key += pick.key;
        if (is_put && place_rest(near, index + 1)) {
            return true;
        }
        undo(near, &state, first);
    }
    return false;
}

/* Place the sub-groups from the one at `index` on. */
static bool place_from(struct near *near, uint32_t index)
{
    return index == near->count || near_place_free(near, index, place_from);
}

/* The gang. */

uint32_t near_order(struct round *round, const struct gang *gang,
                    uint32_t order[SUB_GROUPS_MAX],
                    uint32_t level_max[SUB_GROUPS_MAX])
{
    const struct sub_groups *subs = gang->subs;
    uint32_t count = 0;

    for (uint32_t i = 0; i < subs->terms.sub_group_count; i++) {
        uint32_t asked = subs->items[i].asked.count;
        if (asked == 0) {
            continue;
        }
        level_max[i] = near_level_max(round, gang, i);
        uint32_t at = count++;
        while (at > 0) {
            uint32_t other = order[at - 1];
            bool is_before = level_max[i] != level_max[other]
                                 ? level_max[i] < level_max[other]
                                 : asked > subs->items[other].asked.count;
            if (!is_before) {
                break;
            }
            order[at] = other;
            at--;
        }
        order[at] = i;
    }
    return count;
}

/* The places of a cluster's nodes. */
static void find_cluster(const struct sched *sched,
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
    find_cluster(sched, topology, outer->executor, &near->first, &near->end);
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
        near->tries_max = NEAR_WAYS_MAX;
        return near_force(near, 0);
    }
    near->tries_max = NEAR_TRIES_MAX;
    return place_from(near, 0);
}

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

bool near_try(struct attempt *attempt)
{
    struct round *round = attempt->round;
    const struct label_index *index = place_groups(round, attempt->gang);
    struct near near = {
        .attempt = attempt,
        .topology = topology_of(round->sched, round->p),
        .is_whole = whole_node_is_for(attempt->gang),
    };

    near.count = near_order(round, attempt->gang, near.order, near.level_max);
    return index ? try_groups(&near, index) : try_group(&near, NULL);
}

/* Growth. */

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
                        const struct near_pick *pick)
{
    const struct sched *sched = search->round->sched;
    uint32_t best = NONE;
    uint64_t best_key = 0;

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
                             const struct near_pick *pick)
{
    struct search anywhere = *search;

    anywhere.only = NULL;
    uint32_t node = place_find(&anywhere);
    uint32_t place = node == NONE ? NONE : room->topology->place[node];
    bool is_inside = place != NONE && place >= pick->first &&
                     place - pick->first < pick->nodes;

    return is_inside && !is_outside(search, gang, node) ? node : NONE;
}

uint32_t near_find(const struct search *search, const struct gang *gang,
                   uint32_t sub_group, const struct near_anchor *anchor)
{
    struct round *round = search->round;
    const struct domain_room *room =
        whole_node_is_for(gang)
            ? domain_room_held(round, search->class_index, search->job)
            : domain_room_of(round, search->class_index);
    struct near_pick pick = NEAR_NO_PICK;
    struct near_query query = {
        .room = room,
        .ranks = round->sched->ranks,
        .needed = 1,
        .level_max = topology_level_max(
            room->topology, gang->subs->terms.sub_groups[sub_group].hops_max),
        .end = room->topology->node_count,
        .anchor = *anchor,
    };

    if (search->only) {
        find_cluster(round->sched, room->topology, search->only->executor,
                     &query.first, &query.end);
    }
    for (uint32_t i = 0; i < NEAR_TRIES_MAX && near_next(&query, &pick); i++) {
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
