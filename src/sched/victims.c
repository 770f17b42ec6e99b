#include <string.h>

#include "sched/budgets.h"
#include "sched/cut_memo.h"
#include "sched/group_victims.h"
#include "sched/ladder.h"
#include "sched/lanes.h"
#include "sched/lend.h"
#include "sched/sub_groups.h"
#include "sched/surplus_order.h"
#include "sched/truce.h"
#include "sched/urgent.h"
#include "sched/victim_sets.h"

/* So many of them are passed over in the time in which a node is examined. */
enum { YIELDERS_A_LOOK = 64 };

/* Whether a node has the label's value that is searched for. */
static bool is_in_group(const struct search *search, uint32_t node)
{
    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        if (search->only->nodes[i] == node) {
            return true;
        }
    }
    return !search->only;
}

/* Whether a run promised to give way to what is being placed, and at once, or
 * is old enough to be held to it. */
static bool is_yielder(const struct round *round, const struct run *run)
{
    return round->reserve.asking && run->yields_to == round->reserve.asking &&
           run->state != RUN_PREEMPTED &&
           (run->yields_at_once || round_is_ripe(round, run));
}

/* A search looks at the node of each yielder, which would be the same node many
 * times: whether it has done so since look_anew(). */
static bool is_looked_at(const struct round *round, uint32_t index)
{
    struct sched *sched = round->sched;

    if (sched->nodes.items[index].look == sched->look) {
        return true;
    }
    sched->nodes.items[index].look = sched->look;
    round->counters->nodes_examined++;
    return false;
}

/* Begin to look at the nodes of yielders. */
static void look_anew(const struct round *round)
{
    round->sched->look++;
    if (round->reserve.asking) {
        round->counters->nodes_examined +=
            round->sched->yielders.count / YIELDERS_A_LOOK;
    }
}

/* What such runs have on a node. */
static void add_yielders(const struct round *round, uint32_t index,
                         struct resource_vec *room)
{
    const struct sched *sched = round->sched;

    if (!round->reserve.asking || !sched->yielders.count) {
        return;
    }
    for (uint32_t at = sched->nodes.items[index].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        if (is_yielder(round, run) && !lend_is_victim(round, run)) {
            amounts_add(
                room, &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
}

/* The node on which nobody but them must go, or NONE: the fullest. */
static uint32_t find_yielding(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint32_t best = NONE;
    uint64_t best_key = 0;

    look_anew(round);
    for (size_t i = 0; round->reserve.asking && i < sched->yielders.count;
         i++) {
        const struct run *run = &sched->runs.items[sched->yielders.items[i]];
        if (!is_yielder(round, run) || is_looked_at(round, run->node)) {
            continue;
        }
        struct resource_vec room = sched->free[run->node];
        add_yielders(round, run->node, &room);
        lend_add_room(round, run->node, &room);
        uint64_t key = pool_weigh(round->pool, &room);
        if (amounts_fit(&class->request, &room) &&
            (best == NONE || key < best_key ||
             (key == best_key &&
              sched->ranks[run->node] < sched->ranks[best])) &&
            is_in_group(search, run->node) && place_allows(search, run->node)) {
            best = run->node;
            best_key = key;
        }
    }
    return best;
}

/* Fair-share preemption. */

/* What has returned does not leave again in this round. */
static void trim(const struct round *round, struct node *node)
{
    const struct run *runs = round->sched->runs.items;

    while (node->evicted_first < node->evicted_end &&
           runs[round->evicted_runs[node->evicted_first]].state ==
               RUN_RETURNED) {
        node->evicted_first++;
    }
}

/* Going down from the end: what evicted work must go for a class to fit beside
 * what is free. */
struct descent {
    const struct rung *rungs;
    const struct class *class;
    struct resource_vec free;
    uint32_t cut_min; /* less is not asked for */
};

/* 1 + the largest ordinal down to which a node's evicted work must go, or 0:
 * not even all of it.  What is less than `cut_min` may be said to be more, but
 * less than that.  With `is_hasty` as if all of it were still to be had: that
 * is found out without a look at the runs. */
static uint32_t descend(const struct round *round, struct descent descent,
                        const struct node *node, bool is_hasty)
{
    for (uint32_t i = node->evicted_end; i > node->evicted_first; i--) {
        const struct rung *rung = &descent.rungs[i - 1];
        if (rung->ordinal + 1 < descent.cut_min) {
            return rung->ordinal + 1;
        }
        const struct run *run = &round->sched->runs.items[rung->run];
        if (rung->level > descent.class->level ||
            (!is_hasty &&
             (run->state != RUN_EVICTED || is_yielder(round, run)))) {
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
        .rungs = ladder_rungs(round),
        .class = class,
        .free = sched->free[index],
        .cut_min = cut_min,
    };
    add_yielders(round, index, &descent.free);
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

/* A node that may be the best, from what is remembered (NULL: nothing). */
static void consider(const struct search *search, struct cut_memo *memo,
                     uint32_t node, struct last *best)
{
    struct round *round = search->round;
    const uint32_t *ranks = round->sched->ranks;
    uint32_t most = memo ? cut_memo_most(round, memo, node) : UINT32_MAX;

    if (most == 0 || most < best->cut) {
        return;
    }
    uint32_t cut =
        cut_of(round, node, class_at(round, search->class_index), best->cut);
    if (memo) {
        cut_memo_set(round, memo, node, cut);
    }
    if (cut <= round->reserve.ordinal_min || cut < best->cut ||
        (cut == best->cut && ranks[node] >= ranks[best->node])) {
        return;
    }
    if (place_allows(search, node)) {
        *best = (struct last){node, cut};
    }
}

/* The node whose victims come last in the global order.  The ladder knows
 * nothing of yielders, so their nodes are looked at too. */
static uint32_t find_last(const struct search *search, uint32_t *ret_cut)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct last best = {NONE, 0};
    struct cut_memo *memo = search->only && !round->reserve.asking
                                ? cut_memo_of(round, search->class_index)
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
        look_anew(round);
        for (size_t i = 0; round->reserve.asking && i < sched->yielders.count;
             i++) {
            const struct run *run =
                &sched->runs.items[sched->yielders.items[i]];
            if (is_yielder(round, run) && !is_looked_at(round, run->node)) {
                consider(search, NULL, run->node, &best);
            }
        }
    }
    *ret_cut = best.cut;
    return best.node;
}

/* Choosing and taking the victims on a node. */

/* Surplus has no turn, though a pod that goes as such may be of the minimum by
 * its id and so have been evicted with it. */
bool victim_is_kept_before(struct round *round, const struct victim *a,
                           const struct victim *b)
{
    int c = 0;

    if ((a->protected_count > 0) != (b->protected_count > 0)) {
        return a->protected_count > 0;
    }
    if (a->is_foreign != b->is_foreign) {
        return b->is_foreign;
    }
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_surplus != b->is_surplus) {
        return b->is_surplus;
    }
    if (a->is_surplus) {
        c = surplus_order_compare(round, a->group, b->group);
    }
    if (c) {
        return c < 0;
    }
    if (a->is_yielder != b->is_yielder) {
        return b->is_yielder;
    }
    if (!a->is_surplus && a->is_evicted != b->is_evicted) {
        return b->is_evicted;
    }
    if (!a->is_surplus && a->is_evicted && a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    if (a->leased_ms != b->leased_ms) {
        return a->leased_ms < b->leased_ms;
    }
    return job_less(round->sched, a->job, b->job);
}

static inline bool is_permitted(const struct round *round,
                                const struct run *run,
                                const struct class *class,
                                const struct victim_rules *rules)
{
    if (is_yielder(round, run) || lend_is_victim(round, run)) {
        return true;
    }
    if (round->sched->is_preemption_off) {
        return false;
    }
    if (run->state == RUN_EVICTED) {
        return run->level + rules->is_bound <= class->level &&
               round->units[run->unit].ordinal + 1 >= rules->cut;
    }
    /* Where classes do not order a queue, a more urgent job may come after work
     * that has won its place back. */
    return (run->state == RUN_STEADY || run->state == RUN_RETURNED) &&
           run->is_preemptible && (int)run->level <= rules->level_max;
}

bool victim_is_permitted(const struct round *round, const struct run *run,
                         const struct class *class,
                         const struct victim_rules *rules)
{
    return is_permitted(round, run, class, rules);
}

static inline struct victim of_run(const struct round *round,
                                   const struct run *run)
{
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_of_job(sched, run->job));
    bool is_foreign = lend_is_foreign(sched, run->job);

    return (struct victim){
        .job = run->job,
        .gang = NONE,
        .group = NONE,
        .sum = class->request,
        .ordinal =
            run->state == RUN_EVICTED ? round->units[run->unit].ordinal : 0,
        .level = is_foreign ? class->level : run->level,
        .is_foreign = is_foreign,
        .is_evicted = run->state == RUN_EVICTED,
        .is_yielder = is_yielder(round, run),
        .leased_ms = run->leased_ms,
    };
}

struct victim victim_of_run(const struct round *round, const struct run *run)
{
    return of_run(round, run);
}

static void add_victim(const struct round *round, struct victim *victims,
                       uint32_t *count, const struct run *run)
{
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_of_job(sched, run->job));
    uint32_t gang = sched->jobs.items[run->job].gang;

    for (uint32_t i = 0; gang != NONE && i < *count; i++) {
        if (victims[i].gang == gang) {
            amounts_add(&victims[i].sum, &class->request);
            if (job_less(sched, victims[i].job, run->job)) {
                victims[i].job = run->job;
            }
            if (victims[i].leased_ms < run->leased_ms) {
                victims[i].leased_ms = run->leased_ms;
            }
            victims[i].is_yielder |= is_yielder(round, run);
            return;
        }
    }
    victims[*count] = of_run(round, run);
    victims[(*count)++].gang = gang;
}

/* A gang with terms that was not yet looked at on this node, or NULL. */
static const struct gang *fresh_group(struct sched *sched, uint32_t gang)
{
    struct sub_groups *subs = sched->gangs.items[gang].subs;

    if (subs->seen == sched->collect_count) {
        return NULL;
    }
    subs->seen = sched->collect_count;
    return &sched->gangs.items[gang];
}

static void sort_victims(struct round *round, struct victim *victims,
                         uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct victim item = victims[i];
        uint32_t at = i;
        while (at > 0 &&
               victim_is_kept_before(round, &item, &victims[at - 1])) {
            victims[at] = victims[at - 1];
            at--;
        }
        victims[at] = item;
    }
}

/* Those that take a gang keep their places before all others. */
static void put_gangs_first(struct victim *victims, uint32_t count)
{
    uint32_t gangs = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (victims[i].gang != NONE) {
            struct victim item = victims[i];
            memmove(&victims[gangs + 1], &victims[gangs],
                    (i - gangs) * sizeof(*victims));
            victims[gangs++] = item;
        }
    }
}

/* All that may go on the node, those that best keep their place first. */
static struct victim *collect(const struct search *search, uint32_t node,
                              const struct victim_rules *rules,
                              uint32_t *ret_count)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint32_t count = 0;

    sched->collect_count++;
    /* One more, for who has no victims is told from who may not go. */
    VEC_RESERVE(&round->victims, sched->nodes.items[node].run_count + 1);
    struct victim *victims = round->victims.items;

    for (uint32_t run = sched->nodes.items[node].run_first; run != NONE;
         run = sched->runs.items[run].node_next) {
        const struct run *item = &sched->runs.items[run];
        uint32_t gang =
            sched->terms_run_count ? sched->jobs.items[item->job].gang : NONE;
        if (gang != NONE && sched->gangs.items[gang].subs) {
            const struct gang *group = fresh_group(sched, gang);
            if (group) {
                group_victims_add(search, node, group, rules, victims, &count);
            }
        } else if (is_permitted(round, item, class, rules)) {
            add_victim(round, victims, &count, item);
        }
    }
    budgets_mark(sched, victims, count);
    sort_victims(round, victims, count);
    if (rules->spares_groups) {
        put_gangs_first(victims, count);
    }
    *ret_count = count;
    return victims;
}

static void preempt(const struct search *search, uint32_t job,
                    enum sched_preemption why)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    struct run *run = &sched->runs.items[sched->jobs.items[job].run];
    uint32_t queue = sched->lists.items[sched->jobs.items[job].list].queue;
    uint32_t lane = round->lane_of_queue[queue];
    uint32_t node = run->node;

    place_preempt(round, job);
    round_decide(round, (struct sched_decision){
                            .action = SCHED_PREEMPT,
                            .preemption = why,
                            .job = job,
                            .node = node,
                            .for_job = search->job,
                        });
    if (lane != NONE && !round->lanes[lane].is_touched) {
        round->lanes[lane].is_touched = true;
        VEC_PUSH(&round->touched, lane);
    }
    if (why == SCHED_PREEMPT_GANG) {
        round->growth_count++;
        round->rest_count++;
        VEC_PUSH(&round->grown, node);
    }
}

/* All of a gang on a node that it has whole; elsewhere it goes on. */
static void preempt_held(const struct search *search,
                         const struct victim *victim, enum sched_preemption why)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t run = sched->jobs.items[victim->job].run;
    uint32_t count = group_victims_list(round, sched->runs.items[run].node,
                                        &sched->gangs.items[victim->group]);

    for (uint32_t i = 0; i < count; i++) {
        preempt(search, round->pods.items[i], why);
    }
}

static void preempt_victim(const struct search *search,
                           const struct victim *victim)
{
    struct sched *sched = search->round->sched;

    enum sched_preemption why = victim->is_foreign   ? SCHED_PREEMPT_HOME
                                : victim->is_yielder ? SCHED_PREEMPT_YIELD
                                : victim->is_surplus ? SCHED_PREEMPT_SURPLUS
                                : victim->is_evicted ? SCHED_PREEMPT_FAIR_SHARE
                                                     : SCHED_PREEMPT_URGENCY;

    if (sched->runs.items[sched->jobs.items[victim->job].run].state ==
        RUN_PREEMPTED) {
        return; /* with all of its gang */
    }
    if (victim->is_held && victim->gang == NONE) {
        preempt_held(search, victim, why);
        return;
    }
    preempt(search, victim->job, why);
    if (victim->gang == NONE) {
        return;
    }
    const struct gang *gang = &sched->gangs.items[victim->gang];
    for (struct seq_cursor at = {0}; !seq_is_end(&gang->leased, at);
         seq_next(&gang->leased, &at)) {
        uint32_t job = seq_get(&gang->leased, at);
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        if (run->state != RUN_PREEMPTED) {
            preempt(search, job, SCHED_PREEMPT_GANG);
        }
    }
}

/* Lanes whose work was preempted stand elsewhere in the heap now. */
static void refresh_touched(struct round *round)
{
    for (size_t i = 0; i < round->touched.count; i++) {
        struct lane *lane = &round->lanes[round->touched.items[i]];
        if (lane->is_touched) {
            lane->is_touched = false;
            lane_refresh(round, lane);
        }
    }
    round->touched.count = 0;
}

/* Surplus of a gang that breaks on this node goes with it, and leaves its
 * room; whether it did. */
static bool goes_with_gang(struct victim *victims, uint32_t count,
                           struct victim *victim)
{
    for (uint32_t i = 0;
         victim->gang == NONE && victim->group != NONE && i < count; i++) {
        if (victims[i].job != NONE && victims[i].gang == victim->group) {
            amounts_add(&victims[i].sum, &victim->sum);
            victim->job = NONE;
            return true;
        }
    }
    return false;
}

/* Take everything that is permitted in mind, and give back what there is room
 * for beside the job. */
const struct victim *victims_choose(const struct search *search, uint32_t node,
                                    const struct victim_rules *rules,
                                    uint32_t *ret_count)
{
    struct round *round = search->round;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec room = round->sched->free[node];
    uint32_t count;
    struct victim *victims = collect(search, node, rules, &count);
    bool breaks_gang = false;

    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&room, &victims[i].sum);
    }
    if (!amounts_fit(&class->request, &room)) {
        return NULL;
    }
    amounts_subtract(&room, &class->request);
    for (uint32_t i = 0; i < count; i++) {
        /* From the one that best keeps its place. */
        struct victim *victim = &victims[i];
        struct resource_vec none = {0}, rest = room;
        if (breaks_gang && goes_with_gang(victims, i, victim)) {
            continue;
        }
        amounts_subtract(&rest, &victim->sum);
        if (amounts_fit(&none, &rest) && !victim->is_held) {
            room = rest;
            victim->job = NONE;
        }
        breaks_gang |= victim->job != NONE && victim->gang != NONE;
    }
    *ret_count = count;
    return victims;
}

/* Preempt what must go for the job to have room on a node. */
static void take_room(const struct search *search, uint32_t node,
                      const struct victim_rules *rules)
{
    struct round *round = search->round;
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec before = sched->free[node];
    bool has_opened = false; /* whatever room there was is now for all */
    uint32_t count;
    const struct victim *victims = victims_choose(search, node, rules, &count);

    ASSERT(victims);
    for (uint32_t i = count; i > 0; i--) {
        if (victims[i - 1].job != NONE) {
            has_opened |= victims[i - 1].is_held;
            preempt_victim(search, &victims[i - 1]);
        }
    }
    struct resource_vec after = sched->free[node];
    amounts_subtract(&after, &class->request);
    if (has_opened || !amounts_fit(&after, &before)) {
        round->growth_count++;
        round->rest_count++;
        VEC_PUSH(&round->grown, node);
    }
    refresh_touched(round);
}

/* Urgency preemption. */

/* What a node would have free without preemptible work up to level `p`,
 * without what is evicted up to `evicted_max`, and without yielders. */
static struct resource_vec room_at(const struct round *round, uint32_t index,
                                   uint32_t evicted_max, uint32_t p)
{
    const struct sched *sched = round->sched;
    struct resource_vec room = urgent_room(round, index, evicted_max, p);
    bool has_yielders = round->reserve.asking && sched->yielders.count;

    for (uint32_t at = has_yielders ? sched->nodes.items[index].run_first
                                    : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        bool is_counted =
            (run->level <= p && run->is_preemptible) ||
            (run->state == RUN_EVICTED && run->level <= evicted_max &&
             round->units[run->unit].ordinal >= round->reserve.ordinal_min);
        if (is_yielder(round, run) && !is_counted) {
            amounts_add(
                &room,
                &class_at(round, class_of_job(sched, run->job))->request);
        }
    }
    return room;
}

/* A node that would do, and its place in the order. */
struct fit {
    uint32_t node;
    uint64_t key;
};

static void consider_room(const struct search *search, uint32_t node,
                          uint32_t p, uint32_t evicted_max, struct fit *best)
{
    struct round *round = search->round;
    const uint32_t *ranks = round->sched->ranks;
    const struct class *class = class_at(round, search->class_index);
    struct resource_vec room = room_at(round, node, evicted_max, p);
    uint64_t key = pool_weigh(round->pool, &room);

    if (!amounts_fit(&class->request, &room) ||
        (best->node != NONE &&
         (key > best->key ||
          (key == best->key && ranks[node] >= ranks[best->node])))) {
        return;
    }
    if (place_allows(search, node)) {
        *best = (struct fit){node, key};
    }
}

static bool has_yielder(const struct round *round, uint32_t node)
{
    const struct sched *sched = round->sched;
    bool may_have = round->reserve.asking && sched->yielders.count;

    for (uint32_t at = may_have ? sched->nodes.items[node].run_first : NONE;
         at != NONE; at = sched->runs.items[at].node_next) {
        if (is_yielder(round, &sched->runs.items[at])) {
            return true;
        }
    }
    return false;
}

/* Nodes with yielders are asked one by one. */
static bool is_plain_match(void *context, uint32_t node)
{
    const struct search *search = context;

    return !has_yielder(search->round, node) && place_allows(search, node);
}

static uint32_t find_at_level(const struct search *search, uint32_t p,
                              uint32_t evicted_max)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct fit best = {NONE, 0};
    struct search context = *search;

    round->counters->nodes_examined += search->only ? search->only->count : 0;
    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        consider_room(search, search->only->nodes[i], p, evicted_max, &best);
    }
    if (search->only) {
        return best.node;
    }
    best.node = urgent_find(search, p, evicted_max, is_plain_match, &context);
    if (round->reserve.asking && sched->yielders.count) {
        if (best.node != NONE) {
            struct resource_vec room =
                room_at(round, best.node, evicted_max, p);
            best.key = pool_weigh(round->pool, &room);
        }
        look_anew(round);
        for (size_t i = 0; i < sched->yielders.count; i++) {
            const struct run *run =
                &sched->runs.items[sched->yielders.items[i]];
            if (is_yielder(round, run) && !is_looked_at(round, run->node)) {
                consider_room(search, run->node, p, evicted_max, &best);
            }
        }
    }
    return best.node;
}

/* The lowest level that must give way, and the best node there.  Who may take
 * nothing for fairness begins with what was evicted alone and is less urgent,
 * for which the others have asked before. */
static uint32_t find_urgent(const struct search *search,
                            struct victim_rules *rules)
{
    const struct sched *sched = search->round->sched;
    uint32_t level = class_at(search->round, search->class_index)->level;

    for (uint32_t p = 0; p < level; p++) {
        bool is_first = p == 0 && rules->is_bound;
        if (sched->preemptible_count[p] == 0 && !is_first) {
            continue;
        }
        uint32_t node = find_at_level(search, p, level - rules->is_bound);
        if (node != NONE) {
            rules->level_max = (int)p;
            return node;
        }
    }
    return NONE;
}

struct victim_rules victims_rules(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    bool is_urgent =
        !sched->policy->is_urgency_preemption_off && !sched->is_preemption_off;
    int level = class_at(round, search->class_index)->level;

    return (struct victim_rules){
        .cut = round->reserve.ordinal_min + 1,
        .level_max = is_urgent ? level - 1 : -1,
        .is_bound = truce_binds(round, search->job),
    };
}

const struct victim *victims_all(const struct search *search, uint32_t node,
                                 const struct victim_rules *rules,
                                 uint32_t *ret_count)
{
    const struct sched *sched = search->round->sched;
    struct resource_vec room = sched->free[node];
    struct victim *victims = collect(search, node, rules, ret_count);

    for (uint32_t i = 0; i < *ret_count; i++) {
        amounts_add(&room, &victims[i].sum);
        (void)goes_with_gang(victims, i, &victims[i]);
    }
    return memcmp(&room, &sched->nodes.items[node].capacity, sizeof(room)) == 0
               ? victims
               : NULL;
}

bool victims_clear(const struct search *search, uint32_t node)
{
    struct round *round = search->round;
    struct victim_rules rules = victims_rules(search);
    uint32_t count;
    const struct victim *victims = victims_all(search, node, &rules, &count);

    if (!victims) {
        return false;
    }
    for (uint32_t i = count; i > 0; i--) {
        if (victims[i - 1].job != NONE) {
            preempt_victim(search, &victims[i - 1]);
        }
    }
    round->growth_count++;
    round->rest_count++;
    VEC_PUSH(&round->grown, node);
    refresh_touched(round);
    return true;
}

/* Where gangs with terms or protected work runs, and in pool objects, all that
 * may go is compared by what it costs. */
static uint32_t find_set(const struct search *search)
{
    struct victim_rules rules = victims_rules(search);
    struct victim_set set;

    if (!victim_sets_find(search, &rules, &set)) {
        return NONE;
    }
    take_room(search, set.node, &rules);
    return set.node;
}

bool victims_may_be(const struct search *search)
{
    struct victim_rules rules = victims_rules(search);
    struct victim_set set;

    rules.takes_surplus = true;
    return victim_sets_find(search, &rules, &set);
}

uint32_t victims_find(const struct search *search)
{
    struct round *round = search->round;
    const struct policy *policy = round->sched->policy;
    const struct class *class = class_round(round, search->class_index);
    struct victim_rules rules = {.level_max = -1};
    uint32_t node;

    if (class->is_impossible) {
        return NONE;
    }
    if (round->sched->protected_run_count ||
        (round->sched->terms_run_count && lend_may_recall(round))) {
        return find_set(search); /* also what foreign gangs cost may fall */
    }
    node = lend_find(search, &rules);
    if (node == NONE) {
        node = find_yielding(search);
        rules.cut = node == NONE ? 0 : UINT32_MAX;
    }
    if (node == NONE &&
        (round->sched->terms_run_count || round->sched->is_pool_object)) {
        return find_set(search);
    }
    rules.is_bound = node == NONE && truce_binds(round, search->job);
    if (node == NONE && round->evicted_count && !rules.is_bound) {
        node = find_last(search, &rules.cut);
    }
    if (node == NONE && !policy->is_urgency_preemption_off &&
        !round->sched->is_preemption_off) {
        rules.cut = round->reserve.ordinal_min + 1;
        node = find_urgent(search, &rules);
    }
    if (node != NONE) {
        take_room(search, node, &rules);
    }
    return node;
}
