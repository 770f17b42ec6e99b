/* Victims for urgency: the least urgent runs that must be preempted. */
#include "sched/place/place.h"
#include "sched/victims/depth_memo.h"
#include "sched/victims/revocable.h"
#include "sched/victims/search.h"
#include "sched/victims/urgency_index.h"
#include "sched/victims/victims.h"

/* What a node would have free without urgency-preemptible work of levels below
 * `below`, without what is evicted up to `evicted_max`, and without revocable
 * runs. */
static struct resource_vec room_at(const struct round *round, uint32_t index,
                                   uint32_t evicted_max, uint32_t below)
{
    const struct sched *sched = round->sched;
    struct resource_vec room = urgent_room(round, index, evicted_max, below);
    bool has_revocables = round->reserve.asking && sched->revocables.count;

    for (uint32_t at = has_revocables ? sched->nodes.items[index].run_first
                                      : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        bool is_counted =
            (run->level < below && run->is_urgency_preemptible) ||
            (run->state == RUN_EVICTED && run->level <= evicted_max &&
             round->evicted->runs[run->evicted_run].ordinal >=
                 round->reserve.ordinal_min);
        if (revocables_has(round, run) && !is_counted) {
            amounts_add(
                &room,
                &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
    return room;
}

/* Whether any work of a level might go for fairness on a node. */
static bool has_evicted(const struct round *round, uint32_t index,
                        uint32_t level)
{
    const struct node *node = &round->sched->nodes.items[index];
    bool has = false;

    if (round->evicted->count && node->stamp == round->sched->stamp) {
        for (uint32_t i = node->evicted_first; i < node->evicted_end && !has;
             i++) {
            has = round->evicted->runs[i].is_out &&
                  round->evicted->runs[i].level == level;
        }
    }
    return has;
}

/* Whether nobody may go for fairness on the nodes that the pool reserves. */
static bool is_any_soon(const struct search *search)
{
    const struct round *round = search->round;

    return reserve_is_any_soon(round, class_at(round, search->class_index));
}

/* What is searched for at one level. */
struct quest {
    const struct search *search;
    uint32_t below;       /* less urgent work goes */
    uint32_t evicted_max; /* and of what is evicted that up to this level */
    uint32_t own;         /* see victims_own() */
    bool is_any_soon;
};

/* Whether nobody may go for fairness on a node, though some might: elsewhere
 * it has the same room either way, and needs no look of its own. */
static bool is_soon(const struct quest *quest, uint32_t node)
{
    const struct round *round = quest->search->round;
    const struct class *class = class_at(round, quest->search->class_index);

    return quest->is_any_soon && reserve_is_soon(round, class, node) &&
           has_evicted(round, node, class->level);
}

/* Take what the queue that is searched for has evicted on a node, no less
 * urgent than what is searched for, from the room there: it stays. */
static void subtract_own(const struct quest *quest, uint32_t index,
                         struct resource_vec *room)
{
    const struct round *round = quest->search->round;
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];
    const struct class *class = class_at(round, quest->search->class_index);

    for (uint32_t i = node->evicted_first; i < node->evicted_end; i++) {
        const struct evicted_run *evicted_run = &round->evicted->runs[i];
        if (evicted_run->is_out &&
            evicted_run->ordinal >= round->reserve.ordinal_min &&
            evicted_run->level <= class->level &&
            victim_is_own(evicted_run, quest->own, class) &&
            !revocables_has(round, &sched->runs.items[evicted_run->run])) {
            amounts_subtract(
                room, &class_at(round, evicted_run->class_index)->request);
        }
    }
}

/* A node that would do, and its place in the order. */
struct fit {
    uint32_t node;
    uint64_t key;
};

/* Up to one reserved node of so many they are looked at one by one. */
enum { SOON_NODES_PART = 8 };

/* No class fits. */
#define KEY_NONE UINT64_MAX

/* Whether the class fits in a node's room, and its place in the order then. */
static uint64_t key_of(const struct quest *quest, uint32_t node)
{
    const struct search *search = quest->search;
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    bool is_less = quest->evicted_max == class->level && is_soon(quest, node);
    uint32_t evicted_max = quest->evicted_max - is_less;
    struct resource_vec room = room_at(round, node, evicted_max, quest->below);

    if (evicted_max == class->level &&
        victims_has_own(search, quest->own, node)) {
        subtract_own(quest, node, &room);
    }
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
static uint32_t find_in_group(const struct quest *quest)
{
    const struct search *search = quest->search;
    struct round *round = search->round;
    bool is_bound =
        quest->evicted_max != class_at(round, search->class_index)->level;
    struct depth_memo *memo =
        round->reserve.asking || round->reserve.ordinal_min
            ? NULL
            : depth_memo_of(round, search->class_index,
                            DEPTH_MEMO_URGENT(quest->below, is_bound));
    struct fit best = {NONE, 0};

    round->counters->nodes_examined += search->only->count;
    for (uint32_t i = 0; i < search->only->count; i++) {
        uint32_t node = search->only->nodes[i];
        uint64_t key;
        if (is_soon(quest, node) || victims_has_own(search, quest->own, node)) {
            key = key_of(quest, node);
        } else if (!memo || !depth_memo_get(round, memo, node, &key)) {
            key = key_of(quest, node);
            if (memo) {
                depth_memo_set(round, memo, node, key);
            }
        }
        consider_room(search, node, key, &best);
    }
    return best.node;
}

/* A search of an index, and the best that is known from another: what is
 * dearer ends it. */
struct looking {
    const struct quest *quest;
    const struct fit *best;
};

/* Nodes with revocable runs are asked one by one, and those where nobody goes
 * for fairness are looked for apart. */
static bool is_plain_match(void *context, uint32_t node)
{
    const struct looking *looking = context;
    const struct quest *quest = looking->quest;
    const struct search *search = quest->search;
    struct round *round = search->round;

    if (looking->best->node != NONE) {
        struct resource_vec room =
            urgent_room(round, node, quest->evicted_max, quest->below);
        if (pool_weigh(round->pool, &room) > looking->best->key) {
            return true;
        }
    }
    return !revocables_are_on(round, node) && !is_soon(quest, node) &&
           !victims_has_own(search, quest->own, node) &&
           place_allows(search, node);
}

static bool is_soon_match(void *context, uint32_t node)
{
    const struct quest *quest = context;
    const struct search *search = quest->search;

    return is_soon(quest, node) && !revocables_are_on(search->round, node) &&
           place_allows(search, node);
}

/* The best of those where nobody goes for fairness. */
static void consider_soon(const struct quest *quest, struct fit *best)
{
    const struct search *search = quest->search;
    struct round *round = search->round;
    const struct reservation *hold = round->reserve.hold;
    uint32_t level = class_at(round, search->class_index)->level;
    struct quest all = *quest;

    all.evicted_max = level;
    if (hold->node_count > round->pool->node_count / SOON_NODES_PART) {
        uint32_t node =
            urgent_find(search, quest->below, level - 1, is_soon_match, &all);
        if (node != NONE) {
            consider_room(search, node, key_of(&all, node), best);
        }
        return;
    }
    for (uint32_t i = 0; i < hold->node_count; i++) {
        uint32_t node = hold->nodes[i].node;
        if (is_soon(quest, node) && !revocables_are_on(round, node)) {
            consider_room(search, node, key_of(&all, node), best);
        }
    }
}

/* The best of those where work of its own queue is evicted, which stays. */
static void consider_own(const struct quest *quest, struct fit *best)
{
    const struct search *search = quest->search;
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint8_t level = class_at(round, search->class_index)->level;
    const struct lane *lane =
        &round->lanes[round->lane_of_queue[quest->own - 1]];

    for (uint32_t u = lane->unit_first; u < lane->unit_end; u++) {
        const struct unit *unit = &round->units.items[u];
        for (uint32_t i = 0; i < unit->member_count; i++) {
            const struct unit_run *member =
                &round->units.members[unit->member_first + i];
            if (member->level >= level &&
                sched->runs.items[member->run].state == RUN_EVICTED) {
                consider_room(search, member->node, key_of(quest, member->node),
                              best);
            }
        }
    }
}

/* The best of the others. */
static void consider_plain(const struct quest *quest, struct fit *best)
{
    const struct search *search = quest->search;
    struct round *round = search->round;
    struct looking looking = {quest, best};
    uint32_t node = urgent_find(search, quest->below, quest->evicted_max,
                                is_plain_match, &looking);

    if (node != NONE) {
        struct resource_vec room =
            room_at(round, node, quest->evicted_max, quest->below);
        consider_room(search, node, pool_weigh(round->pool, &room), best);
    }
}

static uint32_t find_at_level(const struct quest *quest)
{
    const struct search *search = quest->search;
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct fit best = {NONE, 0};

    if (search->only) {
        return find_in_group(quest);
    }
    if (round->evicted->count && quest->is_any_soon) {
        consider_soon(quest, &best);
    }
    if (quest->own) {
        consider_own(quest, &best);
    }
    consider_plain(quest, &best);
    if (round->reserve.asking && sched->revocables.count) {
        revocables_look_anew(round);
        for (size_t i = 0; i < sched->revocables.count; i++) {
            const struct run *run =
                &sched->runs.items[sched->revocables.items[i]];
            if (revocables_has(round, run) &&
                !revocables_is_looked_at(round, run->node)) {
                consider_room(search, run->node, key_of(quest, run->node),
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
    bool is_any = is_any_soon(search);
    bool has_first =
        level > 0 && round->evicted->count && (rules->is_bound || is_any);

    for (uint32_t below = has_first ? 0 : 1; below <= level; below++) {
        if (below && round->sched->urgency_preemptible_count[below - 1] == 0) {
            continue;
        }
        struct quest quest = {search, below, level - rules->is_bound,
                              rules->own, is_any};
        uint32_t node = find_at_level(&quest);
        if (node != NONE) {
            rules->level_max = (int)below - 1;
            rules->is_bound |= reserve_is_soon(
                round, class_at(round, search->class_index), node);
            return node;
        }
    }
    return NONE;
}
