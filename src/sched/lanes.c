#include "sched/lanes.h"

#include <string.h>

#include "sched/cfs.h"
#include "sched/fronts.h"
#include "sched/head.h"
#include "sched/heap.h"
#include "sched/lane_share.h"
#include "sched/lend.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/sweep.h"

/* Places of a heap below which nothing was looked at yet: one a level. */
enum { LANE_DEPTH_MAX = 64 };

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
        class->requirement = NULL;
        class->climb = NULL;
        class->group_rooms = NULL;
        class->domain_room = class->empty_room = NULL;
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

/* The heap of a lane's lists. */

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

/* Note what the item at the cursor is ordered by. */
static void head_order(const struct round *round, struct head *head)
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

/* Whether an item was already dealt with by this plan. */
static bool is_planned(const struct round *round, const struct list *list,
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

/* Move a head to an item that is still to be planned; false at the end. */
static bool head_settle(const struct round *round, struct head *head)
{
    const struct list *list = &round->sched->lists.items[head->list];

    if (head->is_alone) {
        return !is_planned(round, list, head->item);
    }
    while (!seq_is_end(&list->seq, head->at)) {
        head->item = seq_get(&list->seq, head->at);
        if (!is_planned(round, list, head->item)) {
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

static void make_room(struct round *round, struct lane *lane)
{
    if (lane->head_count < lane->head_capacity) {
        return;
    }
    uint32_t capacity = lane->head_capacity ? lane->head_capacity * 2 : 8;
    struct head *heads =
        arena_alloc_array(round->arena, capacity, sizeof(*heads));
    if (lane->head_count) {
        memcpy(heads, lane->heads, lane->head_count * sizeof(*heads));
    }
    lane->heads = heads;
    lane->head_capacity = capacity;
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

/* The head of a list as it lies in the queue's heap; false when the lane has
 * nothing to draw from there. */
static bool head_of_front(const struct round *round, const struct front *front,
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
    if (!head_settle(round, ret_head)) {
        return false;
    }
    head_order(round, ret_head);
    return true;
}

/* Draw from what lies at a place of the queue's heap: from its list, or if
 * that is no longer what lies there, from all that are below it too. */
static void draw(struct round *round, struct lane *lane, uint32_t place)
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
        bool is_there = head_of_front(round, front, &head);
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
        draw(round, lane, at * 2 + 1);
        draw(round, lane, at * 2 + 2);
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
        draw(round, lane, at * 2 + 1);
        draw(round, lane, at * 2 + 2);
    }
}

/* Pass over the first list, whose class is hopeless, and when many such came
 * in a row over all others of the class as well: where each application has
 * lists of its own, one by one would cost a sift each.  `row` counts. */
static void drop_hopeless(struct round *round, struct lane *lane, uint32_t *row)
{
    const struct sched *sched = round->sched;
    uint32_t class_index = sched->lists.items[lane->heads[0].list].class_index;
    uint32_t kept_count = 0;

    lane_drop_list(round, lane);
    bool is_same =
        lane->head_count &&
        sched->lists.items[lane->heads[0].list].class_index == class_index;
    *row = is_same ? *row + 1 : 0;
    if (*row < 8 || *row < lane->head_count / 16) {
        return;
    }
    for (uint32_t i = 0; i < lane->head_count; i++) {
        uint32_t list = lane->heads[i].list;
        if (sched->lists.items[list].class_index != class_index) {
            lane->heads[kept_count++] = lane->heads[i];
        }
    }
    lane->head_count = kept_count;
    for (uint32_t i = kept_count / 2; i > 0; i--) {
        heads_down(round, lane, i - 1);
    }
}

void lane_settle(struct round *round, struct lane *lane)
{
    lane_unfold(round, lane);
    if (!head_settle(round, &lane->heads[0])) {
        lane_drop_list(round, lane);
    } else if (lane->head_count > 1 || lane->is_by_apps) {
        head_order(round, &lane->heads[0]);
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
        head_order(round, head);
    }
    for (uint32_t i = 1; i <= 2 && i < lane->head_count; i++) {
        if (head_less(round, &lane->heads[i], head)) {
            return false;
        }
    }
    return true;
}

static bool is_held(const struct round *round, const struct resource_vec *v)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if ((round->held_columns >> r & 1) && v->v[r] > 0) {
            return true;
        }
    }
    return false;
}

static const struct resource_vec *request_of_head(const struct round *round,
                                                  const struct lane *lane)
{
    const struct sched *sched = round->sched;
    const struct list *list = &sched->lists.items[lane->heads[0].list];

    return list->class_index == NONE
               ? &sched->gangs.items[lane->heads[0].item].waiting_sum
               : &sched->classes.items[list->class_index].request;
}

/* Whether nothing of the class can be placed any more in this round, nor be
 * admitted. */
static bool is_hopeless(struct round *round, const struct lane *lane,
                        uint32_t class_index, uint32_t level)
{
    if (class_index == NONE) {
        return false;
    }
    const struct class *class = class_round(round, class_index);
    if (round->is_lending && lend_missed(round, class)) {
        return true;
    }
    if (!class->is_barred && head_has_window_at(round, lane, level)) {
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

    for (; first < queue->fronts.count; first = first * 2 + 1, width *= 2) {
        size_t end = first + width;
        end = end < queue->fronts.count ? end : queue->fronts.count;
        for (size_t i = first; i < end; i++) {
            const struct front *front = &queue->fronts.items[i];
            struct head head;
            if ((!is_hopeful ||
                 !is_hopeless(round, lane, front->class_index, front->level)) &&
                head_of_front(round, front, &head)) {
                make_room(round, lane);
                lane->heads[lane->head_count++] = head;
            }
        }
    }
}

/* Draw from all lists that the lane may, or from those that are not hopeless,
 * and bring them into order later. */
static void unfold_all(struct round *round, struct lane *lane, bool is_hopeful)
{
    uint32_t count = lane->is_folded ? lane->head_count : 0;

    lane->is_folded = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = lane->heads[i].front;
        lane->heads[i].front = NONE;
        if (at != NONE) {
            draw_all(round, lane, at, is_hopeful);
        }
    }
}

/* Many lists in a row were hopeless: pass over all others that are as well,
 * where one by one would cost a sift each. */
static void drop_all_hopeless(struct round *round, struct lane *lane)
{
    uint32_t kept_count = 0;

    unfold_all(round, lane, true);
    for (uint32_t i = 0; i < lane->head_count; i++) {
        const struct head *head = &lane->heads[i];
        if (!is_hopeless(round, lane, head->class_index, head->level)) {
            lane->heads[kept_count++] = *head;
        }
    }
    lane->head_count = kept_count;
    for (uint32_t i = kept_count / 2; i > 0; i--) {
        heads_down(round, lane, i - 1);
    }
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
        lane->class_previous = NONE;
        lane->class_next = class->lane_first;
        if (class->lane_first != NONE) {
            round->lanes[class->lane_first].class_previous = self;
        }
        class->lane_first = self;
    }
}

struct cost lane_new_cost(const struct round *round, const struct lane *lane,
                          const struct resource_vec *request)
{
    struct resource_vec all = lane->all;

    if (lane->has_penalty) {
        amounts_add(&all, &lane->penalty);
    }
    struct cost cost =
        cost_of(&round->pool->base, &all, request, lane->factor_micro);

    return lane->flow ? share_above_floor(lane, cost) : cost;
}

/* Find the lane's next new work and put its stream in order. */
void lane_refresh_new(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;
    uint32_t row = 0;

    for (;;) {
        if (lane->is_by_apps) {
            order_settle(round, lane);
        }
        if (lane->head_count == 0) {
            break;
        }
        const struct list *list = &sched->lists.items[lane->heads[0].list];
        const struct resource_vec *request = request_of_head(round, lane);
        bool is_gang = list->class_index == NONE;
        bool is_out =
            (is_gang && is_planned(round, list, lane->heads[0].item)) ||
            is_hopeless(round, lane, list->class_index, list->level) ||
            (round->held_columns && is_held(round, request));
        if (is_out && round->held_columns && round->has_flow) {
            round_wake_held(round, request);
        }
        if (is_out && is_gang) {
            lane_skip(round, lane);
        } else if (is_out && lane->is_by_apps &&
                   is_hopeless(round, lane, list->class_index, list->level)) {
            order_unmet(round, lane);
            drop_hopeless(round, lane, &row);
        } else if (is_out) {
            lane_drop_list(round, lane);
            if (!lane->is_by_apps && ++row >= 8 &&
                (lane->is_folded || row >= lane->head_count / 16)) {
                drop_all_hopeless(round, lane);
                row = 0;
            }
        } else {
            lane->request = request;
            lane->level[STREAM_NEW] = list->level;
            lane->cost[STREAM_NEW] = lane_new_cost(round, lane, request);
            if (lane->flow) {
                share_note(round, lane);
            }
            heap_put(round, lane, STREAM_NEW);
            lane_chain(round, lane, list->class_index);
            return;
        }
    }
    lane_chain(round, lane, NONE);
    heap_drop(round, lane, STREAM_NEW);
}

/* Where the shortest go first each gang of a list has a head of its own, as
 * jobs of one class are alike and gangs are not. */
static void part_gangs(struct round *round, struct lane *lane, struct head head)
{
    const struct pool_policy *rules =
        &round->sched->policy->pools[round->pool->policy_index];
    const struct list *list = &round->sched->lists.items[head.list];

    for (uint32_t i = 1; i < rules->backfill_candidates_max; i++) {
        seq_next(&list->seq, &head.at);
        if (!head_settle(round, &head)) {
            return;
        }
        make_room(round, lane);
        lane->heads[lane->head_count++] = head;
        lane->heads[lane->head_count - 1].is_alone = true;
    }
}

/* Where the shortest go first: all heads in that order. */
static void put_in_order(struct round *round, struct lane *lane)
{
    uint32_t count = lane->head_count;

    if (!round->reserve.is_shortest_first) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct head head = lane->heads[i];
        if (head.class_index == NONE && !head.is_alone) {
            lane->heads[i].is_alone = true;
            part_gangs(round, lane, head);
        }
    }
    for (uint32_t i = 0; i < lane->head_count; i++) {
        head_order(round, &lane->heads[i]);
    }
    for (uint32_t i = lane->head_count / 2; i > 0; i--) {
        heads_down(round, lane, i - 1);
    }
}

void lane_reorder(struct round *round, struct lane *lane)
{
    unfold_all(round, lane, false);
    put_in_order(round, lane);
    lane_refresh_new(round, lane);
}

void lane_refresh_evicted(struct round *round, struct lane *lane)
{
    while (lane->unit_next < lane->unit_end) {
        const struct unit *unit = &round->units[lane->unit_next];
        if (evict_state(round, unit) == RUN_EVICTED) {
            lane->level[STREAM_EVICTED] = unit->level;
            lane->cost[STREAM_EVICTED] =
                cost_of(&round->pool->base, &lane->placed, unit->sum,
                        lane->factor_micro);
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
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        usage->limit.v[r] = r < sched->policy->schema.column_count
                                ? queue_limit_of(sched, lane->queue, round->p,
                                                 priority_class, r)
                                : INT64_MAX;
    }
    for (uint32_t at = sched->queues.items[lane->queue].account_first;
         at != NONE; at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == round->p &&
            account->priority_class == priority_class) {
            usage->used = account->allocated;
            usage->foreign = account->foreign;
        }
    }
    return usage;
}

bool lane_is_within(struct round *round, struct lane *lane,
                    uint32_t class_index, const struct resource_vec *request)
{
    const struct usage *usage =
        lane_usage(round, lane, class_at(round, class_index)->priority_class);

    return (!usage || lend_is_within(round, usage, request)) &&
           quota_short(round, lane, request) < 0;
}

void lane_rewind(struct round *round, struct lane *lane)
{
    while (lane->unit_next > lane->unit_first) {
        const struct unit *unit = &round->units[lane->unit_next - 1];
        if (evict_state(round, unit) == RUN_RETURNED) {
            break;
        }
        lane->unit_next--;
    }
    lane_refresh(round, lane);
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
        head_settle(round, &head)) {
        head_order(round, &head);
        push_head(round, lane, &head);
    }
}

/* Gather the lists that a lane may draw from. */
void lane_fill(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];

    lane->head_count = 0;
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
    if (queue->ordering != QUEUE_BY_CFS && !round->reserve.is_shortest_first) {
        lane->is_folded = true;
        draw(round, lane, 0);
        return;
    }
    for (size_t i = 0; i < queue->fronts.count; i++) {
        lane_push_list(round, lane, queue->fronts.items[i].list, NULL);
    }
    put_in_order(round, lane);
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
        .heap_place = {NONE, NONE},
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
    quota_begin(round, lane);
    share_begin(round, lane);
    round->lane_of_queue[index] = round->lane_count++;
    return lane;
}
