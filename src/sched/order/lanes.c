#include "sched/order/lanes.h"

#include "sched/order/heap.h"
#include "sched/order/lane_fill.h"
#include "sched/order/lane_held.h"
#include "sched/order/lane_lists.h"
#include "sched/order/lane_quota.h"
#include "sched/order/lane_share.h"
#include "sched/order/lending.h"
#include "sched/order/order.h"
#include "sched/order/starts.h"
#include "sched/order/sweep.h"

struct class *class_round(struct round *round, uint32_t class_index)
{
    struct class *class = class_at(round, class_index);

    if (class->stamp != round->sched->stamp) {
        class->stamp = round->sched->stamp;
        class->is_blocked = false;
        class->is_blocked_all = false;
        class->is_barred = sweep_barred_class(round, class);
        class->cached_node = NONE;
        class->has_cursor = class->was_kept = class->was_growing = false;
        class->kinds = NULL;
        class->wishes = NULL;
        class->requirement = NULL;
        class->climb = NULL;
        class->group_rooms = NULL;
        class->domain_room = class->empty_room = class->held_room = NULL;
        class->borrowed = NULL;
        class->blocked_growth = 0;
        class->lane_first = NONE;
        if (sweep_missed_class(round, class)) {
            class->is_blocked = class->is_blocked_all = true;
            class->blocked_growth = round->growth_count;
        }
    }
    return class;
}

static const struct resource_vec *request_of_head(const struct round *round,
                                                  const struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct head *head = lane_first(lane);

    return head->class_index == NONE
               ? &sched->gangs.items[head->item].waiting_sum
               : &sched->classes.items[head->class_index].request;
}

/* Chain the lane to the class of its next new work (NONE: out of any). */
static void lane_chain(struct round *round, struct lane *lane,
                       uint32_t class_index)
{
    if (lane->class_index == class_index) {
        return;
    }
    if (lane->class_index != NONE) {
        if (lane->class_next != NONE) {
            round->lanes[lane->class_next].class_previous =
                lane->class_previous;
        }
        if (lane->class_previous != NONE) {
            round->lanes[lane->class_previous].class_next = lane->class_next;
        } else {
            class_at(round, lane->class_index)->lane_first = lane->class_next;
        }
    }
    lane->class_index = class_index;
    if (class_index != NONE) {
        struct class *class = class_round(round, class_index);
        uint32_t self = (uint32_t)(lane - round->lanes);
        ASSERT(class->lane_first == NONE ||
               round->lanes[class->lane_first].class_previous == NONE);
        lane->class_previous = NONE;
        lane->class_next = class->lane_first;
        if (class->lane_first != NONE) {
            round->lanes[class->lane_first].class_previous = self;
        }
        class->lane_first = self;
    }
}

void lane_set_new_cost(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request,
                       struct cost *ret_cost)
{
    const struct resource_vec *all = &lane->all;
    struct resource_vec sum;

    if (lane->has_penalty) {
        sum = lane->all;
        amounts_add(&sum, &lane->penalty);
        all = &sum;
    }
    cost_set(&round->pool->base, all, request, lane->factor_micro, ret_cost);
    if (lane->flow) {
        *ret_cost = share_above_floor(lane, *ret_cost);
    }
}

/* What is first in a list is the lane's next new work. */
static void put_new(struct round *round, struct lane *lane,
                    const struct head *head, const struct resource_vec *request)
{
    ASSERT(head->list_level < round->sched->level_count);
    lane->request = request;
    lane->level[STREAM_NEW] = head->list_level;
    lane_set_new_cost(round, lane, request, &lane->cost[STREAM_NEW]);
    if (lane->flow) {
        share_note(round, lane);
    }
    heap_put(round, lane, STREAM_NEW);
    lane_chain(round, lane, head->class_index);
}

/* Find the lane's next new work and put its stream in order. */
void lane_refresh_new(struct round *round, struct lane *lane)
{
    uint32_t row = 0;

    for (;;) {
        if (lane->is_by_apps) {
            order_settle(round, lane);
        }
        if (lane->head_count == 0) {
            break;
        }
        const struct head *head = lane_first(lane);
        const struct resource_vec *request = request_of_head(round, lane);
        bool is_gang = head->class_index == NONE;
        bool is_out =
            (is_gang && lane_lists_has_planned(round, head)) ||
            lane_fill_is_hopeless(round, lane, head->class_index,
                                  head->list_level) ||
            (round->held_columns && round_columns_held(round, request));
        if (is_out && round->held_columns && round->has_flow) {
            round_wake_held(round, request);
        }
        if (is_out && is_gang) {
            lane_skip(round, lane);
        } else if (is_out && lane->is_by_apps &&
                   lane_fill_is_hopeless(round, lane, head->class_index,
                                         head->list_level)) {
            order_unmet(round, lane);
            lane_fill_drop_class(round, lane, &row);
        } else if (is_out) {
            lane_drop_list(round, lane);
            if (!lane->is_by_apps && ++row >= 8 &&
                (lane->is_folded || row >= lane->head_count / 16)) {
                lane_fill_drop_hopeless(round, lane);
                row = 0;
            }
        } else {
            put_new(round, lane, head, request);
            return;
        }
    }
    lane_chain(round, lane, NONE);
    heap_drop(round, lane, STREAM_NEW);
}

void lane_refresh_evicted(struct round *round, struct lane *lane)
{
    while (lane->unit_next < lane->unit_end) {
        const struct unit *unit = &round->units.items[lane->unit_next];
        ASSERT_SLOW(&round->lanes[unit->lane] == lane);
        if (evict_state(round, unit) == RUN_EVICTED) {
            lane->level[STREAM_EVICTED] = unit->level;
            cost_set(&round->pool->base, &lane->placed, unit->sum,
                     lane->factor_micro, &lane->cost[STREAM_EVICTED]);
            if (lane->flow) {
                share_note(round, lane);
            }
            heap_put(round, lane, STREAM_EVICTED);
            return;
        }
        lane->unit_next++;
    }
    heap_drop(round, lane, STREAM_EVICTED);
}

void lane_refresh(struct round *round, struct lane *lane)
{
    lane_refresh_evicted(round, lane);
    lane_refresh_new(round, lane);
}

struct usage *lane_usage(struct round *round, struct lane *lane,
                         uint32_t priority_class)
{
    struct sched *sched = round->sched;

    ASSERT(priority_class < sched->policy->class_count);
    if (!queue_has_limits(sched, lane->queue, priority_class)) {
        return NULL;
    }
    if (!lane->usages) {
        lane->usages = arena_alloc_array(
            round->arena, sched->policy->class_count, sizeof(*lane->usages));
    }
    struct usage *usage = lane->usages[priority_class];
    if (usage) {
        return usage;
    }
    lane->usages[priority_class] = usage =
        arena_alloc(round->arena, sizeof(*usage));
    *usage = class_limit_usage(sched, round->what_if, lane->queue, round->p,
                               priority_class);
    return usage;
}

bool lane_is_within(struct round *round, struct lane *lane,
                    uint32_t class_index, const struct resource_vec *request)
{
    const struct usage *usage =
        lane_usage(round, lane, class_at(round, class_index)->priority_class);

    return (!usage || lending_is_within(round, usage, request)) &&
           quota_short_beside(round, lane, request) < 0 &&
           held_allows(round, lane, class_at(round, class_index), request);
}

void lane_rewind(struct round *round, struct lane *lane)
{
    ASSERT(lane->unit_next <= lane->unit_end);
    while (lane->unit_next > lane->unit_first) {
        const struct unit *unit = &round->units.items[lane->unit_next - 1];
        if (evict_state(round, unit) == RUN_RETURNED) {
            break;
        }
        lane->unit_next--;
    }
    lane_refresh(round, lane);
}

/* A small number for a factor, the same for equal ones; 0 when there are too
 * many. */
static uint32_t factor_id(struct round *round, int64_t factor_micro)
{
    for (uint32_t i = 0; i < round->factor_count; i++) {
        if (round->factors[i] == factor_micro) {
            return i + 1;
        }
    }
    if (round->factor_count == ROUND_FACTORS_MAX) {
        return 0;
    }
    round->factors[round->factor_count++] = factor_micro;
    return round->factor_count;
}

struct lane *lane_add(struct round *round, uint32_t index)
{
    struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[index];
    struct lane *lane = &round->lanes[round->lane_count];

    *lane = (struct lane){
        .queue = index,
        .rank = queue->rank,
        .factor_id = factor_id(round, queue->factor_micro),
        .factor_micro = queue->factor_micro,
        .class_index = NONE,
    };
    for (uint32_t at = queue->account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == round->p) {
            amounts_add(&lane->all, &account->allocated);
        }
    }
    lane->placed = lane->all;
    ASSERT(round->lane_of_queue[index] == NONE); /* a queue has one lane */
    quota_begin(round, lane);
    share_begin(round, lane);
    round->lane_of_queue[index] = round->lane_count++;
    return lane;
}
