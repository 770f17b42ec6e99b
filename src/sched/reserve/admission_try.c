/* Tries to start an admitted job or gang. */
#include "sched/evict/cooldown.h"
#include "sched/evict/evict.h"
#include "sched/fairness/admitted.h"
#include "sched/gang/gang.h"
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

bool admission_is_let(struct round *round, const struct claim *claim)
{
    struct resource_vec least = admission_least(round, claim);

    return lane_is_within(round, claim->lane,
                          class_of_job(round->sched, claim->job), &least);
}

bool admission_may_ever(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;
    struct resource_vec least = admission_least(round, claim);
    uint32_t pool = claim->is_gang
                        ? gang_pool(sched, &sched->gangs.items[claim->item])
                        : NONE;

    return (pool == NONE || pool == round->p) &&
           !sched->queues.items[claim->lane->queue].is_cordoned &&
           order_allows(round, claim->lane, claim_list(round->sched, claim)) &&
           (admission_is_let(round, claim) ||
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

/* Try to place `count` jobs.  They may preempt whom their turn in the common
 * order would let them preempt, and runs that are revocable for them. */
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

bool admission_try(struct round *round, const struct claim *claim)
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
