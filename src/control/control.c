#include "control/control.h"

#include <stdio.h>

#include "control/control_answers.h"
#include "control/control_batch.h"
#include "control/control_checkpoint.h"
#include "control/control_exchange.h"
#include "control/control_executors.h"
#include "control/control_fold.h"
#include "control/control_private.h"
#include "control/control_rounds.h"
#include "control/control_transitions.h"
#include "job/groups.h"
#include "wire/policy_codec.h"

enum { RETRY_MS = 200, IN_FLIGHT_MS = 1 };

/* Answers. */

void command_answer(struct command *command, enum command_result result,
                    const char *text)
{
    command->result = result;
    command->result_text = arena_str(&command->arena, str_of(text));
    command->done(command, command->ctx);
}

static void answer_all(struct command *command, enum command_result result,
                       const char *text)
{
    while (command) {
        struct command *next = command->next;
        command_answer(command, result, text);
        command = next;
    }
}

/* Take what has been posted to the end of what waits.  While that is enough
 * for a batch the rest stays in the inbox, whose bounds tell those who post. */
static void take_inbox(struct control *c)
{
    if (c->waiting_byte_count > CONTROL_BATCH_BYTES) {
        return;
    }
    struct command *command = inbox_take(c->config.inbox);
    if (!command) {
        return;
    }
    if (c->waiting_last) {
        c->waiting_last->next = command;
    } else {
        c->waiting_first = command;
    }
    c->waiting_byte_count += command->byte_count;
    while (command->next) {
        command = command->next;
        c->waiting_byte_count += command->byte_count;
    }
    c->waiting_last = command;
}

static void refuse_waiting(struct control *c, const char *text)
{
    struct command *first = c->waiting_first;

    c->waiting_first = c->waiting_last = NULL;
    c->waiting_byte_count = 0;
    answer_all(first, COMMAND_UNAVAILABLE, text);
}

/* Create and destroy. */

static struct policy_box *policy_box_copy(const struct policy *policy)
{
    auto_strbuf text = {0};
    struct err err;

    policy_print(policy, &text);
    struct policy_box *box = policy_box_read(strbuf_str(&text), &err);
    ASSERT(box); /* what was printed can be read */
    return box;
}

static void flight_destroy(struct flight *flight)
{
    log_batch_fini(&flight->log);
    mem_free(flight);
}

/* The leader goes; a record in flight stays until the log has told of it. */
static void flight_leave(struct control *c)
{
    if (!c->batch.is_in_flight || c->batch.is_told) {
        flight_destroy(c->flight);
        return;
    }
    c->flight->control = NULL;
    c->flight->log = c->batch.log;
    memset(&c->batch.log, 0, sizeof(c->batch.log));
}

struct control *control_create(const struct control_config *config)
{
    struct control *c = mem_alloc(sizeof(*c));
    uint64_t seed;

    c->config = *config;
    if (c->config.checkpoint_events == 0) {
        c->config.checkpoint_events = CONTROL_CHECKPOINT_EVENTS;
    }
    c->config.rng->fill(c->config.rng, &seed, sizeof(seed));
    state_init(c, policy_box_copy(config->policy), seed);
    c->config.policy = NULL;
    c->stepped_ns = control_mono_ns(c);
    c->flight = mem_alloc(sizeof(*c->flight));
    c->flight->control = c;
    pthread_mutex_init(&c->metrics_mutex, NULL);
    return c;
}

void control_destroy(struct control *c)
{
    if (!c) {
        return;
    }
    refuse_waiting(c, "the server is stopping");
    take_inbox(c);
    refuse_waiting(c, "the server is stopping");
    answer_all(c->batch.first, COMMAND_UNAVAILABLE, "the server is stopping");
    flight_leave(c);
    batch_clear(&c->batch);
    sessions_release(c);
    elog_reader_close(c->reader);
    checkpoint_abandon(c);
    mem_free(c->wanted_policy);
    state_fini(c);
    log_batch_fini(&c->batch.log);
    VEC_FREE(&c->batch.owed);
    VEC_FREE(&c->batch.fresh);
    VEC_FREE(&c->batch.touched);
    VEC_FREE(&c->batch.touched_jobs);
    VEC_FREE(&c->batch.planned);
    VEC_FREE(&c->facts);
    arena_fini(&c->batch.arena);
    arena_fini(&c->scratch);
    pthread_mutex_destroy(&c->metrics_mutex);
    transitions_fini(c);
    mem_free(c);
}

/* A batch in flight and its end. */

static void on_told(void *ctx, int result, uint64_t seq)
{
    struct flight *flight = ctx;
    struct control *c = flight->control;

    if (!c) {
        flight_destroy(flight);
        return;
    }
    ASSERT(seq == c->batch.seq);
    c->batch.is_told = true;
    c->batch.result = result;
}

static int batch_submit(struct control *c)
{
    struct batch *batch = &c->batch;
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

static void refuse_batch(struct control *c, const char *text)
{
    struct command *command = c->batch.first;

    c->batch.first = c->batch.last = NULL;
    for (struct command *each = command; each; each = each->next) {
        if (each->kind == COMMAND_EXCHANGE) {
            executor_get(c, each->exchange.request.executor_id)->is_in_batch =
                false;
        }
    }
    answer_all(command, COMMAND_LOG_FAILED, text);
}

/* Nothing has happened; what was decided is decided again. */
static void batch_failed(struct control *c, int result)
{
    const char *text = result == -ERR_FULL
                           ? "the log has no space left on its disk"
                       : result == -ERR_LIMIT
                           ? "the requests make more than one record of the "
                             "log may hold"
                           : "the log does not take appends";

    c->metrics.batch_failed_count++;
    for (size_t i = 0; i < c->batch.owed.count; i++) {
        jobs_mark_dirty(c->jobs, c->batch.owed.items[i]);
    }
    rounds_forget(c);
    facts_failed(c);
    c->is_plan_wanted = c->is_balance_wanted = true;
    c->retry_ns = control_mono_ns(c) + RETRY_MS * (uint64_t)NS_PER_MS;
    refuse_batch(c, text);
    batch_clear(&c->batch);
}

static void start_leading(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);

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

    int rc = fold_payload(c, batch->payload, batch->seq, batch->time_ms, err);
    if (rc < 0) {
        return rc;
    }
    rounds_commit(c);
    facts_logged(c);
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

/* What became of the batch in flight; 0 also if that is not known yet. */
static int batch_poll(struct control *c, struct err *err)
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
    batch_failed(c, result);
    if (result == -ERR_FULL) {
        return 0;
    }
    return err_set(err, result == -ERR_FENCED ? result : -ERR_IO,
                   result == -ERR_FENCED
                       ? "another leader has taken over the log"
                       : "the log does not take appends: open it anew");
}

/* Steps. */

static void publish_metrics(struct control *c)
{
    struct jobs_counts counts = jobs_counts(c->jobs);

    c->metrics.state = c->state;
    c->metrics.seq = c->seq;
    c->metrics.job_count = jobs_count(c->jobs);
    c->metrics.queued_count = counts.by_state[JOB_QUEUED];
    c->metrics.leased_now_count = counts.by_state[JOB_LEASED];
    c->metrics.pending_count = counts.by_state[JOB_PENDING];
    c->metrics.running_count = counts.by_state[JOB_RUNNING];
    c->metrics.queue_count = queue_table_count(c->config.queues);
    c->metrics.executor_count = c->executor_names.live_count;
    c->metrics.dedup_count = dedup_count(c->dedup);
    pthread_mutex_lock(&c->metrics_mutex);
    c->published = c->metrics;
    pthread_mutex_unlock(&c->metrics_mutex);
}

void control_metrics(struct control *c, struct control_metrics *ret_metrics)
{
    pthread_mutex_lock(&c->metrics_mutex);
    *ret_metrics = c->published;
    pthread_mutex_unlock(&c->metrics_mutex);
}

enum control_state control_state(const struct control *c)
{
    return c->state;
}

/* Say who leads, and by which policy if that is news. */
static int announce(struct control *c)
{
    struct event_scope scope = {0};
    struct event event;
    int64_t wall_ms = c->config.clock->wall_ms(c->config.clock);

    batch_clear(&c->batch);
    c->batch.time_ms = wall_ms > c->now_ms ? wall_ms : c->now_ms;
    memset(&event, 0, sizeof(event));
    event.type = EVENT_LEADER_STARTED;
    event.created_ms = c->batch.time_ms;
    log_batch_add(&c->batch.log, &scope, &event);
    if (c->wanted_policy) {
        memset(&event, 0, sizeof(event));
        event.type = EVENT_POLICY_SET;
        event.created_ms = c->batch.time_ms;
        event.policy.text = str_of(c->wanted_policy);
        log_batch_add(&c->batch.log, &scope, &event);
    }
    c->batch.is_announcement = true;
    return batch_submit(c);
}

static int step_replay(struct control *c, struct err *err)
{
    if (c->batch.is_in_flight) {
        return batch_poll(c, err);
    }
    if (control_mono_ns(c) < c->retry_ns) {
        return 0;
    }
    /* Without a reader all is read, and the announcement failed. */
    int rc = c->reader ? start_replay(c, err) : 1;
    if (rc == 1) {
        rc = announce(c);
        return rc < 0 ? err_set(err, rc, "the log refuses the first record")
                      : batch_poll(c, err);
    }
    return rc;
}

/* A pause of ours is not an executor's silence. */
static void notice_pause(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t pause_ns = now_ns - c->stepped_ns;

    if (pause_ns > CONTROL_PAUSE_MS * (uint64_t)NS_PER_MS) {
        executors_forgive(c, pause_ns);
    }
    c->stepped_ns = now_ns;
}

static int step_lead(struct control *c, struct err *err)
{
    notice_pause(c);
    int rc = batch_poll(c, err);
    if (rc < 0 || c->batch.is_in_flight) {
        return rc;
    }
    if (!batch_form(c)) {
        return 0;
    }
    rc = batch_submit(c);
    if (rc == -ERR_LIMIT) {
        batch_failed(c, rc);
        return 0;
    }
    return rc < 0 ? rc : batch_poll(c, err);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* How long there is nothing to do, unless something is posted. */
static int wake_ms(struct control *c)
{
    uint64_t now_ns = control_mono_ns(c);
    uint64_t due_ns = now_ns + CONTROL_WAKE_MS_MAX * (uint64_t)NS_PER_MS;
    int64_t wall_ms = c->config.clock->wall_ms(c->config.clock);

    if (c->batch.is_in_flight) {
        return IN_FLIGHT_MS;
    }
    if (c->state != CONTROL_LEADING) {
        return c->retry_ns > now_ns ? IN_FLIGHT_MS : 0;
    }
    /* Those of a pool that is being planned are asked about when it is back. */
    bool has_unchecked = c->unchecked.count > 0 && c->metrics.node_count > 0 &&
                         !pools_is_any_busy(c->pools);
    if ((c->waiting_first && !rounds_are_held(c)) || c->is_snapshot_open) {
        return 0;
    }
    if (jobs_has_dirty(c->jobs) || has_unchecked ||
        c->fresh_members.count > 0) {
        due_ns = now_ns;
    }
    due_ns = earlier(due_ns, rounds_due_ns(c, wall_ms));
    if (jobs_groups_due_ms(c->jobs) <= wall_ms) {
        due_ns = now_ns;
    }
    int64_t health_ms = pools_health_wake_ms(c->pools);
    if (health_ms <= c->now_ms || health_ms <= wall_ms) {
        due_ns = now_ns;
    }
    due_ns = earlier(due_ns, executors_due_ns(c));
    if (due_ns < c->retry_ns) {
        due_ns = c->retry_ns;
    }
    return due_ns <= now_ns
               ? 0
               : (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

static int stop(struct control *c, int rc, const struct err *err)
{
    checkpoint_abandon(c);
    c->state = CONTROL_STOPPED;
    c->stop_code = rc;
    c->stop_text = *err;
    refuse_batch(c, "the server is no longer the leader");
    refuse_waiting(c, "the server is no longer the leader");
    sessions_release(c);
    publish_metrics(c);
    return rc;
}

int control_step(struct control *c, struct err *err)
{
    struct err text = {{0}};
    int rc = 0;

    take_inbox(c);
    switch (c->state) {
    case CONTROL_STARTING:
        rc = start_acquire(c, &text);
        break;
    case CONTROL_REPLAYING:
        rc = step_replay(c, &text);
        break;
    case CONTROL_LEADING:
        rc = step_lead(c, &text);
        checkpoint_go_on(c);
        break;
    case CONTROL_STOPPED:
        refuse_waiting(c, "the server is no longer the leader");
        return err_set(err, c->stop_code, "%s", c->stop_text.text);
    }
    if (rc < 0) {
        err_set(err, rc, "%s", text.text);
        return stop(c, rc, &text);
    }
    if (c->state != CONTROL_LEADING) {
        refuse_waiting(c, "the server is reading its log");
    }
    publish_metrics(c);
    return wake_ms(c);
}

void control_assert_valid(struct control *c)
{
    jobs_assert_valid(c->jobs);
    ASSERT(pools_is_consistent(c->pools));
    for (uint32_t job = 0; job < jobs_index_end(c->jobs); job++) {
        if (jobs_is_live(c->jobs, job)) {
            bool waits = jobs_state(c->jobs, job) == JOB_QUEUED;
            ASSERT(waits == (pools_job_node(c->pools, job) == SCHED_NONE));
        }
    }
}
