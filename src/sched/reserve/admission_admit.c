/* Admits work that finds no room, and reserves nodes for the first. */

#include "base/time_add.h"
#include "sched/fairness/admitted.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/reserve/admission_private.h"
#include "sched/reserve/limit_wait.h"

void admission_order_lanes(struct round *round)
{
    struct reserve *reserve = &round->reserve;

    enum backfill_order order = window_policy(round)->backfill_order;

    if (!reserve->hold || reserve->order == order ||
        order == BACKFILL_SHORTEST_BOUNDED) { /* it holds from the beginning */
        return;
    }
    reserve->order = order;
    for (uint32_t i = 0; i < round->lane_count; i++) {
        lane_reorder(round, &round->lanes[i]);
    }
}

/* The entry of a claim in the pool's list; NULL: it has just been let in. */
static const struct admitted *entry_of(const struct round *round,
                                       const struct claim *claim)
{
    return claim->serial ? admitted_find(round->sched, round->p, claim->job)
                         : NULL;
}

/* From when on what takes a place for fairness yields to a claim: from t* on,
 * or from the start that was promised; and it is kept from the claim no longer
 * than a queue may starve, but at least for a cooldown.  A promise that was
 * broken says nothing. */
static void date_yields(const struct round *round, const struct claim *claim,
                        struct reservation *made)
{
    int64_t starved_ms = window_policy(round)->starved_after_ms;
    int64_t least_ms =
        time_add_saturating(round->now_ms, round->sched->policy->cooldown_ms);
    const struct admitted *entry = entry_of(round, claim);
    int64_t since_ms = entry ? entry->since_ms : round->now_ms;
    int64_t most_ms =
        starved_ms ? time_add_saturating(since_ms, starved_ms) : INT64_MAX;
    bool is_promised = entry && entry->start_ms > round->now_ms &&
                       entry->start_ms < made->start_ms;

    most_ms = most_ms > least_ms ? most_ms : least_ms;
    made->promised_ms = is_promised ? entry->start_ms : made->start_ms;
    made->fair_ms = made->promised_ms < most_ms ? made->promised_ms : most_ms;
}

/* Whether nothing is reserved for a claim yet, though it could have that: its
 * start is unknown or far away, it has not waited long enough, and no start was
 * promised to it. */
static bool put_off(struct round *round, const struct claim *claim,
                    int64_t start_ms)
{
    const struct admitted *entry = entry_of(round, claim);
    int64_t delay_ms = window_policy(round)->reservation_delay_ms;
    int64_t since_ms = entry ? entry->since_ms : round->now_ms;
    int64_t from_ms = time_add_saturating(since_ms, delay_ms);

    if ((entry && entry->start_ms != SCHED_START_UNKNOWN) ||
        from_ms <= round->now_ms ||
        start_ms <= time_add_saturating(round->now_ms, delay_ms)) {
        return false;
    }
    round_wake_by(round, from_ms);
    return true;
}

bool admission_reserve(struct round *round, const struct claim *claim)
{
    struct reserve *reserve = &round->reserve;
    struct resource_vec least = admission_least(round, claim);

    if (reserve->hold || !window_policy(round)->has_backfill) {
        return true;
    }
    /* What goes before it, in the pool or in its queue, waits for its
     * reservation or for a limit. */
    if (reserve->is_put_off || claim->lane->held) {
        return reserve_is_possible(round, claim);
    }
    int64_t let_ms = limit_wait_until(round, claim, &least);
    if (let_ms == SCHED_START_UNKNOWN) {
        if (!reserve_is_possible(round, claim)) {
            return false;
        }
        limit_wait_hold(round, claim, &least, admission_request(round, claim),
                        let_ms);
        return true;
    }
    if (!reserve_make(round, claim, &reserve->made)) {
        return false;
    }
    if (reserve->made.start_ms < let_ms) {
        reserve->made.start_ms = let_ms;
    }
    if (put_off(round, claim, reserve->made.start_ms)) {
        reserve->is_put_off = true;
        return true;
    }
    reserve->hold = &reserve->made;
    limit_wait_hold(round, claim, &least, admission_request(round, claim),
                    reserve->made.start_ms);
    date_yields(round, claim, &reserve->made);
    ASSERT(reserve->made.fair_ms <= reserve->made.start_ms);
    return true;
}

void admission_decide(struct round *round, enum sched_action action,
                      uint32_t job, int64_t start_ms)
{
    round_decide(round, (struct sched_decision){
                            .action = action,
                            .job = job,
                            .node = NONE,
                            .for_job = NONE,
                            .pool_index = (uint32_t)round->pool->policy_index,
                            .start_ms = start_ms,
                        });
    round->group++;
}

static bool is_admitted_elsewhere(const struct sched *sched, uint32_t item,
                                  bool is_gang)
{
    return is_gang ? sched->gangs.items[item].is_admitted
                   : sched->job_flags.items[item] & JOB_ADMITTED;
}

/* An entry is admitted: it is in the list, and counts in its lane. */
static void let_in(struct round *round, struct admission_entry entry)
{
    struct sched *sched = round->sched;
    const struct claim *claim = &entry.claim;

    ASSERT(!is_admitted_elsewhere(sched, claim->item, claim->is_gang));
    admission_add(round, entry);
    int64_t charge = share_admit(round, claim->lane);
    amounts_add(&claim->lane->all, admission_request(round, claim));
    share_count_claim(round, claim, 1);
    if (claim->is_gang) {
        sched->gangs.items[claim->item].is_admitted = true;
    } else {
        sched->job_flags.items[claim->item] |= JOB_ADMITTED;
    }
    admission_decide(round, SCHED_ADMIT, claim->job, entry.start_ms);
    sched->decisions.items[sched->decisions.count - 1].charge = charge;
}

bool admission_admit(struct round *round, struct lane *lane, uint32_t item,
                     bool is_gang)
{
    struct sched *sched = round->sched;
    const struct reserve *reserve = &round->reserve;

    if (!window_is_open(round, lane) ||
        is_admitted_elsewhere(sched, item, is_gang)) {
        return false;
    }
    if (sched->decisions.count &&
        sched->decisions.count >= round->decision_max) {
        round->is_truncated = true;
        return true;
    }
    struct admission_entry entry = {
        .claim = {lane, is_gang ? sched->gangs.items[item].position : item,
                  item, 0, lane->level[STREAM_NEW], is_gang},
        .start_ms = SCHED_START_UNKNOWN,
    };
    bool is_first = !reserve->hold;
    /* What comes behind the first is first one day, and then sent back if
     * nothing can be reserved for it; so it is not let in. */
    if (!admission_reserve(round, &entry.claim) ||
        (!is_first && window_policy(round)->has_backfill &&
         !reserve_is_possible(round, &entry.claim))) {
        return false;
    }
    if (is_first && reserve->hold) {
        entry.start_ms = reserve->hold->start_ms;
    }
    entry.claim.serial = UINT32_MAX; /* after those of the list */
    let_in(round, entry);
    return true;
}

void admission_end(struct round *round)
{
    const struct reservation *hold = round->reserve.hold;

    if (round->reserve.has_window) {
        reserve_keep(round, hold);
    }
    for (uint32_t i = 0; hold && i < round->reserve.count; i++) {
        const struct admission_entry *entry = &round->reserve.entries[i];
        bool is_due = round->kind == ROUND_BALANCE ||
                      entry->start_ms == SCHED_START_UNKNOWN;
        if (entry->claim.serial == hold->serial && hold->serial &&
            !entry->is_done && is_due && hold->start_ms < entry->start_ms) {
            admission_decide(round, SCHED_ADMIT, entry->claim.job,
                             hold->start_ms);
        }
    }
}
