/* Victims for fairness: on which node the evicted work that must go comes last
 * in the order in which it would win its places back. */
#include "sched/victims/depth_memo.h"
#include "sched/victims/eviction_index.h"
#include "sched/victims/lend.h"
#include "sched/victims/revocable.h"
#include "sched/victims/search.h"

/* What has returned does not leave again in this round. */
static void trim(const struct round *round, struct node *node)
{
    const struct run *runs = round->sched->runs.items;
    const struct rung *rungs = round->rungs;

    while (node->evicted_first < node->evicted_end &&
           !rungs[node->evicted_first].is_out &&
           runs[rungs[node->evicted_first].run].state == RUN_RETURNED) {
        node->evicted_first++;
    }
}

/* Going down from the end: what evicted work must go for a class to fit beside
 * what is free. */
struct descent {
    const struct class *class;
    struct resource_vec free;
    uint32_t cut_min; /* less is not asked for */
};

static bool is_yielder(const struct round *round, const struct rung *rung)
{
    return round->reserve.asking &&
           yielders_has(round, &round->sched->runs.items[rung->run]);
}

/* 1 + the largest ordinal down to which a node's evicted work must go, or 0:
 * not even all of it.  What is less than `cut_min` may be said to be more, but
 * less than that.  With `is_hasty` as if all of it were still to be had: that
 * is found out without a look at the runs. */
static uint32_t descend(const struct round *round, struct descent descent,
                        const struct node *node, bool is_hasty)
{
    for (uint32_t i = node->evicted_end; i > node->evicted_first; i--) {
        const struct rung *rung = &round->rungs[i - 1];
        if (rung->ordinal + 1 < descent.cut_min) {
            return rung->ordinal + 1;
        }
        if (rung->level > descent.class->level ||
            (!is_hasty && (!rung->is_out || is_yielder(round, rung)))) {
            continue;
        }
        amounts_add(&descent.free,
                    &class_at(round, rung->class_index)->request);
        if (amounts_fit(&descent.class->request, &descent.free)) {
            return rung->ordinal + 1;
        }
    }
    return 0;
}

/* That of a node for a class. */
static uint32_t cut_of(struct round *round, uint32_t index,
                       const struct class *class, uint32_t cut_min)
{
    const struct sched *sched = round->sched;
    struct node *node = &sched->nodes.items[index];

    if (node->stamp != sched->stamp) {
        return 0;
    }
    struct descent descent = {
        .class = class,
        .free = sched->free[index],
        .cut_min = cut_min,
    };
    yielders_add_room(round, index, &descent.free);
    lend_add_room(round, index, &descent.free);
    uint32_t cut = descend(round, descent, node, true);
    if (cut == 0 || cut < cut_min) {
        return cut;
    }
    cut = descend(round, descent, node, false);
    if (cut == 0) {
        trim(round, node);
    }
    return cut;
}

/* A node, and down to where evicted work must go there. */
struct last {
    uint32_t node, cut;
};

/* The cut of a node; one below `cut_min` may be too large, but is below that.
 * What is remembered of it (unless `memo` is NULL) is that, and whether it is
 * exact. */
static uint32_t recall_cut(const struct search *search, struct cut_memo *memo,
                           uint32_t node, uint32_t cut_min)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    uint64_t word;

    if (!memo) {
        return cut_of(round, node, class, cut_min);
    }
    if (cut_memo_get(round, memo, node, &word) &&
        ((word & 1) || word >> 1 < cut_min)) {
        return (uint32_t)(word >> 1);
    }
    uint32_t cut = cut_of(round, node, class, cut_min);
    bool is_exact = cut == 0 || cut >= cut_min;
    cut_memo_set(round, memo, node, (uint64_t)cut << 1 | is_exact);
    return cut;
}

/* A node that may be the best. */
static void consider(const struct search *search, struct cut_memo *memo,
                     uint32_t node, struct last *best)
{
    struct round *round = search->round;
    const uint32_t *ranks = round->sched->ranks;
    uint32_t cut = recall_cut(search, memo, node, best->cut);

    if (cut <= round->reserve.ordinal_min || cut < best->cut ||
        (cut == best->cut && ranks[node] >= ranks[best->node])) {
        return;
    }
    if (place_allows(search, node)) {
        *best = (struct last){node, cut};
    }
}

uint32_t victims_find_last(const struct search *search, uint32_t *ret_cut)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct last best = {NONE, 0};
    struct cut_memo *memo =
        search->only && !round->reserve.asking
            ? cut_memo_of(round, search->class_index, CUT_MEMO_LAST)
            : NULL;

    round->counters->nodes_examined += search->only ? search->only->count : 0;
    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        consider(search, memo, search->only->nodes[i], &best);
    }
    if (!search->only) {
        best.node = ladder_find(search, &best.cut);
        if (best.cut <= round->reserve.ordinal_min) {
            best = (struct last){NONE, 0}; /* the turns of all come first */
        }
        yielders_look_anew(round);
        for (size_t i = 0; round->reserve.asking && i < sched->yielders.count;
             i++) {
            const struct run *run =
                &sched->runs.items[sched->yielders.items[i]];
            if (yielders_has(round, run) &&
                !yielders_is_looked_at(round, run->node)) {
                consider(search, NULL, run->node, &best);
            }
        }
    }
    *ret_cut = best.cut;
    return best.node;
}
