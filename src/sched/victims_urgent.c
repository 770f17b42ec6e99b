/* Victims for urgency: the least urgent work that must give way. */
#include "sched/cut_memo.h"
#include "sched/urgent.h"
#include "sched/victims.h"
#include "sched/victims_search.h"
#include "sched/yielders.h"

/* What a node would have free without preemptible work of levels below `below`,
 * without what is evicted up to `evicted_max`, and without yielders. */
static struct resource_vec room_at(const struct round *round, uint32_t index,
                                   uint32_t evicted_max, uint32_t below)
{
    const struct sched *sched = round->sched;
    struct resource_vec room = urgent_room(round, index, evicted_max, below);
    bool has_yielders = round->reserve.asking && sched->yielders.count;

    for (uint32_t at = has_yielders ? sched->nodes.items[index].run_first
                                    : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        bool is_counted =
            (run->level < below && run->is_preemptible) ||
            (run->state == RUN_EVICTED && run->level <= evicted_max &&
             round->rungs[run->rung].ordinal >= round->reserve.ordinal_min);
        if (yielders_has(round, run) && !is_counted) {
            amounts_add(
                &room,
                &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
    return room;
}

/* Whether nobody may go for fairness on a node. */
static bool is_soon(const struct search *search, uint32_t node)
{
    const struct round *round = search->round;

    return reserve_is_soon(round, class_at(round, search->class_index), node);
}

/* Whether so it is on the nodes that the pool reserves. */
static bool is_any_soon(const struct search *search)
{
    const struct round *round = search->round;

    return reserve_is_any_soon(round, class_at(round, search->class_index));
}

/* A node that would do, and its place in the order. */
struct fit {
    uint32_t node;
    uint64_t key;
};

/* No class fits. */
#define KEY_NONE UINT64_MAX

/* Whether the class fits in a node's room, and its place in the order then. */
static uint64_t key_of(const struct search *search, uint32_t node,
                       uint32_t below, uint32_t evicted_max)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    uint32_t level = class->level;
    bool is_less = evicted_max == level && is_soon(search, node);
    struct resource_vec room =
        room_at(round, node, evicted_max - is_less, below);

    return amounts_fit(&class->request, &room) ? pool_weigh(round->pool, &room)
                                               : KEY_NONE;
}

static void consider_room(const struct search *search, uint32_t node,
                          uint64_t key, struct fit *best)
{
    const uint32_t *ranks = search->round->sched->ranks;

    if (key == KEY_NONE ||
        (best->node != NONE &&
         (key > best->key ||
          (key == best->key && ranks[node] >= ranks[best->node])))) {
        return;
    }
    if (place_allows(search, node)) {
        *best = (struct fit){node, key};
    }
}

/* The best of a group, whose nodes are much as they were for the member
 * before. */
static uint32_t find_in_group(const struct search *search, uint32_t below,
                              uint32_t evicted_max)
{
    struct round *round = search->round;
    bool is_bound = evicted_max != class_at(round, search->class_index)->level;
    struct cut_memo *memo = round->reserve.asking || round->reserve.ordinal_min
                                ? NULL
                                : cut_memo_of(round, search->class_index,
                                              CUT_MEMO_URGENT(below, is_bound));
    struct fit best = {NONE, 0};

    round->counters->nodes_examined += search->only->count;
    for (uint32_t i = 0; i < search->only->count; i++) {
        uint32_t node = search->only->nodes[i];
        uint64_t key;
        if (is_soon(search, node)) {
            key = key_of(search, node, below, evicted_max);
        } else if (!memo || !cut_memo_get(round, memo, node, &key)) {
            key = key_of(search, node, below, evicted_max);
            if (memo) {
                cut_memo_set(round, memo, node, key);
            }
        }
        consider_room(search, node, key, &best);
    }
    return best.node;
}

/* Nodes with yielders, and those where nobody goes for fairness, are asked one
 * by one. */
static bool is_plain_match(void *context, uint32_t node)
{
    const struct search *search = context;

    return !yielders_are_on(search->round, node) && !is_soon(search, node) &&
           place_allows(search, node);
}

static uint32_t find_at_level(const struct search *search, uint32_t below,
                              uint32_t evicted_max)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct fit best = {NONE, 0};
    struct search context = *search;

    if (search->only) {
        return find_in_group(search, below, evicted_max);
    }
    best.node =
        urgent_find(search, below, evicted_max, is_plain_match, &context);
    const struct reservation *hold = round->reserve.hold;
    uint32_t soon_count = is_any_soon(search) ? hold->node_count : 0;
    if (best.node != NONE) {
        struct resource_vec room =
            room_at(round, best.node, evicted_max, below);
        best.key = pool_weigh(round->pool, &room);
    }
    for (uint32_t i = 0; i < soon_count; i++) {
        uint32_t node = hold->nodes[i].node;
        if (is_soon(search, node) && !yielders_are_on(round, node)) {
            consider_room(search, node,
                          key_of(search, node, below, evicted_max), &best);
        }
    }
    if (round->reserve.asking && sched->yielders.count) {
        yielders_look_anew(round);
        for (size_t i = 0; i < sched->yielders.count; i++) {
            const struct run *run =
                &sched->runs.items[sched->yielders.items[i]];
            if (yielders_has(round, run) &&
                !yielders_is_looked_at(round, run->node)) {
                consider_room(search, run->node,
                              key_of(search, run->node, below, evicted_max),
                              &best);
            }
        }
    }
    return best.node;
}

uint32_t victims_find_urgent(const struct search *search,
                             struct victim_rules *rules)
{
    const struct round *round = search->round;
    uint32_t level = class_at(round, search->class_index)->level;
    bool has_first = level > 0 && round->evicted_count &&
                     (rules->is_bound || is_any_soon(search));

    for (uint32_t below = has_first ? 0 : 1; below <= level; below++) {
        if (below && round->sched->preemptible_count[below - 1] == 0) {
            continue;
        }
        uint32_t node = find_at_level(search, below, level - rules->is_bound);
        if (node != NONE) {
            rules->level_max = (int)below - 1;
            rules->is_bound |= is_soon(search, node);
            return node;
        }
    }
    return NONE;
}
