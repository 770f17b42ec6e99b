#include "rpc/rpc_channel.h"

#include <grpc/grpc_security.h>
#include <stdio.h>

#include "rpc/channel.h"

enum {
    RECONNECT_MIN_MS = 100,
    RECONNECT_MAX_MS = 5000,
    CONNECT_TIMEOUT_MS = 5000,
    HEADERS_BYTES_MAX = 16 << 10,
    /* A held stream notices a dead server after these two. */
    PING_AFTER_MS = 30 * 1000,
    PING_TIMEOUT_MS = 15 * 1000,
    /* What a stream may have under way to a reader that does not read.  Fixed,
     * since the library's own estimate grows to 16 MiB on a fast network. */
    STREAM_WINDOW_BYTES = 256 << 10,
};

/*
 * The channel.
 */

static void *run_channel(void *arg)
{
    struct rpc_channel *channel = (struct rpc_channel *)arg;
    gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    for (;;) {
        grpc_event event =
            grpc_completion_queue_next(channel->queue, never, NULL);
        struct channel_tag *tag = (struct channel_tag *)event.tag;

        if (event.type == GRPC_QUEUE_SHUTDOWN) {
            return NULL;
        }
        core_take_over(tag);
        tag->done(tag->owner, event.success != 0);
    }
}

static grpc_channel_credentials *make_tls(const struct rpc_channel_tls *tls,
                                          struct err *err)
{
    auto_mem char *ca = NULL;
    auto_mem char *certificate = NULL;
    auto_mem char *key = NULL;

    if (tls->ca_file && !(ca = core_read_file(tls->ca_file, err))) {
        return NULL;
    }
    if (tls->certificate_file &&
        !((certificate = core_read_file(tls->certificate_file, err)) &&
          (key = core_read_file(tls->key_file, err)))) {
        return NULL;
    }
    grpc_ssl_pem_key_cert_pair pair = {key, certificate};
    grpc_channel_credentials *made =
        grpc_ssl_credentials_create(ca, certificate ? &pair : NULL, NULL, NULL);
    if (!made) {
        err_set(err, -ERR_INVALID, "the TLS files cannot be used");
    }
    return made;
}

static grpc_channel *make_core(const struct rpc_channel_options *options,
                               size_t receive_bytes_max,
                               grpc_channel_credentials *credentials)
{
    const char *name = options->tls ? options->tls->server_name : NULL;
    grpc_arg args[17] = {
        core_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
                 (int64_t)receive_bytes_max),
        core_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
        core_arg(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        core_arg(GRPC_ARG_ENABLE_RETRIES, 0),
        core_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
        core_arg(GRPC_ARG_ENABLE_CHANNELZ, 0),
        core_arg(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        core_arg(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        core_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RECONNECT_MIN_MS),
        core_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, RECONNECT_MAX_MS),
        core_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, CONNECT_TIMEOUT_MS),
        core_arg(GRPC_ARG_KEEPALIVE_TIME_MS, PING_AFTER_MS),
        core_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, PING_TIMEOUT_MS),
        core_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        core_arg(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, STREAM_WINDOW_BYTES),
        core_arg(GRPC_ARG_MAX_METADATA_SIZE, HEADERS_BYTES_MAX),
    };
    grpc_channel_args list = {16, args};

    if (name) {
        args[list.num_args++] = (grpc_arg){
            .type = GRPC_ARG_STRING,
            .key = (char *)(uintptr_t)GRPC_SSL_TARGET_NAME_OVERRIDE_ARG,
            .value.string = (char *)(uintptr_t)name};
    }
    return grpc_channel_create(options->address, credentials, &list);
}

struct rpc_channel *rpc_channel_open(const struct rpc_channel_options *options,
                                     struct err *err)
{
    struct rpc_channel *channel = NULL;
    grpc_channel_credentials *credentials = NULL;

    if (!options->address || !strchr(options->address, ':')) {
        err_set(err, -ERR_INVALID, "'%s' is not of the form host:port",
                options->address ? options->address : "");
        return NULL;
    }
    core_begin();
    credentials = options->tls ? make_tls(options->tls, err)
                               : grpc_insecure_credentials_create();
    if (!credentials) {
        core_end();
        return NULL;
    }
    channel = mem_alloc(sizeof(*channel));
    channel->receive_bytes_max = options->receive_bytes_max
                                     ? options->receive_bytes_max
                                     : RPC_RECEIVE_BYTES_DEFAULT_MAX;
    channel->core = make_core(options, channel->receive_bytes_max, credentials);
    grpc_channel_credentials_release(credentials);
    channel->queue = grpc_completion_queue_create_for_next(NULL);
    pthread_mutex_init(&channel->lock, NULL);
    core_cond_init(&channel->changed);
    ASSERT(pthread_create(&channel->thread, NULL, run_channel, channel) == 0);
    return channel;
}

void rpc_channel_close(struct rpc_channel *channel)
{
    if (!channel) {
        return;
    }
    pthread_mutex_lock(&channel->lock);
    for (struct channel_call *c = channel->calls; c; c = c->next) {
        grpc_call_cancel(c->core, NULL);
    }
    while (channel->calls) {
        pthread_cond_wait(&channel->changed, &channel->lock);
    }
    pthread_mutex_unlock(&channel->lock);
    grpc_completion_queue_shutdown(channel->queue);
    pthread_join(channel->thread, NULL);
    grpc_completion_queue_destroy(channel->queue);
    grpc_channel_destroy(channel->core);
    core_end();
    pthread_cond_destroy(&channel->changed);
    pthread_mutex_destroy(&channel->lock);
    mem_free(channel);
}

/*
 * What unary calls and streams share.
 */

static bool add_header(struct channel_call *call, const char *name,
                       const char *value)
{
    grpc_metadata *header = &call->headers[call->header_count];

    header->key = grpc_slice_from_copied_string(name);
    header->value = grpc_slice_from_copied_string(value);
    call->header_count++;
    return grpc_header_key_is_legal(header->key) &&
           !grpc_is_binary_header(header->key) &&
           grpc_header_nonbin_value_is_legal(header->value);
}

static void drop_headers(struct channel_call *call)
{
    for (size_t i = 0; i < call->header_count; i++) {
        grpc_slice_unref(call->headers[i].key);
        grpc_slice_unref(call->headers[i].value);
    }
    call->header_count = 0;
}

void channel_call_begin(struct channel_call *call, struct rpc_channel *channel,
                        const char *path,
                        const struct rpc_call_options *options)
{
    static const struct rpc_call_options none;
    grpc_slice method = grpc_slice_from_copied_string(path);
    bool is_legal = true;

    options = options ? options : &none;
    ASSERT(options->header_count <= RPC_CHANNEL_HEADERS_MAX);
    call->channel = channel;
    call->message = grpc_empty_slice();
    grpc_metadata_array_init(&call->head);
    grpc_metadata_array_init(&call->trailer);
    for (uint32_t i = 0; i < options->header_count; i++) {
        is_legal &= add_header(call, options->headers[i].name,
                               options->headers[i].value);
    }
    if (options->is_gzip) {
        add_header(call, GRPC_COMPRESSION_REQUEST_ALGORITHM_MD_KEY, "gzip");
    } else {
        call->send_flags = GRPC_WRITE_NO_COMPRESS;
    }
    if (options->is_wait_for_ready) {
        call->head_flags = GRPC_INITIAL_METADATA_WAIT_FOR_READY |
                           GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET;
    }
    call->core = grpc_channel_create_call(
        channel->core, NULL, GRPC_PROPAGATE_DEFAULTS, channel->queue, method,
        NULL, core_deadline(options->timeout_ms), NULL);
    grpc_slice_unref(method);
    if (!is_legal) {
        drop_headers(call);
        grpc_call_cancel_with_status(call->core, GRPC_STATUS_INVALID_ARGUMENT,
                                     "a request header is not legal", NULL);
    }
    pthread_mutex_lock(&channel->lock);
    call->next = channel->calls;
    if (call->next) {
        call->next->previous = call;
    }
    channel->calls = call;
    pthread_mutex_unlock(&channel->lock);
}

void channel_call_start(struct channel_call *call, const grpc_op *ops,
                        size_t op_count, struct channel_tag *tag)
{
    grpc_call *core = call->core;
    grpc_call_error rc = GRPC_CALL_OK;

    /* The call may be over and freed before start_batch returns. */
    core_hand_over(tag);
    rc = grpc_call_start_batch(core, ops, op_count, tag, NULL);
    ASSERT(rc == GRPC_CALL_OK);
}

void channel_call_end(struct channel_call *call)
{
    struct rpc_channel *channel = call->channel;

    grpc_metadata_array_destroy(&call->head);
    grpc_metadata_array_destroy(&call->trailer);
    grpc_slice_unref(call->message);
    drop_headers(call);
    pthread_mutex_lock(&channel->lock);
    if (call->next) {
        call->next->previous = call->previous;
    }
    if (call->previous) {
        call->previous->next = call->next;
    } else {
        channel->calls = call->next;
    }
    grpc_call_unref(steal_ptr(call->core));
    pthread_cond_broadcast(&channel->changed);
    pthread_mutex_unlock(&channel->lock);
}

void channel_call_status(const struct channel_call *call,
                         struct rpc_status *ret_status)
{
    struct str text = core_slice_str(&call->message);

    ret_status->code = (enum rpc_code)call->code;
    snprintf(ret_status->message, sizeof(ret_status->message), "%.*s",
             STR_ARG(text));
}

grpc_op channel_op_head(struct channel_call *call)
{
    grpc_op op = {.op = GRPC_OP_SEND_INITIAL_METADATA,
                  .flags = call->head_flags};

    op.data.send_initial_metadata.count = call->header_count;
    op.data.send_initial_metadata.metadata = call->headers;
    return op;
}

grpc_op channel_op_recv_head(struct channel_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_INITIAL_METADATA};

    op.data.recv_initial_metadata.recv_initial_metadata = &call->head;
    return op;
}

grpc_op channel_op_send(struct channel_call *call, grpc_byte_buffer *message)
{
    grpc_op op = {.op = GRPC_OP_SEND_MESSAGE, .flags = call->send_flags};

    op.data.send_message.send_message = message;
    return op;
}

grpc_op channel_op_recv_status(struct channel_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT};

    op.data.recv_status_on_client.trailing_metadata = &call->trailer;
    op.data.recv_status_on_client.status = &call->code;
    op.data.recv_status_on_client.status_details = &call->message;
    return op;
}

/*
 * Unary calls: one batch does it all.
 */

struct unary {
    struct channel_call call;
    struct channel_tag tag;
    grpc_byte_buffer *request, *reply;
    rpc_reply_fn *on_reply;
    void *ctx;
};

/* Read the reply, which may change how the call ended. */
static void read_reply(const struct unary *unary, struct strbuf *scratch,
                       struct str *reply, struct rpc_status *status)
{
    int rc = 0;

    if (status->code != RPC_OK) {
        return;
    }
    if (!unary->reply) {
        status->code = RPC_INTERNAL;
        snprintf(status->message, sizeof(status->message),
                 "the server sent no reply message");
        return;
    }
    rc = core_buffer_read(unary->reply, unary->call.channel->receive_bytes_max,
                          scratch, reply);
    if (rc < 0) {
        status->code = rc == -ERR_LIMIT ? RPC_RESOURCE_EXHAUSTED : RPC_INTERNAL;
        snprintf(status->message, sizeof(status->message), "%s",
                 rc == -ERR_LIMIT ? "received message larger than max"
                                  : "received message does not decompress");
    }
}

static void on_unary_done(void *owner, bool is_ok)
{
    struct unary *unary = (struct unary *)owner;
    struct rpc_status status;
    auto_strbuf scratch = strbuf_make(0);
    struct str reply = {0};

    (void)is_ok; /* the status says it */
    channel_call_status(&unary->call, &status);
    read_reply(unary, &scratch, &reply, &status);
    unary->on_reply(unary->ctx, &status, reply);
    grpc_byte_buffer_destroy(unary->request);
    if (unary->reply) {
        grpc_byte_buffer_destroy(unary->reply);
    }
    channel_call_end(&unary->call);
    mem_free(unary);
}

void rpc_channel_call_async(struct rpc_channel *channel, const char *path,
                            struct str request,
                            const struct rpc_call_options *options,
                            rpc_reply_fn *on_reply, void *ctx)
{
    struct unary *unary = mem_alloc(sizeof(*unary));
    struct channel_call *call = &unary->call;

    unary->tag = (struct channel_tag){on_unary_done, unary};
    unary->on_reply = on_reply;
    unary->ctx = ctx;
    unary->request = core_buffer(request);
    channel_call_begin(call, channel, path, options);
    grpc_op ops[] = {
        channel_op_head(call),
        channel_op_send(call, unary->request),
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        channel_op_recv_head(call),
        {.op = GRPC_OP_RECV_MESSAGE,
         .data.recv_message.recv_message = &unary->reply},
        channel_op_recv_status(call),
    };
    channel_call_start(call, ops, ARRAY_COUNT(ops), &unary->tag);
}

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done;
    struct strbuf *reply;
    struct rpc_status *status;
};

static void on_waited(void *ctx, const struct rpc_status *status,
                      struct str reply)
{
    struct waiter *waiter = (struct waiter *)ctx;

    pthread_mutex_lock(&waiter->lock);
    *waiter->status = *status;
    if (status->code == RPC_OK) {
        strbuf_add_str(waiter->reply, reply);
    }
    waiter->is_done = true;
    pthread_cond_signal(&waiter->done);
    pthread_mutex_unlock(&waiter->lock);
}

enum rpc_code rpc_channel_call(struct rpc_channel *channel, const char *path,
                               struct str request,
                               const struct rpc_call_options *options,
                               struct strbuf *ret_reply,
                               struct rpc_status *ret_status)
{
    struct rpc_status status = {0};
    struct waiter waiter = {.reply = ret_reply, .status = &status};

    pthread_mutex_init(&waiter.lock, NULL);
    pthread_cond_init(&waiter.done, NULL);
    strbuf_clear(ret_reply);
    rpc_channel_call_async(channel, path, request, options, on_waited, &waiter);
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.is_done) {
        pthread_cond_wait(&waiter.done, &waiter.lock);
    }
    pthread_mutex_unlock(&waiter.lock);
    pthread_cond_destroy(&waiter.done);
    pthread_mutex_destroy(&waiter.lock);
    if (ret_status) {
        *ret_status = status;
    }
    return status.code;
}
