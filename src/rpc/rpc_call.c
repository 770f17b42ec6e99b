/* The calls' interface for handlers. */
#include <grpc/support/alloc.h>

#include "rpc/server.h"

struct rpc_call *rpc_call_ref(struct rpc_call *call)
{
    atomic_fetch_add_explicit(&call->ref_count, 1, memory_order_relaxed);
    return call;
}

void rpc_call_unref(struct rpc_call *call)
{
    if (atomic_fetch_sub_explicit(&call->ref_count, 1, memory_order_acq_rel) !=
        1) {
        return;
    }
    ASSERT(!call->core);
    if (call->destroy_data) {
        call->destroy_data(call->data);
    }
    grpc_slice_unref(call->message);
    grpc_slice_unref(call->field);
    mem_free(call->header_bytes);
    mem_free(call->headers);
    pthread_mutex_destroy(&call->lock);
    mem_free(call);
}

void rpc_call_finish(struct rpc_call *call, enum rpc_code code,
                     const char *message, struct str reply)
{
    struct str text = str_of(message);

    if (text.byte_count >= RPC_MESSAGE_BYTES_MAX) {
        text.byte_count = RPC_MESSAGE_BYTES_MAX - 1;
        /* Do not cut inside a character of UTF-8. */
        while (((unsigned char)text.p[text.byte_count] & 0xc0) == 0x80) {
            text.byte_count--;
        }
    }
    pthread_mutex_lock(&call->lock);
    ASSERT(!call->is_finished);
    call->is_finished = true;
    if (call->core && !call->is_closed) {
        call->code = code;
        call->message = grpc_slice_from_copied_buffer(text.p ? text.p : "",
                                                      text.byte_count);
        if (code == RPC_OK && call->kind == RPC_UNARY) {
            call->reply = core_buffer(reply);
        }
        if (call->is_sending) {
            call->is_status_due = true;
        } else {
            call_start_status(call);
        }
    }
    pthread_mutex_unlock(&call->lock);
    rpc_call_unref(call);
}

void rpc_call_break(struct rpc_call *call)
{
    pthread_mutex_lock(&call->lock);
    ASSERT(!call->is_finished);
    if (call->core && !call->is_closed) {
        grpc_call_cancel_with_status(call->core, GRPC_STATUS_CANCELLED,
                                     "the other side is gone", NULL);
    }
    pthread_mutex_unlock(&call->lock);
}

void rpc_call_set_field(struct rpc_call *call, const char *field)
{
    pthread_mutex_lock(&call->lock);
    ASSERT(!call->is_finished);
    grpc_slice_unref(call->field);
    call->field = grpc_slice_from_copied_buffer(
        field, strnlen(field, RPC_FIELD_BYTES_MAX - 1));
    pthread_mutex_unlock(&call->lock);
}

static int send_message(struct rpc_call *call, struct str message,
                        bool has_more, rpc_sent_fn *on_sent, void *ctx)
{
    int rc = -ERR_UNAVAILABLE;

    pthread_mutex_lock(&call->lock);
    ASSERT(!call->is_sending || call->is_finished);
    ASSERT(call->kind != RPC_UNARY);
    if (call->core && !call->is_closed && !call->is_finished) {
        call->on_sent = on_sent;
        call->on_sent_ctx = ctx;
        call_start_send(call, message, has_more);
        rc = 0;
    }
    pthread_mutex_unlock(&call->lock);
    return rc;
}

int rpc_call_send(struct rpc_call *call, struct str message,
                  rpc_sent_fn *on_sent, void *ctx)
{
    return send_message(call, message, false, on_sent, ctx);
}

int rpc_call_send_more(struct rpc_call *call, struct str message,
                       rpc_sent_fn *on_sent, void *ctx)
{
    return send_message(call, message, true, on_sent, ctx);
}

int rpc_call_recv(struct rpc_call *call, rpc_message_fn *on_message, void *ctx)
{
    int rc = -ERR_UNAVAILABLE;

    pthread_mutex_lock(&call->lock);
    ASSERT(!call->is_receiving || call->is_finished);
    ASSERT(call->kind == RPC_BIDI);
    if (call->core && !call->is_closed && !call->is_finished &&
        !call->is_receive_over) {
        call->on_message = on_message;
        call->on_message_ctx = ctx;
        call_start_recv(call);
        rc = 0;
    }
    pthread_mutex_unlock(&call->lock);
    return rc;
}

int rpc_call_on_cancelled(struct rpc_call *call, rpc_cancelled_fn *on_cancelled,
                          void *ctx)
{
    int rc = 0;

    pthread_mutex_lock(&call->lock);
    ASSERT(!call->on_cancelled);
    if (call->is_cancelled || call->is_finished) {
        rc = -ERR_UNAVAILABLE;
    } else {
        call->on_cancelled = on_cancelled;
        call->on_cancelled_ctx = ctx;
    }
    pthread_mutex_unlock(&call->lock);
    return rc;
}

bool rpc_call_is_cancelled(struct rpc_call *call)
{
    bool is_cancelled = false;

    pthread_mutex_lock(&call->lock);
    is_cancelled = call->is_cancelled;
    pthread_mutex_unlock(&call->lock);
    return is_cancelled;
}

void rpc_call_own(struct rpc_call *call, void *data, void (*destroy)(void *))
{
    ASSERT(!call->destroy_data && !call->data);
    call->data = data;
    call->destroy_data = destroy;
}

void *rpc_call_data(const struct rpc_call *call)
{
    return call->data;
}

const char *rpc_call_path(const struct rpc_call *call)
{
    return call->method->path;
}

struct str rpc_call_header(const struct rpc_call *call, const char *name)
{
    for (uint32_t i = 0; i < call->header_count; i++) {
        if (str_equal(call->headers[i].name, str_of(name))) {
            return call->headers[i].value;
        }
    }
    return (struct str){0};
}

const char *rpc_call_peer(const struct rpc_call *call)
{
    return call->has_peer ? call->peer.name : "gone";
}

bool rpc_call_peer_user(const struct rpc_call *call, uint32_t *ret_user_id)
{
    *ret_user_id = call->peer.user_id;
    return call->has_peer && call->peer.has_user;
}

bool rpc_call_peer_is_outside_jobs(const struct rpc_call *call)
{
    return call->has_peer &&
           guard_is_outside_jobs(call->server->guard, call->mark);
}

int64_t rpc_call_remaining_ms(const struct rpc_call *call)
{
    return core_remaining_ms(call->deadline);
}
