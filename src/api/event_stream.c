#include "api/event_stream.h"

#include <time.h>

#include "api/event_convert.h"
#include "api/event_id.h"
#include "api/state.h"
#include "wire/field.h"
#include "wire/log_codec.h"
#include "wire/message.h"

enum {
    STREAM_MESSAGE_ID = 1,
    STREAM_MESSAGE_MESSAGE = 2,
    LENGTH_BYTES = 4, /* before each message of the buffer */
    STOP = 1,         /* a walk ends early: the buffer is full */
    /* How long a job set that is not in the store yet is waited for. */
    STORE_WAITS_MAX = 200,
    STORE_WAIT_NS = 1000000,
};

struct event_stream {
    struct hub_watcher watcher; /* first: the hub gives it back */
    struct api_call *call;
    bool is_watch;
    uint64_t end_seq; /* the last record to show; UINT64_MAX when watching */
    int64_t key;      /* of the job set in the store; 0: not known yet */
    /* What has been put into the buffer: all of the records up to
     * `done_seq`, and of the one after it `done_count` events. */
    uint64_t done_seq;
    uint64_t part_seq; /* the record that is shown in part; 0: none */
    uint32_t done_count;
    /* Of that record, the facts that were shown in whole and the events that
     * they made: it is not converted anew for each buffer. */
    uint32_t done_item_count, done_item_event_count;
    uint64_t seqs[EVENT_STREAM_SEQS_MAX]; /* next records */
    uint32_t seq_count, seq_at;
    struct strbuf out; /* messages, each after its length */
    size_t out_at;
};

/* One record on its way into the buffer. */
struct filling {
    struct event_stream *stream;
    struct arena arena; /* of one fact's conversion */
    struct err *err;
    int64_t time_ms;
    uint64_t seq;
    uint32_t count;            /* events of the job set so far */
    uint32_t skip_count;       /* that were shown before */
    uint32_t item_count;       /* facts of the job set so far */
    uint32_t item_skip_count;  /* that were shown before */
    uint32_t item_event_count; /* `count` before the present one */
    struct strbuf held; /* the last one, until it is known to be the last */
    bool has_held;
};

static void stream_run(struct event_stream *stream);

static void stream_destroy(void *data)
{
    struct event_stream *stream = data;

    strbuf_fini(&stream->out);
    mem_free(stream);
}

/* Append the held event to the buffer. */
static void release(struct filling *filling, bool is_last)
{
    struct event_id id = {filling->time_ms, filling->seq, filling->count - 1,
                          is_last};
    struct strbuf *out = &filling->stream->out;
    char text[EVENT_ID_TEXT_BYTES_MAX];
    size_t begin = out->byte_count;

    strbuf_add(out, "\0\0\0\0", LENGTH_BYTES);
    field_put_bytes(out, STREAM_MESSAGE_ID, str_of(event_id_format(&id, text)));
    field_put_bytes(out, STREAM_MESSAGE_MESSAGE, strbuf_str(&filling->held));
    uint32_t byte_count = (uint32_t)(out->byte_count - begin - LENGTH_BYTES);
    memcpy(out->bytes + begin, &byte_count, LENGTH_BYTES);
    filling->has_held = false;
}

/* Takes one event of the job set. */
static int take_event(void *ctx, const Api__EventMessage *message)
{
    struct filling *filling = ctx;

    if (filling->has_held) {
        release(filling, false);
        if (filling->stream->out.byte_count >= EVENT_STREAM_BUFFER_BYTES_MAX) {
            return STOP;
        }
    }
    if (filling->count++ < filling->skip_count) {
        return 0;
    }
    strbuf_clear(&filling->held);
    wire_encode(&message->base, &filling->held);
    filling->has_held = true;
    return 0;
}

/* Takes one fact of the job set. */
static int take_item(const struct event_scope *scope, struct str encoded,
                     void *ctx)
{
    struct filling *filling = ctx;

    if (filling->item_count++ < filling->item_skip_count) {
        return 0;
    }
    filling->item_event_count = filling->count;
    arena_reset(&filling->arena);
    int rc = event_convert(encoded, scope, &filling->arena, take_event, filling,
                           filling->err);
    /* What does not convert is passed over: it would end the stream of
     * everybody else for ever. */
    return rc == -ERR_CORRUPT ? 0 : rc;
}

/* Takes the record. */
static int take_record(void *ctx, const struct elog_record *record)
{
    struct filling *filling = ctx;
    struct event_stream *stream = filling->stream;

    filling->seq = record->seq;
    filling->time_ms = record->time_ms;
    if (record->seq == stream->part_seq) {
        filling->skip_count = stream->done_count;
        filling->item_skip_count = stream->done_item_count;
        filling->count = stream->done_item_event_count;
    }
    int rc = log_walk_job_set(record->payload, stream->watcher.queue,
                              stream->watcher.job_set, take_item, filling,
                              filling->err);
    if (rc < 0) {
        return rc;
    }
    if (rc == STOP) {
        stream->part_seq = record->seq;
        stream->done_count = filling->count;
        stream->done_item_count = filling->item_count - 1;
        stream->done_item_event_count = filling->item_event_count;
        return 1;
    }
    if (filling->has_held) {
        release(filling, true);
    }
    stream->done_seq = record->seq;
    stream->part_seq = 0;
    stream->done_item_count = stream->done_item_event_count = 0;
    return 1;
}

/* Put the events of the next record into the buffer. */
static int fill_from(struct event_stream *stream, struct readers *readers,
                     struct err *err)
{
    struct filling filling = {.stream = stream, .err = err};
    uint64_t seq = stream->seqs[stream->seq_at];
    struct elog_range range = {.from_seq = seq, .record_count_max = 1};
    int rc = elog_read(readers->log, &range, take_record, &filling, err);

    arena_fini(&filling.arena);
    strbuf_fini(&filling.held);
    if (rc == -ERR_NOT_FOUND) {
        /* Trimmed away: what it said is beyond retention. */
        stream->done_seq = seq;
        stream->part_seq = 0;
        stream->done_item_count = stream->done_item_event_count = 0;
        rc = 0;
    }
    stream->seq_at += stream->done_seq >= seq;
    return rc < 0 ? rc : 0;
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
        store_job_set_seqs(readers->store, stream->key, stream->done_seq,
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
    struct readers *readers;
    int rc = reader_pool_lend(pool, &readers, err);

    if (rc < 0) {
        return rc;
    }
    strbuf_clear(&stream->out);
    stream->out_at = 0;
    while (rc == 0 && !stream->out.byte_count) {
        rc = find_seqs(stream, readers, err);
        if (rc <= 0 || stream->seqs[stream->seq_at] > stream->end_seq) {
            rc = rc < 0 ? rc : 0;
            break;
        }
        rc = fill_from(stream, readers, err);
    }
    reader_pool_give_back(pool, readers);
    return rc < 0 ? rc : stream->out.byte_count > 0;
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
    const char *at = stream->out.bytes + stream->out_at;
    uint32_t byte_count;

    memcpy(&byte_count, at, LENGTH_BYTES);
    stream->out_at += LENGTH_BYTES + byte_count;
    struct str message = str_make(at + LENGTH_BYTES, byte_count);
    struct rpc_call *rpc = stream->call->rpc;
    return stream->out_at < stream->out.byte_count
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
        if (stream->out_at < stream->out.byte_count) {
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
            strbuf_fini(&stream->out);
            stream->out_at = 0;
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

/* Whether the store has yet to see what was in the log when it was asked
 * first; waits a moment if so. */
static bool is_store_behind(struct readers *readers, uint64_t *log_seq)
{
    struct elog_bounds bounds;
    uint64_t store_seq = 0;
    struct err err;

    if (*log_seq == 0 && elog_bounds(readers->log, &bounds, &err) == 0) {
        *log_seq = bounds.head_seq;
    }
    if (store_reader_seq(readers->store, &store_seq, &err) < 0 ||
        store_seq >= *log_seq) {
        return false;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = STORE_WAIT_NS}, NULL);
    return true;
}

/* Look up the job set.  One that was made a moment ago is found, though the
 * store follows the log with a little delay: who submits and then watches
 * must not be told that there is nothing. */
static int find_job_set(struct event_stream *stream, struct readers *readers,
                        struct err *err)
{
    uint64_t log_seq = 0;
    int rc = 0;

    for (int i = 0; i < STORE_WAITS_MAX && rc == 0; i++) {
        rc = store_job_set(readers->store, stream->watcher.queue,
                           stream->watcher.job_set, &stream->key, err);
        if (rc == 0 && !is_store_behind(readers, &log_seq)) {
            break;
        }
    }
    stream->key = rc > 0 ? stream->key : 0;
    return rc;
}

/* Who submits and then reads must see it: wait, within bounds, until the store
 * has what the log has now. */
static void await_store(struct readers *readers)
{
    uint64_t log_seq = 0;

    for (int i = 0; i < STORE_WAITS_MAX; i++) {
        if (!is_store_behind(readers, &log_seq)) {
            break;
        }
    }
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
        await_store(readers);
    }
    if (rc >= 0) {
        int read_rc = store_reader_seq(readers->store, &head_seq, err);
        rc = read_rc < 0 ? read_rc : rc;
    }
    reader_pool_give_back(pool, readers);
    stream->end_seq = stream->is_watch ? UINT64_MAX : head_seq;
    if (from && from->is_last) {
        stream->done_seq = from->seq;
    } else if (from) {
        stream->done_seq = from->seq ? from->seq - 1 : 0;
        stream->part_seq = from->seq;
        stream->done_count = from->index + 1;
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
