/* Decides about the next job: new, evicted or starving. */
#include "sched/evict/cooldown.h"
#include "sched/evict/evict.h"
#include "sched/gang/gang.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/order.h"
#include "sched/order/refusals.h"
#include "sched/order/sweep.h"
#include "sched/place/place.h"
#include "sched/reserve/admission.h"
#include "sched/reserve/limit_wait.h"
#include "sched/round/private.h"
#include "sched/round/starving.h"
#include "sched/state/floating.h"
#include "sched/victims/affordable.h"
#include "sched/victims/away.h"
#include "sched/victims/victims.h"
#include "sched/victims/ways.h"

/* The ways that are open to a job; where no place was free for its class, and
 * none became free since, no look is taken for one. */
static unsigned ways_of_job(const struct round *round,
                            const struct class *class)
{
    bool is_full =
        class->is_blocked && class->blocked_growth == round->growth_count;
    bool may_preempt = round->kind == ROUND_BALANCE && !round->is_filling;

    ASSERT(class->blocked_growth <= round->growth_count);
    return (is_full ? 0 : WAYS_FREE) | (may_preempt ? WAYS_PREEMPTING : 0);
}

/* Whether a job that found no place, by preemption either, shows that none of
 * its class would. */
static bool is_in_vain_for_all(const struct search *search)
{
    struct round *round = search->round;

    return !place_is_special(search) && !cooldown_binds(round, search->job) &&
           (!round_has_surplus(round) ||
            !(victims_may_be(search) || away_victims_may_be(search)));
}

/* Decide about a single job at the lane's head. */
static void step_job(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    uint32_t job = lane_first(lane)->item;
    uint32_t class_index = lane_first(lane)->class_index;
    struct class *class = class_round(round, class_index);
    struct search search = {round, class_index, job, NULL};
    bool is_special = place_is_special(&search);
    size_t journal_mark = sched->journal.count;
    size_t decision_mark = sched->decisions.count;
    unsigned ways = ways_of_job(round, class);
    uint64_t growth_count = round->growth_count;
    uint32_t node;
    (void)affordable_was_short(round);
    bool is_free = ways_find(&search, ways, &node) & WAYS_FREE;
    bool is_short = affordable_was_short(round);
    bool is_best = is_free && !is_special;

    if (!is_free && !is_special) {
        class->is_blocked = true;
        class->blocked_growth = growth_count;
    }
    if (node == NONE) {
        class->is_blocked_all |= (ways & WAYS_PREEMPTING) && !is_short &&
                                 is_in_vain_for_all(&search);
        round_pass_over_job(round, lane, class, is_short);
        return;
    }
    if (decision_mark > 0 && sched->decisions.count + 1 > round->decision_max) {
        place_rollback(round, journal_mark);
        round_undecide(round, decision_mark);
        round->is_truncated = true;
        return;
    }
    round_lease_run(round, lane, search.class_index, node, is_best);
    if (!is_best) {
        cooldown_mark(round, decision_mark);
        round_settle_gangs(round, decision_mark);
    }
}

static void step_gang(struct round *round, struct lane *lane)
{
    size_t mark = round->sched->decisions.count;
    uint32_t gang = lane_first(lane)->item;
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
            is_admitted = admission_admit(round, lane, gang, true);
        }
        round_pass_over(round, lane);
        lane_skip(round, lane);
        if (is_admitted) {
            round_narrow_window(round);
        }
        break;
    case GANG_PLACED:
        lane->looked_count++;
        lane_skip(round, lane);
        round_settle_gangs(round, mark);
        break;
    case GANG_CUT:
        round->is_truncated = true;
        break;
    }
}

/* Whether a limit that refuses the lane's head does so only because work of
 * its queue runs, and nothing else keeps it from being admitted.  What the
 * limit on work above the share is about is passed over, for that limit counts
 * what is admitted, and would stop the queue. */
static bool may_wait_for_limit(struct round *round, struct lane *lane,
                               bool is_gang)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    struct resource_vec least =
        is_gang ? gang_least(sched, head->item) : *lane->request;
    uint32_t job =
        is_gang ? sched->gangs.items[head->item].position : head->item;

    return window_is_open(round, lane) && window_policy(round)->has_backfill &&
           !lane->held &&
           floating_short(sched, round->p, &round->used, &least) < 0 &&
           !(lane->limits && lane->limits->over_share_ppm != POLICY_OFF &&
             class_at(round, class_of_job(sched, job))->lifetime_ms ==
                 LIFETIME_INFINITE) &&
           limit_wait_is_open(round, lane, class_of_job(sched, job), &least) &&
           (!lane->limits || share_allows(round, lane));
}

/* Limits refuse the lane's head: it waits for them, or is passed over. */
static void step_refused(struct round *round, struct lane *lane, bool is_gang)
{
    refusals_note_held(round, round_job_of_head(round, lane),
                       window_first_of(round, lane));
    bool is_admitted =
        may_wait_for_limit(round, lane, is_gang) &&
        admission_admit(round, lane, lane_first(lane)->item, is_gang);

    if (round->is_truncated) {
        return;
    }
    lane->looked_count++;
    if (is_gang) {
        lane_skip(round, lane);
    } else {
        lane_drop_list(round, lane);
    }
    if (is_admitted) {
        round_narrow_window(round);
    }
}

/* Whether the lane's turn ends before its head, or may not start it now. */
static bool is_turn_over(struct round *round, struct lane *lane, uint32_t job,
                         uint32_t count)
{
    uint32_t lookback_max = round->sched->policy->lookback_max;

    if (round->are_starts_over) {
        lane->head_count = 0;
        return true;
    }
    if (window_bars(round, lane)) {
        round_end_lane(round, lane, window_first_of(round, NULL),
                       REFUSAL_ADMITTED);
        return true;
    }
    if (lookback_max && lane->looked_count >= lookback_max) {
        round_end_lane(round, lane, job, REFUSAL_LOOKBACK);
        return true;
    }
    return round_counts_starts(round) &&
           !round_may_start(round, lane, job, count, lane->request);
}

static void step_head(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    bool is_gang = head->class_index == NONE;
    uint32_t count = is_gang ? sched->gangs.items[head->item].waiting.count : 1;

    ASSERT(count > 0 && !round->reserve.own);
    uint32_t job = round_job_of_head(round, lane);
    if (is_turn_over(round, lane, job, count)) {
        return;
    }
    if (!round_is_under_limits(round, lane)) {
        step_refused(round, lane, is_gang);
        return;
    }
    if (lane->limits && !share_allows(round, lane)) {
        round_end_lane(round, lane, job, REFUSAL_SHARE);
        lane->is_refused = true;
        return;
    }
    round->reserve.own = lane->is_by_apps
                             ? order_hold(round, lane, lane_first(lane)->list)
                             : NULL;
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
    ASSERT(lane->head_count > 0);
    uint32_t item = lane_first(lane)->item;
    bool is_gang = lane_first(lane)->class_index == NONE;

    if (lane->quota) {
        quota_count_own(round, lane, item, is_gang, -1);
    }
    lane->is_in_turn = true;
    step_head(round, lane);
    lane->is_in_turn = false;
    if (lane->quota) {
        quota_count_own(round, lane, item, is_gang, 1);
    }
}

/* Decide about the first evicted work of a lane; its cost may have grown
 * since it was put there. */
static void step_evicted(struct round *round, struct lane *lane)
{
    ASSERT(lane->unit_next < lane->unit_end);
    const struct unit *unit = &round->units.items[lane->unit_next];
    ASSERT_SLOW(&round->lanes[unit->lane] == lane);
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

void round_step_starving(struct round *round)
{
    struct lane *lane;

    while (!round->is_truncated && !round->is_spent &&
           (lane = starving_next(round))) {
        round->reserve.ordinal_min =
            evict_turn(round, lane->level[STREAM_NEW], &lane->cost[STREAM_NEW]);
        step_new(round, lane);
        round->reserve.ordinal_min = 0;
        lane_refresh_new(round, lane);
    }
    admission_order_lanes(round);
}

void round_run_heap(struct round *round)
{
    while (round->heap_count && !round->is_truncated && !round->is_spent) {
        uint32_t stream = round->heap[0].stream;
        struct lane *lane = &round->lanes[stream / STREAM_KINDS];
        ASSERT(round->heap_new_count <= round->heap_count);
        if (round->heap_new_count == 0) {
            evict_return_all(round);
        } else if (stream % STREAM_KINDS == STREAM_EVICTED) {
            step_evicted(round, lane);
        } else {
            step_new(round, lane);
            lane_refresh_new(round, lane);
            admission_order_lanes(round);
        }
    }
}
