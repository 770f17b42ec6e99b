#include "sched/order/lane_fill.h"

#include "sched/order/lane_lists.h"
#include "sched/order/lending.h"
#include "sched/order/order.h"
#include "sched/order/window.h"

void lane_fill_drop_class(struct round *round, struct lane *lane, uint32_t *row)
{
    uint32_t class_index = lane_first(lane)->class_index;
    uint32_t kept_count = 0;

    ASSERT(lane->is_by_apps && !lane->is_folded);
    lane_drop_list(round, lane);
    bool is_same =
        lane->head_count && lane_first(lane)->class_index == class_index;
    *row = is_same ? *row + 1 : 0;
    if (*row < 8 || *row < lane->head_count / 16) {
        return;
    }
    for (uint32_t i = 0; i < lane->head_count; i++) {
        if (lane_lists_at(lane, i)->class_index != class_index) {
            lane_lists_swap(lane, kept_count++, i);
        }
    }
    lane->head_count = kept_count;
    lane_lists_order(round, lane);
}

bool lane_fill_is_hopeless(struct round *round, const struct lane *lane,
                           uint32_t class_index, uint32_t level)
{
    if (class_index == NONE) {
        return false;
    }
    const struct class *class = class_round(round, class_index);
    if (round->is_lending && lending_missed(round, class)) {
        return true;
    }
    if (!class->is_barred && window_is_open_at(round, lane, level)) {
        return false;
    }
    bool may_preempt = round->kind == ROUND_BALANCE && !round->is_filling;

    return may_preempt ? class->is_blocked_all
                       : class->is_blocked &&
                             class->blocked_growth == round->growth_count;
}

/* Draw from all that lies below a place of the queue's heap; in no order. */
static void draw_all(struct round *round, struct lane *lane, uint32_t place,
                     bool is_hopeful)
{
    const struct queue *queue = &round->sched->queues.items[lane->queue];
    size_t first = (size_t)place * 2 + 1, width = 2;

    for (; first < queue->list_heap.count; first = first * 2 + 1, width *= 2) {
        size_t end = first + width;
        end = end < queue->list_heap.count ? end : queue->list_heap.count;
        for (size_t i = first; i < end; i++) {
            const struct front *front = &queue->list_heap.items[i];
            struct head head;
            if ((!is_hopeful ||
                 !lane_fill_is_hopeless(round, lane, front->class_index,
                                        front->level)) &&
                lane_lists_head_of(round, front, &head)) {
                lane_lists_append(round, lane, &head);
            }
        }
    }
}

/* Draw from all lists of the lane, or only from lists that are not hopeless;
 * the caller puts them in order. */
static void unfold_all(struct round *round, struct lane *lane, bool is_hopeful)
{
    uint32_t count = lane->is_folded ? lane->head_count : 0;

    lane->is_folded = false;
    for (uint32_t i = 0; i < count; i++) {
        struct head *head = lane_lists_at(lane, i);
        uint32_t at = head->front;
        head->front = NONE;
        if (at != NONE) {
            draw_all(round, lane, at, is_hopeful);
        }
    }
}

void lane_fill_drop_hopeless(struct round *round, struct lane *lane)
{
    uint32_t kept_count = 0;

    unfold_all(round, lane, true);
    for (uint32_t i = 0; i < lane->head_count; i++) {
        const struct head *head = lane_lists_at(lane, i);
        if (!lane_fill_is_hopeless(round, lane, head->class_index,
                                   head->level)) {
            lane_lists_swap(lane, kept_count++, i);
        }
    }
    lane->head_count = kept_count;
    lane_lists_order(round, lane);
}

/* Where the shortest go first each gang of a list has a head of its own, as
 * jobs of one class are alike and gangs are not. */
static void part_gangs(struct round *round, struct lane *lane, struct head head)
{
    const struct pool_policy *rules =
        &round->sched->policy->pools[round->pool->policy_index];
    const struct list *list = &round->sched->lists.items[head.list];

    ASSERT(list->class_index == NONE); /* jobs of a class are alike */
    for (uint32_t i = 1; i < rules->backfill_candidates_max; i++) {
        seq_read_on(&list->seq, &head.at);
        if (!lane_lists_move(round, &head)) {
            return;
        }
        lane_lists_append(round, lane, &head);
        lane_lists_at(lane, lane->head_count - 1)->is_alone = true;
    }
    if (round->reserve.order == BACKFILL_SHORTEST_BOUNDED) {
        seq_read_on(&list->seq, &head.at);
        if (lane_lists_move(round, &head)) { /* the rest, as it came */
            lane_lists_append(round, lane, &head);
        }
    }
}

/* Where the shortest go first: all heads in that order. */
static void put_in_order(struct round *round, struct lane *lane)
{
    uint32_t count = lane->head_count;

    if (round->reserve.order == BACKFILL_IN_ORDER) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct head head = *lane_lists_at(lane, i);
        if (head.class_index == NONE && !head.is_alone) {
            lane_lists_at(lane, i)->is_alone = true;
            part_gangs(round, lane, head);
        }
    }
    for (uint32_t i = 0; i < lane->head_count; i++) {
        lane_lists_note(round, lane_lists_at(lane, i));
    }
    lane_lists_order(round, lane);
}

void lane_reorder(struct round *round, struct lane *lane)
{
    unfold_all(round, lane, false);
    put_in_order(round, lane);
    lane_refresh_new(round, lane);
}

/* Gather the lists that a lane may draw from. */
void lane_fill(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];

    lane->head_count = lane->late_count = 0;
    lane->looked_count = 0;
    lane->is_folded = false;
    if (queue->apps && !queue->is_cordoned) {
        order_fill(round, lane);
        put_in_order(round, lane);
        return;
    }
    if (queue->is_cordoned) {
        return;
    }
    if (queue->ordering != QUEUE_BY_CFS &&
        round->reserve.order == BACKFILL_IN_ORDER) {
        lane->is_folded = true;
        lane_lists_draw(round, lane, 0);
        return;
    }
    for (size_t i = 0; i < queue->list_heap.count; i++) {
        lane_push_list(round, lane, queue->list_heap.items[i].list, NULL);
    }
    put_in_order(round, lane);
}
