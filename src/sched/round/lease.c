/* Leases the job that found a place, and equal jobs behind it. */
#include "sched/order/heap.h"
#include "sched/order/lane_share.h"
#include "sched/order/lanes.h"
#include "sched/order/order.h"
#include "sched/place/place.h"
#include "sched/round/private.h"
#include "sched/state/extras.h"
#include "sched/state/floating.h"

/* Whether the limits of queue and class, and what is of no node, allow so much
 * more of the lane's head; a gang's members are of one priority class. */
static bool are_allowed(struct round *round, struct lane *lane,
                        const struct resource_vec *request)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);
    uint32_t class_index = head->class_index;

    if (class_index == NONE) {
        const struct gang *gang = &sched->gangs.items[head->item];
        class_index = class_of_job(sched, gang->position);
    }
    return lane_is_within(round, lane, class_index, request) &&
           floating_short(sched, round->p, &round->used, request) < 0;
}

bool round_is_under_limits(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);

    if (are_allowed(round, lane, lane->request)) {
        return true;
    }
    if (head->class_index != NONE) {
        return false;
    }
    struct resource_vec least = gang_least(sched, head->item);
    return are_allowed(round, lane, &least);
}

/* Whether the next job of the lane's first list would be decided at once, and
 * go to the same node. */
static bool goes_on(struct round *round, struct lane *lane, uint32_t node,
                    const struct class *class, const struct heap_entry *second)
{
    struct sched *sched = round->sched;
    uint32_t lookback_max = sched->policy->lookback_max;

    if (lane->is_stepwise || round_counts_starts(round) ||
        sched->decisions.count >= round->decision_max ||
        (lookback_max && lane->looked_count >= lookback_max) ||
        !amounts_fit(&class->request, &sched->free[node]) ||
        !extras_fit(sched, node, class) ||
        reserve_pass(round, round->reserve.hold, class, node) == BACKFILL_NO ||
        sched->nodes.items[node].is_on_trial || !lane_goes_on(round, lane)) {
        return false;
    }
    if (lane->limits && !share_allows(round, lane)) {
        return false;
    }
    if (second) {
        lane_set_new_cost(round, lane, &class->request,
                          &lane->cost[STREAM_NEW]);
        if (lane->flow) {
            share_note(round, lane);
        }
        struct heap_entry entry = heap_entry_of(round, lane, STREAM_NEW);
        if (!heap_less(round, &entry, second)) {
            return false;
        }
    }
    return round_is_under_limits(round, lane);
}

void round_lease_run(struct round *round, struct lane *lane,
                     uint32_t class_index, uint32_t node, bool is_best)
{
    struct sched *sched = round->sched;
    const struct class *class = class_at(round, class_index);
    const struct heap_entry *second = heap_second(round);

    lane_unfold(round, lane);
    struct head *head = lane_first(lane);
    if (head->at.left > 1) { /* prefetched for the job after this one */
        __builtin_prefetch(&sched->jobs.items[head->at.items[1]]);
    }

    do {
        int64_t charge = share_take(round, lane, class, 0);
        place_put(round, lane, class_index, node, 1);
        if (round_counts_starts(round)) {
            round_count_starts(round, lane, 1, &class->request);
        }
        if (lane->is_stepwise) {
            order_leased(round, head->item);
        }
        round_decide_lease(round, head->item, node, class, charge);
        round->group++;
        round->counters->placements++;
        lane->looked_count++;
        seq_read_on(&sched->lists.items[head->list].seq, &head->at);
    } while (is_best && goes_on(round, lane, node, class, second));
    lane_settle(round, lane);
}
