/* The common half of unary calls and streams. */
#include <stdio.h>

#include "rpc/channel.h"

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

static void put_field(const struct channel_call *call,
                      struct rpc_status *status)
{
    status->field[0] = '\0';
    for (size_t i = 0; i < call->trailer.count; i++) {
        struct str key = core_slice_str(&call->trailer.metadata[i].key);
        struct str value = core_slice_str(&call->trailer.metadata[i].value);
        if (str_equal(key, STR(RPC_FIELD_HEADER))) {
            snprintf(status->field, sizeof(status->field), "%.*s",
                     STR_ARG(value));
        }
    }
}

void channel_call_status(const struct channel_call *call,
                         struct rpc_status *ret_status)
{
    struct str text = core_slice_str(&call->message);

    ret_status->code = (enum rpc_code)call->code;
    snprintf(ret_status->message, sizeof(ret_status->message), "%.*s",
             STR_ARG(text));
    put_field(call, ret_status);
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
