/* Passes over what finds no room: the head of a lane, or all of a class. */
#include "sched/evict/cooldown.h"
#include "sched/order/lanes.h"
#include "sched/order/lending.h"
#include "sched/order/order.h"
#include "sched/order/refusals.h"
#include "sched/order/sweep.h"
#include "sched/reserve/admission.h"
#include "sched/round/private.h"

/* Nothing of the class can be placed any more: no queue waits with it. */
static void give_up(struct round *round, struct class *class)
{
    uint32_t at = class->lane_first;

    while (at != NONE) {
        uint32_t next = round->lanes[at].class_next;
        ASSERT(class_at(round, round->lanes[at].class_index) == class);
        lane_refresh_new(round, &round->lanes[at]);
        at = next;
    }
}

uint32_t round_job_of_head(const struct round *round, const struct lane *lane)
{
    const struct head *head = lane_first(lane);

    return head->class_index == NONE
               ? round->sched->gangs.items[head->item].position
               : head->item;
}

void round_end_lane(struct round *round, struct lane *lane, uint32_t job,
                    enum refusal_why why)
{
    refusals_end_queue(round, lane->queue, job, why);
    lane->head_count = 0;
}

void round_pass_over(struct round *round, struct lane *lane)
{
    struct reserve *reserve = &round->reserve;
    const struct pool_policy *policy =
        &round->sched->policy->pools[round->pool->policy_index];

    refusals_note_room(round, round_job_of_head(round, lane));
    lane->looked_count++;
    if (reserve->has_refused &&
        ++reserve->candidate_count >= policy->backfill_candidates_max) {
        round->are_starts_over = true;
        if (reserve->hold) {
            refusals_end_all(round, reserve->hold->job, REFUSAL_CANDIDATES);
        }
    }
    reserve->has_refused = false;
}

void round_narrow_window(struct round *round)
{
    for (uint32_t i = 0; i < round->lane_count; i++) {
        lane_refresh_new(round, &round->lanes[i]);
    }
}

bool round_has_surplus(const struct round *round)
{
    return round_has_terms(round) && round->kind == ROUND_BALANCE &&
           !round->is_filling;
}

/* Equal jobs behind it need no search if they cannot be admitted either.  The
 * same holds for a job under a cooldown or with too little budget: equal jobs
 * must not take what it may not. */
static void pass_over_flagged(struct round *round, struct lane *lane,
                              const struct class *class, uint32_t job,
                              bool is_short)
{
    bool is_vain =
        is_short || (round_has_surplus(round) && !class->is_blocked_all &&
                     !window_is_open(round, lane));

    if (round->sched->job_flags.items[job] & JOB_AVOIDS ||
        !(is_vain || cooldown_binds(round, job))) {
        lane_skip(round, lane);
    } else {
        lane_drop_list(round, lane);
    }
}

void round_pass_over_job(struct round *round, struct lane *lane,
                         struct class *class, bool is_short)
{
    const struct sched *sched = round->sched;
    uint32_t job = lane_first(lane)->item;

    if (round->reserve.own) {
        /* Room there may be, but not beside what the queue's own need. */
        order_note_held(round, lane);
        refusals_note_room(round, job);
        sweep_miss_job(round, job);
        lane->looked_count++;
        lane_drop_list(round, lane);
        return;
    }
    if (lane->is_by_apps) {
        order_unmet(round, lane);
    }
    bool is_admitted = admission_admit(round, lane, job, false);

    round_pass_over(round, lane);
    if (is_admitted || sched->job_flags.items[job]) {
        sweep_miss_job(round, job);
        pass_over_flagged(round, lane, class, job, is_short);
        give_up(round, class); /* where no window waits for its like */
    } else if ((round_has_surplus(round) || is_short) &&
               !class->is_blocked_all) {
        lane_drop_list(round, lane);
    } else {
        if (round->is_lending) {
            lending_miss(round, class);
        } else {
            sweep_miss_class(round, class);
        }
        if (window_is_open(round, lane)) {
            sweep_bar_class(round, class);
        }
        give_up(round, class);
    }
    if (is_admitted) {
        round_narrow_window(round);
    }
}
