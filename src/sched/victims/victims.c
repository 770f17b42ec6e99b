#include "sched/victims/victims.h"

#include <string.h>

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

bool victims_has_own(const struct search *search, uint32_t index)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct node *node = &sched->nodes.items[index];
    uint32_t own = victims_own(search);
    bool has = false;

    if (own && node->stamp == sched->stamp) {
        for (uint32_t i = node->evicted_first; i < node->evicted_end && !has;
             i++) {
            const struct evicted_run *evicted_run = &round->evicted->runs[i];
            has =
                evicted_run->is_out &&
                victim_is_own(sched, own, &sched->runs.items[evicted_run->run],
                              class_at(round, search->class_index));
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

/* For jobs that may preempt gangs with terms, in pools where protected work
 * runs, and in pool objects, all that may go is compared by what it costs. */
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
    node = victims_find_last(search, &rules->depth);
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

/* Whether runs might go from a node for urgency by the rules for all, but not
 * by those of a search. */
static bool has_more(const struct search *search, uint32_t node,
                     const struct victim_rules *rules)
{
    const struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct resource_vec none = {0};
    const struct resource_vec *sums =
        &sched->urgency_preemptible[(size_t)node * sched->level_count];
    uint32_t level = class_at(round, search->class_index)->level;
    bool has = round->evicted->has_protected; /* the sums know it not */

    for (uint32_t l = (uint32_t)(rules->level_max + 1); l < level && !has;
         l++) {
        has = memcmp(&sums[l], &none, sizeof(none)) != 0;
    }
    return has;
}

/* Who goes on the node that was found for fairness or urgency: of all that may
 * go there, by the order of model.md 6.6; by rules before POLICY_RULES_GROUPS
 * of what the search went for. */
static void compare_all(const struct search *search, uint32_t node,
                        struct victim_rules *rules)
{
    const struct policy *policy = search->round->sched->policy;
    uint32_t count;

    if (policy->rules_revision < POLICY_RULES_GROUPS ||
        !has_more(search, node, rules)) {
        return;
    }
    struct victim_rules all = victims_rules(search);
    all.is_bound |= rules->is_bound;
    if (!all.is_priced || victims_choose(search, node, &all, &count)) {
        *rules = all;
    }
}

/* By the faster searches: for fairness, else for urgency. */
static uint32_t find_fast(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    bool is_bound = cooldown_binds(round, search->job);
    struct victim_rules rules = {.level_max = -1, .is_bound = is_bound};
    uint32_t node = round->evicted->count && !is_bound
                        ? find_for_share(search, &rules)
                        : NONE;

    if (node == NONE && !sched->policy->is_urgency_preemption_off &&
        !sched->is_preemption_off) {
        rules = (struct victim_rules){
            .depth = round->reserve.ordinal_min + 1,
            .level_max = -1,
            .is_bound = is_bound || affordable_is_priced(round),
            .own = victims_own(search),
        };
        node = victims_find_urgent(search, &rules);
    }
    if (node != NONE) {
        compare_all(search, node, &rules);
        victims_take_room(search, node, &rules);
    }
    return node;
}

uint32_t victims_find(const struct search *search)
{
    struct round *round = search->round;
    struct victim_rules rules = {.level_max = -1};

    if (class_round(round, search->class_index)->is_impossible) {
        return NONE;
    }
    bool has_groups = groups_at_risk(search);
    if (round_has_budgets(round) || (has_groups && lending_may_recall(round))) {
        return find_set(search); /* also what borrowed gangs cost may fall */
    }
    uint32_t node = recall_find(search, &rules);
    if (node == NONE) {
        node = revocables_find(search);
        rules.depth = UINT32_MAX;
    }
    if (node != NONE) {
        victims_take_room(search, node, &rules);
        return node;
    }
    return has_groups || round->sched->is_pool_object ? find_set(search)
                                                      : find_fast(search);
}
