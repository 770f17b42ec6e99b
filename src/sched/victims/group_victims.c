#include "sched/victims/group_victims.h"

#include "sched/evict/losses.h"
#include "sched/order/lanes.h"
#include "sched/place/place.h"
#include "sched/state/borrowed.h"
#include "sched/state/exclusive.h"
#include "sched/state/scale.h"
#include "sched/state/sub_groups.h"
#include "sched/victims/affordable.h"
#include "sched/victims/memo.h"
#include "sched/victims/searches.h"

/* Whether a queue is over its share, as the round found it. */
static bool is_over_share(struct round *round, uint32_t queue)
{
    uint32_t count;

    if (!round->searches->is_over) {
        const struct share *shares = round_shares(round, &count);
        round->searches->is_over =
            arena_alloc_array(round->arena, round->sched->queues.count,
                              sizeof(*round->searches->is_over));
        for (uint32_t i = 0; i < count; i++) {
            round->searches->is_over[shares[i].queue] =
                share_is_over(round->sched, round->p, &shares[i]);
        }
    }
    return round->searches->is_over[queue];
}

bool group_victims_is_turn_before(const struct search *search, uint32_t queue)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct job *job = &sched->jobs.items[search->job];
    uint32_t own = round->lane_of_queue[sched->lists.items[job->list].queue];
    uint32_t other = round->lane_of_queue[queue];

    if (own == NONE || other == NONE) {
        return false;
    }
    struct cost ask =
        job->gang != NONE
            ? round->searches->gang_cost
            : lane_new_cost(round, &round->lanes[own],
                            &class_at(round, search->class_index)->request);
    struct cost theirs =
        cost_of(&round->pool->base, &round->lanes[other].placed, NULL,
                round->lanes[other].factor_micro);
    return cost_compare(&round->pool->base, &ask, &theirs) < 0;
}

static bool is_turn_before(const struct search *search, uint32_t queue)
{
    bool is_before = group_victims_is_turn_before(search, queue);

    victim_memo_note_turn(search->round, queue, is_before);
    return is_before;
}

/* Rule c, and rule b for what is like work of lifetime 0: whether a minimum
 * that is placed may take the surplus of a gang, which being frozen keeps
 * from its equals. */
static bool may_shrink(const struct search *search, const struct gang *gang,
                       uint32_t level, const struct victim_rules *rules)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    uint32_t own = class_at(round, search->class_index)->level;
    uint32_t list = sched->jobs.items[search->job].list;

    if (level > own || borrowed_has(sched, search->job)) {
        return false;
    }
    int64_t frozen_ms =
        level < own ? INT64_MIN : scale_frozen_until(sched, gang);
    if (frozen_ms > round->now_ms) {
        round_wake_by(round, frozen_ms);
        return false;
    }
    if (gang->queue == sched->lists.items[list].queue) {
        return true;
    }
    if (sched->is_preemption_off) {
        return false;
    }
    if (level < own && !sched->policy->is_urgency_preemption_off) {
        return true;
    }
    return !sched->policy->is_fair_share_preemption_off && !rules->is_bound &&
           (is_over_share(round, gang->queue) ||
            is_turn_before(search, gang->queue));
}

/* Whether the rules for all work let the gang go whole: some pod of its
 * minimums is evicted, and permitted.  Then it may as well lose surplus alone,
 * also in its freezing window. */
static bool may_go_whole(const struct search *search, const struct gang *gang,
                         const struct victim_rules *rules)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        const struct seq *leased = sub_group_leased(gang, i);
        struct seq_cursor at = {0};
        while (!seq_is_end(leased, at)) {
            uint32_t job = seq_get(leased, at);
            const struct run *run =
                &sched->runs.items[sched->jobs.items[job].run];
            if (run->state == RUN_EVICTED) {
                return victim_is_permitted(round, run, class, rules);
            }
            if (run->state != RUN_PREEMPTED) {
                break; /* the lowest id is of the minimum */
            }
            seq_next(leased, &at);
        }
    }
    return false;
}

bool group_victims_may_shrink(const struct search *search,
                              const struct gang *gang, const struct run *run,
                              const struct victim_rules *rules)
{
    return rules->takes_surplus ||
           may_shrink(search, gang, victim_of_run(search->round, run).level,
                      rules) ||
           may_go_whole(search, gang, rules);
}

uint32_t group_victims_list(struct round *round, uint32_t node,
                            const struct gang *gang)
{
    struct sched *sched = round->sched;
    uint32_t index = (uint32_t)(gang - sched->gangs.items), count = 0;

    VEC_RESERVE(&round->searches->pods, sched->nodes.items[node].run_count);
    uint32_t *pods = round->searches->pods.items;
    for (uint32_t at = sched->nodes.items[node].run_first; at != NONE;
         at = sched->runs.items[at].node_next) {
        const struct run *run = &sched->runs.items[at];
        uint32_t to = count;
        if (sched->jobs.items[run->job].gang != index ||
            run->state == RUN_PREEMPTED) {
            continue;
        }
        for (; to > 0 && key128_compare(sched->jobs.items[pods[to - 1]].id.v,
                                        sched->jobs.items[run->job].id.v) < 0;
             to--) {
            pods[to] = pods[to - 1];
        }
        pods[to] = run->job;
        count++;
    }
    return count;
}

/* Add one to those that go together, as urgent as the least urgent of them. */
static void join(struct victim *all, const struct victim *one)
{
    if (all->job == NONE) {
        *all = *one;
        return;
    }
    amounts_add(&all->sum, &one->sum);
    all->is_revocable |= one->is_revocable;
    all->is_surplus &= one->is_surplus;
    all->is_evicted |= one->is_evicted;
    all->ordinal = one->is_evicted ? one->ordinal : all->ordinal;
    if (one->leased_ms > all->leased_ms) {
        all->leased_ms = one->leased_ms;
    }
    if (one->level < all->level) {
        all->level = one->level;
    }
}

/* Whether surplus stays that would go for fairness, for what it has lost. */
static bool is_protected(const struct search *search, const struct run *run,
                         const struct victim *victim)
{
    struct round *round = search->round;
    int64_t until_ms = losses_protect_until_ms(round->sched, run);

    if (until_ms <= round->now_ms || !affordable_is_charged(search, victim)) {
        return false;
    }
    round_wake_by(round, until_ms);
    return true;
}

void group_victims_add(const struct search *search, uint32_t node,
                       const struct gang *gang,
                       const struct victim_rules *rules, struct victim *victims,
                       uint32_t *count)
{
    struct round *round = search->round;
    const struct sched *sched = round->sched;
    const struct class *class = class_at(round, search->class_index);
    uint32_t index = (uint32_t)(gang - sched->gangs.items);
    bool is_held = exclusive_is_held_by(sched, node, index);
    uint32_t left[SUB_GROUPS_MAX], kept_count = 0;
    /* What the plan started of a gang is no run yet, and would stay. */
    bool is_kept = sched->jobs.items[search->job].gang == index ||
                   sub_groups_start_in_plan(sched, gang);
    struct victim rest = {.job = NONE};
    uint32_t pod_count = group_victims_list(round, node, gang);

    for (uint32_t i = 0; i < sub_groups_count(gang); i++) {
        left[i] = round->searches->keeps_surplus
                      ? 0
                      : sub_group_surplus(sched, gang, i);
    }
    for (uint32_t i = 0; i < pod_count; i++) {
        uint32_t job = round->searches->pods.items[i];
        const struct run *run = &sched->runs.items[sched->jobs.items[job].run];
        uint32_t sub_group = sub_group_of(sched, job);
        bool may_go = victim_is_permitted(round, run, class, rules);
        struct victim one = victim_of_run(round, run);
        one.group = index;
        one.is_surplus = left[sub_group] > 0;
        may_go =
            one.is_surplus
                ? may_go || group_victims_may_shrink(search, gang, run, rules)
                : may_go && !is_kept;
        if (!may_go || (one.is_surplus && is_protected(search, run, &one))) {
            kept_count++;
            continue;
        }
        left[sub_group] -= one.is_surplus;
        if (one.is_surplus && !is_held) {
            victims[(*count)++] = one;
        } else {
            join(&rest, &one);
        }
    }
    if (rest.job == NONE || (is_held && kept_count)) {
        return;
    }
    rest.is_held = is_held;
    rest.gang = is_held && rest.is_surplus ? NONE : index;
    victims[(*count)++] = rest;
}
