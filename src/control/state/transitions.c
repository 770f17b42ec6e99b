/* Counts jobs' changes of state for the metrics.  It counts only this leader's
 * time, so it is no part of the logged state. */
#include "control/state/transitions.h"

#include "control/state/state.h"

/* The state that people know, for each of ours; a run that has ended stands
 * for what will become of its job, unless that is to be decided. */
static const char *const words[JOB_STATE_COUNT] = {
    [JOB_QUEUED] = "queued",       [JOB_LEASED] = "leased",
    [JOB_PENDING] = "pending",     [JOB_RUNNING] = "running",
    [JOB_SUCCEEDED] = "succeeded", [JOB_FAILED] = "failed",
    [JOB_CANCELLED] = "cancelled", [JOB_PREEMPTED] = "preempted",
    [JOB_REJECTED] = "failed",
};

static uint32_t pool_index(struct control *c, struct str pool)
{
    if (pool.byte_count == 0) {
        return 0;
    }
    if (!c->transitions.pools) {
        c->transitions.pools = intern_create();
    }
    return intern_add(c->transitions.pools, pool) + 1;
}

static struct key128 key_of(uint32_t queue, uint32_t pool_no, uint32_t before,
                            uint32_t after)
{
    return (struct key128){queue,
                           (uint64_t)pool_no << 16 | before << 8 | after};
}

void transitions_count(struct control *c, uint32_t queue, struct str pool,
                       const struct jobs_change *change)
{
    struct transitions *t = &c->transitions;
    enum job_state before = change->before;

    if (c->state != CONTROL_LEADING || before == change->after ||
        !words[change->after]) {
        return;
    }
    if (before != JOB_NONE && !words[before]) {
        before = JOB_RUNNING; /* a run that has ended */
    }
    uint32_t pool_no = pool_index(c, pool);
    struct key128 key = key_of(queue, pool_no, before, change->after);
    uint32_t index = map_find(&t->index, key);
    if (index == MAP_NONE) {
        index = SLOTS_TAKE(&t->items);
        map_put(&t->index, key, index);
        uint32_t *first = &c->queues.items[queue].transition_first;
        t->items.items[index] = (struct transition){
            queue, pool_no, *first, (uint8_t)before, (uint8_t)change->after, 0};
        *first = index + 1;
    }
    ASSERT(t->items.items[index].queue == queue); /* it is counted as its own */
    t->items.items[index].count++;
}

void transitions_waited(struct control *c, uint32_t queue, int64_t wait_ms)
{
    struct control_queue *of = &c->queues.items[queue];

    of->wait_count++;
    of->wait_ms_sum += wait_ms > 0 ? wait_ms : 0;
}

void transitions_forget(struct control *c, uint32_t queue)
{
    struct transitions *t = &c->transitions;
    uint32_t next = c->queues.items[queue].transition_first;

    while (next) {
        uint32_t index = next - 1;
        struct transition *item = &t->items.items[index];
        ASSERT(item->queue == queue); /* a queue forgets its own alone */
        map_remove(&t->index,
                   key_of(item->queue, item->pool, item->before, item->after));
        next = item->next;
        *item = (struct transition){.queue = INTERN_NONE};
        SLOTS_GIVE(&t->items, index);
    }
    c->queues.items[queue].transition_first = 0;
    c->queues.items[queue].wait_count = 0;
    c->queues.items[queue].wait_ms_sum = 0;
}

static void answer_waits(struct control *c, struct command *command)
{
    struct arena *arena = &command->arena;
    struct queue_wait *rows =
        arena_alloc_array(arena, c->queues.count, sizeof(*rows));
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->queues.count; i++) {
        const struct control_queue *queue = &c->queues.items[i];
        if (queue->wait_count > 0) {
            rows[count++] = (struct queue_wait){
                .queue = arena_str(arena, intern_get(&c->queue_names, i)),
                .count = queue->wait_count,
                .sum_ms = queue->wait_ms_sum,
            };
        }
    }
    command->queues.waits = rows;
    command->queues.wait_count = count;
}

void transitions_answer(struct control *c, struct command *command)
{
    const struct transitions *t = &c->transitions;
    struct arena *arena = &command->arena;
    struct job_transition *rows =
        arena_alloc_array(arena, t->items.count, sizeof(*rows));
    uint32_t count = 0;

    for (size_t i = 0; i < t->items.count; i++) {
        const struct transition *item = &t->items.items[i];
        if (item->queue == INTERN_NONE) {
            continue;
        }
        rows[count++] = (struct job_transition){
            .queue = arena_str(arena, intern_get(&c->queue_names, item->queue)),
            .pool = item->pool
                        ? arena_str(arena, intern_get(t->pools, item->pool - 1))
                        : (struct str){0},
            .before = item->before ? words[item->before] : "",
            .after = words[item->after],
            .count = item->count,
        };
    }
    command->queues.transitions = rows;
    command->queues.transition_count = count;
    answer_waits(c, command);
}

void transitions_fini(struct control *c)
{
    SLOTS_FREE(&c->transitions.items);
    map_fini(&c->transitions.index);
    intern_destroy(c->transitions.pools);
}
