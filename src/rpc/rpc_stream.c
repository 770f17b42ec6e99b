#include <errno.h>

#include "rpc/channel.h"

enum stream_batch {
    BATCH_HEAD,
    BATCH_SEND,
    BATCH_CLOSE_SEND,
    BATCH_RECV,
    BATCH_STATUS,
    BATCH_COUNT,
};

/* Messages are taken ahead of the reader until one of these is reached: who
 * reads many small ones is woken once for all that came meanwhile. */
enum { AHEAD_MAX = 64, AHEAD_BYTES_MAX = 64 << 10 };

/*
 * Owned by its user and by its batches.  The library's half (call.core) goes
 * with the last batch after the status; whichever is last, the news of that or
 * the user's close, frees the rest.
 */
struct rpc_stream {
    struct channel_call call;
    struct channel_tag tags[BATCH_COUNT];
    struct rpc_stream *next_untold; /* the channel's thread's */
    pthread_mutex_t lock;           /* all below */
    pthread_cond_t changed;
    uint32_t batch_count;
    bool is_closed; /* by the user */
    bool is_untold; /* on the channel's list of streams with news */
    bool is_sending, is_close_due, is_send_over, has_send_failed;
    bool is_receiving, is_receive_over;
    bool is_status_known;
    bool is_woken;
    grpc_byte_buffer *sent, *received;
    grpc_byte_buffer *ready[AHEAD_MAX]; /* a ring, oldest at `ready_at` */
    uint32_t ready_at, ready_count;
    size_t ready_byte_count;
    struct rpc_status status;
};

/* The oldest message, or NULL.  Locked. */
static grpc_byte_buffer *pop_ready(struct rpc_stream *stream)
{
    grpc_byte_buffer *oldest = stream->ready[stream->ready_at];

    if (stream->ready_count == 0) {
        return NULL;
    }
    stream->ready_at = (stream->ready_at + 1) % AHEAD_MAX;
    stream->ready_count--;
    stream->ready_byte_count -= grpc_byte_buffer_length(oldest);
    return oldest;
}

/* Locked. */
static void push_ready(struct rpc_stream *stream, grpc_byte_buffer *newest)
{
    ASSERT(stream->ready_count < AHEAD_MAX);
    stream->ready[(stream->ready_at + stream->ready_count++) % AHEAD_MAX] =
        newest;
    stream->ready_byte_count += grpc_byte_buffer_length(newest);
}

/* Locked, or the last owner's. */
static void drop_ready(struct rpc_stream *stream)
{
    grpc_byte_buffer *unread;

    while ((unread = pop_ready(stream))) {
        grpc_byte_buffer_destroy(unread);
    }
}

static void destroy(struct rpc_stream *stream)
{
    if (stream->sent) {
        grpc_byte_buffer_destroy(stream->sent);
    }
    if (stream->received) {
        grpc_byte_buffer_destroy(stream->received);
    }
    drop_ready(stream);
    pthread_cond_destroy(&stream->changed);
    pthread_mutex_destroy(&stream->lock);
    mem_free(stream);
}

/* Locked. */
static void start(struct rpc_stream *stream, const grpc_op *ops,
                  size_t op_count, enum stream_batch batch)
{
    channel_call_start(&stream->call, ops, op_count, &stream->tags[batch]);
    stream->batch_count++;
}

/* Ask for the next message if there may be one and there is room.  Locked. */
static void start_recv(struct rpc_stream *stream)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

    if (stream->is_receiving || stream->is_receive_over ||
        stream->is_status_known || stream->is_closed ||
        stream->ready_count == AHEAD_MAX ||
        stream->ready_byte_count >= AHEAD_BYTES_MAX) {
        return;
    }
    stream->is_receiving = true;
    op.data.recv_message.recv_message = &stream->received;
    start(stream, &op, 1, BATCH_RECV);
}

/* Locked. */
static void start_close_send(struct rpc_stream *stream)
{
    grpc_op op = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};

    start(stream, &op, 1, BATCH_CLOSE_SEND);
}

/* One batch is done, of which the user is to be told: after that the last one
 * to let go frees it.  Locked on entry, not on return. */
static void batch_done(struct rpc_stream *stream)
{
    struct rpc_channel *channel = stream->call.channel;

    stream->batch_count--;
    if (stream->batch_count == 0 && stream->is_status_known &&
        stream->call.core) {
        channel_call_end(&stream->call);
    }
    if (!stream->is_untold) {
        stream->is_untold = true;
        stream->next_untold = channel->untold;
        channel->untold = stream;
    }
    pthread_mutex_unlock(&stream->lock);
}

/* Tell the user; where there is none any more, and nothing under way, it is
 * freed. */
static void tell(struct rpc_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_untold = false;
    bool is_abandoned = stream->is_closed && !stream->call.core;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
    if (is_abandoned) {
        destroy(stream);
    }
}

void channel_tell(struct rpc_channel *channel)
{
    while (channel->untold) {
        struct rpc_stream *stream = channel->untold;
        channel->untold = stream->next_untold;
        tell(stream);
    }
}

static void on_batch(void *owner, bool is_ok)
{
    struct rpc_stream *stream = (struct rpc_stream *)owner;

    (void)is_ok;
    pthread_mutex_lock(&stream->lock);
    batch_done(stream);
}

static void on_sent(void *owner, bool is_ok)
{
    struct rpc_stream *stream = (struct rpc_stream *)owner;

    pthread_mutex_lock(&stream->lock);
    stream->has_send_failed |= !is_ok; /* the status will say why */
    grpc_byte_buffer_destroy(steal_ptr(stream->sent));
    stream->is_sending = false;
    if (stream->is_close_due && !stream->is_status_known) {
        start_close_send(stream);
    }
    batch_done(stream);
}

static void on_received(void *owner, bool is_ok)
{
    struct rpc_stream *stream = (struct rpc_stream *)owner;

    (void)is_ok;
    pthread_mutex_lock(&stream->lock);
    stream->is_receiving = false;
    if (stream->received && !stream->is_receive_over) {
        push_ready(stream, steal_ptr(stream->received));
        start_recv(stream);
    } else if (stream->received) {
        grpc_byte_buffer_destroy(steal_ptr(stream->received));
    } else {
        stream->is_receive_over = true;
    }
    batch_done(stream);
}

static void on_status(void *owner, bool is_ok)
{
    struct rpc_stream *stream = (struct rpc_stream *)owner;

    (void)is_ok;
    pthread_mutex_lock(&stream->lock);
    channel_call_status(&stream->call, &stream->status);
    stream->is_status_known = true;
    batch_done(stream);
}

struct rpc_stream *rpc_stream_open(struct rpc_channel *channel,
                                   const char *path,
                                   const struct rpc_call_options *options)
{
    struct rpc_stream *stream = mem_alloc(sizeof(*stream));
    grpc_op op = {0};

    for (int batch = 0; batch < BATCH_COUNT; batch++) {
        stream->tags[batch] = (struct channel_tag){on_batch, stream};
    }
    stream->tags[BATCH_SEND].done = on_sent;
    stream->tags[BATCH_RECV].done = on_received;
    stream->tags[BATCH_STATUS].done = on_status;
    pthread_mutex_init(&stream->lock, NULL);
    core_cond_init(&stream->changed);
    channel_call_begin(&stream->call, channel, path, options);
    pthread_mutex_lock(&stream->lock);
    op = channel_op_recv_status(&stream->call);
    start(stream, &op, 1, BATCH_STATUS);
    grpc_op head[] = {channel_op_head(&stream->call),
                      channel_op_recv_head(&stream->call)};
    start(stream, head, 2, BATCH_HEAD);
    start_recv(stream);
    pthread_mutex_unlock(&stream->lock);
    return stream;
}

/* Wait for a change until `until` (NULL: for ever); false when it is past.
 * Locked. */
static bool wait_for_change(struct rpc_stream *stream,
                            const struct timespec *until)
{
    if (!until) {
        pthread_cond_wait(&stream->changed, &stream->lock);
        return true;
    }
    return pthread_cond_timedwait(&stream->changed, &stream->lock, until) !=
           ETIMEDOUT;
}

enum rpc_wait rpc_stream_send(struct rpc_stream *stream, struct str message,
                              int64_t timeout_ms)
{
    struct timespec until = core_time_after(timeout_ms > 0 ? timeout_ms : 0);
    enum rpc_wait result = RPC_WAIT_READY;
    bool is_in_time = true;

    pthread_mutex_lock(&stream->lock);
    ASSERT(!stream->is_send_over);
    while (stream->is_sending && !stream->is_status_known && is_in_time) {
        is_in_time = wait_for_change(stream, timeout_ms < 0 ? NULL : &until);
    }
    if (stream->is_status_known) {
        result = RPC_WAIT_ENDED;
    } else if (stream->is_sending) {
        result = RPC_WAIT_TIMEOUT;
    } else {
        grpc_op op = {0};

        stream->sent = core_buffer(message);
        stream->is_sending = true;
        op = channel_op_send(&stream->call, stream->sent);
        start(stream, &op, 1, BATCH_SEND);
    }
    pthread_mutex_unlock(&stream->lock);
    return result;
}

void rpc_stream_close_send(struct rpc_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (!stream->is_send_over) {
        stream->is_send_over = true;
        if (stream->is_sending) {
            stream->is_close_due = true;
        } else if (!stream->is_status_known) {
            start_close_send(stream);
        }
    }
    pthread_mutex_unlock(&stream->lock);
}

/* Take what was received and ask for the next.  Locked. */
static grpc_byte_buffer *take_ready(struct rpc_stream *stream)
{
    grpc_byte_buffer *ready = pop_ready(stream);

    if (ready) {
        start_recv(stream);
    }
    return ready;
}

/* Copy a message out; false when it broke the limit, which ends the call. */
static bool read_message(struct rpc_stream *stream, grpc_byte_buffer *buffer,
                         struct strbuf *ret_message)
{
    auto_strbuf scratch = strbuf_make(0);
    struct str message = {0};
    int rc = core_buffer_read(buffer, stream->call.channel->receive_bytes_max,
                              &scratch, &message);

    strbuf_clear(ret_message);
    if (rc == 0) {
        strbuf_add_str(ret_message, message);
    }
    grpc_byte_buffer_destroy(buffer);
    return rc == 0;
}

/* Cancel with a status of our own.  Locked. */
static void cancel(struct rpc_stream *stream, grpc_status_code code,
                   const char *message)
{
    if (stream->call.core) {
        grpc_call_cancel_with_status(stream->call.core, code, message, NULL);
    }
}

enum rpc_wait rpc_stream_next(struct rpc_stream *stream, int64_t timeout_ms,
                              struct strbuf *ret_message)
{
    struct timespec until = core_time_after(timeout_ms > 0 ? timeout_ms : 0);
    grpc_byte_buffer *buffer = NULL;
    enum rpc_wait result = RPC_WAIT_TIMEOUT;
    bool is_in_time = timeout_ms != 0;

    pthread_mutex_lock(&stream->lock);
    for (;;) {
        buffer = take_ready(stream);
        if (buffer) {
            result = RPC_WAIT_READY;
            break;
        }
        if (stream->is_status_known && !stream->is_receiving) {
            result = RPC_WAIT_ENDED;
            break;
        }
        if (stream->is_woken || !is_in_time) {
            stream->is_woken = false;
            break;
        }
        is_in_time = wait_for_change(stream, timeout_ms < 0 ? NULL : &until);
    }
    pthread_mutex_unlock(&stream->lock);
    if (buffer && !read_message(stream, buffer, ret_message)) {
        pthread_mutex_lock(&stream->lock);
        drop_ready(stream); /* nothing is shown past a gap */
        stream->is_receive_over = true;
        cancel(stream, GRPC_STATUS_RESOURCE_EXHAUSTED,
               "received message larger than max, or not decompressible");
        pthread_mutex_unlock(&stream->lock);
        return rpc_stream_next(stream, timeout_ms, ret_message);
    }
    return result;
}

void rpc_stream_wake(struct rpc_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_woken = true;
    pthread_cond_broadcast(&stream->changed);
    pthread_mutex_unlock(&stream->lock);
}

void rpc_stream_cancel(struct rpc_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    cancel(stream, GRPC_STATUS_CANCELLED, "cancelled by the caller");
    pthread_mutex_unlock(&stream->lock);
}

bool rpc_stream_is_over(struct rpc_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool is_over = stream->is_status_known || stream->has_send_failed;
    pthread_mutex_unlock(&stream->lock);
    return is_over;
}

const struct rpc_status *rpc_stream_status(const struct rpc_stream *stream)
{
    return &stream->status;
}

void rpc_stream_close(struct rpc_stream *stream)
{
    bool is_over = false;

    if (!stream) {
        return;
    }
    pthread_mutex_lock(&stream->lock);
    cancel(stream, GRPC_STATUS_CANCELLED, "closed by the caller");
    stream->is_closed = true;
    is_over = !stream->call.core && !stream->is_untold;
    pthread_mutex_unlock(&stream->lock);
    if (is_over) {
        destroy(stream);
    }
}
