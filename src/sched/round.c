#include <string.h>

#include "sched/away.h"
#include "sched/floating.h"
#include "sched/growth.h"
#include "sched/head.h"
#include "sched/heap.h"
#include "sched/lane_share.h"
#include "sched/lanes.h"
#include "sched/lend.h"
#include "sched/order.h"
#include "sched/penalty.h"
#include "sched/quota.h"
#include "sched/rates.h"
#include "sched/starving.h"
#include "sched/sweep.h"
#include "sched/truce.h"
#include "sched/victims.h"

/* How a lease is let past what waits for its node, as urgent as it is there. */
static void note_pass(const struct round *round,
                      struct sched_decision *decision)
{
    const struct reservation *hold = round->reserve.hold;
    const struct reservation *own = round->reserve.own;

    if (!hold && !own) {
        return;
    }
    const struct class *class =
        class_at(round, class_of_job(round->sched, decision->job));
    struct class away;
    uint32_t level = level_of(round->sched, decision->priority);
    if (class->level != level) {
        away = *class;
        away.level = (uint8_t)level;
        class = &away;
    }
    enum pass pass = reserve_pass(round, hold, class, decision->node);
    decision->is_backfilled = pass == PASS_BOUND || pass == PASS_YIELDS;
    if (pass == PASS_YIELDS) {
        decision->yields_to = hold->job;
        decision->yields_at_once = round->is_growing;
    }
    if (own && decision->yields_to == NONE &&
        reserve_pass(round, own, class, decision->node) == PASS_YIELDS) {
        decision->is_backfilled = true;
        decision->yields_to = own->job;
    }
}

void round_decide(struct round *round, struct sched_decision decision)
{
    decision.group = round->group;
    decision.yields_to = NONE;
    if (decision.action == SCHED_LEASE) {
        note_pass(round, &decision);
    }
    VEC_PUSH(&round->sched->decisions, decision);
    if (decision.action == SCHED_LEASE || decision.action == SCHED_FAIL) {
        round->sched->job_flags.items[decision.job] |= JOB_PLANNED;
    }
}

void round_undecide(struct round *round, size_t mark)
{
    struct sched *sched = round->sched;

    for (size_t i = mark; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        uint32_t list = sched->jobs.items[decision->job].list;
        uint32_t lane = round->lane_of_queue[sched->lists.items[list].queue];
        if (decision->charge && lane != NONE && !round->reserve.asking) {
            share_give_back(&round->lanes[lane], decision->charge);
        }
    }
    sched->decisions.count = mark;
}

void round_settle_gangs(struct round *round, size_t first)
{
    struct sched *sched = round->sched;

    for (size_t i = first; i < sched->decisions.count; i++) {
        const struct sched_decision *decision = &sched->decisions.items[i];
        const struct job *job = &sched->jobs.items[decision->job];
        if (decision->action != SCHED_PREEMPT || job->gang == NONE) {
            continue;
        }
        struct gang *gang = &sched->gangs.items[job->gang];
        uint32_t lane = round->lane_of_queue[gang->queue];
        gang->planned = sched->plan_count;
        if (lane != NONE) {
            lane_refresh_new(round, &round->lanes[lane]);
        }
    }
}

void round_wake_by(struct round *round, int64_t when_ms)
{
    round->wake_ms = when_ms < round->wake_ms ? when_ms : round->wake_ms;
}

void round_wake_held(struct round *round, const struct resource_vec *request)
{
    int64_t when_ms = INT64_MIN;

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 && round->held_columns >> r & 1) {
            int64_t at_ms =
                bucket_when(&round->pool->start[r], &round->rate_start[r],
                            request->v[r], round->now_ms);
            when_ms = at_ms > when_ms ? at_ms : when_ms;
        }
    }
    if (when_ms > round->now_ms) {
        round_wake_by(round, when_ms);
    }
}

bool round_may_start(struct round *round, struct lane *lane, uint32_t count,
                     const struct resource_vec *request)
{
    struct sched *sched = round->sched;
    struct bucket *queue = &sched->queues.items[lane->queue].bucket;
    bool may = true;

    if (round->are_starts_over || lane->are_starts_over) {
        lane->head_count = 0;
        return false;
    }
    if (!bucket_has(&sched->bucket, &round->rate_all, count, round->now_ms)) {
        round->are_starts_over = true;
        round_wake_by(round, bucket_when(&sched->bucket, &round->rate_all,
                                         count, round->now_ms));
        return false;
    }
    if (!bucket_has(queue, &round->rate_queue, count, round->now_ms)) {
        round_wake_by(round, bucket_when(queue, &round->rate_queue, count,
                                         round->now_ms));
        lane->are_starts_over = true;
        lane->head_count = 0;
        return false;
    }
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        struct bucket *bucket = &round->pool->start[r];
        if (request->v[r] > 0 && round->held_columns >> r & 1) {
            may = false; /* nor what is smaller */
        } else if (request->v[r] > 0 &&
                   !bucket_has(bucket, &round->rate_start[r], request->v[r],
                               round->now_ms)) {
            round->held_columns |= 1u << r;
            round_wake_by(round, bucket_when(bucket, &round->rate_start[r],
                                             request->v[r], round->now_ms));
            may = false;
        }
    }
    if (!may && round->has_flow) {
        round_wake_held(round, request);
    }
    return may;
}

static void count_starts(struct round *round, const struct lane *lane,
                         uint32_t count, const struct resource_vec *request)
{
    struct sched *sched = round->sched;

    bucket_take(&sched->bucket, &round->rate_all, count, round->now_ms);
    bucket_take(&sched->queues.items[lane->queue].bucket, &round->rate_queue,
                count, round->now_ms);
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        bucket_take(&round->pool->start[r], &round->rate_start[r],
                    request->v[r], round->now_ms);
    }
}

/* Whether the limits of queue and class, and what is of no node, allow so much
 * more of the lane's head; a gang's members are of one priority class. */
static bool are_allowed(struct round *round, struct lane *lane,
                        const struct resource_vec *request)
{
    const struct sched *sched = round->sched;
    const struct list *list = &sched->lists.items[lane->heads[0].list];
    uint32_t class_index = list->class_index;

    if (class_index == NONE) {
        const struct gang *gang = &sched->gangs.items[lane->heads[0].item];
        class_index = class_of_job(sched, gang->position);
    }
    return lane_is_within(round, lane, class_index, request) &&
           floating_short(sched, round->p, &round->used, request) < 0;
}

/* Likewise; of a gang those must be allowed with which it may start. */
static bool is_under_limits(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct list *list = &sched->lists.items[lane->heads[0].list];

    if (are_allowed(round, lane, lane->request)) {
        return true;
    }
    if (list->class_index != NONE) {
        return false;
    }
    struct resource_vec least = gang_least(sched, lane->heads[0].item);
    return are_allowed(round, lane, &least);
}

static bool is_counting(const struct round *round)
{
    return round->rate_all.size || round->rate_queue.size ||
           round->has_start_limits;
}

/* Whether the next job of the lane's first list would be decided at once, and
 * go to the same node. */
static bool goes_on(struct round *round, struct lane *lane, uint32_t node,
                    const struct class *class, const struct heap_entry *second)
{
    struct sched *sched = round->sched;
    uint32_t lookback_max = sched->policy->lookback_max;

    if (lane->is_stepwise || is_counting(round) ||
        sched->decisions.count >= round->decision_max ||
        (lookback_max && lane->looked_count >= lookback_max) ||
        !amounts_fit(&class->request, &sched->free[node]) ||
        reserve_pass(round, round->reserve.hold, class, node) == PASS_NO ||
        sched->nodes.items[node].is_on_trial || !lane_goes_on(round, lane)) {
        return false;
    }
    if (lane->limits && !share_allows(round, lane)) {
        return false;
    }
    if (second) {
        lane->cost[STREAM_NEW] = lane_new_cost(round, lane, &class->request);
        if (lane->flow) {
            share_note(round, lane);
        }
        struct heap_entry entry = heap_entry_of(round, lane, STREAM_NEW);
        if (!heap_less(round, &entry, second)) {
            return false;
        }
    }
    return is_under_limits(round, lane);
}

/* Lease the lane's head and, when the node is the best one for its whole
 * class, whatever follows it to the same node. */
static void lease_run(struct round *round, struct lane *lane,
                      uint32_t class_index, uint32_t node, bool is_best)
{
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_index);
    const struct heap_entry *second = heap_second(round);

    lane_unfold(round, lane);
    struct head *head = &lane->heads[0];

    do {
        int64_t charge = share_take(round, lane, class, 0);
        place_put(round, lane, class_index, node, 1);
        if (is_counting(round)) {
            count_starts(round, lane, 1, &class->request);
        }
        if (lane->is_stepwise) {
            order_leased(round, head->item);
        }
        round_decide(round, (struct sched_decision){
                                .action = SCHED_LEASE,
                                .job = head->item,
                                .node = node,
                                .priority = sched->level_priority[class->level],
                                .charge = charge,
                                .for_job = NONE,
                            });
        round->group++;
        round->counters->placements++;
        lane->looked_count++;
        seq_next(&sched->lists.items[head->list].seq, &head->at);
    } while (is_best && goes_on(round, lane, node, class, second));
    lane_settle(round, lane);
}

void gang_started(struct round *round, const struct lane *lane, uint32_t count,
                  const struct resource_vec *request)
{
    round->counters->placements += count;
    if (is_counting(round)) {
        count_starts(round, lane, count, request);
    }
}

/* Nothing of the class can be placed any more: no queue waits with it. */
static void give_up(struct round *round, struct class *class)
{
    uint32_t at = class->lane_first;

    while (at != NONE) {
        uint32_t next = round->lanes[at].class_next;
        lane_refresh_new(round, &round->lanes[at]);
        at = next;
    }
}

/* There is no room for the lane's head. */
static void pass_over(struct round *round, struct lane *lane)
{
    struct reserve *reserve = &round->reserve;
    const struct pool_policy *policy =
        &round->sched->policy->pools[round->pool->policy_index];

    lane->looked_count++;
    if (reserve->has_refused &&
        ++reserve->candidate_count >= policy->backfill_candidates_max) {
        round->are_starts_over = true;
    }
    reserve->has_refused = false;
}

/* The window let one more in: what was tried only for it is out, everywhere. */
static void narrow_window(struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        lane_refresh_new(round, &round->lanes[i]);
    }
}

/* Whether whom preemption serves is not the same for all jobs of a class: the
 * surplus of gangs with terms yields to some queues, and not to others. */
static bool has_surplus(const struct round *round)
{
    return round->sched->terms_run_count && round->kind == ROUND_BALANCE &&
           !round->is_filling;
}

/* Its like behind it need not be asked; but those of a job that is bound by a
 * truce are not to take in its stead what it may not. */
static void pass_over_flagged(struct round *round, struct lane *lane,
                              uint32_t job)
{
    if (round->sched->job_flags.items[job] & JOB_AVOIDS ||
        !truce_binds(round, job)) {
        lane_skip(round, lane);
    } else {
        lane_drop_list(round, lane);
    }
}

/* A single job at the lane's head finds no place. */
static void pass_over_job(struct round *round, struct lane *lane,
                          struct class *class)
{
    const struct sched *sched = round->sched;
    uint32_t job = lane->heads[0].item;

    if (round->reserve.own) {
        /* Room there may be, but not beside what the queue's own need. */
        order_note_held(round, lane);
        sweep_miss_job(round, job);
        lane->looked_count++;
        lane_drop_list(round, lane);
        return;
    }
    if (lane->is_by_apps) {
        order_unmet(round, lane);
    }
    bool is_admitted = head_admit(round, lane, job, false);

    pass_over(round, lane);
    if (is_admitted || sched->job_flags.items[job]) {
        sweep_miss_job(round, job);
        pass_over_flagged(round, lane, job);
    } else if (has_surplus(round) && !class->is_blocked_all) {
        lane_drop_list(round, lane);
    } else {
        if (round->is_lending) {
            lend_miss(round, class);
        } else {
            sweep_miss_class(round, class);
        }
        if (head_has_window(round, lane)) {
            sweep_bar_class(round, class);
        }
        give_up(round, class);
    }
    if (is_admitted) {
        narrow_window(round);
    }
}

/* Decide about a single job at the lane's head. */
static void step_job(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    uint32_t job = lane->heads[0].item;
    uint32_t class_index = sched->lists.items[lane->heads[0].list].class_index;
    struct class *class = class_round(round, class_index);
    struct search search = {round, class_index, job, NULL};
    bool is_special = place_is_special(&search);
    size_t journal_mark = sched->journal.count;
    size_t decision_mark = sched->decisions.count;
    uint32_t node = NONE;

    if (!class->is_blocked || class->blocked_growth != round->growth_count) {
        node = place_find(&search);
        node = node == NONE ? away_find(&search) : node;
    }
    bool is_best = node != NONE && !is_special;
    if (node == NONE && !is_special) {
        class->is_blocked = true;
        class->blocked_growth = round->growth_count;
    }
    if (node == NONE && round->kind == ROUND_BALANCE && !round->is_filling) {
        node = victims_find(&search);
        node = node == NONE ? away_find_victims(&search) : node;
        class->is_blocked_all |=
            node == NONE && !is_special && !truce_binds(round, job) &&
            (!has_surplus(round) ||
             (class->variant == NONE && !victims_may_be(&search)));
    }
    if (node == NONE) {
        pass_over_job(round, lane, class);
        return;
    }
    if (decision_mark > 0 && sched->decisions.count + 1 > round->decision_max) {
        place_rollback(round, journal_mark);
        round_undecide(round, decision_mark);
        round->is_cut = true;
        return;
    }
    lease_run(round, lane, search.class_index, node, is_best);
    if (!is_best) {
        truce_mark(round, decision_mark);
        round_settle_gangs(round, decision_mark);
    }
}

static void step_gang(struct round *round, struct lane *lane)
{
    size_t mark = round->sched->decisions.count;
    uint32_t gang = lane->heads[0].item;
    bool is_admitted = false;

    switch (gang_place(round, lane, gang)) {
    case GANG_WAITS:
        sweep_miss_gang(round, &round->sched->gangs.items[gang]);
        if (round->reserve.own) {
            order_note_held(round, lane);
        } else {
            if (lane->is_by_apps) {
                order_unmet(round, lane);
            }
            is_admitted = head_admit(round, lane, gang, true);
        }
        pass_over(round, lane);
        lane_skip(round, lane);
        if (is_admitted) {
            narrow_window(round);
        }
        break;
    case GANG_PLACED:
        lane->looked_count++;
        lane_skip(round, lane);
        round_settle_gangs(round, mark);
        break;
    case GANG_CUT:
        round->is_cut = true;
        break;
    }
}

static void step_head(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    uint32_t lookback_max = sched->policy->lookback_max;
    const struct list *list = &sched->lists.items[lane->heads[0].list];
    bool is_gang = list->class_index == NONE;
    uint32_t count =
        is_gang ? sched->gangs.items[lane->heads[0].item].waiting.count : 1;

    if (round->are_starts_over || head_is_closed(round, lane) ||
        (lookback_max && lane->looked_count >= lookback_max)) {
        lane->head_count = 0;
        return;
    }
    if (lane->is_by_apps && order_is_late(round, lane)) {
        lane_put_off(round, lane);
        return;
    }
    if (is_counting(round) &&
        !round_may_start(round, lane, count, lane->request)) {
        return;
    }
    if (!is_under_limits(round, lane)) {
        lane->looked_count++;
        if (is_gang) {
            lane_skip(round, lane);
        } else {
            lane_drop_list(round, lane);
        }
        return;
    }
    if (lane->limits && !share_allows(round, lane)) {
        lane->head_count = 0; /* what is behind it does not pass it */
        lane->is_refused = true;
        return;
    }
    round->reserve.own =
        lane->is_by_apps ? order_hold(round, lane, lane->heads[0].list) : NULL;
    if (is_gang) {
        step_gang(round, lane);
    } else {
        step_job(round, lane);
    }
    round->reserve.own = NULL;
    sweep_step(round);
}

/* Decide about the first new work of a lane. */
static void step_new(struct round *round, struct lane *lane)
{
    uint32_t item = lane->heads[0].item;
    bool is_gang =
        round->sched->lists.items[lane->heads[0].list].class_index == NONE;

    if (lane->quota) {
        quota_count_own(round, lane, item, is_gang, -1);
    }
    step_head(round, lane);
    if (lane->quota) {
        quota_count_own(round, lane, item, is_gang, 1);
    }
}

/* Decide about the first evicted work of a lane; its cost may have grown
 * since it was put there. */
static void step_evicted(struct round *round, struct lane *lane)
{
    const struct unit *unit = &round->units[lane->unit_next];
    struct cost now = cost_of(&round->pool->base, &lane->placed, unit->sum,
                              lane->factor_micro);

    if (cost_compare(&round->pool->base, &now, &lane->cost[STREAM_EVICTED]) ==
        0) {
        evict_return(round, lane->unit_next);
        amounts_add(&lane->placed, unit->sum);
        lane->unit_next++;
    }
    lane_refresh_evicted(round, lane);
}

/* Try what starves before all else that is new, with those victims that its
 * turn would give it. */
static void step_starving(struct round *round)
{
    struct lane *lane;

    while (!round->is_cut && !round->is_spent &&
           (lane = starving_next(round))) {
        round->reserve.ordinal_min =
            evict_turn(round, lane->level[STREAM_NEW], &lane->cost[STREAM_NEW]);
        step_new(round, lane);
        round->reserve.ordinal_min = 0;
        lane_refresh_new(round, lane);
    }
    head_order_lanes(round);
}

static void run_heap(struct round *round)
{
    while (round->heap_count && !round->is_cut && !round->is_spent) {
        uint32_t stream = round->heap[0].stream;
        struct lane *lane = &round->lanes[stream / STREAM_KINDS];
        if (stream % STREAM_KINDS == STREAM_EVICTED) {
            step_evicted(round, lane);
        } else {
            step_new(round, lane);
            lane_refresh_new(round, lane);
            head_order_lanes(round);
        }
    }
}

static void set_rates(struct round *round)
{
    const struct policy *policy = round->sched->policy;
    const struct rate_limit *all = &policy->rate_global;
    const struct rate_limit *queue = &policy->rate_per_queue;

    round->rate_all = rate_rule(all);
    round->rate_queue = rate_rule(queue);
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        round->rate_start[r] = start_rule(round->sched, round->p, r);
        round->has_start_limits |= round->rate_start[r].size > 0;
    }
}

const struct share *round_shares(struct round *round, uint32_t *ret_count)
{
    if (!round->shares) {
        round->shares = shares_of(round->sched, round->p, round->arena,
                                  &round->share_count);
    }
    *ret_count = round->share_count;
    return round->shares;
}

/* Whether preemption might serve anyone. */
static bool has_waiting(const struct round *round)
{
    if (round->reserve.count) {
        return true;
    }
    for (uint32_t i = 0; i < round->lane_count; i++) {
        if (round->lanes[i].head_count) {
            return true;
        }
    }
    return false;
}

static void evict(struct round *round)
{
    struct sched *sched = round->sched;
    uint32_t count = 0;

    if (round->kind != ROUND_BALANCE ||
        sched->policy->is_fair_share_preemption_off ||
        sched->is_preemption_off || !has_waiting(round)) {
        return;
    }
    const struct share *shares = round_shares(round, &count);
    evict_over_share(round, shares, count);
}

void round_plan(struct round *round)
{
    struct sched *sched = round->sched;
    uint32_t n = (uint32_t)sched->active.count;

    sched->stamp++;
    round->decision_first = sched->decisions.count;
    round->lanes = arena_alloc_array(round->arena, n, sizeof(*round->lanes));
    round->heap = arena_alloc_array(round->arena, (size_t)n * STREAM_KINDS,
                                    sizeof(*round->heap));
    round->lane_of_queue = arena_alloc_array(round->arena, sched->queues.count,
                                             sizeof(*round->lane_of_queue));
    memset(round->lane_of_queue, 0xff,
           sched->queues.count * sizeof(*round->lane_of_queue));
    round->moved_last = arena_alloc_array(round->arena, sched->nodes.count,
                                          sizeof(*round->moved_last));
    memset(round->moved_last, 0xff,
           sched->nodes.count * sizeof(*round->moved_last));
    round->changes = arena_alloc_array(round->arena, sched->nodes.count,
                                       sizeof(*round->changes));
    round->is_open = arena_alloc_array(round->arena, sched->nodes.count,
                                       sizeof(*round->is_open));
    set_rates(round);
    share_start(round);
    for (uint32_t i = 0; i < n; i++) {
        (void)lane_add(round, sched->active.items[i]);
    }
    round->used = round->pool->used;
    penalty_charge(round);
    head_begin(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_fill(round, &round->lanes[i]);
    }
    round->counters->queues_considered += n;
    evict(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_refresh(round, &round->lanes[i]);
    }
    head_pass(round);
    step_starving(round);
    evict_kept_return(round);
    run_heap(round);
    if (round->rest_count && !round->is_cut && !round->is_spent) {
        /* What victims left over may serve what was passed over before. */
        round->is_filling = true;
        for (uint32_t i = 0; i < n; i++) {
            if (!round->lanes[i].is_refused) {
                lane_fill(round, &round->lanes[i]);
                lane_refresh_new(round, &round->lanes[i]);
            }
        }
        run_heap(round);
    }
    if (sched->elastic.count && round->kind == ROUND_BALANCE &&
        !round->is_cut && !round->is_spent &&
        (!sched->is_trial || sched->trial_grows) &&
        !(round->rest_count && head_waits(round))) {
        growth_step(round);
    }
    if (sched->foreign_waiting_count && !round->is_cut && !round->is_spent) {
        lend_begin(round);
        run_heap(round);
    }
    head_end(round);
    share_end(round);
    quota_end(round);
    place_flush(round);
    evict_forget(round);
    order_wake(round);
}
