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
#include "api/core/state.h"
#include "api/handlers.h"
#include "api/leases/lease_request.h"
#include "api/leases/lease_stream.h"

static void stream_run(struct lease_stream *stream);

static void stream_destroy(void *data)
{
    struct lease_stream *stream = data;

    lease_work_fini(stream);
    mem_free(stream);
}

/* End the call: nothing of the stream may be touched after it. */
static void stream_finish(struct lease_stream *stream, enum rpc_code code,
                          struct str text)
{
    struct api_call *call = stream->call;
    struct rpc_call *rpc = rpc_call_ref(call->rpc);

    lease_set_behind(stream, false);
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
        lease_session_end(stream);
    }
    rpc_call_unref(rpc);
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
        lease_work_add(stream, work);
        return;
    }
    struct command *command = command_create(COMMAND_EXCHANGE);
    if (lease_request_read(message,
                           stream->call->api->config->lease_receive_bytes_max,
                           command, &wishes, &err) < 0) {
        command_destroy(command);
        lease_work_fail(stream, COMMAND_INVALID, err.text);
        return;
    }
    if (!str_equal(command->exchange.request.executor_id,
                   stream->executor_id)) {
        /* A session is one executor's: the leader would hold it twice. */
        command_destroy(command);
        lease_work_fail(stream, COMMAND_INVALID,
                        "a lease stream is for one executor");
        return;
    }
    if (!lease_exchange_post(stream, command)) {
        lease_work_fail(
            stream, COMMAND_UNAVAILABLE,
            "the scheduler accepts no requests now; try again later");
    }
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

    lease_work_destroy(stream->work);
    stream->work = NULL;
    return !is_answer ||
           rpc_call_recv(stream->call->rpc, on_message, stream) == 0;
}

static int send_message(struct lease_stream *stream, struct str message,
                        bool has_more)
{
    struct rpc_call *rpc = stream->call->rpc;

    return has_more ? rpc_call_send_more(rpc, message, on_sent, stream)
                    : rpc_call_send(rpc, message, on_sent, stream);
}

/* Do one step of the work at hand: true to go on, false when the stream
 * is in other hands or over. */
static bool run_step(struct lease_stream *stream)
{
    struct event_hub *hub = stream->call->api->lease_hub;
    auto_strbuf buf = strbuf_make(0);
    struct err err;

    enum lease_step step = lease_step(stream, &buf, &err);
    switch (step) {
    case LEASE_SEND:
    case LEASE_SEND_MORE:
        if (send_message(stream, strbuf_str(&buf), step == LEASE_SEND_MORE) <
            0) {
            stream_finish(stream, RPC_CANCELLED, STR(""));
        }
        return false;
    case LEASE_SKIP:
        return true;
    case LEASE_DONE:
        if (!finish_work(stream)) {
            stream_finish(stream, RPC_CANCELLED, STR(""));
            return false;
        }
        return true;
    case LEASE_WAIT:
        return !event_hub_wait(hub, &stream->watcher);
    case LEASE_END:
        stream_finish(stream, RPC_OK, STR(""));
        return false;
    case LEASE_FAILED:
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
            stream->work = lease_work_take(stream);
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
    stream->watcher.wake = on_woken;
    lease_work_init(stream);
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
    if (!api_call_check_executor(call, command->exchange.request.executor_id)) {
        command_destroy(command);
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
    if (!lease_exchange_post(stream, command)) {
        lease_work_fail(
            stream, COMMAND_UNAVAILABLE,
            "the scheduler accepts no requests now; try again later");
    }
    if (rpc_call_on_cancelled(rpc, on_cancelled, stream) < 0) {
        on_cancelled(stream, rpc);
    }
    rpc_call_unref(rpc);
}
