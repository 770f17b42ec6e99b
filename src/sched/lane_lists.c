#include "sched/lane_lists.h"

#include <string.h>

#include "sched/cfs.h"
#include "sched/head.h"
#include "sched/order.h"
#include "sched/sweep.h"

/* Places of a heap below which nothing was looked at yet: one a level. */
enum { LANE_DEPTH_MAX = 64 };

static uint32_t job_of_head(const struct round *round, const struct head *head)
{
    const struct sched *sched = round->sched;

    return sched->lists.items[head->list].class_index == NONE
               ? sched->gangs.items[head->item].position
               : head->item;
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
    if (round->reserve.is_shortest_first && a->bound_ms != b->bound_ms) {
        return a->bound_ms < b->bound_ms;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority;
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
        head->bound_ms = class->lifetime_ms < class->deadline_ms
                             ? class->lifetime_ms
                             : class->deadline_ms;
    }
    head->level = head->rank && head->rank->is_level_ignored
                      ? 0
                      : sched->lists.items[head->list].level;
    head->priority = job->priority;
    head->submitted_ms = job->submitted_ms;
}

static void heads_down(const struct round *round, struct lane *lane,
                       uint32_t at)
{
    struct head head = lane->heads[at];

    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= lane->head_count) {
            break;
        }
        if (child + 1 < lane->head_count &&
            head_less(round, &lane->heads[child + 1], &lane->heads[child])) {
            child++;
        }
        if (!head_less(round, &lane->heads[child], &head)) {
            break;
        }
        lane->heads[at] = lane->heads[child];
        at = child;
    }
    lane->heads[at] = head;
}

bool lane_lists_has_planned(const struct round *round, const struct list *list,
                            uint32_t item)
{
    const struct sched *sched = round->sched;

    if (list->class_index != NONE) {
        uint8_t flags = sched->job_flags.items[item];
        return flags & JOB_PLANNED || sweep_missed_job(round, item) ||
               (flags & JOB_ADMITTED && head_has(round, item, false));
    }
    const struct gang *gang = &sched->gangs.items[item];
    return gang->planned == sched->plan_count ||
           sweep_missed_gang(round, gang) ||
           (gang->is_admitted && head_has(round, item, true));
}

bool lane_lists_move(const struct round *round, struct head *head)
{
    const struct list *list = &round->sched->lists.items[head->list];

    if (head->is_alone) {
        return !lane_lists_has_planned(round, list, head->item);
    }
    while (!seq_is_end(&list->seq, head->at)) {
        head->item = seq_get(&list->seq, head->at);
        if (!lane_lists_has_planned(round, list, head->item)) {
            return true;
        }
        seq_next(&list->seq, &head->at);
    }
    return false;
}

static bool is_for_pool(const struct round *round, uint32_t pool,
                        bool is_foreign)
{
    return (pool == NONE || pool == round->p) &&
           is_foreign == round->is_lending;
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
    if (lane->head_count == lane->head_capacity) {
        lane->heads =
            grow(round, lane->heads, lane->head_count, &lane->head_capacity);
    }
}

static void push_head(struct round *round, struct lane *lane,
                      const struct head *head)
{
    make_room(round, lane);
    uint32_t at = lane->head_count++;
    while (at > 0 && head_less(round, head, &lane->heads[(at - 1) / 2])) {
        lane->heads[at] = lane->heads[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    lane->heads[at] = *head;
}

void lane_lists_append(struct round *round, struct lane *lane,
                       const struct head *head)
{
    make_room(round, lane);
    lane->heads[lane->head_count++] = *head;
}

void lane_lists_order(const struct round *round, struct lane *lane)
{
    for (uint32_t i = lane->head_count / 2; i > 0; i--) {
        heads_down(round, lane, i - 1);
    }
}

bool lane_lists_head_of(const struct round *round, const struct front *front,
                        struct head *ret_head)
{
    *ret_head = (struct head){
        .list = front->list,
        .item = front->item,
        .level = front->level,
        .priority = front->priority,
        .submitted_ms = front->submitted_ms,
        .class_index = front->class_index,
        .front = NONE,
    };
    if (!is_for_pool(round, front->pool, front->is_foreign)) {
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
        if (at >= queue->fronts.count) {
            continue;
        }
        const struct front *front = &queue->fronts.items[at];
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
    uint32_t at = lane->heads[0].front;

    if (at != NONE) {
        lane->heads[0].front = NONE;
        lane_lists_draw(round, lane, at * 2 + 1);
        lane_lists_draw(round, lane, at * 2 + 2);
    }
}

/* Take off the first list as it is. */
static void pop_head(struct round *round, struct lane *lane)
{
    lane->heads[0] = lane->heads[--lane->head_count];
    if (lane->head_count) {
        heads_down(round, lane, 0);
    }
}

void lane_drop_list(struct round *round, struct lane *lane)
{
    uint32_t at = lane->heads[0].front;

    pop_head(round, lane);
    if (at != NONE) {
        lane_lists_draw(round, lane, at * 2 + 1);
        lane_lists_draw(round, lane, at * 2 + 2);
    }
}

void lane_put_off(struct round *round, struct lane *lane)
{
    ASSERT(lane->is_by_apps && lane->heads[0].front == NONE);
    if (lane->late_count == lane->late_capacity) {
        lane->late =
            grow(round, lane->late, lane->late_count, &lane->late_capacity);
    }
    lane->late[lane->late_count++] = lane->heads[0];
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
    if (!lane_lists_move(round, &lane->heads[0])) {
        lane_drop_list(round, lane);
    } else if (lane->head_count > 1 || lane->is_by_apps) {
        lane_lists_note(round, &lane->heads[0]);
        heads_down(round, lane, 0);
    }
}

void lane_skip(struct round *round, struct lane *lane)
{
    struct head *head = &lane->heads[0];

    if (head->is_alone) {
        lane_drop_list(round, lane);
        return;
    }
    seq_next(&round->sched->lists.items[head->list].seq, &head->at);
    lane_settle(round, lane);
}

bool lane_goes_on(const struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    struct head *head = &lane->heads[0];
    const struct seq *seq = &sched->lists.items[head->list].seq;

    if (seq_is_end(seq, head->at)) {
        return false;
    }
    head->item = seq_get(seq, head->at);
    if (sched->job_flags.items[head->item]) {
        return false;
    }
    if (lane->head_count > 1) {
        lane_lists_note(round, head);
    }
    for (uint32_t i = 1; i <= 2 && i < lane->head_count; i++) {
        if (head_less(round, &lane->heads[i], head)) {
            return false;
        }
    }
    return true;
}

void lane_sink_first(struct round *round, struct lane *lane)
{
    heads_down(round, lane, 0);
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
        .class_index = record->class_index,
        .front = NONE,
    };

    if (is_for_pool(round, record->pool, record->is_foreign) &&
        lane_lists_move(round, &head)) {
        lane_lists_note(round, &head);
        push_head(round, lane, &head);
    }
}
