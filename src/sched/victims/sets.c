#include "sched/victims/sets.h"

#include "sched/evict/loss_limit.h"
#include "sched/place/place.h"
#include "sched/state/borrowed.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/memo.h"
#include "sched/victims/surplus_order.h"

#define RANK_HOME ((int64_t)1 << 31)

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_ids(const struct sched *sched, uint32_t a, uint32_t b)
{
    return key128_compare(sched->jobs.items[a].id.v, sched->jobs.items[b].id.v);
}

/* Surplus goes first; of one group the highest id. */
static int compare_groups(const struct sched *sched, const struct victim_set *a,
                          const struct victim_set *b)
{
    if (a->group == NONE || b->group == NONE) {
        return (a->group == NONE) - (b->group == NONE);
    }
    if (a->group == b->group) {
        return compare_ids(sched, b->pod, a->pod);
    }
    return compare_ids(sched,
                       sub_groups_first(sched, &sched->gangs.items[a->group]),
                       sub_groups_first(sched, &sched->gangs.items[b->group]));
}

/* Surplus gives before what has a turn; whose keeps its place best decides. */
static int compare_surplus(struct round *round, const struct victim_set *a,
                           const struct victim_set *b)
{
    if (a->surplus_of == NONE || b->surplus_of == NONE) {
        return (a->surplus_of == NONE) - (b->surplus_of == NONE);
    }
    return surplus_order_compare(round, b->surplus_of, a->surplus_of);
}

/* By what only grows as victims come to a set. */
static int compare_victims(const struct victim_set *a,
                           const struct victim_set *b)
{
    int c = compare(a->count > 0, b->count > 0);

    c = c ? c : compare(a->protected_count, b->protected_count);
    c = c ? c : compare(a->rank_max, b->rank_max);
    c = c ? c : compare(a->rank_sum, b->rank_sum);
    return c ? c : compare(a->count, b->count);
}

int victim_set_compare(struct round *round, const struct victim_set *a,
                       const struct victim_set *b)
{
    int c = compare_victims(a, b);

    c = c ? c : compare(a->hops, b->hops);
    c = c ? c : compare(b->ordinal, a->ordinal);
    c = c ? c : compare_surplus(round, a, b);
    c = c ? c : compare(a->lost, b->lost);
    c = c ? c : compare_groups(round->sched, a, b);
    return c ? c : compare(a->node_rank, b->node_rank);
}

bool victim_set_is_dearer(const struct victim_set *a,
                          const struct victim_set *b)
{
    return compare_victims(a, b) > 0;
}

static uint64_t rank_of(const struct sched *sched, uint32_t job)
{
    const struct run *run = &sched->runs.items[sched->jobs.items[job].run];

    return borrowed_has(sched, job) ? 0 : (uint64_t)(run->priority + RANK_HOME);
}

static void add(struct victim_set *set, uint64_t rank, uint32_t count)
{
    set->rank_max = rank > set->rank_max ? rank : set->rank_max;
    set->rank_sum += rank * count;
    set->count += count;
}

/* How many of a gang run, as the plan leaves it. */
static uint32_t running_of(const struct sched *sched, const struct gang *gang)
{
    return gang->leased.count - (sub_groups_lost(sched, gang));
}

/* How many of a gang the plan leaves on a node that it has whole. */
static uint32_t count_on(const struct sched *sched, uint32_t gang,
                         uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t at = sched->nodes.items[node].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        count += run->state != RUN_PREEMPTED &&
                 sched->jobs.items[run->job].gang == gang;
    }
    return count;
}

/* Note whose surplus goes. */
static void note_surplus(struct round *round, struct victim_set *set,
                         const struct victim *victim)
{
    bool is_alone = victim->is_surplus && victim->gang == NONE;

    if (set->count == 0) {
        set->surplus_of = set->group = is_alone ? victim->group : NONE;
        set->pod = victim->job;
        return;
    }
    if (!is_alone) {
        set->surplus_of = set->group = NONE;
        return;
    }
    if (set->surplus_of != NONE &&
        surplus_order_compare(round, victim->group, set->surplus_of) < 0) {
        set->surplus_of = victim->group;
    }
    if (set->group != victim->group) {
        set->group = NONE;
    } else if (compare_ids(round->sched, set->pod, victim->job) < 0) {
        set->pod = victim->job;
    }
}

/* Members of a gang are of one class, so they are of one rank. */
void victim_set_add(struct round *round, struct victim_set *set,
                    const struct victim *victim)
{
    const struct sched *sched = round->sched;
    uint32_t count = 1;

    if (victim->gang != NONE) {
        count = running_of(sched, &sched->gangs.items[victim->gang]);
    } else if (victim->is_held) {
        uint32_t run = sched->jobs.items[victim->job].run;
        count = count_on(sched, victim->group, sched->runs.items[run].node);
    }
    note_surplus(round, set, victim);
    add(set, rank_of(sched, victim->job), count);
    set->protected_count += victim->protected_count;
    bool is_alone = victim->is_surplus && victim->gang == NONE;
    if (victim->is_evicted && !is_alone && victim->ordinal < set->ordinal) {
        set->ordinal = victim->ordinal;
    }
}

/* Whether a victim goes with another one anyway. */
static bool is_counted(const struct victim *victims, uint32_t count,
                       const struct victim *victim)
{
    for (uint32_t i = 0;
         victim->gang == NONE && victim->group != NONE && i < count; i++) {
        if (victims[i].job != NONE && victims[i].gang == victim->group) {
            return true;
        }
    }
    return false;
}

/* The price of victims on a node, and what is left for one that comes there. */
static void sum_up(const struct search *search, uint32_t node,
                   const struct victim *victims, uint32_t count,
                   struct victim_set *ret_set)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct resource_vec left = sched->free[node];

    *ret_set = VICTIM_SET_NONE;
    ret_set->node = node;
    ret_set->node_rank = sched->ranks[node];
    for (uint32_t i = 0; i < count; i++) {
        if (victims[i].job == NONE) {
            continue;
        }
        amounts_add(&left, &victims[i].sum);
        ret_set->breaks_gang |= victims[i].gang != NONE;
        if (!is_counted(victims, count, &victims[i])) {
            victim_set_add(round, ret_set, &victims[i]);
        }
    }
    amounts_subtract(&left, &class_at(round, search->class_index)->request);
    ret_set->lost = pool_weigh(round->pool, &left);
}

/* All that runs there was looked at: about as much work each as a node. */
static void count_look(const struct round *round, uint32_t node)
{
    round->counters->nodes_examined +=
        2 + round->sched->nodes.items[node].run_count;
}

/* The price of a place on a node; false: there is none. */
static bool judge(const struct search *search, uint32_t node,
                  const struct victim_rules *rules, struct victim_set *ret_set)
{
    uint32_t count;
    const struct victim *victims = victims_choose(search, node, rules, &count);

    count_look(search->round, node);
    if (!victims) {
        return false;
    }
    sum_up(search, node, victims, count, ret_set);
    ret_set->spares_groups = rules->spares_groups;
    return ret_set->count > 0;
}

bool victim_sets_of_node(const struct search *search, uint32_t node,
                         const struct victim_rules *rules,
                         struct victim_set *ret_set)
{
    uint32_t count;
    const struct victim *victims = victims_all(search, node, rules, &count);

    count_look(search->round, node);
    if (!victims) {
        return false;
    }
    sum_up(search, node, victims, count, ret_set);
    return true;
}

bool victim_sets_judge(const struct search *search, uint32_t node,
                       const struct victim_rules *rules,
                       struct victim_set *ret_set)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    struct victim_rules sparing = *rules;
    struct victim_set other;

    if (sched->nodes.items[node].run_count == 0 ||
        !amounts_fit(&class_at(round, search->class_index)->request,
                     &sched->nodes.items[node].capacity) ||
        !judge(search, node, rules, ret_set)) {
        return false;
    }
    sparing.spares_groups = true;
    if (ret_set->breaks_gang && judge(search, node, &sparing, &other) &&
        victim_set_compare(round, &other, ret_set) < 0) {
        *ret_set = other;
    }
    return true;
}

bool victim_set_is_allowed(const struct search *search,
                           const struct victim_set *set)
{
    struct reserve *reserve = &search->round->reserve;

    reserve->is_for_share = set->ordinal != UINT32_MAX &&
                            !loss_limit_bars(search->round, search->job);
    bool is_allowed = place_allows_evicting(search, set->node);
    reserve->is_for_share = false;
    return is_allowed;
}

static void consider(const struct search *search, uint32_t node,
                     const struct victim_rules *rules, struct victim_set *best,
                     bool *has_best)
{
    struct victim_set set;

    if (victim_sets_judge(search, node, rules, &set) &&
        (!*has_best || victim_set_compare(search->round, &set, best) < 0) &&
        victim_set_is_allowed(search, &set)) {
        *best = set;
        *has_best = true;
    }
}

/* Ask all nodes. */
static bool find_plainly(const struct search *search,
                         const struct victim_rules *rules,
                         struct victim_set *ret_set)
{
    const struct sched *sched = search->round->sched;
    bool has_best = false;

    for (uint32_t i = 0; search->only && i < search->only->count; i++) {
        consider(search, search->only->nodes[i], rules, ret_set, &has_best);
    }
    for (uint32_t i = 0; !search->only && i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].pool == search->round->p) {
            consider(search, i, rules, ret_set, &has_best);
        }
    }
    return has_best;
}

/* For tests: what is remembered is what asking all nodes would say. */
static bool is_as_remembered(const struct search *search,
                             const struct victim_rules *rules, bool has_best,
                             const struct victim_set *best)
{
    struct victim_set plain;
    bool has_plain = find_plainly(search, rules, &plain);

    return has_plain == has_best &&
           (!has_best ||
            (victim_set_compare(search->round, &plain, best) == 0 &&
             plain.node == best->node &&
             plain.spares_groups == best->spares_groups &&
             plain.breaks_gang == best->breaks_gang));
}

/* The best place, whatever it costs. */
static bool find_best(const struct search *search,
                      const struct victim_rules *rules,
                      struct victim_set *ret_set)
{
    const struct sched *sched = search->round->sched;
    bool is_remembered =
        !sched->forgets_victims && victim_memo_serves(search, rules) &&
        class_at(search->round, search->class_index)->extra_count == 0;
    bool has_best = is_remembered ? victim_memo_find(search, rules, ret_set)
                                  : find_plainly(search, rules, ret_set);

    ASSERT(!is_remembered || !sched->checks_victims ||
           is_as_remembered(search, rules, has_best, ret_set));
    return has_best;
}

/* The best that the job's budget covers: that of all, if it does. */
static bool find_priced(const struct search *search,
                        const struct victim_rules *rules,
                        struct victim_set *ret_set)
{
    struct victim_rules other = *rules;
    struct victim_set best;

    other.is_priced = false;
    if (!find_best(search, &other, &best)) {
        return false;
    }
    other = *rules;
    other.spares_groups = best.spares_groups;
    if (judge(search, best.node, &other, ret_set) &&
        victim_set_compare(search->round, ret_set, &best) == 0) {
        return true;
    }
    return find_plainly(search, rules, ret_set);
}

bool victim_sets_find(const struct search *search, struct victim_rules *rules,
                      struct victim_set *ret_set)
{
    bool has_best = rules->is_priced ? find_priced(search, rules, ret_set)
                                     : find_best(search, rules, ret_set);

    if (has_best) {
        rules->spares_groups = ret_set->spares_groups;
    }
    return has_best;
}
