#include <stdio.h>

#include "executor/loop/executor_private.h"

enum { REPORT_BYTES_MAX = 2 << 20 };

/* What was on its way is made again from the rows. */
static void unsend(struct executor *executor, struct note_list *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        uint32_t index;
        struct run *run = executor_find(executor, notes->items[i].id, &index);
        if (run) {
            run->row.sent = RECONCILE_NEVER;
            executor_mark(executor, index);
        }
    }
    notes->count = 0;
}

static void acknowledge(struct executor *executor, const struct note *note)
{
    uint32_t index;
    struct run *run = executor_find(executor, note->id, &index);

    if (!run) {
        return;
    }
    run->row.acked = note->to;
    if (run->row.phase == RECONCILE_FORGOTTEN) {
        run->row.want = RECONCILE_WANT_NONE;
    } else if (run->has_pod) {
        executor->runtime->ops->ack(executor->runtime, note->id, note->to);
    }
    executor_mark(executor, index);
}

void executor_report_done(struct executor *executor,
                          const struct executor_arrival *arrival)
{
    if (arrival->ticket != executor->ticket) {
        return;
    }
    executor->ticket = 0;
    executor_facts_done(executor, arrival->is_ok);
    if (arrival->is_ok) {
        executor->report_backoff_ms = 0;
        for (size_t i = 0; i < executor->flying.count; i++) {
            acknowledge(executor, &executor->flying.items[i]);
        }
        executor->flying.count = 0;
        return;
    }
    const struct executor_options *options = &executor->options;
    int64_t backoff_ms = executor->report_backoff_ms * 2;
    executor->stats.report_failed_count++;
    (void)snprintf(executor->stats.last_failure.text, ERR_TEXT_BYTES_MAX,
                   "%.*s", STR_ARG(arrival->text));
    executor->report_backoff_ms = backoff_ms == 0 ? options->report_retry_ms
                                  : backoff_ms > options->report_retry_ms_max
                                      ? options->report_retry_ms_max
                                      : backoff_ms;
    executor->report_retry_at_ms =
        executor_now_ms(executor) + executor->report_backoff_ms;
    unsend(executor, &executor->flying);
    unsend(executor, &executor->queued);
}

void executor_queue_note(struct executor *executor, uint32_t index,
                         enum reconcile_phase to)
{
    struct run *run = &executor->runs.items[index];
    enum reconcile_phase from =
        reconcile_rank(run->row.sent) > reconcile_rank(run->row.acked)
            ? run->row.sent
            : run->row.acked;

    if (executor->queued.count + executor->facts.count == 0) {
        executor->queued_since_ms = executor_now_ms(executor);
    }
    VEC_PUSH(&executor->queued, (struct note){index, run->row.id, from, to});
    run->row.sent = to;
}

/* What the runtime knows of an end that is to be told; false: nothing. */
static bool end_status(struct executor *executor, const struct note *note,
                       struct runtime_status *ret_status)
{
    const struct run *run = &executor->runs.items[note->run_index];

    return run->has_pod && !run->is_refused && !run->is_returned &&
           (note->to == RECONCILE_FAILED || note->to == RECONCILE_LOST) &&
           executor->runtime->ops->status(executor->runtime, note->id,
                                          &executor->arena, ret_status);
}

struct report_run executor_told(const struct executor *executor,
                                const struct run *run)
{
    return (struct report_run){
        .run = run->row.id,
        .job = run->job,
        .executor_id = executor->options.id,
        .queue = run->queue,
        .job_set = run->job_set,
        .namespace_ = run->namespace_,
        .pod_name = run->pod_name,
        .node_name = run->node_name,
        .pool = run->pool,
        .is_refused = run->is_refused,
        .is_repacked = run->is_repacked,
        .is_preempted = run->row.want == RECONCILE_WANT_PREEMPT,
        .created_ms = run->created_ms,
        .started_ms = run->started_ms > 0 ? run->started_ms : run->ended_ms,
        .ended_ms = run->ended_ms,
    };
}

static void add_note(struct executor *executor, const struct note *note)
{
    const struct run *run = &executor->runs.items[note->run_index];
    struct runtime_status status;
    bool has_status = end_status(executor, note, &status);
    /* Its node did not take it: it never ran. */
    bool is_rejected = has_status && status.cause == RUNTIME_CAUSE_REJECTED;
    struct report_run told = executor_told(executor, run);

    told.from = note->from;
    told.to = note->to;
    told.has_started = run->started_ms > 0 || note->to == RECONCILE_SUCCEEDED;
    told.is_returned = run->is_returned || is_rejected;
    told.text = is_rejected ? status.message : str_of(run->text);
    if (note->from == RECONCILE_NEVER) {
        told.warnings = str_of(run->warnings);
    }
    told.status = has_status ? &status : NULL;

    report_add(&executor->report, &told);
}

bool executor_is_report_due(const struct executor *executor, int64_t *ret_at_ms)
{
    const struct executor_options *options = &executor->options;
    bool is_held = executor->exchange == EXCHANGE_HELD;
    uint32_t count_max =
        is_held ? options->held_report_events_max : options->report_events_max;
    int64_t delay_ms =
        is_held ? options->held_report_delay_ms : options->report_delay_ms;

    *ret_at_ms = INT64_MAX;
    size_t count = executor->queued.count + executor->facts.count;

    if (executor->ticket != 0 || count == 0) {
        return false;
    }
    *ret_at_ms = count >= count_max ? 0 : executor->queued_since_ms + delay_ms;
    if (*ret_at_ms < executor->report_retry_at_ms) {
        *ret_at_ms = executor->report_retry_at_ms;
    }
    return *ret_at_ms <= executor_now_ms(executor);
}

void executor_send_report(struct executor *executor)
{
    bool is_held = executor->exchange == EXCHANGE_HELD;
    uint32_t count_max = is_held ? executor->options.held_report_events_max
                                 : executor->options.report_events_max;
    size_t taken = 0;

    ASSERT(executor->flying.count == 0);
    for (; taken < executor->queued.count &&
           executor->report.event_count < count_max &&
           executor->report.byte_count < REPORT_BYTES_MAX;
         taken++) {
        const struct note *note = &executor->queued.items[taken];
        uint32_t index;
        if (executor_find(executor, note->id, &index) &&
            index == note->run_index) {
            add_note(executor, note);
            VEC_PUSH(&executor->flying, *note);
        }
    }
    executor->queued.count -= taken;
    memmove(executor->queued.items, executor->queued.items + taken,
            executor->queued.count * sizeof(*executor->queued.items));
    executor_add_facts(executor, count_max);
    if (executor->report.event_count > 0) {
        strbuf_clear(&executor->out);
        report_encode(&executor->report, &executor->out);
        executor->ticket = ++executor->last_ticket;
        executor->stats.report_count++;
        executor->stats.event_count += executor->report.event_count;
        executor->transport->report(executor->transport, executor->ticket,
                                    strbuf_str(&executor->out));
    } else {
        executor->flying.count = 0;
        executor_facts_done(executor, true);
    }
    report_clear(&executor->report);
}
