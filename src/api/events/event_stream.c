#include "api/events/event_stream.h"

#include "api/core/state.h"
#include "api/core/view.h"
#include "api/events/event_buffer.h"

struct event_stream {
    struct hub_watcher watcher; /* first: the hub gives it back */
    struct api_call *call;
    bool is_watch;
    uint64_t end_seq; /* the last record to show; UINT64_MAX when watching */
    int64_t key;      /* of the job set in the store; 0: not known yet */
    struct event_buffer buffer;
    uint64_t seqs[EVENT_STREAM_SEQS_MAX]; /* next records */
    uint32_t seq_count, seq_at;
};

static void stream_run(struct event_stream *stream);

static void stream_destroy(void *data)
{
    struct event_stream *stream = data;

    event_buffer_fini(&stream->buffer);
    mem_free(stream);
}

/* Find the next records; 1 if there are any. */
static int find_seqs(struct event_stream *stream, struct readers *readers,
                     struct err *err)
{
    const struct hub_watcher *watcher = &stream->watcher;

    if (stream->seq_at < stream->seq_count) {
        return 1;
    }
    if (!stream->key) {
        int rc = store_job_set(readers->store, watcher->queue, watcher->job_set,
                               &stream->key, err);
        if (rc <= 0) {
            stream->key = 0;
            return rc;
        }
    }
    int count =
        store_job_set_seqs(readers->store, stream->key, stream->buffer.done_seq,
                           stream->seqs, EVENT_STREAM_SEQS_MAX, err);
    if (count < 0) {
        return count;
    }
    stream->seq_at = 0;
    stream->seq_count = (uint32_t)count;
    return count > 0;
}

/* Fill the buffer: 1 when it holds something, 0 when there is nothing. */
static int refill(struct event_stream *stream, struct err *err)
{
    struct reader_pool *pool = stream->call->api->readers;
    struct event_scope of = {.queue = stream->watcher.queue,
                             .job_set = stream->watcher.job_set};
    struct readers *readers;
    int rc = reader_pool_lend(pool, &readers, err);

    if (rc < 0) {
        return rc;
    }
    event_buffer_clear(&stream->buffer);
    while (rc == 0 && !event_buffer_has_more(&stream->buffer)) {
        rc = find_seqs(stream, readers, err);
        if (rc <= 0 || stream->seqs[stream->seq_at] > stream->end_seq) {
            rc = rc < 0 ? rc : 0;
            break;
        }
        uint64_t seq = stream->seqs[stream->seq_at];
        rc = event_buffer_fill(&stream->buffer, readers->log, &of, seq, err);
        stream->seq_at += stream->buffer.done_seq >= seq;
    }
    reader_pool_give_back(pool, readers);
    return rc < 0 ? rc : event_buffer_has_more(&stream->buffer);
}

/* End the call: nothing of the stream may be touched after it. */
static void stream_finish(struct event_stream *stream, enum rpc_code code,
                          const struct err *err)
{
    struct api_call *call = stream->call;

    event_hub_remove(call->api->hub, &stream->watcher);
    if (code == RPC_OK) {
        api_call_end(call);
    } else {
        api_call_fail(call, code, "%s", err ? err->text : "");
    }
}

static void on_sent(void *ctx, struct rpc_call *rpc, bool is_ok)
{
    struct event_stream *stream = ctx;

    (void)rpc;
    if (is_ok) {
        stream_run(stream);
    } else {
        stream_finish(stream, RPC_CANCELLED, NULL);
    }
}

/* Send the next message of the buffer; on_sent() goes on. */
static int send_next(struct event_stream *stream)
{
    struct str message = event_buffer_next(&stream->buffer);
    struct rpc_call *rpc = stream->call->rpc;

    return event_buffer_has_more(&stream->buffer)
               ? rpc_call_send_more(rpc, message, on_sent, stream)
               : rpc_call_send(rpc, message, on_sent, stream);
}

/* Go on until a message is on its way, there is nothing to do, or it ends.
 * The caller owns the stream and no more after it. */
static void stream_run(struct event_stream *stream)
{
    struct event_hub *hub = stream->call->api->hub;
    struct err err;

    while (!event_hub_is_cancelled(hub, &stream->watcher)) {
        if (event_buffer_has_more(&stream->buffer)) {
            if (send_next(stream) == 0) {
                return;
            }
            break;
        }
        int rc = refill(stream, &err);
        if (rc < 0) {
            stream_finish(stream, RPC_UNAVAILABLE, &err);
            return;
        }
        if (rc == 0 && !stream->is_watch) {
            stream_finish(stream, RPC_OK, NULL);
            return;
        }
        if (rc == 0) {
            /* It may wait for long: hold nothing meanwhile. */
            event_buffer_fini(&stream->buffer);
            if (event_hub_wait(hub, &stream->watcher)) {
                return;
            }
        }
    }
    stream_finish(stream, RPC_CANCELLED, NULL);
}

static void on_woken(struct hub_watcher *watcher)
{
    stream_run((struct event_stream *)(void *)watcher);
}

static void on_cancelled(void *ctx, struct rpc_call *rpc)
{
    struct event_stream *stream = ctx;

    (void)rpc;
    if (event_hub_cancel(stream->call->api->hub, &stream->watcher)) {
        stream_finish(stream, RPC_CANCELLED, NULL);
    }
}

/* Look up the job set.  One that was made a moment ago is found, though the
 * store follows the log with a little delay: who submits and then watches
 * must not be told that there is nothing. */
static int find_job_set(struct event_stream *stream, struct readers *readers,
                        struct err *err)
{
    uint64_t log_seq = 0;
    int rc = 0;

    for (int i = 0; i < READERS_WAITS_MAX && rc == 0; i++) {
        rc = store_job_set(readers->store, stream->watcher.queue,
                           stream->watcher.job_set, &stream->key, err);
        if (rc == 0 && !readers_are_behind(readers, &log_seq)) {
            break;
        }
    }
    stream->key = rc > 0 ? stream->key : 0;
    return rc;
}

/* Where the stream begins and ends; 1 when the job set has events. */
static int find_bounds(struct event_stream *stream, const struct event_id *from,
                       struct err *err)
{
    struct reader_pool *pool = stream->call->api->readers;
    struct readers *readers;
    uint64_t head_seq = 0;
    int rc = reader_pool_lend(pool, &readers, err);

    if (rc < 0) {
        return rc;
    }
    rc = find_job_set(stream, readers, err);
    if (rc >= 0 && !stream->is_watch) {
        readers_await(readers);
    }
    if (rc >= 0) {
        int read_rc = store_reader_seq(readers->store, &head_seq, err);
        rc = read_rc < 0 ? read_rc : rc;
    }
    reader_pool_give_back(pool, readers);
    stream->end_seq = stream->is_watch ? UINT64_MAX : head_seq;
    if (from) {
        event_buffer_begin(&stream->buffer, from);
    }
    return rc;
}

static struct event_stream *
stream_create(struct api_call *call, const struct event_stream_query *query)
{
    struct event_stream *stream = mem_alloc(sizeof(*stream));

    stream->call = call;
    stream->is_watch = query->is_watch;
    stream->watcher.wake = on_woken;
    stream->watcher.queue = query->queue;
    stream->watcher.job_set = query->job_set;
    stream->buffer.is_redacted =
        view_of_job(call, query->queue, STR("")) != VIEW_ALL;
    stream->buffer.viewer =
        call->principal.is_anonymous ? STR("") : call->principal.name;
    call->data = stream;
    call->destroy_data = stream_destroy;
    return stream;
}

void event_stream_start(struct api_call *call,
                        const struct event_stream_query *query)
{
    struct event_stream *stream = stream_create(call, query);
    bool has_from = query->from_id.byte_count > 0;
    struct event_id from;
    struct err err;

    if (has_from && event_id_parse(query->from_id, &from) < 0) {
        api_call_fail_wrapped(call, RPC_UNKNOWN, "invalid message id \"%.*s\"",
                              STR_ARG(query->from_id));
        return;
    }
    int rc = find_bounds(stream, has_from ? &from : NULL, &err);
    if (rc < 0) {
        api_call_fail_storage(call, &err);
        return;
    }
    if (rc == 0 && query->is_missing_error) {
        api_call_fail(call, RPC_NOT_FOUND,
                      "[GetJobSetEvents] Jobset %.*s for queue %.*s does not "
                      "exist",
                      STR_ARG(query->job_set), STR_ARG(query->queue));
        return;
    }
    if (event_hub_add(call->api->hub, &stream->watcher) < 0) {
        api_call_fail(call, RPC_RESOURCE_EXHAUSTED, "too many event streams");
        return;
    }
    if (rpc_call_on_cancelled(call->rpc, on_cancelled, stream) < 0) {
        stream_finish(stream, RPC_CANCELLED, NULL);
        return;
    }
    stream_run(stream);
}
