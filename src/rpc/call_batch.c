/* The library's batches of operations for one call. */
#include "rpc/server.h"

static void start_batch(struct rpc_call *call, const grpc_op *ops,
                        size_t op_count, enum tag_kind kind)
{
    grpc_call_error rc = GRPC_CALL_OK;

    core_hand_over(&call->tags[kind]);
    rc = grpc_call_start_batch(call->core, ops, op_count, &call->tags[kind],
                               NULL);
    ASSERT(rc == GRPC_CALL_OK);
    call->batch_count++;
}

void call_start_close(struct rpc_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};

    op.data.recv_close_on_server.cancelled = &call->close_is_cancelled;
    start_batch(call, &op, 1, TAG_CLOSE);
}

void call_start_recv(struct rpc_call *call)
{
    grpc_op op = {.op = GRPC_OP_RECV_MESSAGE};

    call->is_receiving = true;
    op.data.recv_message.recv_message = &call->received;
    start_batch(call, &op, 1, TAG_RECV);
}

/* Add the initial metadata to `ops` if it was not sent; the ops used. */
static size_t add_head(struct rpc_call *call, grpc_op *ops)
{
    if (call->is_headed) {
        return 0;
    }
    call->is_headed = true;
    ops[0].op = GRPC_OP_SEND_INITIAL_METADATA;
    if (call->is_gzip) {
        /* The lowest level is gzip where the client accepts it. */
        ops[0].data.send_initial_metadata.maybe_compression_level.is_set = 1;
        ops[0].data.send_initial_metadata.maybe_compression_level.level =
            GRPC_COMPRESS_LEVEL_LOW;
    }
    return 1;
}

static void add_message(struct rpc_call *call, grpc_op *op,
                        grpc_byte_buffer *message)
{
    op->op = GRPC_OP_SEND_MESSAGE;
    op->data.send_message.send_message = message;
    if (!call->is_gzip ||
        grpc_byte_buffer_length(message) < RPC_SERVER_GZIP_BYTES_MIN) {
        op->flags = GRPC_WRITE_NO_COMPRESS;
    }
}

static void add_trailer(struct rpc_call *call, grpc_op *op)
{
    if (GRPC_SLICE_LENGTH(call->field) > 0) {
        call->trailer = (grpc_metadata){
            .key = grpc_slice_from_static_string(RPC_FIELD_HEADER),
            .value = call->field,
        };
        op->data.send_status_from_server.trailing_metadata_count = 1;
        op->data.send_status_from_server.trailing_metadata = &call->trailer;
    }
}

void call_start_status(struct rpc_call *call)
{
    grpc_op ops[3] = {{0}};
    size_t count = add_head(call, ops);

    if (call->reply) {
        add_message(call, &ops[count++], call->reply);
    }
    ops[count].op = GRPC_OP_SEND_STATUS_FROM_SERVER;
    ops[count].data.send_status_from_server.status =
        (grpc_status_code)call->code;
    ops[count].data.send_status_from_server.status_details = &call->message;
    add_trailer(call, &ops[count]);
    start_batch(call, ops, count + 1, TAG_STATUS);
}

/* With the hint the library takes messages into its write buffer (64 KiB) and
 * says so at once; it writes them with the first that comes without.  Not the
 * one beside the initial metadata: those are done when they are written. */
void call_start_send(struct rpc_call *call, struct str message, bool has_more)
{
    grpc_op ops[2] = {{0}};
    size_t count = add_head(call, ops);

    call->sent = core_buffer(message);
    call->is_sending = true;
    add_message(call, &ops[count], call->sent);
    ops[count].flags |= has_more && count == 0 ? GRPC_WRITE_BUFFER_HINT : 0;
    start_batch(call, ops, count + 1, TAG_SEND);
}

void call_cancel(struct rpc_call *call, const char *message)
{
    pthread_mutex_lock(&call->lock);
    if (call->core) {
        grpc_call_cancel_with_status(call->core, GRPC_STATUS_UNAVAILABLE,
                                     message, NULL);
    }
    pthread_mutex_unlock(&call->lock);
}
