/*
 * ExecutorApi.LeaseJobRuns (armada-api.md 6.2), and the held stream that our
 * own executors ask for.
 *
 * What the leader has to say (answers and pushes) comes on its thread and is
 * put into a list; the stream's owner, some thread at a time, looks up each
 * leased job, edits and sends it.  A job that neither the cache of recent
 * specs nor the query store has yet (this server has just started, and the
 * projector was behind) is waited for.  One that the store will never have (it
 * was made anew from a log that no longer goes back so far) fails, so that it
 * holds up no other.
 *
 * References.  The call lives until it is finished and nobody holds it: each
 * exchange under way holds it until its answer, and an attached session until
 * the leader has let go.
 */
#include <pthread.h>

#include "api/handlers.h"
#include "api/lease_message.h"
#include "api/lease_request.h"
#include "api/sequence.h"
#include "api/state.h"
#include "control/session.h"

enum work_kind {
    WORK_ANSWER,   /* of an exchange; `result` says how it went */
    WORK_PUSH,     /* unasked */
    WORK_RELEASED, /* the leader has let go of the session */
    WORK_CLOSED,   /* the executor will say no more */
};

/* Something that the stream must pass on. */
struct work {
    struct work *next;
    enum work_kind kind;
    struct arena arena; /* owned; what `response` points into */
    struct exchange_response response;
    enum command_result result;
    struct str text;
    bool has_sent_cancels;
    uint32_t lease_at; /* the next lease to send */
};

struct lease_stream {
    struct hub_watcher watcher; /* first: the hub gives it back */
    struct exchange_session session;
    struct api_call *call;
    struct str executor_id; /* whose stream it is, in the call's arena */
    bool is_held;

    pthread_mutex_t mutex; /* of what follows, up to the owner's part */
    struct work *first, *last;
    bool is_ended;    /* the call is finished */
    bool is_attached; /* the leader may push */

    /* The owner's. */
    struct work *work; /* being passed on */
    uint64_t answer_count;
    bool is_behind;      /* waits for the projector */
    uint64_t behind_seq; /* of the log, when the lease at hand was missed */
};

static void stream_run(struct lease_stream *stream);
static void end_session(struct lease_stream *stream);

static void work_destroy(struct work *work)
{
    if (work) {
        arena_fini(&work->arena);
        mem_free(work);
    }
}

static void stream_destroy(void *data)
{
    struct lease_stream *stream = data;

    while (stream->first) {
        struct work *next = stream->first->next;
        work_destroy(stream->first);
        stream->first = next;
    }
    work_destroy(stream->work);
    pthread_mutex_destroy(&stream->mutex);
    mem_free(stream);
}

/* Put work into the list and see that somebody does it; without a call any
 * more it is dropped. */
static void add_work(struct lease_stream *stream, struct work *work)
{
    pthread_mutex_lock(&stream->mutex);
    bool is_ended = stream->is_ended;
    if (!is_ended) {
        if (stream->first) {
            stream->last->next = work;
        } else {
            stream->first = work;
        }
        stream->last = work;
    }
    pthread_mutex_unlock(&stream->mutex);
    if (is_ended) {
        work_destroy(work);
    } else {
        event_hub_wake(stream->call->api->lease_hub, &stream->watcher);
    }
}

static struct work *take_work(struct lease_stream *stream)
{
    pthread_mutex_lock(&stream->mutex);
    struct work *work = stream->first;
    if (work) {
        stream->first = work->next;
    }
    pthread_mutex_unlock(&stream->mutex);
    return work;
}

/* On the leader's thread: an exchange was answered. */
static void on_answered(struct command *command, void *ctx)
{
    struct lease_stream *stream = ctx;
    struct rpc_call *rpc = stream->call->rpc;
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_ANSWER;
    work->arena = command->arena;
    work->response = command->exchange.response;
    work->result = command->result;
    work->text = arena_str(&work->arena, command->result_text);
    command->arena = (struct arena){0};
    command_destroy(command);
    pthread_mutex_lock(&stream->mutex);
    bool is_new =
        stream->is_held && work->result == COMMAND_OK && !stream->is_attached;
    bool is_late = is_new && stream->is_ended;
    if (is_new) {
        stream->is_attached = true;
        rpc_call_ref(rpc);
    }
    pthread_mutex_unlock(&stream->mutex);
    add_work(stream, work);
    if (is_late) {
        end_session(stream);
    }
    rpc_call_unref(rpc);
}

static struct str keep(struct arena *arena, struct str s)
{
    return arena_str(arena, s);
}

static void copy_lease(struct arena *arena, const struct exchange_lease *from,
                       struct exchange_lease *to)
{
    *to = *from;
    to->queue = keep(arena, from->queue);
    to->job_set = keep(arena, from->job_set);
    to->user = keep(arena, from->user);
    to->node_name = keep(arena, from->node_name);
    to->pool = keep(arena, from->pool);
    to->gang_uniformity_label = keep(arena, from->gang_uniformity_label);
    to->gang_uniformity_value = keep(arena, from->gang_uniformity_value);
}

/* On the leader's thread: it has something new. */
static void on_push(struct exchange_session *session,
                    const struct exchange_response *response)
{
    struct work *work = mem_alloc(sizeof(*work));
    struct exchange_response *copy = &work->response;

    work->kind = WORK_PUSH;
    copy->leases = arena_alloc_array(&work->arena, response->lease_count,
                                     sizeof(copy->leases[0]));
    for (uint32_t i = 0; i < response->lease_count; i++) {
        copy_lease(&work->arena, &response->leases[i], &copy->leases[i]);
    }
    copy->lease_count = response->lease_count;
    copy->cancels = arena_alloc_array(&work->arena, response->cancel_count,
                                      sizeof(copy->cancels[0]));
    if (response->cancel_count) {
        memcpy(copy->cancels, response->cancels,
               response->cancel_count * sizeof(copy->cancels[0]));
    }
    copy->cancel_count = response->cancel_count;
    add_work(session->ctx, work);
}

/* On the leader's thread: its last word about the session. */
static void on_released(struct exchange_session *session,
                        enum command_result result)
{
    struct lease_stream *stream = session->ctx;
    struct rpc_call *rpc = stream->call->rpc;
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_RELEASED;
    work->result = result;
    work->text = result == COMMAND_INVALID
                     ? STR("another stream of this executor took its place")
                     : STR("the scheduler is stopping");
    pthread_mutex_lock(&stream->mutex);
    stream->is_attached = false;
    pthread_mutex_unlock(&stream->mutex);
    add_work(stream, work);
    rpc_call_unref(rpc);
}

static void on_told(struct command *command, void *ctx)
{
    (void)ctx;
    command_destroy(command);
}

/* Tell the leader that nobody listens any more.  If it cannot be told, it
 * finds out when the executor comes back, or when it stops. */
static void end_session(struct lease_stream *stream)
{
    struct command *command = command_create(COMMAND_SESSION_END);

    command->session_end.session = &stream->session;
    command->done = on_told;
    if (inbox_post(stream->call->api->ports.inbox, command) < 0) {
        command_destroy(command);
    }
}

static void set_behind(struct lease_stream *stream, bool is_behind)
{
    struct api *api = stream->call->api;

    if (stream->is_behind != is_behind) {
        stream->is_behind = is_behind;
        atomic_fetch_add(&api->behind_count, is_behind ? 1 : -1);
    }
}

/* End the call: nothing of the stream may be touched after it. */
static void stream_finish(struct lease_stream *stream, enum rpc_code code,
                          struct str text)
{
    struct api_call *call = stream->call;
    struct rpc_call *rpc = rpc_call_ref(call->rpc);

    set_behind(stream, false);
    event_hub_remove(call->api->lease_hub, &stream->watcher);
    pthread_mutex_lock(&stream->mutex);
    stream->is_ended = true;
    bool is_attached = stream->is_attached;
    pthread_mutex_unlock(&stream->mutex);
    if (code == RPC_OK) {
        api_call_end(call);
    } else {
        api_call_fail(call, code, "%.*s", STR_ARG(text));
    }
    if (is_attached) {
        end_session(stream);
    }
    rpc_call_unref(rpc);
}

/* Post what the executor said; false when it cannot be taken. */
static bool post_exchange(struct lease_stream *stream, struct command *command)
{
    command->exchange.request.session =
        stream->is_held ? &stream->session : NULL;
    command->done = on_answered;
    command->ctx = stream;
    rpc_call_ref(stream->call->rpc);
    if (inbox_post(stream->call->api->ports.inbox, command) == 0) {
        return true;
    }
    command_destroy(command);
    rpc_call_unref(stream->call->rpc);
    return false;
}

/* Work that says that the conversation went wrong on this side. */
static void add_failure(struct lease_stream *stream, enum command_result result,
                        const char *text)
{
    struct work *work = mem_alloc(sizeof(*work));

    work->kind = WORK_ANSWER;
    work->result = result;
    work->text = arena_str(&work->arena, str_of(text));
    add_work(stream, work);
}

static void on_message(void *ctx, struct rpc_call *rpc,
                       enum rpc_received received, struct str message)
{
    struct lease_stream *stream = ctx;
    struct lease_wishes wishes;
    struct err err;

    (void)rpc;
    if (received == RPC_RECEIVE_CANCELLED) {
        return;
    }
    if (received == RPC_HALF_CLOSED) {
        struct work *work = mem_alloc(sizeof(*work));
        work->kind = WORK_CLOSED;
        add_work(stream, work);
        return;
    }
    struct command *command = command_create(COMMAND_EXCHANGE);
    if (lease_request_read(message,
                           stream->call->api->config->lease_receive_bytes_max,
                           command, &wishes, &err) < 0) {
        command_destroy(command);
        add_failure(stream, COMMAND_INVALID, err.text);
        return;
    }
    if (!str_equal(command->exchange.request.executor_id,
                   stream->executor_id)) {
        /* A session is one executor's: the leader would hold it twice. */
        command_destroy(command);
        add_failure(stream, COMMAND_INVALID,
                    "a lease stream is for one executor");
        return;
    }
    if (!post_exchange(stream, command)) {
        add_failure(stream, COMMAND_UNAVAILABLE,
                    "the scheduler takes no requests now");
    }
}

/* What the store has of a leased job. */
enum spec_answer { SPEC_BEHIND, SPEC_FOUND, SPEC_LOST };

/* Look up a leased job's spec: an answer, or a code.  A lease is pushed when
 * it is durable, so what the log has by now includes the submission. */
static int find_spec(struct lease_stream *stream, struct readers *readers,
                     struct job_id job, struct arena *arena, struct str *spec,
                     struct err *err)
{
    struct elog_bounds bounds;
    uint64_t store_seq;
    int rc = 0;

    if (stream->behind_seq == 0) {
        rc = elog_bounds(readers->log, &bounds, err);
        stream->behind_seq = rc < 0 ? 0 : bounds.head_seq;
    }
    if (rc == 0) {
        rc = store_reader_seq(readers->store, &store_seq, err);
    }
    if (rc == 0) {
        rc = store_spec(readers->store, job, arena, spec, err);
    }
    if (rc != 0) {
        return rc < 0 ? rc : SPEC_FOUND;
    }
    return store_seq < stream->behind_seq ? SPEC_BEHIND : SPEC_LOST;
}

/* The spec of a leased job: an answer, or a code. */
static int look_up(struct lease_stream *stream, struct job_id job,
                   struct arena *arena, struct str *ret_spec, struct err *err)
{
    const struct api *api = stream->call->api;
    struct readers *readers;

    if (spec_cache_find(api->specs, job, arena, ret_spec)) {
        return SPEC_FOUND;
    }
    int rc = reader_pool_lend(api->readers, &readers, err);
    if (rc < 0) {
        return rc;
    }
    rc = find_spec(stream, readers, job, arena, ret_spec, err);
    reader_pool_give_back(api->readers, readers);
    return rc;
}

/* Append a lease to `buf`, if its job can be found. */
static int put_lease(struct lease_stream *stream,
                     const struct exchange_lease *lease, struct strbuf *buf,
                     struct err *err)
{
    const struct api *api = stream->call->api;
    auto_arena arena = {0};
    struct str spec;
    int rc = look_up(stream, lease->job, &arena, &spec, err);

    if (rc != SPEC_FOUND) {
        return rc;
    }
    struct lease_edits edits = {
        .node_id_label = api->config->node_id_label,
        .priority_class_override = api->config->priority_class_override,
        .resource_types = api->config->resource_types,
        .resource_type_count = api->config->resource_type_count,
    };
    rc = lease_message_put(buf, lease, spec, &edits, err);
    return rc == -ERR_CORRUPT ? SPEC_LOST : rc < 0 ? rc : SPEC_FOUND;
}

/* End a run whose job cannot be sent.  If the leader takes nothing now, the
 * lease comes again with a later exchange. */
static void fail_run(struct lease_stream *stream,
                     const struct exchange_lease *lease)
{
    const struct clock *clock = stream->call->api->ports.clock;
    struct event_scope scope = {lease->queue, lease->job_set, lease->user};
    struct sequence sequence = {0};
    struct event event = {
        .type = EVENT_RUN_ERRORS,
        .created_ms = clock->wall_ms(clock),
        .job = lease->job,
        .run = lease->run,
        .error = {.kind = ERROR_POD,
                  .is_terminal = true,
                  .message = STR("the query store has lost this job's spec"),
                  .category = STR("internal")},
    };

    sequence_begin(&sequence, &scope);
    sequence_add(&sequence, &event);
    struct command *command = sequence_command(&sequence, &scope);
    command->done = on_told;
    if (inbox_post(stream->call->api->ports.inbox, command) < 0) {
        command_destroy(command);
    }
}

/* What comes of the work at hand. */
enum step {
    STEP_SEND,   /* there is a message in the buffer */
    STEP_SKIP,   /* there is none, but more to do */
    STEP_DONE,   /* nothing is left of it */
    STEP_WAIT,   /* the projector is behind */
    STEP_END,    /* the conversation is over, well */
    STEP_FAILED, /* it is over, with a code and text */
};

static enum step step_lease(struct lease_stream *stream, struct work *work,
                            struct strbuf *buf, struct err *err)
{
    const struct exchange_lease *lease = &work->response.leases[work->lease_at];

    int rc = put_lease(stream, lease, buf, err);
    if (rc == SPEC_BEHIND && !stream->is_behind) {
        /* Look again now that news of the projector cannot be missed. */
        set_behind(stream, true);
        rc = put_lease(stream, lease, buf, err);
    }
    if (rc == SPEC_BEHIND) {
        return STEP_WAIT;
    }
    if (rc == SPEC_LOST) {
        fail_run(stream, lease);
    }
    work->lease_at++;
    stream->behind_seq = 0;
    set_behind(stream, false);
    return rc < 0 ? STEP_FAILED : rc == SPEC_LOST ? STEP_SKIP : STEP_SEND;
}

/* After the last message of an answer. */
static enum step step_answered(struct lease_stream *stream, struct work *work,
                               struct strbuf *buf)
{
    if (work->lease_at > work->response.lease_count) {
        return stream->is_held ? STEP_DONE : STEP_END;
    }
    work->lease_at = work->response.lease_count + 1;
    stream->answer_count++;
    if (stream->is_held) {
        lease_message_put_heartbeat(buf, stream->answer_count);
    } else {
        lease_message_put_end(buf);
    }
    return STEP_SEND;
}

/* Put the next message of the work at hand into `buf`. */
static enum step step(struct lease_stream *stream, struct strbuf *buf,
                      struct err *err)
{
    struct work *work = stream->work;
    const struct exchange_response *response = &work->response;

    if (work->kind == WORK_CLOSED) {
        return STEP_END;
    }
    if (work->kind == WORK_RELEASED || work->result != COMMAND_OK) {
        (void)err_set(err, -ERR_UNAVAILABLE, "%.*s", STR_ARG(work->text));
        return STEP_FAILED;
    }
    if (response->cancel_count && !work->has_sent_cancels) {
        work->has_sent_cancels = true;
        lease_message_put_cancels(buf, response->cancels,
                                  response->cancel_count);
        return STEP_SEND;
    }
    if (work->lease_at < response->lease_count) {
        return step_lease(stream, work, buf, err);
    }
    return work->kind == WORK_PUSH ? STEP_DONE
                                   : step_answered(stream, work, buf);
}

/* The code of an answer that was a refusal. */
static enum rpc_code code_of(const struct work *work)
{
    switch (work->result) {
    case COMMAND_OVERLOADED:
        return RPC_RESOURCE_EXHAUSTED;
    case COMMAND_INVALID:
        return work->kind == WORK_RELEASED ? RPC_ABORTED : RPC_INVALID_ARGUMENT;
    case COMMAND_LOG_FAILED:
        return RPC_INTERNAL;
    case COMMAND_EXISTS:
        return RPC_ALREADY_EXISTS;
    case COMMAND_OK:
    case COMMAND_UNKNOWN_QUEUE:
    case COMMAND_NOT_FOUND:
    case COMMAND_UNAVAILABLE:
        break;
    }
    return RPC_UNAVAILABLE;
}

static void on_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct lease_stream *stream = ctx;

    (void)rpc;
    if (is_ok) {
        stream_run(stream);
    } else {
        stream_finish(stream, RPC_CANCELLED, STR(""));
    }
}

/* The work at hand is done; a held stream that has answered listens again.
 * False: the call is over. */
static bool finish_work(struct lease_stream *stream)
{
    bool is_answer = stream->work->kind == WORK_ANSWER;

    work_destroy(stream->work);
    stream->work = NULL;
    return !is_answer ||
           rpc_call_recv(stream->call->rpc, on_message, stream) == 0;
}

/* Do one step of the work at hand: true to go on, false when the stream is in
 * other hands or over. */
static bool run_step(struct lease_stream *stream)
{
    struct event_hub *hub = stream->call->api->lease_hub;
    auto_strbuf buf = strbuf_make(0);
    struct err err;

    switch (step(stream, &buf, &err)) {
    case STEP_SEND:
        if (rpc_call_send(stream->call->rpc, strbuf_str(&buf), on_sent,
                          stream) < 0) {
            stream_finish(stream, RPC_CANCELLED, STR(""));
        }
        return false;
    case STEP_SKIP:
        return true;
    case STEP_DONE:
        if (!finish_work(stream)) {
            stream_finish(stream, RPC_CANCELLED, STR(""));
            return false;
        }
        return true;
    case STEP_WAIT:
        return !event_hub_wait(hub, &stream->watcher);
    case STEP_END:
        stream_finish(stream, RPC_OK, STR(""));
        return false;
    case STEP_FAILED:
        stream_finish(stream, code_of(stream->work), str_of(err.text));
        return false;
    }
    return false;
}

/* Go on until a message is on its way, there is nothing to do, or it ends.
 * The caller owns the stream and no more after it. */
static void stream_run(struct lease_stream *stream)
{
    struct event_hub *hub = stream->call->api->lease_hub;

    while (!event_hub_is_cancelled(hub, &stream->watcher)) {
        if (!stream->work) {
            stream->work = take_work(stream);
        }
        if (!stream->work) {
            if (event_hub_wait(hub, &stream->watcher)) {
                return;
            }
        } else if (!run_step(stream)) {
            return;
        }
    }
    stream_finish(stream, RPC_CANCELLED, STR(""));
}

static void on_woken(struct hub_watcher *watcher)
{
    stream_run((struct lease_stream *)(void *)watcher);
}

static void on_cancelled(void *ctx, struct rpc_call *rpc)
{
    struct lease_stream *stream = ctx;

    (void)rpc;
    if (event_hub_cancel(stream->call->api->lease_hub, &stream->watcher)) {
        stream_finish(stream, RPC_CANCELLED, STR(""));
    }
}

static struct lease_stream *stream_create(struct api_call *call, bool is_held)
{
    struct lease_stream *stream = mem_alloc(sizeof(*stream));

    stream->call = call;
    stream->is_held = is_held;
    stream->session = (struct exchange_session){on_push, on_released, stream};
    stream->watcher.wake = on_woken;
    pthread_mutex_init(&stream->mutex, NULL);
    call->data = stream;
    call->destroy_data = stream_destroy;
    return stream;
}

void handle_lease_job_runs(struct api_call *call, struct str request)
{
    struct event_hub *hub = call->api->lease_hub;
    struct command *command = command_create(COMMAND_EXCHANGE);
    struct lease_wishes wishes;
    struct err err;

    if (lease_request_read(request, call->api->config->lease_receive_bytes_max,
                           command, &wishes, &err) < 0) {
        command_destroy(command);
        api_call_fail(call, RPC_INVALID_ARGUMENT, "%s", err.text);
        return;
    }
    struct lease_stream *stream = stream_create(call, wishes.is_held);
    stream->executor_id =
        arena_str(&call->arena, command->exchange.request.executor_id);
    if (event_hub_add(hub, &stream->watcher) < 0) {
        command_destroy(command);
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "too many lease streams");
        return;
    }
    /* It waits in the hub's hand from before the answer can come. */
    bool waits = event_hub_wait(hub, &stream->watcher);
    ASSERT(waits);
    struct rpc_call *rpc = rpc_call_ref(call->rpc);
    if (!post_exchange(stream, command)) {
        add_failure(stream, COMMAND_UNAVAILABLE,
                    "the scheduler takes no requests now");
    }
    if (rpc_call_on_cancelled(rpc, on_cancelled, stream) < 0) {
        on_cancelled(stream, rpc);
    }
    rpc_call_unref(rpc);
}
