#include "sched/head.h"

#include "sched/admitted.h"
#include "sched/away.h"
#include "sched/floating.h"
#include "sched/lane_share.h"
#include "sched/lanes.h"
#include "sched/lend.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/sweep.h"
#include "sched/truce.h"

/* Taking over the list. */

static const struct pool_policy *policy_of(const struct round *round)
{
    return &round->sched->policy->pools[round->pool->policy_index];
}

static const struct resource_vec *request_of(const struct round *round,
                                             const struct claim *claim)
{
    const struct sched *sched = round->sched;

    return claim->is_gang
               ? &sched->gangs.items[claim->item].waiting_sum
               : &class_at(round, class_of_job(sched, claim->item))->request;
}

/* Whether `a` is tried before `b`. */
static bool is_before(const struct head_entry *a, const struct head_entry *b)
{
    return a->claim.level != b->claim.level ? a->claim.level > b->claim.level
                                            : a->claim.serial < b->claim.serial;
}

static struct head_entry *add_entry(struct round *round,
                                    struct head_entry entry)
{
    struct reserve *reserve = &round->reserve;

    if (!reserve->entries) {
        size_t count = round->pool->admitted.count +
                       (size_t)policy_of(round)->admitted_window *
                           round->sched->level_count;
        reserve->entries =
            arena_alloc_array(round->arena, count, sizeof(*reserve->entries));
    }
    uint32_t at = reserve->count++;
    while (at > 0 && is_before(&entry, &reserve->entries[at - 1])) {
        reserve->entries[at] = reserve->entries[at - 1];
        at--;
    }
    reserve->entries[at] = entry;
    return &reserve->entries[at];
}

/* What another pool of the plan has started waits here no longer; the flow
 * does not fall by that. */
static void forget_started(struct round *round, const struct claim *claim,
                           int64_t charge)
{
    struct lane *lane = claim->lane;
    struct resource_vec all = lane->all;

    amounts_add(&all, request_of(round, claim));
    share_fell(round, lane, &all,
               lane->limits ? &lane->limits->infinite : NULL);
    share_count_claim(round, claim, -1);
    share_give_back(lane, charge);
}

void head_begin(struct round *round)
{
    struct sched *sched = round->sched;
    const struct pool *pool = round->pool;

    if (policy_of(round)->admitted_window == 0) {
        return;
    }
    round->reserve.has_window = true;
    for (size_t i = 0; i < pool->admitted.count; i++) {
        const struct admitted *admitted = &pool->admitted.items[i];
        uint32_t job = admitted_job(sched, admitted);
        uint32_t lane = round->lane_of_queue[admitted->queue];
        if (job == NONE || lane == NONE) {
            continue;
        }
        struct head_entry entry = {
            .claim = {&round->lanes[lane], job, admitted->item,
                      admitted->serial, admitted_level(sched, admitted),
                      admitted->is_gang},
            .start_ms = admitted->start_ms,
        };
        if (sched->job_flags.items[job] & JOB_PLANNED) {
            forget_started(round, &entry.claim, admitted->charge);
            continue;
        }
        amounts_add(&round->lanes[lane].all, request_of(round, &entry.claim));
        add_entry(round, entry);
    }
}

/* Those of at least this level that still wait; of one queue, or of all
 * (lane NULL). */
static uint32_t count_waiting(const struct round *round, uint32_t level,
                              const struct lane *lane)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct head_entry *entry = &round->reserve.entries[i];
        count += !entry->is_done && entry->claim.level >= level &&
                 (!lane || entry->claim.lane == lane);
    }
    return count;
}

static bool has_room(const struct round *round, uint32_t level,
                     const struct lane *lane)
{
    const struct pool_policy *policy = policy_of(round);

    return round->pool->admitted.count + round->reserve.count < ADMITTED_MAX &&
           count_waiting(round, level, NULL) < policy->admitted_window &&
           count_waiting(round, level, lane) <
               policy->admitted_window_per_queue;
}

bool head_has_window_at(const struct round *round, const struct lane *lane,
                        uint32_t level)
{
    return round->reserve.has_window && !round->is_filling &&
           has_room(round, level, lane);
}

bool head_waits(const struct round *round)
{
    for (uint32_t i = 0; i < round->reserve.count; i++) {
        if (!round->reserve.entries[i].is_done) {
            return true;
        }
    }
    return false;
}

bool head_has_window(const struct round *round, const struct lane *lane)
{
    return lane->head_count &&
           head_has_window_at(
               round, lane,
               round->sched->lists.items[lane->heads[0].list].level);
}

bool head_is_closed(const struct round *round, const struct lane *lane)
{
    const struct pool_policy *policy = policy_of(round);

    if (!round->reserve.count || (policy->has_backfill && !policy->is_strict)) {
        return false;
    }
    uint32_t level = round->sched->lists.items[lane->heads[0].list].level;
    return policy->is_strict ? !has_room(round, level, lane)
                             : count_waiting(round, level, NULL) > 0;
}

bool head_has(const struct round *round, uint32_t item, bool is_gang)
{
    for (uint32_t i = 0; i < round->reserve.count; i++) {
        const struct claim *claim = &round->reserve.entries[i].claim;
        if (claim->item == item && claim->is_gang == is_gang) {
            return true;
        }
    }
    return false;
}

/* The reservation. */

void head_order_lanes(struct round *round)
{
    struct reserve *reserve = &round->reserve;

    if (!reserve->hold || reserve->is_shortest_first ||
        policy_of(round)->backfill_order != BACKFILL_SHORTEST_FIRST) {
        return;
    }
    reserve->is_shortest_first = true;
    for (uint32_t i = 0; i < round->lane_count; i++) {
        lane_reorder(round, &round->lanes[i]);
    }
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

/* Reserve for the first that has no room; false when it can have none.  What
 * it asks for does not count in its lane now. */
static bool hold_for(struct round *round, const struct claim *claim)
{
    struct reserve *reserve = &round->reserve;

    if (reserve->hold || !policy_of(round)->has_backfill) {
        return true;
    }
    if (!reserve_make(round, claim, &reserve->made)) {
        return false;
    }
    reserve->hold = &reserve->made;
    return true;
}

static void decide(struct round *round, enum sched_action action, uint32_t job,
                   int64_t start_ms)
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

/* Admission. */

static bool is_admitted_elsewhere(const struct sched *sched, uint32_t item,
                                  bool is_gang)
{
    return is_gang ? sched->gangs.items[item].is_admitted
                   : sched->job_flags.items[item] & JOB_ADMITTED;
}

bool head_admit(struct round *round, struct lane *lane, uint32_t item,
                bool is_gang)
{
    struct sched *sched = round->sched;
    const struct reserve *reserve = &round->reserve;

    if (!head_has_window(round, lane) ||
        is_admitted_elsewhere(sched, item, is_gang)) {
        return false;
    }
    if (sched->decisions.count &&
        sched->decisions.count >= round->decision_max) {
        round->is_cut = true;
        return true;
    }
    struct head_entry entry = {
        .claim = {lane, is_gang ? sched->gangs.items[item].position : item,
                  item, 0, lane->level[STREAM_NEW], is_gang},
        .start_ms = SCHED_START_UNKNOWN,
    };
    bool is_first = !reserve->hold;
    /* What comes behind the first is first one day, and then sent back if
     * nothing can be reserved for it; so it is not let in. */
    if (!hold_for(round, &entry.claim) ||
        (!is_first && policy_of(round)->has_backfill &&
         !reserve_is_possible(round, &entry.claim))) {
        return false;
    }
    if (is_first && reserve->hold) {
        entry.start_ms = reserve->hold->start_ms;
    }
    entry.claim.serial = UINT32_MAX; /* after those of the list */
    add_entry(round, entry);
    int64_t charge = share_admit(round, lane);
    amounts_add(&lane->all, request_of(round, &entry.claim));
    share_count_claim(round, &entry.claim, 1);
    if (is_gang) {
        sched->gangs.items[item].is_admitted = true;
    } else {
        sched->job_flags.items[item] |= JOB_ADMITTED;
    }
    decide(round, SCHED_ADMIT, entry.claim.job, entry.start_ms);
    sched->decisions.items[sched->decisions.count - 1].charge = charge;
    return true;
}

/* The pass. */

static uint32_t list_of(const struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;

    return claim->is_gang ? sched->gangs.items[claim->item].list
                          : sched->jobs.items[claim->item].list;
}

/* What must start of the claim at once. */
static struct resource_vec least_of(const struct round *round,
                                    const struct claim *claim)
{
    return claim->is_gang ? gang_least(round->sched, claim->item)
                          : *request_of(round, claim);
}

/* Whether rates, limits and the queue let the claim's work start at all; a
 * rate only makes it wait. */
static bool may_ever(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;
    struct resource_vec least = least_of(round, claim);

    return !sched->queues.items[claim->lane->queue].is_cordoned &&
           order_allows(round, claim->lane, list_of(round, claim)) &&
           lane_is_within(round, claim->lane, class_of_job(sched, claim->job),
                          &least);
}

static bool try_job(struct round *round, const struct claim *claim)
{
    struct sched *sched = round->sched;
    uint32_t class_index = class_of_job(sched, claim->job);
    struct search search = {round, class_index, claim->job, NULL};
    size_t journal_mark = sched->journal.count;
    size_t decision_mark = sched->decisions.count;
    uint32_t node = place_find(&search);

    node = node == NONE ? away_find(&search) : node;
    if (node == NONE && round->kind == ROUND_BALANCE) {
        node = victims_find(&search);
        node = node == NONE ? away_find_victims(&search) : node;
    }
    if (node == NONE) {
        return false;
    }
    if (decision_mark > 0 && sched->decisions.count + 1 > round->decision_max) {
        place_rollback(round, journal_mark);
        round_undecide(round, decision_mark);
        round->is_cut = true;
        return false;
    }
    class_index = search.class_index;
    const struct class *class = class_at(round, class_index);
    int64_t charge = share_take(round, claim->lane, class, 0);
    place_put(round, claim->lane, class_index, node, 1);
    gang_started(round, claim->lane, 1, &class->request);
    if (claim->lane->is_stepwise) {
        order_leased(round, claim->job);
    }
    round_decide(round, (struct sched_decision){
                            .action = SCHED_LEASE,
                            .job = claim->job,
                            .node = node,
                            .priority = sched->level_priority[class->level],
                            .charge = charge,
                            .for_job = NONE,
                        });
    truce_mark(round, decision_mark);
    round->group++;
    return true;
}

static bool try_gang(struct round *round, const struct claim *claim)
{
    switch (gang_place(round, claim->lane, claim->item)) {
    case GANG_PLACED:
        return true;
    case GANG_CUT:
        round->is_cut = true;
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
    share_give_back(lane, rest);
}

/* Try to place an entry, with those victims that its turn in the order of all
 * would give it, and those that yield to it. */
static bool try_entry(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;
    uint32_t count =
        claim->is_gang ? sched->gangs.items[claim->item].waiting.count : 1;
    size_t mark = sched->decisions.count;

    if (!round_may_start(round, claim->lane, count, request_of(round, claim))) {
        if (claim->lane->head_count == 0) { /* so held back is all of it */
            lane_refresh_new(round, claim->lane);
        }
        return false;
    }
    struct resource_vec least = least_of(round, claim);
    if (floating_short(sched, round->p, &round->used, &least) >= 0) {
        return false;
    }
    struct cost own =
        lane_new_cost(round, claim->lane, request_of(round, claim));
    round->reserve.asking = claim->serial;
    round->reserve.asking_charge =
        admitted_find(sched, round->p, claim->job)->charge;
    round->reserve.asking_count = count;
    round->reserve.ordinal_min = evict_turn(round, claim->level, &own);
    if (claim->lane->is_by_apps) {
        round->reserve.own =
            order_hold(round, claim->lane, list_of(round, claim));
    }
    bool is_placed =
        claim->is_gang ? try_gang(round, claim) : try_job(round, claim);
    round->reserve.own = NULL;
    round->reserve.asking = 0;
    round->reserve.ordinal_min = 0;
    if (is_placed) {
        give_back_rest(round, claim->lane, mark);
        round_settle_gangs(round, mark);
        lane_refresh(round, claim->lane);
    }
    return is_placed;
}

/* Lifetimes that the entry waits for. */
static void wake_for_yielders(struct round *round, const struct claim *claim)
{
    const struct sched *sched = round->sched;

    for (size_t i = 0; i < sched->yielders.count; i++) {
        const struct run *run = &sched->runs.items[sched->yielders.items[i]];
        if (run->yields_to == claim->serial) {
            round_wake_for(round, run);
        }
    }
}

/* A dismissed entry counts no longer, at once. */
static void forget_entry(struct round *round, const struct claim *claim,
                         const struct resource_vec *own)
{
    struct lane *lane = claim->lane;

    share_fall(round, lane);
    amounts_subtract(&lane->all, own);
    share_count_claim(round, claim, -1);
    share_give_back(lane,
                    admitted_find(round->sched, round->p, claim->job)->charge);
    lane_refresh(round, lane);
}

/* Try an entry, unless the plan's work is used up, or this sweep has tried it
 * before. */
static bool try_in_turn(struct round *round, const struct claim *claim)
{
    struct sched *sched = round->sched;
    struct gang *gang =
        claim->is_gang ? &sched->gangs.items[claim->item] : NULL;

    if (round->is_spent || (gang ? sweep_missed_gang(round, gang)
                                 : sweep_missed_job(round, claim->item))) {
        return false;
    }
    bool is_placed = try_entry(round, claim);
    if (round->is_cut) {
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

void head_pass(struct round *round)
{
    struct reserve *reserve = &round->reserve;

    for (uint32_t i = 0; i < reserve->count && !round->is_cut; i++) {
        struct head_entry *entry = &reserve->entries[i];
        struct claim *claim = &entry->claim;
        struct resource_vec own = *request_of(round, claim);
        struct lane *lane = claim->lane;
        const struct resource_vec all = lane->all;
        const struct resource_vec infinite =
            lane->limits ? lane->limits->infinite : (struct resource_vec){0};
        amounts_subtract(&lane->all, &own);
        share_count_claim(round, claim, -1);
        bool is_possible = may_ever(round, claim);
        entry->is_done = is_possible && try_in_turn(round, claim);
        if (entry->is_done) {
            note_started(round, lane, &all, &infinite);
        }
        if (entry->is_done || round->is_cut) {
            continue;
        }
        if (!is_possible ||
            (!hold_for(round, claim) && !has_closed_nodes(round))) {
            entry->is_done = true;
            decide(round, SCHED_DISMISS, claim->job, SCHED_START_UNKNOWN);
            amounts_add(&lane->all, &own);
            share_count_claim(round, claim, 1);
            forget_entry(round, claim, &own);
            continue;
        }
        amounts_add(&lane->all, &own);
        share_count_claim(round, claim, 1);
        /* A try that was undone may have put the lane in order without it. */
        lane_refresh(round, lane);
        wake_for_yielders(round, claim);
    }
}

void head_end(struct round *round)
{
    const struct reservation *hold = round->reserve.hold;

    if (round->reserve.has_window) {
        reserve_keep(round->sched, round->p, hold);
    }
    for (uint32_t i = 0; hold && i < round->reserve.count; i++) {
        const struct head_entry *entry = &round->reserve.entries[i];
        bool is_due = round->kind == ROUND_BALANCE ||
                      entry->start_ms == SCHED_START_UNKNOWN;
        if (entry->claim.serial == hold->serial && hold->serial &&
            !entry->is_done && is_due && hold->start_ms < entry->start_ms) {
            decide(round, SCHED_ADMIT, entry->claim.job, hold->start_ms);
        }
    }
}
