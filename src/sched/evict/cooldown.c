/* What cooldowns and taking for fairness mean to a round. */
#include "sched/evict/cooldown.h"

#include "base/time_add.h"
#include "sched/evict/loss_limit.h"
#include "sched/evict/losses.h"
#include "sched/order/round.h"

/* Whether the plan is made as if a job's cooldown were over. */
static bool is_waived(const struct round *round, uint32_t job)
{
    const struct what_if *what_if = round->what_if;

    return what_if && what_if->cooldown_waived != NONE &&
           cooldown_find(round->sched, what_if->cooldown_waived) ==
               cooldown_find(round->sched, job);
}

bool cooldown_binds(struct round *round, uint32_t job)
{
    int64_t until_ms;

    if (is_waived(round, job) ||
        !cooldown_holds(round->sched, job, round->now_ms, &until_ms)) {
        return false;
    }
    round_wake_by(round, until_ms);
    return true;
}

/* Whether a victim goes because its queue has more than its share, and not
 * because it is below the level at which the other starts. */
static bool is_for_fairness(const struct sched *sched,
                            const struct sched_decision *decision,
                            uint32_t level)
{
    if (decision->action != SCHED_PREEMPT ||
        (decision->preemption != SCHED_PREEMPT_FAIR_SHARE &&
         decision->preemption != SCHED_PREEMPT_SURPLUS)) {
        return false;
    }
    const struct job *victim = &sched->jobs.items[decision->job];
    const struct list *theirs = &sched->lists.items[victim->list];
    const struct list *own =
        &sched->lists.items[sched->jobs.items[decision->for_job].list];
    return theirs->queue != own->queue &&
           sched->runs.items[victim->run].level >= level;
}

/* A lease that was let past a reservation with a price by nothing else than
 * that its place was taken for fairness promises to give way. */
static void note_promise(struct round *round, struct sched_decision *decision)
{
    const struct reservation *hold = round->reserve.hold;
    const struct class *class =
        class_at(round, class_of_job(round->sched, decision->job));

    ASSERT(hold->is_priced && decision->action == SCHED_LEASE);

    if (decision->revocable_for == NONE &&
        !loss_limit_bars(round, decision->job) &&
        reserve_pass_for_share(round, hold, class, decision->node) ==
            BACKFILL_REVOCABLE) {
        decision->is_backfilled = true;
        decision->revocable_for = hold->job;
    }
}

static const struct lane *lane_of(const struct round *round, uint32_t job)
{
    const struct sched *sched = round->sched;
    uint32_t queue = sched->lists.items[sched->jobs.items[job].list].queue;

    /* A queue of which something waits or runs here has a lane. */
    ASSERT(round->lane_of_queue[queue] < round->lane_count);
    return &round->lanes[round->lane_of_queue[queue]];
}

/* What a head asks for, all that waits of a gang. */
static const struct resource_vec *asked_by(const struct round *round,
                                           uint32_t head)
{
    const struct sched *sched = round->sched;
    uint32_t gang = sched->jobs.items[head].gang;

    return gang != NONE ? &sched->gangs.items[gang].waiting_sum
                        : &class_at(round, class_of_job(sched, head))->request;
}

/* What a head's queue has with it, and with nothing else that it admitted. */
static struct resource_vec sum_with(const struct round *round, uint32_t head)
{
    const struct sched *sched = round->sched;
    const struct lane *lane = lane_of(round, head);
    struct resource_vec sum = lane->all;

    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct admission_entry *entry = &round->reserve.entries[i];
        uint32_t job = entry->claim.job;
        if (!entry->is_done && entry->claim.lane == lane && job != head &&
            (sched->jobs.items[job].gang == NONE ||
             sched->jobs.items[job].gang != sched->jobs.items[head].gang)) {
            amounts_subtract(&sum, asked_by(round, job));
        }
    }
    return sum;
}

/* Whether the head of the reservation can wait for runs of its own queue: with
 * it the queue has more, by weight, than that of who took a place for fairness,
 * and the head alone is no more than that has. */
static bool can_wait_for_own(const struct round *round, uint32_t taker)
{
    const struct cost_base *base = &round->pool->base;
    uint32_t head = round->reserve.hold->job;
    const struct lane *lane = lane_of(round, head);
    const struct lane *other = lane_of(round, taker);
    struct resource_vec with = sum_with(round, head);
    struct cost own = cost_of(base, &with, NULL, lane->factor_micro);
    struct cost alone =
        cost_of(base, asked_by(round, head), NULL, lane->factor_micro);
    struct cost theirs = cost_of(base, &other->all, NULL, other->factor_micro);

    return round->sched->policy->rules_revision >= POLICY_RULES_LIMITS &&
           cost_compare(base, &own, &theirs) > 0 &&
           cost_compare(base, &alone, &theirs) <= 0;
}

/* What took places for fairness gives way to what is reserved for later than
 * others that were let past it. */
static void put_off(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    const struct reservation *hold = round->reserve.hold;

    for (size_t i = mark; i < sched->decisions.count; i++) {
        struct sched_decision *decision = &sched->decisions.items[i];
        if (decision->action == SCHED_LEASE && hold->is_priced) {
            note_promise(round, decision);
        }
        if (decision->action == SCHED_LEASE &&
            decision->revocable_for == hold->job) {
            decision->yields_from_ms = can_wait_for_own(round, decision->job)
                                           ? hold->promised_ms
                                           : hold->fair_ms;
        }
    }
}

void cooldown_mark(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;
    struct sched_decision *first = NULL;
    bool is_by_share = false;
    uint32_t level = 0;

    ASSERT(mark <= sched->decisions.count); /* decisions since then */
    /* Backwards, for victims stand before the lease that they serve. */
    for (size_t i = sched->decisions.count; i > mark; i--) {
        struct sched_decision *decision = &sched->decisions.items[i - 1];
        if (decision->action == SCHED_LEASE) {
            first = decision;
            level = level_of(sched, decision->priority);
        }
        is_by_share |= is_for_fairness(sched, decision, level);
    }
    if (first) {
        first->is_by_share = is_by_share;
        first->waited_ms =
            is_by_share ? round->now_ms - losses_since_ms(sched, first->job)
                        : 0;
    }
    if (is_by_share && round->reserve.hold) {
        put_off(round, mark);
    }
}
