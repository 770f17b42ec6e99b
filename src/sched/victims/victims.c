#include "sched/victims/victims.h"

#include "sched/evict/cooldown.h"
#include "sched/evict/loss_limit.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/affordable.h"
#include "sched/victims/groups_at_risk.h"
#include "sched/victims/recall.h"
#include "sched/victims/revocable.h"
#include "sched/victims/search.h"
#include "sched/victims/sets.h"
#include "sched/victims/take.h"

uint32_t victims_own(const struct search *search)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t list = sched->jobs.items[search->job].list;
    uint32_t queue = sched->lists.items[list].queue;
    uint32_t lane = round->lane_of_queue[queue];

    return sched->policy->rules_revision >= POLICY_RULES_BOUNDED &&
                   lane != NONE &&
                   round->lanes[lane].unit_first < round->lanes[lane].unit_end
               ? queue + 1
               : 0;
}

bool victims_has_own(const struct search *search, uint32_t own, uint32_t index)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];
    bool has = false;

    if (own && (round->evicted->queues[index] & evicted_queue_bit(own - 1))) {
        const struct class *class = class_at(round, search->class_index);
        for (uint32_t i = node->evicted_first; i < node->evicted_end && !has;
             i++) {
            const struct evicted_run *evicted_run = &round->evicted->runs[i];
            has = evicted_run->is_out && victim_is_own(evicted_run, own, class);
        }
    }
    return has;
}

/* What goes for fairness is of other queues, and has its price. */
static void put_price(const struct search *search, struct victim_rules *rules)
{
    rules->own = victims_own(search);
    if (affordable_is_priced(search->round)) {
        rules->is_priced = true;
        rules->budget = affordable_left(search);
    }
}

struct victim_rules victims_rules(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    bool is_urgent =
        !sched->policy->is_urgency_preemption_off && !sched->is_preemption_off;
    int level = class_at(round, search->class_index)->level;

    struct victim_rules rules = {
        .depth = round->reserve.ordinal_min + 1,
        .level_max = is_urgent ? level - 1 : -1,
        .is_bound = cooldown_binds(round, search->job),
    };
    put_price(search, &rules);
    return rules;
}

/* For jobs that may preempt gangs with terms, for those with extras, in pools
 * where protected work runs, and in pool objects, all that may go is compared
 * by what it costs. */
static uint32_t find_set(const struct search *search)
{
    struct victim_rules rules = victims_rules(search);
    struct victim_set set;

    if (!victim_sets_find(search, &rules, &set)) {
        return NONE;
    }
    victims_take_room(search, set.node, &rules);
    return set.node;
}

bool victims_may_be(const struct search *search)
{
    struct victim_rules rules = victims_rules(search);
    struct victim_set set;

    if (class_at(search->round, search->class_index)->never_preempts) {
        return false;
    }
    rules.takes_surplus = true;
    rules.is_priced = false;
    return victim_sets_find(search, &rules, &set);
}

/* The node whose evicted work comes last, or NONE; where that has a price, the
 * first of those that the job may take. */
static uint32_t find_for_share(const struct search *search,
                               struct victim_rules *rules)
{
    struct round *round = search->round;
    uint32_t node = NONE;

    put_price(search, rules);
    if (rules->is_priced && !affordable_is_any(search, rules->budget)) {
        return NONE;
    }
    round->reserve.is_for_share = !loss_limit_bars(round, search->job);
    node = victims_find_last(search, rules->own, &rules->depth);
    if (node != NONE && rules->is_priced) {
        uint32_t count;
        if (!victims_choose(search, node, rules, &count)) {
            rules->depth = round->reserve.ordinal_min + 1;
            node = victims_find_affordable(search, rules);
        }
    }
    round->reserve.is_for_share = false;
    return node;
}

/* For who never preempts only what was started to yield goes. */
static uint32_t find_yielding(const struct search *search)
{
    struct victim_rules rules = {.level_max = -1, .depth = UINT32_MAX};
    uint32_t node = revocables_find(search);

    if (node != NONE) {
        victims_take_room(search, node, &rules);
    }
    return node;
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
    if (class->never_preempts) {
        return find_yielding(search);
    }
    bool has_groups = groups_at_risk(search);
    if (class->extra_count > 0) {
        return find_set(search); /* the others know of amounts alone */
    }
    if (round_has_budgets(round) || (has_groups && lending_may_recall(round))) {
        return find_set(search); /* also what borrowed gangs cost may fall */
    }
    node = recall_find(search, &rules);
    if (node == NONE) {
        node = revocables_find(search);
        rules.depth = node == NONE ? 0 : UINT32_MAX;
    }
    if (node == NONE && (has_groups || round->sched->is_pool_object)) {
        return find_set(search);
    }
    rules.is_bound = node == NONE && cooldown_binds(round, search->job);
    if (node == NONE && round->evicted->count && !rules.is_bound) {
        node = find_for_share(search, &rules);
    }
    if (node == NONE && !policy->is_urgency_preemption_off &&
        !round->sched->is_preemption_off) {
        rules = (struct victim_rules){
            .depth = round->reserve.ordinal_min + 1,
            .level_max = -1,
            .is_bound = rules.is_bound || affordable_is_priced(round),
            .own = victims_own(search),
        };
        node = victims_find_urgent(search, &rules);
    }
    if (node != NONE) {
        victims_take_room(search, node, &rules);
    }
    return node;
}
