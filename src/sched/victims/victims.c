#include "sched/victims/victims.h"

#include "sched/evict/cooldown.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/victims/lend.h"
#include "sched/victims/revocable.h"
#include "sched/victims/search.h"
#include "sched/victims/sets.h"
#include "sched/victims/take.h"

struct victim_rules victims_rules(const struct search *search)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    bool is_urgent =
        !sched->policy->is_urgency_preemption_off && !sched->is_preemption_off;
    int level = class_at(round, search->class_index)->level;

    return (struct victim_rules){
        .depth = round->reserve.ordinal_min + 1,
        .level_max = is_urgent ? level - 1 : -1,
        .is_bound = cooldown_binds(round, search->job),
    };
}

/* In pools where gangs with terms or protected work runs, and in pool objects,
 * all that may go is compared by what it costs. */
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
    if (round_has_budgets(round) ||
        (round_has_terms(round) && lend_may_recall(round))) {
        return find_set(search); /* also what foreign gangs cost may fall */
    }
    node = lend_find(search, &rules);
    if (node == NONE) {
        node = revocables_find(search);
        rules.depth = node == NONE ? 0 : UINT32_MAX;
    }
    if (node == NONE &&
        (round_has_terms(round) || round->sched->is_pool_object)) {
        return find_set(search);
    }
    rules.is_bound = node == NONE && cooldown_binds(round, search->job);
    if (node == NONE && round->evicted->count && !rules.is_bound) {
        round->reserve.is_for_share = true;
        node = victims_find_last(search, &rules.depth);
        round->reserve.is_for_share = false;
    }
    if (node == NONE && !policy->is_urgency_preemption_off &&
        !round->sched->is_preemption_off) {
        rules.depth = round->reserve.ordinal_min + 1;
        node = victims_find_urgent(search, &rules);
    }
    if (node != NONE) {
        victims_take_room(search, node, &rules);
    }
    return node;
}
