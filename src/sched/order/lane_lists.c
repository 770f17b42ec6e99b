#include "sched/order/lane_lists.h"

#include <string.h>

#include "base/heap.h"
#include "sched/order/order.h"

/* Places of a heap below which nothing was looked at yet: one a level. */
enum { LANE_DEPTH_MAX = 64 };

/* Heads are a heap of so many children each: as many slots as a line of the
 * cache holds. */
enum { WIDTH = 4 };

/* Whose heads are compared. */
struct drawing {
    const struct round *round;
    const struct lane *lane;
};

static bool slot_less(struct drawing drawing, const struct head_slot *a,
                      const struct head_slot *b)
{
    return a->key != b->key
               ? a->key < b->key
               : lane_head_less(drawing.round, &drawing.lane->heads[a->head],
                                &drawing.lane->heads[b->head]);
}

DEFINE_HEAP(slots, struct head_slot, WIDTH, struct drawing, slot_less,
            HEAP_PLAIN);

static void slots_down(const struct round *round, const struct lane *lane,
                       struct head_slot slot)
{
    slots_sink((struct drawing){round, lane}, lane->slots, lane->head_count, 0,
               slot);
}

/* What the first head is ordered by is another now. */
static void first_down(const struct round *round, struct lane *lane)
{
    struct head_slot slot = lane->slots[0];

    slot.key = lane_lists_key(round, lane_first(lane));
    slots_down(round, lane, slot);
}

static bool is_for_pool(const struct round *round, uint32_t pool,
                        bool is_borrowed)
{
    return (pool == NONE || pool == round->p) &&
           is_borrowed == round->is_lending;
}

/* The same heads, with room for more. */
static struct head *grow(struct round *round, const struct head *heads,
                         uint32_t count, uint32_t *capacity)
{
    *capacity = *capacity ? *capacity * 2 : 8;
    struct head *grown =
        arena_alloc_array(round->arena, *capacity, sizeof(*grown));
    if (count) {
        memcpy(grown, heads, count * sizeof(*grown));
    }
    return grown;
}

static void make_room(struct round *round, struct lane *lane)
{
    uint32_t old = lane->head_capacity;

    ASSERT(lane->head_count <= old);
    if (lane->head_count < old) {
        return;
    }
    lane->heads = grow(round, lane->heads, old, &lane->head_capacity);
    struct head_slot *slots =
        arena_alloc_array(round->arena, lane->head_capacity, sizeof(*slots));
    if (old) {
        memcpy(slots, lane->slots, old * sizeof(*slots));
    }
    for (uint32_t i = old; i < lane->head_capacity; i++) {
        slots[i].head = i;
    }
    lane->slots = slots;
}

void lane_lists_append(struct round *round, struct lane *lane,
                       const struct head *head)
{
    make_room(round, lane);
    *lane_lists_at(lane, lane->head_count++) = *head;
}

static void push_head(struct round *round, struct lane *lane,
                      const struct head *head)
{
    lane_lists_append(round, lane, head);
    uint32_t at = lane->head_count - 1;
    struct head_slot slot = {lane_lists_key(round, head), lane->slots[at].head};

    slots_rise((struct drawing){round, lane}, lane->slots, at, slot);
}

void lane_lists_order(const struct round *round, struct lane *lane)
{
    for (uint32_t i = 0; i < lane->head_count; i++) {
        lane->slots[i].key = lane_lists_key(round, lane_lists_at(lane, i));
    }
    slots_build((struct drawing){round, lane}, lane->slots, lane->head_count);
}

bool lane_lists_head_of(const struct round *round, const struct front *front,
                        struct head *ret_head)
{
    *ret_head = (struct head){
        .list = front->list,
        .item = front->item,
        .level = front->level,
        .list_level = front->level,
        .priority = front->priority,
        .submitted_ms = front->submitted_ms,
        .class_index = front->class_index,
        .front = NONE,
    };
    if (!is_for_pool(round, front->pool, front->is_borrowed)) {
        return false;
    }
    if (front->class_index != NONE &&
        !round->sched->job_flags.items[front->item]) {
        return true;
    }
    if (!lane_lists_move(round, ret_head)) {
        return false;
    }
    lane_lists_note(round, ret_head);
    return true;
}

void lane_lists_draw(struct round *round, struct lane *lane, uint32_t place)
{
    const struct queue *queue = &round->sched->queues.items[lane->queue];
    uint32_t todo[LANE_DEPTH_MAX];
    uint32_t count = 0;

    todo[count++] = place;
    while (count) {
        uint32_t at = todo[--count];
        if (at >= queue->list_heap.count) {
            continue;
        }
        const struct front *front = &queue->list_heap.items[at];
        struct head head;
        bool is_there = lane_lists_head_of(round, front, &head);
        bool is_first = is_there && head.item == front->item;
        head.front = is_first ? at : NONE;
        if (is_there) {
            push_head(round, lane, &head);
        }
        if (!is_first) {
            ASSERT(count + 2 <= LANE_DEPTH_MAX);
            todo[count++] = at * 2 + 1;
            todo[count++] = at * 2 + 2;
        }
    }
}

void lane_unfold(struct round *round, struct lane *lane)
{
    struct head *head = lane_first(lane);
    uint32_t at = head->front;

    if (at != NONE) {
        head->front = NONE;
        lane_lists_draw(round, lane, at * 2 + 1);
        lane_lists_draw(round, lane, at * 2 + 2);
    }
}

/* Take off the first list as it is. */
static void pop_head(struct round *round, struct lane *lane)
{
    ASSERT(lane->head_count > 0);
    lane_lists_swap(lane, 0, --lane->head_count);
    if (lane->head_count) {
        slots_down(round, lane, lane->slots[0]);
    }
}

void lane_drop_list(struct round *round, struct lane *lane)
{
    uint32_t at = lane_first(lane)->front;

    pop_head(round, lane);
    if (at != NONE) {
        lane_lists_draw(round, lane, at * 2 + 1);
        lane_lists_draw(round, lane, at * 2 + 2);
    }
}

void lane_put_off(struct round *round, struct lane *lane)
{
    ASSERT(lane->is_by_apps && lane_first(lane)->front == NONE);
    if (lane->late_count == lane->late_capacity) {
        lane->late =
            grow(round, lane->late, lane->late_count, &lane->late_capacity);
    }
    lane->late[lane->late_count++] = *lane_first(lane);
    pop_head(round, lane);
}

void lane_take_up(struct round *round, struct lane *lane)
{
    while (lane->late_count) {
        struct head head = lane->late[--lane->late_count];
        if (lane_lists_move(round, &head)) {
            lane_lists_note(round, &head);
            push_head(round, lane, &head);
        }
    }
}

void lane_settle(struct round *round, struct lane *lane)
{
    lane_unfold(round, lane);
    if (!lane_lists_move(round, lane_first(lane))) {
        lane_drop_list(round, lane);
    } else if (lane->head_count > 1 || lane->is_by_apps) {
        lane_lists_note(round, lane_first(lane));
        first_down(round, lane);
    }
}

void lane_skip(struct round *round, struct lane *lane)
{
    struct head *head = lane_first(lane);

    if (head->is_alone) {
        lane_drop_list(round, lane);
        return;
    }
    seq_read_on(&round->sched->lists.items[head->list].seq, &head->at);
    lane_settle(round, lane);
}

bool lane_goes_on(const struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    struct head *head = lane_first(lane);
    const struct seq *seq = &sched->lists.items[head->list].seq;

    if (!seq_read(seq, &head->at, &head->item) ||
        sched->job_flags.items[head->item]) {
        return false;
    }
    if (lane->head_count > 1) {
        lane_lists_note(round, head);
    }
    struct head_slot slot = {lane_lists_key(round, head), lane->slots[0].head};
    for (uint32_t i = 1; i <= WIDTH && i < lane->head_count; i++) {
        if (slot_less((struct drawing){round, lane}, &lane->slots[i], &slot)) {
            return false;
        }
    }
    return true;
}

void lane_sink_first(struct round *round, struct lane *lane)
{
    first_down(round, lane);
}

static bool is_by_score(const struct round *round, const struct lane *lane)
{
    return round->sched->queues.items[lane->queue].ordering == QUEUE_BY_CFS;
}

void lane_push_list(struct round *round, struct lane *lane, uint32_t list,
                    const struct app_rank *rank)
{
    const struct list *record = &round->sched->lists.items[list];
    struct head head = {
        .list = list,
        .rank = rank,
        .is_by_score = is_by_score(round, lane),
        .list_level = record->level,
        .class_index = record->class_index,
        .front = NONE,
    };

    ASSERT(record->queue == lane->queue);
    if (is_for_pool(round, record->pool, record->is_borrowed) &&
        lane_lists_move(round, &head)) {
        lane_lists_note(round, &head);
        push_head(round, lane, &head);
    }
}
