/* Tries admitted work before all other work. */
#include "sched/evict/evictable.h"
#include "sched/fairness/admitted.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/reserve/admission_private.h"

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

    if (!admission_may_ever(round, claim)) {
        return false;
    }
    entry->is_done =
        admission_is_let(round, claim) && admission_try(round, claim);
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
