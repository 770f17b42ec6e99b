#include "sched/order/round.h"

#include <string.h>

#include "sched/evict/evict.h"
#include "sched/evict/loss_limit.h"
#include "sched/growth/growth.h"
#include "sched/order/due_order.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/lending.h"
#include "sched/order/order.h"
#include "sched/order/refusals.h"
#include "sched/place/changes.h"
#include "sched/place/gpu_nodes.h"
#include "sched/place/place.h"
#include "sched/reserve/admission.h"
#include "sched/round/private.h"
#include "sched/victims/searches.h"

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
    loss_limit_spare(round);
    evict_over_share(round, shares, count);
}

/* What a round keeps of its lanes and of the nodes. */
static void make_tables(struct round *round, uint32_t lane_count)
{
    const struct sched *sched = round->sched;

    round->lanes =
        arena_alloc_array(round->arena, lane_count, sizeof(*round->lanes));
    round->heap = arena_alloc_array(
        round->arena, (size_t)lane_count * STREAM_KINDS, sizeof(*round->heap));
    round->heap_places =
        arena_alloc_array(round->arena, (size_t)lane_count * STREAM_KINDS,
                          sizeof(*round->heap_places));
    memset(round->heap_places, 0xff,
           lane_count * STREAM_KINDS * sizeof(*round->heap_places));
    round->lane_of_queue = arena_alloc_array(round->arena, sched->queues.count,
                                             sizeof(*round->lane_of_queue));
    memset(round->lane_of_queue, 0xff,
           sched->queues.count * sizeof(*round->lane_of_queue));
    watch_begin(round);
    place_changes_begin(round);
    evict_begin(round);
    searches_begin(round);
}

/* A lane for each active queue, in order; what may go is evicted in mind. */
static void make_lanes(struct round *round)
{
    const struct sched *sched = round->sched;
    uint32_t n = (uint32_t)sched->active.count;

    share_start(round);
    for (uint32_t i = 0; i < n; i++) {
        (void)lane_add(round, sched->active.items[i]);
    }
    round->used = round->pool->used;
    penalty_charge(round);
    admission_begin(round);
    due_order_begin(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_fill(round, &round->lanes[i]);
    }
    round->counters->queues_considered += n;
    evict(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_refresh(round, &round->lanes[i]);
    }
}

static bool goes_on(const struct round *round)
{
    return !round->is_truncated && !round->is_spent;
}

/* What victims left over may serve what was passed over before. */
static void fill_again(struct round *round)
{
    round->is_filling = true;
    for (uint32_t i = 0; i < round->lane_count; i++) {
        if (!round->lanes[i].is_refused) {
            lane_fill(round, &round->lanes[i]);
            lane_refresh_new(round, &round->lanes[i]);
        }
    }
    round_run_heap(round);
}

/* Whether gangs grow and shrink in this round. */
static bool has_growth(const struct round *round)
{
    const struct sched *sched = round->sched;

    return sched->elastic.count && round->kind == ROUND_BALANCE &&
           (!round_is_what_if(round) || round->what_if->grows) &&
           !(round->rest_count && window_waits(round));
}

static void end(struct round *round)
{
    admission_end(round);
    share_end(round);
    quota_end(round);
    place_flush(round);
    evict_forget(round);
    searches_end(round);
    place_changes_end(round);
    watch_fini(&round->watch);
    VEC_FREE(&round->falls);
    order_wake(round);
}

void round_plan(struct round *round)
{
    struct sched *sched = round->sched;

    sched->stamp++;
    round->decision_first = sched->decisions.count;
    refusals_begin(round);
    make_tables(round, (uint32_t)sched->active.count);
    round->gpus = gpu_nodes_make(sched, round->p, round->now_ms, round->arena);
    round->starts = start_rules_of(sched, round->p);
    make_lanes(round);
    admission_pass(round);
    round_step_starving(round);
    gang_protection_return(round);
    round_run_heap(round);
    if (round->rest_count && goes_on(round)) {
        fill_again(round);
    }
    if (goes_on(round) && has_growth(round)) {
        growth_step(round);
    }
    if (borrowed_waits(sched) && goes_on(round)) {
        lending_begin(round);
        round_run_heap(round);
    }
    end(round);
}
