#include "sched/round.h"

#include <string.h>

enum { HEAP_ARITY = 4 };

struct class *class_round(struct round *round, uint32_t class_index)
{
    struct class *class = class_at(round, class_index);

    if (class->stamp != round->sched->stamp) {
        class->stamp = round->sched->stamp;
        class->is_blocked = false;
        class->is_blocked_all = false;
        class->cached_node = NONE;
        class->requirement = NULL;
        class->victims = NULL;
        class->blocked_growth = 0;
        class->lane_first = NONE;
    }
    return class;
}

void round_decide(struct round *round, struct sched_decision decision)
{
    decision.group = round->group;
    VEC_PUSH(&round->sched->decisions, decision);
    if (decision.action != SCHED_PREEMPT) {
        round->sched->jobs.items[decision.job].is_planned = true;
    }
}

/* The heap of streams. */

static bool entry_less(const struct round *round, const struct heap_entry *a,
                       const struct heap_entry *b)
{
    if (a->level != b->level) {
        return a->level > b->level;
    }
    double gap = a->approx - b->approx;
    double near = (a->approx + b->approx) * 1e-14;
    if (gap > near || gap < -near) {
        return gap < 0;
    }
    const struct lane *x = &round->lanes[a->stream / STREAM_KINDS];
    const struct lane *y = &round->lanes[b->stream / STREAM_KINDS];
    uint32_t x_kind = a->stream % STREAM_KINDS;
    uint32_t y_kind = b->stream % STREAM_KINDS;
    int c = cost_compare_exact(&round->pool->base, &x->cost[x_kind],
                               &y->cost[y_kind]);
    if (c) {
        return c < 0;
    }
    /* What runs goes before what would take its place. */
    return x_kind != y_kind ? x_kind < y_kind : x->rank < y->rank;
}

static void heap_set(struct round *round, uint32_t at, struct heap_entry entry)
{
    struct lane *lane = &round->lanes[entry.stream / STREAM_KINDS];

    round->heap[at] = entry;
    lane->heap_place[entry.stream % STREAM_KINDS] = at;
}

static void heap_up(struct round *round, uint32_t at)
{
    struct heap_entry entry = round->heap[at];

    while (at > 0) {
        uint32_t parent = (at - 1) / HEAP_ARITY;
        if (!entry_less(round, &entry, &round->heap[parent])) {
            break;
        }
        heap_set(round, at, round->heap[parent]);
        at = parent;
    }
    heap_set(round, at, entry);
}

static void heap_down(struct round *round, uint32_t at)
{
    struct heap_entry entry = round->heap[at];

    for (;;) {
        uint32_t child = at * HEAP_ARITY + 1;
        uint32_t end = child + HEAP_ARITY < round->heap_count
                           ? child + HEAP_ARITY
                           : round->heap_count;
        uint32_t best = child;
        if (child >= round->heap_count) {
            break;
        }
        while (++child < end) {
            if (entry_less(round, &round->heap[child], &round->heap[best])) {
                best = child;
            }
        }
        if (!entry_less(round, &round->heap[best], &entry)) {
            break;
        }
        heap_set(round, at, round->heap[best]);
        at = best;
    }
    heap_set(round, at, entry);
}

/* Put a stream with its present cost where it belongs. */
static void heap_put(struct round *round, struct lane *lane,
                     enum stream_kind kind)
{
    struct heap_entry entry = {
        lane->cost[kind].approx,
        (uint32_t)(lane - round->lanes) * STREAM_KINDS + kind,
        lane->level[kind],
    };
    uint32_t at = lane->heap_place[kind];

    if (at == NONE) {
        at = round->heap_count++;
    }
    heap_set(round, at, entry);
    heap_down(round, at);
    heap_up(round, lane->heap_place[kind]);
}

static void heap_drop(struct round *round, struct lane *lane,
                      enum stream_kind kind)
{
    uint32_t at = lane->heap_place[kind];

    if (at == NONE) {
        return;
    }
    lane->heap_place[kind] = NONE;
    struct heap_entry last = round->heap[--round->heap_count];
    if (at < round->heap_count) {
        heap_set(round, at, last);
        heap_down(round, at);
        struct lane *moved = &round->lanes[last.stream / STREAM_KINDS];
        heap_up(round, moved->heap_place[last.stream % STREAM_KINDS]);
    }
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
    const struct sched *sched = round->sched;
    uint32_t a_level = sched->lists.items[a->list].level;
    uint32_t b_level = sched->lists.items[b->list].level;

    if (a_level != b_level) {
        return a_level > b_level;
    }
    return job_less(sched, job_of_head(round, a), job_of_head(round, b));
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
        return sched->jobs.items[item].is_planned;
    }
    return sched->gangs.items[item].planned == sched->plan_count;
}

/* Move a head to an item that is still to be planned; false at the end. */
static bool head_settle(const struct round *round, struct head *head)
{
    const struct list *list = &round->sched->lists.items[head->list];

    while (!seq_is_end(&list->seq, head->at)) {
        head->item = seq_get(&list->seq, head->at);
        if (!is_planned(round, list, head->item)) {
            return true;
        }
        seq_next(&list->seq, &head->at);
    }
    return false;
}

static void lane_drop_list(struct round *round, struct lane *lane)
{
    lane->heads[0] = lane->heads[--lane->head_count];
    if (lane->head_count) {
        heads_down(round, lane, 0);
    }
}

/* Go past the item at the lane's head. */
static void lane_skip(struct round *round, struct lane *lane)
{
    struct head *head = &lane->heads[0];

    seq_next(&round->sched->lists.items[head->list].seq, &head->at);
    if (head_settle(round, head)) {
        heads_down(round, lane, 0);
    } else {
        lane_drop_list(round, lane);
    }
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

/* Whether nothing of the class can be placed any more in this round. */
static bool is_hopeless(struct round *round, uint32_t class_index)
{
    if (class_index == NONE) {
        return false;
    }
    const struct class *class = class_round(round, class_index);
    bool may_preempt = round->kind == ROUND_BALANCE && !round->is_filling;

    return may_preempt ? class->is_blocked_all
                       : class->is_blocked &&
                             class->blocked_growth == round->growth_count;
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

/* Find the lane's next new work and put its stream in order. */
static void lane_refresh_new(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;

    while (lane->head_count) {
        const struct list *list = &sched->lists.items[lane->heads[0].list];
        const struct resource_vec *request = request_of_head(round, lane);
        bool is_gang = list->class_index == NONE;
        bool is_out = is_hopeless(round, list->class_index) ||
                      (round->held_columns && is_held(round, request));
        if (is_out && is_gang) {
            lane_skip(round, lane);
        } else if (is_out) {
            lane_drop_list(round, lane);
        } else {
            lane->request = request;
            lane->level[STREAM_NEW] = list->level;
            lane->cost[STREAM_NEW] = cost_of(&round->pool->base, &lane->all,
                                             request, lane->factor_micro);
            heap_put(round, lane, STREAM_NEW);
            lane_chain(round, lane, list->class_index);
            return;
        }
    }
    lane_chain(round, lane, NONE);
    heap_drop(round, lane, STREAM_NEW);
}

void lane_refresh_evicted(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;

    while (lane->unit_next < lane->unit_end) {
        const struct unit *unit = &round->units[lane->unit_next];
        uint32_t run = round->members[unit->member_first];
        if (sched->runs.items[run].state == RUN_EVICTED) {
            lane->level[STREAM_EVICTED] = unit->level;
            lane->cost[STREAM_EVICTED] =
                cost_of(&round->pool->base, &lane->placed, &unit->sum,
                        lane->factor_micro);
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
        }
    }
    return usage;
}

/* Deciding. */

static void hold_until(struct round *round, int64_t when_ms)
{
    round->wake_ms = when_ms < round->wake_ms ? when_ms : round->wake_ms;
}

/* Whether rate limits let `count` jobs with `request` start now; else the
 * lane's new work, or all, is held back as far as the limit reaches. */
static bool may_start(struct round *round, struct lane *lane, uint32_t count,
                      const struct resource_vec *request)
{
    struct sched *sched = round->sched;
    struct bucket *queue = &sched->queues.items[lane->queue].bucket;
    bool may = true;

    if (!bucket_has(&sched->bucket, &round->rate_all, count, round->now_ms)) {
        round->are_starts_over = true;
        hold_until(round, bucket_when(&sched->bucket, &round->rate_all, count,
                                      round->now_ms));
        return false;
    }
    if (!bucket_has(queue, &round->rate_queue, count, round->now_ms)) {
        hold_until(round, bucket_when(queue, &round->rate_queue, count,
                                      round->now_ms));
        lane->head_count = 0;
        return false;
    }
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        struct bucket *bucket = &round->pool->start[r];
        if (request->v[r] > 0 && !bucket_has(bucket, &round->rate_start[r],
                                             request->v[r], round->now_ms)) {
            round->held_columns |= 1u << r;
            hold_until(round, bucket_when(bucket, &round->rate_start[r],
                                          request->v[r], round->now_ms));
            may = false;
        }
    }
    return may;
}

static void count_starts(struct round *round, const struct lane *lane,
                         uint32_t count, const struct resource_vec *request)
{
    struct sched *sched = round->sched;

    bucket_take(&sched->bucket, &round->rate_all, count, round->now_ms);
    bucket_take(&sched->queues.items[lane->queue].bucket, &round->rate_queue,
                count, round->now_ms);
    for (uint32_t r = 0; round->has_start_limits && r < RESOURCE_COLUMNS_MAX;
         r++) {
        bucket_take(&round->pool->start[r], &round->rate_start[r],
                    request->v[r], round->now_ms);
    }
}

static bool is_within(const struct usage *usage,
                      const struct resource_vec *request)
{
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (request->v[r] > 0 &&
            usage->used.v[r] + request->v[r] > usage->limit.v[r]) {
            return false;
        }
    }
    return true;
}

/* The priority class of what is at the lane's head; a gang's members are of
 * one. */
static uint32_t priority_class_of_head(const struct round *round,
                                       const struct lane *lane)
{
    uint32_t job = job_of_head(round, &lane->heads[0]);
    uint32_t class_index = class_of_job(round->sched, job);

    return round->sched->classes.items[class_index].priority_class;
}

/* Whether the limits of queue and class let the lane's head start. */
static bool is_under_limits(struct round *round, struct lane *lane)
{
    const struct usage *usage =
        lane_usage(round, lane, priority_class_of_head(round, lane));

    return !usage || is_within(usage, lane->request);
}

static bool is_counting(const struct round *round)
{
    return round->rate_all.size || round->rate_queue.size ||
           round->has_start_limits;
}

/* The entry that comes next once the top is decided, or NULL. */
static const struct heap_entry *second_of(const struct round *round)
{
    const struct heap_entry *best = NULL;

    for (uint32_t i = 1; i <= HEAP_ARITY && i < round->heap_count; i++) {
        if (!best || entry_less(round, &round->heap[i], best)) {
            best = &round->heap[i];
        }
    }
    return best;
}

/* Whether the next job of the lane's first list would be decided at once. */
static bool goes_on(struct round *round, struct lane *lane, uint32_t node,
                    const struct class *class, const struct heap_entry *second)
{
    struct sched *sched = round->sched;
    struct head *head = &lane->heads[0];

    if (seq_is_end(&sched->lists.items[head->list].seq, head->at)) {
        return false;
    }
    head->item = seq_get(&sched->lists.items[head->list].seq, head->at);
    const struct job *job = &sched->jobs.items[head->item];
    if (job->is_planned || job->has_avoided ||
        !resource_fits(&class->request, &sched->free[node]) ||
        sched->decisions.count >= round->decision_max) {
        return false;
    }
    for (uint32_t i = 1; i <= 2 && i < lane->head_count; i++) {
        if (head_less(round, &lane->heads[i], head)) {
            return false;
        }
    }
    lane->cost[STREAM_NEW] = cost_of(&round->pool->base, &lane->all,
                                     &class->request, lane->factor_micro);
    struct heap_entry entry = {
        lane->cost[STREAM_NEW].approx,
        (uint32_t)(lane - round->lanes) * STREAM_KINDS + STREAM_NEW,
        lane->level[STREAM_NEW],
    };
    return (!second || entry_less(round, &entry, second)) &&
           is_under_limits(round, lane) && !is_counting(round);
}

/* Lease the lane's head and, when the node is the best one for its whole
 * class, whatever follows it to the same node. */
static void lease_run(struct round *round, struct lane *lane,
                      uint32_t class_index, uint32_t node, bool is_best)
{
    struct sched *sched = round->sched;
    struct head *head = &lane->heads[0];
    const struct class *class = class_at(round, class_index);
    const struct heap_entry *second = second_of(round);

    do {
        place_put(round, lane, class_index, node, 1);
        if (is_counting(round)) {
            count_starts(round, lane, 1, &class->request);
        }
        round_decide(round, (struct sched_decision){
                                .action = SCHED_LEASE,
                                .job = head->item,
                                .node = node,
                                .priority = sched->level_priority[class->level],
                                .for_job = NONE,
                            });
        round->group++;
        round->counters->placements++;
        lane->looked_count++;
        seq_next(&sched->lists.items[head->list].seq, &head->at);
    } while (is_best && goes_on(round, lane, node, class, second));
    if (head_settle(round, head)) {
        heads_down(round, lane, 0);
    } else {
        lane_drop_list(round, lane);
    }
}

void gang_started(struct round *round, const struct lane *lane, uint32_t count,
                  const struct resource_vec *request)
{
    round->counters->placements += count;
    if (is_counting(round)) {
        count_starts(round, lane, count, request);
    }
}

void lane_rewind(struct round *round, struct lane *lane)
{
    const struct sched *sched = round->sched;

    while (lane->unit_next > lane->unit_first) {
        const struct unit *unit = &round->units[lane->unit_next - 1];
        uint32_t run = round->members[unit->member_first];
        if (sched->runs.items[run].state == RUN_RETURNED) {
            break;
        }
        lane->unit_next--;
    }
    lane_refresh(round, lane);
}

/* Nothing of the class can be placed any more: no queue waits with it. */
static void give_up(struct round *round, struct class *class)
{
    while (class->lane_first != NONE) {
        lane_refresh_new(round, &round->lanes[class->lane_first]);
    }
}

/* Decide about a single job at the lane's head. */
static void step_job(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    uint32_t job = lane->heads[0].item;
    uint32_t class_index = class_of_job(sched, job);
    struct class *class = class_round(round, class_index);
    struct search search = {round, class_index, job, NULL};
    bool has_avoided = sched->jobs.items[job].has_avoided;
    size_t journal_mark = sched->journal.count;
    size_t decision_mark = sched->decisions.count;
    uint32_t node = NONE;

    if (!class->is_blocked || class->blocked_growth != round->growth_count) {
        node = place_find(&search);
    }
    bool is_best = node != NONE && !has_avoided;
    if (node == NONE && !has_avoided) {
        class->is_blocked = true;
        class->blocked_growth = round->growth_count;
    }
    if (node == NONE && round->kind == ROUND_BALANCE && !round->is_filling) {
        node = victims_find(&search);
        class->is_blocked_all |= node == NONE && !has_avoided;
    }
    if (node == NONE) {
        lane->looked_count++;
        if (has_avoided) {
            lane_skip(round, lane);
        } else {
            give_up(round, class);
        }
        return;
    }
    if (decision_mark > 0 && sched->decisions.count + 1 > round->decision_max) {
        place_rollback(round, journal_mark);
        sched->decisions.count = decision_mark;
        round->is_cut = true;
        return;
    }
    lease_run(round, lane, class_index, node, is_best);
}

static void step_gang(struct round *round, struct lane *lane)
{
    lane->looked_count++;
    switch (gang_place(round, lane, lane->heads[0].item)) {
    case GANG_PLACED:
    case GANG_WAITS:
        lane_skip(round, lane);
        break;
    case GANG_CUT:
        round->is_cut = true;
        break;
    }
}

/* Decide about the first new work of a lane. */
static void step_new(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    uint32_t lookback_max = sched->policy->lookback_max;
    const struct list *list = &sched->lists.items[lane->heads[0].list];
    bool is_gang = list->class_index == NONE;
    uint32_t count =
        is_gang ? sched->gangs.items[lane->heads[0].item].waiting.count : 1;

    if (round->are_starts_over ||
        (lookback_max && lane->looked_count >= lookback_max)) {
        lane->head_count = 0;
        return;
    }
    if (is_counting(round) && !may_start(round, lane, count, lane->request)) {
        return;
    }
    if (!is_under_limits(round, lane)) {
        lane->looked_count++;
        if (is_gang) {
            lane_skip(round, lane);
        } else {
            lane_drop_list(round, lane);
        }
        return;
    }
    if (is_gang) {
        step_gang(round, lane);
    } else {
        step_job(round, lane);
    }
}

/* Decide about the first evicted work of a lane; its cost may have grown
 * since it was put there. */
static void step_evicted(struct round *round, struct lane *lane)
{
    const struct unit *unit = &round->units[lane->unit_next];
    struct cost now = cost_of(&round->pool->base, &lane->placed, &unit->sum,
                              lane->factor_micro);

    if (cost_compare(&round->pool->base, &now, &lane->cost[STREAM_EVICTED]) ==
        0) {
        victims_return(round, lane->unit_next);
        resource_add(&lane->placed, &unit->sum, 1);
        lane->unit_next++;
    }
    lane_refresh_evicted(round, lane);
}

static void run_heap(struct round *round)
{
    while (round->heap_count && !round->is_cut) {
        uint32_t stream = round->heap[0].stream;
        struct lane *lane = &round->lanes[stream / STREAM_KINDS];
        if (stream % STREAM_KINDS == STREAM_EVICTED) {
            step_evicted(round, lane);
        } else {
            step_new(round, lane);
            lane_refresh_new(round, lane);
        }
    }
}

/* Setting up. */

static bool is_for_pool(const struct round *round, const struct list *list)
{
    return list->pool == NONE || list->pool == round->p;
}

/* Gather the lists that a lane may draw from. */
static void lane_fill(struct round *round, struct lane *lane)
{
    struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[lane->queue];

    lane->head_count = 0;
    lane->looked_count = 0;
    if (queue->is_cordoned || queue->lists.count == 0) {
        return;
    }
    if (!lane->heads) {
        lane->heads = arena_alloc_array(round->arena, queue->lists.count,
                                        sizeof(*lane->heads));
    }
    for (size_t i = 0; i < queue->lists.count; i++) {
        const struct list *list = &sched->lists.items[queue->lists.items[i]];
        struct head head = {.list = queue->lists.items[i]};
        if (is_for_pool(round, list) && head_settle(round, &head)) {
            lane->heads[lane->head_count++] = head;
        }
    }
    for (uint32_t i = lane->head_count / 2; i > 0; i--) {
        heads_down(round, lane, i - 1);
    }
}

static struct lane *lane_add(struct round *round, uint32_t index)
{
    struct sched *sched = round->sched;
    const struct queue *queue = &sched->queues.items[index];
    struct lane *lane = &round->lanes[round->lane_count];

    *lane = (struct lane){
        .queue = index,
        .rank = queue->rank,
        .factor_micro = queue->factor_micro,
        .heap_place = {NONE, NONE},
        .class_index = NONE,
    };
    for (uint32_t at = queue->account_first; at != NONE;
         at = sched->accounts.items[at].next) {
        const struct account *account = &sched->accounts.items[at];
        if (account->pool == round->p) {
            resource_add(&lane->all, &account->allocated, 1);
        }
    }
    lane->placed = lane->all;
    round->lane_of_queue[index] = round->lane_count++;
    return lane;
}

static void set_rates(struct round *round)
{
    const struct policy *policy = round->sched->policy;
    const struct rate_limit *all = &policy->rate_global;
    const struct rate_limit *queue = &policy->rate_per_queue;

    round->rate_all = rate_rule(all);
    round->rate_queue = rate_rule(queue);
    for (uint32_t r = 0; r < policy->schema.column_count; r++) {
        round->rate_start[r] = start_rule(round->sched, round->p, r);
        round->has_start_limits |= round->rate_start[r].size > 0;
    }
}

/* Whether preemption might serve anyone. */
static bool has_waiting(const struct round *round)
{
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
        sched->policy->is_fair_share_preemption_off || !has_waiting(round)) {
        return;
    }
    const struct share *shares =
        shares_of(sched, round->p, round->arena, &count);
    victims_evict(round, shares, count);
}

static void plan_pool(struct round *round)
{
    struct sched *sched = round->sched;
    uint32_t n = (uint32_t)sched->active.count;

    sched->stamp++;
    round->open_node = NONE;
    round->lanes = arena_alloc_array(round->arena, n, sizeof(*round->lanes));
    round->heap = arena_alloc_array(round->arena, (size_t)n * STREAM_KINDS,
                                    sizeof(*round->heap));
    round->lane_of_queue = arena_alloc_array(round->arena, sched->queues.count,
                                             sizeof(*round->lane_of_queue));
    memset(round->lane_of_queue, 0xff,
           sched->queues.count * sizeof(*round->lane_of_queue));
    set_rates(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_fill(round, lane_add(round, sched->active.items[i]));
    }
    round->counters->queues_considered += n;
    evict(round);
    for (uint32_t i = 0; i < n; i++) {
        lane_refresh(round, &round->lanes[i]);
    }
    run_heap(round);
    if (round->growth_count && !round->is_cut) {
        /* What victims left over may serve what was passed over before. */
        round->is_filling = true;
        for (uint32_t i = 0; i < n; i++) {
            lane_fill(round, &round->lanes[i]);
            lane_refresh_new(round, &round->lanes[i]);
        }
        run_heap(round);
    }
    place_flush(round);
    victims_forget(round);
}

/* The plan. */

/* Rate limits as they were, to be put back. */
struct saved_limits {
    struct bucket all;
    struct bucket *queues;
    struct bucket (*pools)[RESOURCE_COLUMNS_MAX];
};

static void save_limits(struct sched *sched, struct saved_limits *saved)
{
    saved->all = sched->bucket;
    saved->queues = NULL;
    if (sched->policy->rate_per_queue.rate_milli_per_s > 0) {
        saved->queues = arena_alloc_array(&sched->arena, sched->queues.count,
                                          sizeof(*saved->queues));
        for (size_t i = 0; i < sched->queues.count; i++) {
            saved->queues[i] = sched->queues.items[i].bucket;
        }
    }
    saved->pools = arena_alloc_array(&sched->arena, sched->pools.count,
                                     sizeof(*saved->pools));
    for (size_t i = 0; i < sched->pools.count; i++) {
        memcpy(saved->pools[i], sched->pools.items[i].start,
               sizeof(saved->pools[i]));
    }
}

static void restore_limits(struct sched *sched,
                           const struct saved_limits *saved)
{
    sched->bucket = saved->all;
    for (size_t i = 0; saved->queues && i < sched->queues.count; i++) {
        sched->queues.items[i].bucket = saved->queues[i];
    }
    for (size_t i = 0; i < sched->pools.count; i++) {
        memcpy(sched->pools.items[i].start, saved->pools[i],
               sizeof(saved->pools[i]));
    }
}

/* A balance round that found nothing to do speaks for fast ones too. */
static bool is_settled(const struct sched *sched, enum round_kind kind,
                       int64_t now_ms, int64_t *ret_until_ms)
{
    for (int k = (int)kind; k <= (int)ROUND_BALANCE; k++) {
        if (sched->settled_version[k] == sched->version &&
            now_ms < sched->settled_until_ms[k]) {
            *ret_until_ms = sched->settled_until_ms[k];
            return true;
        }
    }
    return false;
}

static void plan_pools(struct sched *sched, struct round *proto,
                       struct sched_plan *plan)
{
    for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
        struct round round = *proto;
        round.p = pool_get(sched, sched->policy->pools[i].name);
        round.pool = &sched->pools.items[round.p];
        round.group = proto->group;
        if (round.pool->node_count == 0) {
            continue;
        }
        plan_pool(&round);
        proto->group = round.group;
        plan->is_cut |= round.is_cut;
        if (round.wake_ms < plan->next_wake_ms) {
            plan->next_wake_ms = round.wake_ms;
        }
        if (plan->is_cut) {
            break;
        }
    }
}

void sched_plan(struct sched *sched, int64_t now_ms, enum round_kind kind,
                uint32_t decision_count_max, struct sched_plan *ret_plan)
{
    struct sched_plan plan = {.next_wake_ms = INT64_MAX};
    struct saved_limits saved;

    ASSERT(decision_count_max > 0);
    if (is_settled(sched, kind, now_ms, &plan.next_wake_ms)) {
        *ret_plan = plan;
        return;
    }
    sched->plan_count++;
    arena_reset(&sched->arena);
    nodes_sync(sched);
    queues_sync(sched);
    sched->decisions.count = 0;
    sched->journal.count = 0;
    save_limits(sched, &saved);
    struct round proto = {
        .sched = sched,
        .arena = &sched->arena,
        .kind = kind,
        .now_ms = now_ms,
        .decision_max = decision_count_max < SCHED_DECISIONS_MAX
                            ? decision_count_max
                            : SCHED_DECISIONS_MAX,
        .counters = &plan.counters,
        .wake_ms = INT64_MAX,
    };
    plan_pools(sched, &proto, &plan);
    place_undo(sched);
    restore_limits(sched, &saved);
    plan.decisions = sched->decisions.items;
    plan.decision_count = (uint32_t)sched->decisions.count;
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        sched->jobs.items[plan.decisions[i].job].is_planned = false;
        plan.counters.preemptions += plan.decisions[i].action == SCHED_PREEMPT;
    }
    if (plan.decision_count == 0) {
        sched->settled_version[kind] = sched->version;
        sched->settled_until_ms[kind] = plan.next_wake_ms;
    }
    *ret_plan = plan;
}
