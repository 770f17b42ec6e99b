/* A batch in flight: appends it, then applies and answers it. */

#include "control/checkpoint/checkpoint.h"
#include "control/exchange/exchange.h"
#include "control/fold/executors.h"
#include "control/fold/fold.h"
#include "control/leader/leader.h"
#include "control/round/rounds.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

enum { RETRY_MS = 200 };

static void flight_destroy(struct flight *flight)
{
    log_batch_fini(&flight->log);
    mem_free(flight);
}

void flight_leave(struct control *c)
{
    if (!c->batch.is_in_flight || c->batch.is_told) {
        flight_destroy(c->flight);
        return;
    }
    c->flight->control = NULL;
    c->flight->log = c->batch.log;
    memset(&c->batch.log, 0, sizeof(c->batch.log));
}

static void on_told(void *ctx, int result, uint64_t seq)
{
    struct flight *flight = ctx;
    struct control *c = flight->control;

    if (!c) {
        flight_destroy(flight);
        return;
    }
    ASSERT(seq == c->batch.seq);
    ASSERT(c->batch.is_in_flight && !c->batch.is_told); /* once */
    c->batch.is_told = true;
    c->batch.result = result;
}

int flight_submit(struct control *c)
{
    struct batch *batch = &c->batch;

    /* What it says was decided on the state that the record follows. */
    ASSERT(batch->on_seq == c->seq && !batch->is_in_flight);
    ASSERT(batch->log.event_count > 0);
    ASSERT_SLOW(batch_is_sound(batch));
    struct str payload = log_batch_finish(&batch->log);
    struct elog_record record = {
        .seq = c->seq + 1,
        .epoch = c->epoch,
        .time_ms = batch->time_ms,
        .format_version = CONTROL_FORMAT_VERSION,
        .payload = payload,
    };

    batch->seq = record.seq;
    batch->payload = payload;
    if (batch->log.buf.is_over) {
        return -ERR_LIMIT;
    }
    int rc = elog_submit(c->config.log, &record, on_told, c->flight);
    batch->is_in_flight = rc == 0;
    return rc;
}

static void answer_durable(struct control *c)
{
    struct command *command = c->batch.first;

    c->batch.first = c->batch.last = NULL;
    while (command) {
        struct command *next = command->next;
        command->log_seq = c->batch.seq;
        if (command->kind == COMMAND_EXCHANGE) {
            exchange_answer(c, command);
        } else {
            command_answer(command, COMMAND_OK, "");
        }
        command = next;
    }
}

void flight_refuse(struct control *c, const char *text)
{
    struct command *command = c->batch.first;

    c->batch.first = c->batch.last = NULL;
    for (struct command *each = command; each; each = each->next) {
        if (each->kind == COMMAND_EXCHANGE) {
            executor_get(c, each->exchange.request.executor_id)->is_in_batch =
                false;
        }
    }
    command_answer_all(command, COMMAND_LOG_FAILED, text);
}

void flight_failed(struct control *c, int result)
{
    const char *text = result == -ERR_FULL
                           ? "the log has no space left on its disk"
                       : result == -ERR_LIMIT
                           ? "the requests make more than one record of the "
                             "log may hold"
                           : "the log does not take appends";

    ASSERT(c->seq == c->batch.on_seq); /* nothing of it has happened */
    c->metrics.batch_failed_count++;
    for (size_t i = 0; i < c->batch.due.count; i++) {
        jobs_mark_dirty(c->jobs, c->batch.due.items[i]);
    }
    rounds_forget(c);
    round_log_fail(c);
    c->is_plan_wanted = c->is_balance_wanted = true;
    c->retry_ns = control_mono_ns(c) + RETRY_MS * (uint64_t)NS_PER_MS;
    flight_refuse(c, text);
    batch_clear(&c->batch);
}

static void start_leading(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);

    ASSERT(c->state == CONTROL_REPLAYING && !c->reader); /* all is read */
    c->state = CONTROL_LEADING;
    for (size_t i = 0; i < c->executors.count; i++) {
        if (c->executors.items[i]) {
            c->executors.items[i]->heard_ns = now_ns;
        }
    }
    jobs_mark_all_dirty(c->jobs);
    c->is_plan_wanted = c->is_balance_wanted = true;
}

static int batch_durable(struct control *c, struct err *err)
{
    struct batch *batch = &c->batch;

    ASSERT(batch->on_seq == c->seq); /* nobody else appends */
    int rc = fold_payload(c, batch->payload, batch->seq, batch->time_ms, err);
    if (rc < 0) {
        return rc;
    }
    rounds_commit(c);
    round_log_clear(c);
    c->metrics.batch_count++;
    if (batch->is_announcement) {
        start_leading(c);
    }
    answer_durable(c);
    batch_clear(batch);
    sessions_push(c);
    if (c->config.hooks.durable) {
        c->config.hooks.durable(c->config.hooks.ctx, c->seq);
    }
    if (c->config.hooks.stored_seq &&
        dedup_count(c->dedup) > DEDUP_RECENT_COUNT + DEDUP_RECENT_COUNT / 64) {
        dedup_forget(c->dedup, c->config.hooks.stored_seq(c->config.hooks.ctx));
    }
    checkpoint_if_due(c);
    return 0;
}

int flight_poll(struct control *c, struct err *err)
{
    if (c->batch.is_in_flight && !c->batch.is_told) {
        elog_poll(c->config.log, 0);
    }
    if (!c->batch.is_in_flight || !c->batch.is_told) {
        return 0;
    }
    int result = c->batch.result;
    if (result == 0) {
        return batch_durable(c, err);
    }
    flight_failed(c, result);
    if (result == -ERR_FULL) {
        return 0;
    }
    return err_set(err, result == -ERR_FENCED ? result : -ERR_IO,
                   result == -ERR_FENCED
                       ? "another leader has taken over the log"
                       : "the log does not take appends: open it anew");
}
