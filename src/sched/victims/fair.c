/* Victims for fairness: the node on which the evicted work that must be
 * preempted comes last in the order of getting places back. */
#include "sched/place/place.h"
#include "sched/victims/depth_memo.h"
#include "sched/victims/eviction_index.h"
#include "sched/victims/recall.h"
#include "sched/victims/revocable.h"
#include "sched/victims/search.h"

/* What has returned does not leave again in this round. */
static void trim(const struct round *round, struct node *node)
{
    const struct run *runs = round->sched->runs.items;
    const struct evicted_run *evicted_runs = round->evicted->runs;

    while (node->evicted_first < node->evicted_end &&
           !evicted_runs[node->evicted_first].is_out &&
           runs[evicted_runs[node->evicted_first].run].state == RUN_RETURNED) {
        node->evicted_first++;
    }
}

/* Going down from the end: what evicted work must go for a class to fit beside
 * what is free. */
struct descent {
    const struct class *class;
    struct resource_vec free;
    uint32_t depth_min; /* less is not asked for */
    uint32_t own;       /* see victims_own() */
};

static bool is_revocable(const struct round *round,
                         const struct evicted_run *evicted_run)
{
    return round->reserve.asking &&
           revocables_has(round, &round->sched->runs.items[evicted_run->run]);
}

/* 1 + the largest ordinal down to which a node's evicted work must go, or 0:
 * not even all of it.  What is less than `depth_min` may be said to be more,
 * but less than that.  With `is_hasty` as if all of it were still to be had:
 * that is found out without a look at the runs. */
static uint32_t descend(const struct round *round, struct descent descent,
                        const struct node *node, bool is_hasty)
{
    for (uint32_t i = node->evicted_end; i > node->evicted_first; i--) {
        const struct evicted_run *evicted_run = &round->evicted->runs[i - 1];
        if (evicted_run->ordinal + 1 < descent.depth_min) {
            return evicted_run->ordinal + 1;
        }
        if (evicted_run->level > descent.class->level ||
            victim_is_own(evicted_run, descent.own, descent.class) ||
            (!is_hasty &&
             (!evicted_run->is_out || is_revocable(round, evicted_run)))) {
            continue;
        }
        amounts_add(&descent.free,
                    &class_at(round, evicted_run->class_index)->request);
        if (amounts_fit(&descent.class->request, &descent.free)) {
            return evicted_run->ordinal + 1;
        }
    }
    return 0;
}

/* That of a node for a class, where the queue `own` keeps its own. */
static uint32_t eviction_depth(const struct search *search, uint32_t index,
                               uint32_t depth_min, uint32_t own)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct node *node = &sched->nodes.items[index];

    if (node->stamp != sched->stamp) {
        return 0;
    }
    struct descent descent = {
        .class = class_at(round, search->class_index),
        .own = own,
        .free = sched->free[index],
        .depth_min = depth_min,
    };
    revocables_add_room(round, index, &descent.free);
    recall_add_room(round, index, &descent.free);
    uint32_t depth = descend(round, descent, node, true);
    if (depth == 0 || depth < depth_min) {
        return depth;
    }
    depth = descend(round, descent, node, false);
    if (depth == 0) {
        trim(round, node);
    }
    return depth;
}

/* A node, and down to where evicted work must go there. */
struct last {
    uint32_t node, depth;
};

/* The depth of a node as if no queue kept its own; one below `depth_min` may be
 * too large, but is below that.  What is remembered is that, and whether it is
 * exact. */
static uint32_t remembered_depth(const struct search *search,
                                 struct depth_memo *memo, uint32_t node,
                                 uint32_t depth_min)
{
    struct round *round = search->round;
    uint64_t word;

    if (depth_memo_get(round, memo, node, &word) &&
        ((word & 1) || word >> 1 < depth_min)) {
        return (uint32_t)(word >> 1);
    }
    uint32_t depth = eviction_depth(search, node, depth_min, 0);
    bool is_exact = depth == 0 || depth >= depth_min;
    depth_memo_set(round, memo, node, (uint64_t)depth << 1 | is_exact);
    return depth;
}

/* A search among nodes, one after the other. */
struct look {
    const struct search *search;
    struct depth_memo *memo; /* or NULL */
    uint32_t own;            /* see victims_own() */
    struct last best;
};

/* The depth where the queue that is searched for keeps its own: that is
 * remembered of no node, for the next gang is of another queue; but it is no
 * more than what is. */
static uint32_t recall_depth(const struct look *look, uint32_t node)
{
    const struct search *search = look->search;
    uint32_t depth_min = look->best.depth;

    if (look->memo) {
        uint32_t depth = remembered_depth(search, look->memo, node, depth_min);
        if (depth == 0 || depth < depth_min ||
            !victims_has_own(search, look->own, node)) {
            return depth;
        }
    }
    return eviction_depth(search, node, depth_min, look->own);
}

/* A node that may be the best. */
static void consider(struct look *look, uint32_t node)
{
    struct round *round = look->search->round;
    const uint32_t *ranks = round->sched->ranks;
    struct last *best = &look->best;
    uint32_t depth = recall_depth(look, node);

    if (depth <= round->reserve.ordinal_min || depth < best->depth ||
        (depth == best->depth && ranks[node] >= ranks[best->node])) {
        return;
    }
    if (place_allows(look->search, node)) {
        *best = (struct last){node, depth};
    }
}

/* The best of all nodes with evicted work: the index knows of no queues. */
static void ask_evicted_nodes(struct look *look)
{
    const struct round *round = look->search->round;
    const struct evicted *evicted = round->evicted;

    look->best = (struct last){NONE, 0};
    round->counters->nodes_examined += evicted->node_count;
    for (uint32_t i = 0; i < evicted->node_count; i++) {
        consider(look, evicted->nodes[i]);
    }
}

uint32_t victims_find_last(const struct search *search, uint32_t own,
                           uint32_t *ret_depth)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct look look = {.search = search, .own = own, .best = {NONE, 0}};
    struct last *best = &look.best;

    if (search->only && !round->reserve.asking) {
        look.memo = depth_memo_of(round, search->class_index, DEPTH_MEMO_LAST);
    }
    round->counters->nodes_examined += search->only ? search->only->count : 0;
    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        consider(&look, search->only->nodes[i]);
    }
    if (!search->only) {
        best->node = eviction_index_find(search, &best->depth);
        if (best->node != NONE && victims_has_own(search, own, best->node)) {
            ask_evicted_nodes(&look);
        }
        if (best->depth <= round->reserve.ordinal_min) {
            *best = (struct last){NONE, 0}; /* the turns of all come first */
        }
        revocables_look_anew(round);
        for (size_t i = 0; round->reserve.asking && i < sched->revocables.count;
             i++) {
            const struct run *run =
                &sched->runs.items[sched->revocables.items[i]];
            if (revocables_has(round, run) &&
                !revocables_is_looked_at(round, run->node)) {
                consider(&look, run->node);
            }
        }
    }
    *ret_depth = best->depth;
    return best->node;
}

/* 1 + the first ordinal of what must go from a node for the job, or 0. */
static uint32_t affordable_depth(const struct search *search, uint32_t node,
                                 const struct victim_rules *rules)
{
    uint32_t count, depth = UINT32_MAX;
    const struct victim *victims = victims_choose(search, node, rules, &count);

    for (uint32_t i = 0; victims && i < count; i++) {
        if (victims[i].job != NONE && victims[i].is_evicted &&
            victims[i].ordinal + 1 < depth) {
            depth = victims[i].ordinal + 1;
        }
    }
    return victims ? depth : 0;
}

static void consider_affordable(const struct search *search, uint32_t node,
                                const struct victim_rules *rules,
                                struct last *best)
{
    const struct round *round = search->round;
    const uint32_t *ranks = round->sched->ranks;

    if (round->sched->nodes.items[node].stamp != round->sched->stamp) {
        return; /* nothing is evicted there */
    }
    uint32_t depth = affordable_depth(search, node, rules);
    if (depth > best->depth ||
        (depth && depth == best->depth && ranks[node] < ranks[best->node])) {
        if (place_allows(search, node)) {
            *best = (struct last){node, depth};
        }
    }
}

uint32_t victims_find_affordable(const struct search *search,
                                 const struct victim_rules *rules)
{
    const struct round *round = search->round;
    struct last best = {NONE, 0};
    const uint32_t *nodes =
        search->only ? search->only->nodes : round->evicted->nodes;
    uint32_t count =
        search->only ? search->only->count : round->evicted->node_count;

    round->counters->nodes_examined += count;
    for (uint32_t i = 0; i < count; i++) {
        consider_affordable(search, nodes[i], rules, &best);
    }
    return best.node;
}
