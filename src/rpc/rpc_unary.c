/* Unary calls of a channel, each in a single batch. */
#include <stdio.h>

#include "rpc/channel.h"

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
