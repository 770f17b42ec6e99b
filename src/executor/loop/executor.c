#include "executor/loop/executor_private.h"

enum { PLAN_ROUNDS_MAX = 4 };

void executor_options_default(struct executor_options *ret_options)
{
    *ret_options = (struct executor_options){
        .id = STR("local"),
        .pool = STR("default"),
        .has_held_stream = true,
        .lease_period_ms = 5000,
        .lease_retry_ms = 1000,
        .lease_timeout_ms = 30000,
        .held_silence_ms = 150000,
        .lease_max = 100,
        .held_lease_max = 4096,
        .create_max = 4096,
        .room_wait_ms_max = 600000,
        .ask_again_ms = 30000,
        .report_events_max = 200,
        .held_report_events_max = 2000,
        .report_delay_ms = 2000,
        .held_report_delay_ms = 5,
        .report_retry_ms = 1000,
        .report_retry_ms_max = 30000,
        .alive_period_ms = 5000,
        .inventory_period_ms = 60000,
        .nodes_gap_ms = 200,
    };
}

static void do_forget(struct executor *executor, uint32_t index)
{
    struct run *run = &executor->runs.items[index];

    if (run->has_pod) {
        run->row.is_forgetting = true;
        executor_note_asked(executor, run->row.id);
        executor->runtime->ops->forget(executor->runtime, run->row.id);
        return;
    }
    if (run->row.phase != RECONCILE_NEVER) {
        executor_remember(executor, run->row.id);
    }
    executor_remove(executor, index);
}

static void do_action(struct executor *executor,
                      const struct reconcile_action *action)
{
    uint32_t index = executor->plan_indexes.items[action->row_index];
    struct run *run = &executor->runs.items[index];

    switch (action->kind) {
    case RECONCILE_STOP:
        run->row.is_stopping = true;
        executor->stats.stop_count++;
        executor_note_asked(executor, run->row.id);
        executor->runtime->ops->stop(executor->runtime, run->row.id, -1);
        break;
    case RECONCILE_REPORT:
        executor_queue_note(executor, index, action->phase);
        break;
    case RECONCILE_FORGET:
        do_forget(executor, index);
        break;
    case RECONCILE_CREATE:
        executor_begin(executor, index);
        break;
    case RECONCILE_ACTION_KINDS:
        ASSERT(false);
    }
}

/* Rows that nobody wants anything of any more, with no pod of their own. */
static bool is_spent(const struct reconcile_row *row)
{
    return row->want == RECONCILE_WANT_NONE && !row->is_creating &&
           (row->phase == RECONCILE_NEVER || row->phase == RECONCILE_FORGOTTEN);
}

/* Plan for the touched rows and do it.  Rows that wait to be created for want
 * of `create_max` stay touched. */
static void plan_once(struct executor *executor)
{
    uint32_t runtime_max = executor->runtime->create_max;
    uint32_t creates_left = executor->options.create_max;

    if (runtime_max > 0 && runtime_max < creates_left) {
        creates_left = runtime_max;
    }
    executor->plan_rows.count = executor->plan_indexes.count = 0;
    for (size_t i = 0; i < executor->dirty.count; i++) {
        uint32_t index = executor->dirty.items[i];
        struct run *run = &executor->runs.items[index];
        if (!run->is_used || !run->is_dirty) {
            continue;
        }
        run->is_dirty = false;
        if (is_spent(&run->row)) {
            executor_remove(executor, index);
            continue;
        }
        VEC_PUSH(&executor->plan_rows, run->row);
        VEC_PUSH(&executor->plan_indexes, index);
    }
    executor->dirty.count = 0;
    uint32_t row_count = (uint32_t)executor->plan_rows.count;
    VEC_RESERVE(&executor->plan, 2 * (size_t)row_count);
    uint32_t count = reconcile_plan(executor->plan_rows.items, row_count,
                                    creates_left, executor->plan.items);
    for (uint32_t a = 0; a < count; a++) {
        creates_left -= executor->plan.items[a].kind == RECONCILE_CREATE;
        do_action(executor, &executor->plan.items[a]);
    }
    for (uint32_t i = 0; creates_left == 0 && i < row_count; i++) {
        uint32_t index = executor->plan_indexes.items[i];
        const struct run *run = &executor->runs.items[index];
        if (run->lease && !run->is_deferred && !run->row.is_creating) {
            executor_mark(executor, index);
        }
    }
}

/* The step. */

/* Answers whether there may be more. */
static bool take_arrivals(struct executor *executor)
{
    struct executor_arrival arrival;

    for (int i = 0; i < EXECUTOR_LEASES_PER_STEP_MAX; i++) {
        if (!executor->transport->next(executor->transport, &arrival)) {
            return false;
        }
        switch (arrival.kind) {
        case EXECUTOR_LEASE_MESSAGE:
            executor->last_arrival_ms = executor_now_ms(executor);
            executor_take_message(executor, arrival.bytes);
            break;
        case EXECUTOR_LEASE_ENDED:
            executor_exchange_ended(executor, &arrival);
            break;
        case EXECUTOR_REPORT_DONE:
            executor_report_done(executor, &arrival);
            break;
        }
    }
    return true;
}

static int64_t wake_in_ms(struct executor *executor)
{
    int64_t report_at_ms;
    int64_t at_ms = executor_exchange_due_ms(executor);
    int64_t runtime_at_ms =
        executor->runtime->ops->next_wake_ms(executor->runtime);

    (void)executor_is_report_due(executor, &report_at_ms);
    at_ms = report_at_ms < at_ms ? report_at_ms : at_ms;
    at_ms = runtime_at_ms < at_ms ? runtime_at_ms : at_ms;
    int64_t deferred_at_ms = executor_deferred_due_ms(executor);
    at_ms = deferred_at_ms < at_ms ? deferred_at_ms : at_ms;
    int64_t asked_at_ms = executor_asked_due_ms(executor);
    at_ms = asked_at_ms < at_ms ? asked_at_ms : at_ms;
    int64_t now_ms = executor_now_ms(executor);
    return at_ms <= now_ms ? 0 : at_ms - now_ms;
}

int64_t executor_step(struct executor *executor)
{
    bool has_more = take_arrivals(executor);
    int64_t report_at_ms;

    executor_take_changes(executor);
    executor_ask_again(executor);
    executor_try_deferred(executor);
    for (int round = 0; round < PLAN_ROUNDS_MAX && executor->dirty.count > 0;
         round++) {
        plan_once(executor);
        /* What the runtime does at once is known at once. */
        if (executor->may_have_changes) {
            executor_take_changes(executor);
        }
    }
    if (executor_is_report_due(executor, &report_at_ms)) {
        executor_send_report(executor);
    }
    executor_run_exchange(executor);
    arena_reset(&executor->arena);
    return has_more || executor->dirty.count > 0 ? 0 : wake_in_ms(executor);
}

void executor_stop_all(struct executor *executor, int64_t grace_ms)
{
    executor->is_ending = true;
    for (uint32_t i = 0; i < executor->runs.count; i++) {
        struct run *run = &executor->runs.items[i];
        if (run->is_used && run->row.is_creating) {
            run->row.want = RECONCILE_WANT_STOP;
        } else if (run->is_used && run->lease) {
            executor_remove(executor, i); /* it has no pod yet */
        } else if (run->is_used && !run->row.is_foreign &&
                   !reconcile_is_ended(run->row.phase)) {
            executor->runtime->ops->stop(executor->runtime, run->row.id,
                                         grace_ms);
        }
    }
}

const struct executor_stats *executor_stats(const struct executor *executor)
{
    return &executor->stats;
}

struct executor *executor_create(const struct executor_options *options,
                                 const struct clock *clock,
                                 struct executor_transport *transport,
                                 struct runtime *runtime)
{
    struct executor *executor = mem_alloc(sizeof(*executor));

    executor->options = *options;
    executor->id = str_dup(options->id);
    executor->pool = str_dup(options->pool);
    executor->options.id = str_of(executor->id);
    executor->options.pool = str_of(executor->pool);
    executor->clock = clock;
    executor->transport = transport;
    executor->runtime = runtime;
    executor->report.classes = options->classes;
    executor->capacity = node_capacity_create();
    executor->forgotten =
        mem_alloc_array(EXECUTOR_FORGOTTEN_MAX, sizeof(*executor->forgotten));
    executor->out = strbuf_make(EXECUTOR_MESSAGE_BYTES_MAX);
    executor->exchange_next_ms = INT64_MIN / 2;
    return executor;
}

void executor_destroy(struct executor *executor)
{
    if (!executor) {
        return;
    }
    for (uint32_t i = 0; i < executor->runs.count; i++) {
        if (executor->runs.items[i].is_used) {
            executor_remove(executor, i);
        }
    }
    SLOTS_FREE(&executor->runs);
    node_capacity_destroy(executor->capacity);
    map_fini(&executor->by_id);
    map_fini(&executor->is_forgotten);
    mem_free(executor->forgotten);
    VEC_FREE(&executor->deferred);
    VEC_FREE(&executor->asked);
    VEC_FREE(&executor->dirty);
    VEC_FREE(&executor->plan_rows);
    VEC_FREE(&executor->plan_indexes);
    VEC_FREE(&executor->plan);
    VEC_FREE(&executor->queued);
    VEC_FREE(&executor->flying);
    VEC_FREE(&executor->facts);
    VEC_FREE(&executor->facts_flying);
    VEC_FREE(&executor->added);
    VEC_FREE(&executor->removed);
    report_fini(&executor->report);
    arena_fini(&executor->arena);
    strbuf_fini(&executor->out);
    mem_free(executor->id);
    mem_free(executor->pool);
    mem_free(executor);
}
