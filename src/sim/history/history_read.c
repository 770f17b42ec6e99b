/* Reads a history from a log: records, queues, pools and nodes. */
#include "control/what_if/what_if.h"
#include "sim/history/history_reading.h"
#include "wire/kube/pool_codec.h"
#include "wire/policy/policy_codec.h"

enum { READ_BYTES = 16 << 20 };

/* Queues, pools, the policy. */

uint32_t history_queue_of(struct reading *reading, struct str name)
{
    struct history *history = reading->history;
    uint32_t index = intern_find(&reading->queues, name);

    if (index == INTERN_NONE) {
        struct history_queue queue = {.name = arena_str(&history->arena, name),
                                      .factor = 1};
        index = intern_add(&reading->queues, name);
        VEC_PUSH(&history->queues, queue);
    }
    return index;
}

static void set_queue(struct reading *reading, const struct event *event)
{
    const struct queue_record *record = &event->queue.record;
    uint32_t index =
        history_queue_of(reading, record->name); /* they may move */
    struct history_queue *queue = &reading->history->queues.items[index];

    queue->factor = (double)record->priority_factor_micro /
                    (double)PRIORITY_FACTOR_ONE_MICRO;
    queue->encoded = arena_str(&reading->history->arena, event->queue.encoded);
}

static int set_policy(struct reading *reading, const struct event *event)
{
    struct history *history = reading->history;

    return policy_read(arena_str(&history->arena, event->policy.text),
                       "the log's policy", &history->arena, &history->policy,
                       reading->err);
}

static void set_pool(struct reading *reading, const struct event *event)
{
    struct history *history = reading->history;
    struct pool_record *record = NULL;

    for (size_t i = 0; i < history->pools.count; i++) {
        if (str_equal(history->pools.items[i].name, event->pool.record.name)) {
            record = &history->pools.items[i];
        }
    }
    if (event->type == EVENT_POOL_DELETED) {
        if (record) {
            *record = history->pools.items[--history->pools.count];
        }
        return;
    }
    struct pool_record fresh;
    if (pool_decode(arena_str(&history->arena, event->pool.encoded),
                    &history->arena, &fresh, NULL) < 0) {
        return; /* refused before it was appended; a foreign log */
    }
    if (record) {
        *record = fresh;
    } else {
        VEC_PUSH(&history->pools, fresh);
    }
}

/* Nodes. */

static void shift(struct reading *reading, uint32_t node, bool is_there)
{
    struct history *history = reading->history;
    struct history_node *of = &history->nodes.items[node];
    struct history_shift news = {reading->now_ms, node, !is_there};

    if (of->is_there != is_there) {
        of->is_there = is_there;
        VEC_PUSH(&history->shifts, news);
    }
}

static uint32_t executor_of(struct reading *reading, struct str id)
{
    uint32_t index = intern_find(&reading->executors, id);

    if (index == INTERN_NONE) {
        index = intern_add(&reading->executors, id);
        VEC_PUSH(&reading->history->executors,
                 arena_str(&reading->history->arena, id));
    }
    return index;
}

/* Nodes of different executors may have one name. */
static uint32_t node_index(struct reading *reading, uint32_t executor,
                           struct str name, bool is_new)
{
    auto_strbuf key = {0};

    strbuf_addf(&key, "%u/%.*s", executor, STR_ARG(name));
    uint32_t index = intern_find(&reading->nodes, strbuf_str(&key));
    return index == INTERN_NONE && is_new
               ? intern_add(&reading->nodes, strbuf_str(&key))
               : index;
}

static void set_node(struct reading *reading, uint32_t executor,
                     const struct node_record *record, struct str pool)
{
    struct history *history = reading->history;
    uint32_t index = node_index(reading, executor, record->name, true);
    struct history_node node = {.executor = executor};

    if (index == history->nodes.count) {
        VEC_PUSH(&history->nodes, node);
    }
    struct history_node *of = &history->nodes.items[index];
    void *memory = arena_alloc(&history->arena, node_record_bytes(record));
    node_record_copy(record, memory, &of->record);
    if (!of->record.pool.byte_count) {
        of->record.pool = arena_str(&history->arena, pool);
    }
    of->record.foreign = (struct resource_list){0};
    shift(reading, index, true); /* cordoned or not: its jobs run on */
}

static void set_nodes(struct reading *reading, const struct event *event)
{
    struct history *history = reading->history;
    uint32_t executor = executor_of(reading, event->nodes.executor_id);

    for (size_t i = 0; event->nodes.is_full && i < history->nodes.count; i++) {
        bool is_listed = history->nodes.items[i].executor != executor;
        for (uint32_t k = 0; !is_listed && k < event->nodes.set_count; k++) {
            is_listed = str_equal(event->nodes.set[k].name,
                                  history->nodes.items[i].record.name);
        }
        if (!is_listed) {
            shift(reading, (uint32_t)i, false);
        }
    }
    for (uint32_t i = 0; i < event->nodes.set_count; i++) {
        set_node(reading, executor, &event->nodes.set[i], event->nodes.pool);
    }
    for (uint32_t i = 0; i < event->nodes.removed_count; i++) {
        uint32_t node =
            node_index(reading, executor, event->nodes.removed[i], false);
        if (node != INTERN_NONE) {
            shift(reading, node, false);
        }
    }
}

/* Records. */

static int note_item(const struct log_item *item, void *ctx)
{
    struct reading *reading = ctx;
    const struct event *event = &item->event;

    switch ((int)event->type) {
    case EVENT_QUEUE_SET:
        set_queue(reading, event);
        break;
    case EVENT_POLICY_SET:
        return set_policy(reading, event);
    case EVENT_POOL_SET:
    case EVENT_POOL_DELETED:
        set_pool(reading, event);
        break;
    case EVENT_EXECUTOR_NODES:
        set_nodes(reading, event);
        break;
    case EVENT_SUBMIT:
        history_add_job(reading, item);
        break;
    default:
        history_note_job(reading, event);
        break;
    }
    return 0;
}

static int note_record(void *ctx, const struct elog_record *record)
{
    struct reading *reading = ctx;
    struct history *history = reading->history;
    int64_t now_ms = record->time_ms - history->began_ms;

    if (reading->seq == 0) {
        history->began_ms = record->time_ms;
        now_ms = 0;
    }
    reading->seq = record->seq;
    reading->now_ms = now_ms > reading->now_ms ? now_ms : reading->now_ms;
    arena_reset(&reading->scratch);
    return log_decode(record->payload, &reading->scratch, note_item, reading,
                      reading->err);
}

static void finish(struct reading *reading)
{
    struct history *history = reading->history;

    history->span_ms = reading->now_ms;
    history->start_ms =
        reading->start_count
            ? (int64_t)(reading->start_ms_sum / (double)reading->start_count)
            : 0;
    for (size_t i = 0; i < history->jobs.count; i++) {
        struct history_job *job = &history->jobs.items[i];
        int64_t began_ms = reading->runs.items[i].began_ms;
        if (began_ms >= 0) {
            job->ran_ms = history->span_ms - began_ms;
        }
        if (job->run_ms >= 0) {
            VEC_PUSH(&history->whole, (uint32_t)i);
        }
        history->left_out_count += job->is_left_out;
    }
}

static int add_piece(void *ctx, const struct elog_checkpoint *about,
                     struct str piece)
{
    (void)about;
    strbuf_add_str(ctx, piece);
    return 0;
}

static void note_fact(void *ctx, const struct event *event)
{
    struct log_item item = {.event = *event};

    (void)note_item(&item, ctx);
}

/* What records set that are gone, as the newest checkpoint has it. */
static int read_checkpoint(struct reading *reading, struct elog_reader *reader,
                           struct err *err)
{
    auto_strbuf bytes = strbuf_make(SIZE_MAX / 2);
    auto_ptr(what_if) what_if = NULL;
    struct elog_checkpoint about;

    int rc = elog_checkpoint_get(reader, &about, add_piece, &bytes, err);
    if (rc <= 0) {
        return rc < 0 ? rc
                      : err_set(err, -ERR_CORRUPT,
                                "the log begins with record %llu and has no "
                                "checkpoint",
                                (unsigned long long)about.seq);
    }
    struct what_if_state state = {.bytes = strbuf_str(&bytes)};
    struct what_if_bounds bounds = {.clock = NULL};
    rc = what_if_create(&state, NULL, &bounds, &what_if, err);
    return rc < 0 ? rc : what_if_tell(what_if, note_fact, reading, err);
}

static int read_all(struct reading *reading, struct elog_reader *reader)
{
    struct elog_range range = {.byte_count_max = READ_BYTES};
    struct elog_bounds bounds;
    int count = elog_bounds(reader, &bounds, reading->err);

    if (count < 0) {
        return count;
    }
    if (bounds.first_seq > 1) {
        count = read_checkpoint(reading, reader, reading->err);
    }
    range.from_seq = bounds.first_seq;
    while (count >= 0 && (count = elog_read(reader, &range, note_record,
                                            reading, reading->err)) > 0) {
        range.from_seq += (uint64_t)count;
    }
    return count;
}

int history_read(struct elog_reader *reader, struct history *ret_history,
                 struct err *err)
{
    struct reading reading = {.history = ret_history, .err = err};

    *ret_history = (struct history){.span_ms = 0};
    policy_defaults(&ret_history->policy);
    int rc = read_all(&reading, reader);
    finish(&reading);
    if (rc == 0 && ret_history->jobs.count == ret_history->left_out_count) {
        rc = err_set(err, -ERR_NOT_FOUND, "the log has no jobs to play again");
    }
    arena_fini(&reading.scratch);
    map_fini(&reading.job_by_id);
    intern_fini(&reading.kinds);
    intern_fini(&reading.queues);
    intern_fini(&reading.executors);
    intern_fini(&reading.nodes);
    VEC_FREE(&reading.runs);
    if (rc < 0) {
        history_fini(ret_history);
    }
    return rc;
}

void history_fini(struct history *history)
{
    VEC_FREE(&history->jobs);
    VEC_FREE(&history->kinds);
    VEC_FREE(&history->queues);
    VEC_FREE(&history->executors);
    VEC_FREE(&history->nodes);
    VEC_FREE(&history->shifts);
    VEC_FREE(&history->pools);
    VEC_FREE(&history->whole);
    arena_fini(&history->arena);
}
