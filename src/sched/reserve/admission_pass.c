/* Tries admitted work before all other work. */

#include "sched/evict/cooldown.h"
#include "sched/evict/evict.h"
#include "sched/evict/evictable.h"
#include "sched/fairness/admitted.h"
#include "sched/gang/gang.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/order.h"
#include "sched/order/starts.h"
#include "sched/order/sweep.h"
#include "sched/place/place.h"
#include "sched/reserve/admission_private.h"
#include "sched/reserve/limit_wait.h"
#include "sched/state/floating.h"
#include "sched/victims/ways.h"

/* Whether limits let the claim's work start now. */
static bool is_let(struct round *round, const struct claim *claim)
{
    struct resource_vec least = admission_least(round, claim);

    return lane_is_within(round, claim->lane,
                          class_of_job(round->sched, claim->job), &least);
}

/* Whether limits and the queue let the claim's work start at all, here; a rate
 * only makes it wait, and so does what its queue runs. */
static bool may_ever(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;
    struct resource_vec least = admission_least(round, claim);
    uint32_t pool = claim->is_gang
                        ? gang_pool(sched, &sched->gangs.items[claim->item])
                        : NONE;

    return (pool == NONE || pool == round->p) &&
           !sched->queues.items[claim->lane->queue].is_cordoned &&
           order_allows(round, claim->lane, claim_list(round->sched, claim)) &&
           (is_let(round, claim) ||
            limit_wait_is_open(round, claim->lane,
                               class_of_job(sched, claim->job), &least));
}

/* Start a job on a node, as of the class that its search found it. */
static void lease(struct round *round, const struct claim *claim,
                  uint32_t class_index, uint32_t node)
{
    const struct class *class = class_at(round, class_index);
    int64_t charge = share_take(round, claim->lane, class, 0);

    place_put(round, claim->lane, class_index, node, 1);
    gang_started(round, claim->lane, 1, &class->request);
    if (claim->lane->is_stepwise) {
        order_leased(round, claim->job);
    }
    round_decide_lease(round, claim->job, node, class, charge);
}

static bool try_job(struct round *round, const struct claim *claim)
{
    struct sched *sched = round->sched;
    struct search search = {round, class_of_job(sched, claim->job), claim->job,
                            NULL};
    size_t journal_mark = sched->journal.count;
    size_t decision_mark = sched->decisions.count;
    unsigned ways =
        WAYS_FREE | (round->kind == ROUND_BALANCE ? WAYS_PREEMPTING : 0);
    uint32_t node;

    if (ways_find(&search, ways, &node) == WAY_NONE) {
        return false;
    }
    if (decision_mark > 0 && sched->decisions.count + 1 > round->decision_max) {
        place_rollback(round, journal_mark);
        round_undecide(round, decision_mark);
        round->is_truncated = true;
        return false;
    }
    lease(round, claim, search.class_index, node);
    cooldown_mark(round, decision_mark);
    round->group++;
    return true;
}

static bool try_gang(struct round *round, const struct claim *claim)
{
    switch (gang_place(round, claim->lane, claim->item)) {
    case GANG_PLACED:
        return true;
    case GANG_CUT:
        round->is_truncated = true;
        break;
    case GANG_WAITS:
        break;
    }
    return false;
}

/* What the members without a place were charged ends; the decisions from a
 * mark on start the others. */
static void give_back_rest(struct round *round, struct lane *lane, size_t mark)
{
    const struct sched *sched = round->sched;
    int64_t rest = round->reserve.asking_charge;

    for (size_t i = mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        rest -= decision->action == SCHED_LEASE ? decision->charge : 0;
    }
    ASSERT(rest >= 0); /* members are charged parts of what all were */
    share_give_back(lane, rest);
}

/* Try to place what is asked for by `count` jobs, with those victims that its
 * turn in the order of all would give it, and those that yield to it. */
static bool try_place(struct round *round, const struct claim *claim,
                      uint32_t count)
{
    struct reserve *reserve = &round->reserve;
    struct cost own =
        lane_new_cost(round, claim->lane, admission_request(round, claim));

    /* One entry is tried at a time, and is in the list. */
    ASSERT(reserve->asking == 0 && claim->serial > 0);
    reserve->asking = claim->serial;
    reserve->asking_charge =
        admitted_find(round->sched, round->p, claim->job)->charge;
    reserve->asking_count = count;
    reserve->ordinal_min = evict_turn(round, claim->level, &own);
    if (claim->lane->is_by_apps) {
        reserve->own =
            order_hold(round, claim->lane, claim_list(round->sched, claim));
    }
    bool is_placed =
        claim->is_gang ? try_gang(round, claim) : try_job(round, claim);
    reserve->own = NULL;
    reserve->asking = 0;
    reserve->ordinal_min = 0;
    return is_placed;
}

/* Try to start an entry, if limits on starts and what is of no node let it. */
static bool try_entry(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;
    uint32_t count =
        claim->is_gang ? sched->gangs.items[claim->item].waiting.count : 1;
    size_t mark = sched->decisions.count;

    if (!round_may_start(round, claim->lane, claim->job, count,
                         admission_request(round, claim))) {
        if (claim->lane->head_count == 0) { /* so held back is all of it */
            lane_refresh_new(round, claim->lane);
        }
        return false;
    }
    struct resource_vec least = admission_least(round, claim);
    if (floating_short(sched, round->p, &round->used, &least) >= 0 ||
        !try_place(round, claim, count)) {
        return false;
    }
    give_back_rest(round, claim->lane, mark);
    round_settle_gangs(round, mark);
    lane_refresh(round, claim->lane);
    return true;
}

/* Try an entry, unless the plan's work is used up, this sweep has tried it
 * before, or the plan took some of the gang: that starts nobody now, so it asks
 * no limit on starts either. */
static bool try_in_turn(struct round *round, const struct claim *claim)
{
    struct sched *sched = round->sched;
    struct gang *gang =
        claim->is_gang ? &sched->gangs.items[claim->item] : NULL;

    if (round->is_spent || (gang ? sweep_missed_gang(round, gang)
                                 : sweep_missed_job(round, claim->item))) {
        return false;
    }
    if (gang && gang->planned == sched->plan_count) {
        return false;
    }
    bool is_placed = try_entry(round, claim);
    if (round->is_truncated) {
        return false;
    }
    sweep_step(round);
    if (!is_placed && gang) {
        sweep_miss_gang(round, gang);
    } else if (!is_placed) {
        sweep_miss_job(round, claim->item);
    }
    return is_placed;
}

/* Whether some nodes do not take work for the moment. */
static bool has_closed_nodes(const struct round *round)
{
    const struct sched *sched = round->sched;

    for (uint32_t i = 0; i < sched->nodes.count; i++) {
        if (sched->nodes.items[i].pool == round->p &&
            sched->nodes.items[i].record &&
            !sched->nodes.items[i].is_accepting) {
            return true;
        }
    }
    return false;
}

/* Lifetimes that the entry waits for. */
static void wake_for_revocables(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;

    for (size_t i = 0; i < sched->revocables.count; i++) {
        const struct run *run = &sched->runs.items[sched->revocables.items[i]];
        if (run->revocable_for == claim->serial &&
            run->yields_from_ms > round->now_ms) {
            round_wake_by(round, run->yields_from_ms);
        } else if (run->revocable_for == claim->serial) {
            int64_t lived_ms = evictable_lived_ms(sched, run);
            if (lived_ms > round->now_ms) {
                round_wake_by(round, lived_ms);
            }
        }
    }
}

/* What a claim asks for counts in its lane (`sign` 1), or no longer (-1). */
static void count_claim(struct round *round, const struct claim *claim,
                        const struct resource_vec *own, int sign)
{
    amounts_count(&claim->lane->all, own, sign);
    share_count_claim(round, claim, sign);
}

/* An entry, which does not count now, is let go; the flow falls by that. */
static void dismiss(struct round *round, struct admission_entry *entry,
                    const struct resource_vec *own)
{
    const struct claim *claim = &entry->claim;

    entry->is_done = true;
    admission_decide(round, SCHED_DISMISS, claim->job, SCHED_START_UNKNOWN);
    count_claim(round, claim, own, 1);
    share_fall(round, claim->lane);
    count_claim(round, claim, own, -1);
    share_give_back(claim->lane,
                    admitted_find(round->sched, round->p, claim->job)->charge);
    lane_refresh(round, claim->lane);
}

/* An entry has started, maybe without some of its gang, which counted before:
 * the flow does not fall by that. */
static void note_started(struct round *round, struct lane *lane,
                         const struct resource_vec *all,
                         const struct resource_vec *infinite)
{
    if (memcmp(all, &lane->all, sizeof(*all)) != 0) {
        share_fell(round, lane, all, infinite);
        lane_refresh(round, lane);
    }
}

/* What the lane of the entry at `at` has admitted beside it that still waits;
 * in `ret_earlier` what is before it. */
static struct resource_vec sum_others(const struct round *round, uint32_t at,
                                      struct resource_vec *ret_earlier)
{
    const struct reserve *reserve = &round->reserve;
    const struct lane *lane = reserve->entries[at].claim.lane;
    struct resource_vec sum = {0};

    *ret_earlier = sum;
    for (uint32_t i = 0; i < reserve->count; i++) {
        const struct admission_entry *entry = &reserve->entries[i];
        if (i == at) {
            *ret_earlier = sum;
        } else if (!entry->is_done && entry->claim.lane == lane) {
            amounts_add(&sum, admission_request(round, &entry->claim));
        }
    }
    return sum;
}

/* The entry at `at` is asked as if its lane had admitted nothing else; but
 * what came before it counts in the quota. */
static struct share_whole leave_out_others(struct round *round, uint32_t at)
{
    struct lane *lane = round->reserve.entries[at].claim.lane;
    struct resource_vec none = {0}, earlier, others;

    if (round->sched->policy->rules_revision < POLICY_RULES_LIMITS) {
        return share_leave_out(round, lane, &none);
    }
    others = sum_others(round, at, &earlier);
    if (lane->quota) {
        lane->quota->earlier = earlier;
    }
    return share_leave_out(round, lane, &others);
}

static void put_back_others(struct round *round, struct lane *lane,
                            const struct share_whole *whole)
{
    if (lane->quota) {
        lane->quota->earlier = (struct resource_vec){0};
    }
    share_put_back(round, lane, whole);
}

/* Try an entry, or reserve for it; false: neither can be. */
static bool try_or_hold(struct round *round, struct admission_entry *entry)
{
    const struct claim *claim = &entry->claim;

    if (!may_ever(round, claim)) {
        return false;
    }
    entry->is_done = is_let(round, claim) && try_in_turn(round, claim);
    return entry->is_done || round->is_truncated ||
           admission_reserve(round, claim) || has_closed_nodes(round);
}

/* The turn of the entry at `at`. */
static void pass_entry(struct round *round, uint32_t at)
{
    struct admission_entry *entry = &round->reserve.entries[at];
    const struct claim *claim = &entry->claim;
    struct lane *lane = claim->lane;
    const struct resource_vec own = *admission_request(round, claim);
    const struct resource_vec all = lane->all;
    const struct resource_vec infinite =
        lane->limits ? lane->limits->infinite : (struct resource_vec){0};

    ASSERT(!entry->is_done);
    count_claim(round, claim, &own, -1);
    struct share_whole whole = leave_out_others(round, at);
    bool is_possible = try_or_hold(round, entry);
    put_back_others(round, lane, &whole);
    if (entry->is_done) {
        note_started(round, lane, &all, &infinite);
        lane_refresh(round, lane); /* it was put in order without the others */
    }
    if (entry->is_done || round->is_truncated) {
        return;
    }
    if (!is_possible) {
        dismiss(round, entry, &own);
        return;
    }
    count_claim(round, claim, &own, 1);
    /* A try that was undone may have put the lane in order without it. */
    lane_refresh(round, lane);
    wake_for_revocables(round, claim);
}

void admission_pass(struct round *round)
{
    struct reserve *reserve = &round->reserve;

    for (uint32_t i = 0; i < reserve->count && !round->is_truncated; i++) {
        pass_entry(round, i);
    }
}
