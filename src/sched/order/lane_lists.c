#include "sched/order/lane_lists.h"

#include <string.h>

#include "base/heap.h"
#include "sched/order/order.h"
#include "sched/order/sweep.h"
#include "sched/order/window.h"
#include "sched/state/cfs.h"

/* Places of a heap below which nothing was looked at yet: one a level. */
enum { LANE_DEPTH_MAX = 64 };

/* Heads are a heap of so many children each: as many slots as a line of the
 * cache holds.  Of a slot's key 8 bits are the level's. */
enum { WIDTH = 4, KEY_PRIORITY_BITS = 14, KEY_SUBMITTED_BITS = 42 };

static uint32_t job_of_head(const struct round *round, const struct head *head)
{
    const struct sched *sched = round->sched;

    return head->class_index == NONE ? sched->gangs.items[head->item].position
                                     : head->item;
}

/* Which has the smaller bound, divided by one more than what it has waited in
 * the pool's measure: below 0 `a`, 0: neither.  In one list it is the older. */
static int compare_aged(const struct round *round, const struct head *a,
                        const struct head *b)
{
    int64_t a_ms = round->now_ms - a->submitted_ms;
    int64_t b_ms = round->now_ms - b->submitted_ms;
    i128 x = (i128)a->bound_ms * (BACKFILL_AGING_MS + (b_ms > 0 ? b_ms : 0));
    i128 y = (i128)b->bound_ms * (BACKFILL_AGING_MS + (a_ms > 0 ? a_ms : 0));

    return (x > y) - (x < y);
}

static bool head_less(const struct round *round, const struct head *a,
                      const struct head *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    if (a->is_by_score) {
        return cfs_less(round->sched, job_of_head(round, a),
                        job_of_head(round, b));
    }
    if (a->rank != b->rank) {
        int c = order_compare(round, a->rank, b->rank);
        if (c != 0) {
            return c < 0;
        }
    }
    if (round->reserve.is_shortest_first && !round->reserve.is_aged &&
        a->bound_ms != b->bound_ms) {
        return a->bound_ms < b->bound_ms;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    int aged = round->reserve.is_aged ? compare_aged(round, a, b) : 0;
    if (aged) {
        return aged < 0;
    }
    if (a->submitted_ms != b->submitted_ms) {
        return a->submitted_ms < b->submitted_ms;
    }
    return job_less(round->sched, job_of_head(round, a), job_of_head(round, b));
}

bool lane_head_less(const struct round *round, const struct head *a,
                    const struct head *b)
{
    return head_less(round, a, b);
}

void lane_lists_note(const struct round *round, struct head *head)
{
    const struct sched *sched = round->sched;
    uint32_t index = job_of_head(round, head);
    const struct job *job = &sched->jobs.items[index];

    if (round->reserve.is_shortest_first) {
        const struct class *class = class_at(round, class_of_job(sched, index));
        /* A lifetime ends nothing that nobody takes the place of. */
        head->bound_ms =
            class->lifetime_ms < class->deadline_ms && !round->reserve.is_aged
                ? class->lifetime_ms
                : class->deadline_ms;
    }
    head->level =
        head->rank && head->rank->is_level_ignored ? 0 : head->list_level;
    head->priority = job->priority;
    head->submitted_ms = job->submitted_ms;
}

/* The first bits of what a head is ordered by: smaller goes first, equal says
 * nothing. */
static uint64_t key_of(const struct round *round, const struct head *head)
{
    const uint64_t priority_max = (1u << KEY_PRIORITY_BITS) - 1;
    const int64_t submitted_max = (INT64_C(1) << KEY_SUBMITTED_BITS) - 1;
    uint64_t key = (uint64_t)(UINT8_MAX - head->level)
                   << (KEY_PRIORITY_BITS + KEY_SUBMITTED_BITS);

    if (head->is_by_score || head->rank || round->reserve.is_shortest_first) {
        return key;
    }
    if (head->priority >= priority_max) {
        return key | priority_max << KEY_SUBMITTED_BITS;
    }
    int64_t submitted = head->submitted_ms > 0 ? head->submitted_ms : 0;
    submitted = submitted < submitted_max ? submitted : submitted_max;
    return key | (uint64_t)head->priority << KEY_SUBMITTED_BITS |
           (uint64_t)submitted;
}

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
               : head_less(drawing.round, &drawing.lane->heads[a->head],
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

    slot.key = key_of(round, lane_first(lane));
    slots_down(round, lane, slot);
}

bool lane_lists_has_planned(const struct round *round, const struct head *head)
{
    const struct sched *sched = round->sched;
    uint32_t item = head->item;

    if (head->class_index != NONE) {
        uint8_t flags = sched->job_flags.items[item];
        return flags & JOB_PLANNED || sweep_missed_job(round, item) ||
               (flags & JOB_ADMITTED && window_has(round, item, false));
    }
    const struct gang *gang = &sched->gangs.items[item];
    uint32_t pool = gang_pool(sched, gang);
    return gang->planned == sched->plan_count ||
           (pool != NONE && pool != round->p) ||
           sweep_missed_gang(round, gang) ||
           (gang->is_admitted && window_has(round, item, true));
}

bool lane_lists_move(const struct round *round, struct head *head)
{
    const struct list *list = &round->sched->lists.items[head->list];

    if (head->is_alone) {
        return !lane_lists_has_planned(round, head);
    }
    while (seq_read(&list->seq, &head->at, &head->item)) {
        if (!lane_lists_has_planned(round, head)) {
            return true;
        }
        seq_read_on(&list->seq, &head->at);
    }
    return false;
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
    struct head_slot slot = {key_of(round, head), lane->slots[at].head};

    slots_rise((struct drawing){round, lane}, lane->slots, at, slot);
}

void lane_lists_order(const struct round *round, struct lane *lane)
{
    for (uint32_t i = 0; i < lane->head_count; i++) {
        lane->slots[i].key = key_of(round, lane_lists_at(lane, i));
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
    struct head_slot slot = {key_of(round, head), lane->slots[0].head};
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
