/* Handles the library's events of one call, with a function for each kind. */
#include <stdio.h>

#include "rpc/server.h"

void call_post(struct rpc_server *server)
{
    struct rpc_call *call = mem_alloc(sizeof(*call));
    grpc_call_error rc = GRPC_CALL_OK;

    atomic_init(&call->ref_count, 1);
    call->server = server;
    call->message = grpc_empty_slice();
    call->field = grpc_empty_slice();
    pthread_mutex_init(&call->lock, NULL);
    for (int kind = 0; kind < TAG_KINDS; kind++) {
        call->tags[kind] = (struct tag){(enum tag_kind)kind, call};
    }
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    core_hand_over(&call->tags[TAG_NEW]);
    rc = grpc_server_request_call(server->core, &call->core, &call->details,
                                  &call->metadata, server->queue, server->queue,
                                  &call->tags[TAG_NEW]);
    ASSERT(rc == GRPC_CALL_OK);
}

/* Free what belongs to a posted request once its headers were copied. */
static void free_request(struct rpc_call *call)
{
    grpc_metadata_array_destroy(&call->metadata);
    grpc_call_details_destroy(&call->details);
}

/* The library keeps headers only as long as its half of the call. */
static void copy_headers(struct rpc_call *call)
{
    const grpc_metadata_array *from = &call->metadata;
    size_t byte_count = 0;
    char *to = NULL;

    for (size_t i = 0; i < from->count; i++) {
        byte_count += GRPC_SLICE_LENGTH(from->metadata[i].key) +
                      GRPC_SLICE_LENGTH(from->metadata[i].value);
    }
    if (from->count == 0) {
        return;
    }
    call->headers = mem_alloc_array(from->count, sizeof(struct header));
    call->header_bytes = to = mem_alloc(byte_count + 1);
    call->header_count = (uint32_t)from->count;
    for (size_t i = 0; i < from->count; i++) {
        struct str name = core_slice_str(&from->metadata[i].key);
        struct str value = core_slice_str(&from->metadata[i].value);

        memcpy(to, name.p, name.byte_count);
        memcpy(to + name.byte_count, value.p, value.byte_count);
        call->headers[i].name = str_make(to, name.byte_count);
        call->headers[i].value =
            str_make(to + name.byte_count, value.byte_count);
        to += name.byte_count + value.byte_count;
    }
}

/* Whose connection it came by.  A client may say the header, too, but none that
 * finds a connection other than its own. */
static void find_peer(struct rpc_call *call)
{
    for (uint32_t i = 0; i < call->header_count && !call->has_peer; i++) {
        call->mark = call->headers[i].value;
        call->has_peer =
            str_equal(call->headers[i].name, str_of(guard_header)) &&
            guard_find(call->server->guard, call->mark, &call->peer);
    }
}

/* One batch is done.  With the last one of a closed call goes the library's
 * half of it.  The call may be gone afterwards. */
static void batch_done(struct rpc_call *call)
{
    grpc_call *core = NULL;

    pthread_mutex_lock(&call->lock);
    ASSERT(call->batch_count > 0);
    call->batch_count--;
    if (call->is_closed && call->batch_count == 0) {
        core = steal_ptr(call->core);
    }
    pthread_mutex_unlock(&call->lock);
    if (core) {
        /* Off the list first: the server can stop once the library has no
         * call left. */
        server_forget(call->server, call);
        grpc_call_unref(core);
        rpc_call_unref(call);
    }
}

/* Answer a call that no handler has seen. */
static void refuse(struct rpc_call *call, enum rpc_code code,
                   const char *message)
{
    rpc_call_finish(call, code, message, (struct str){0});
}

/* Ask for the request, unless the call is over by now.  One that its caller
 * ended before is finished here: no request will come, so nobody else would. */
static void take_request(struct rpc_call *call)
{
    bool is_gone = false;

    pthread_mutex_lock(&call->lock);
    is_gone = !call->core && !call->is_finished;
    if (call->core && !call->is_finished) {
        call_start_recv(call);
    }
    pthread_mutex_unlock(&call->lock);
    if (is_gone) {
        refuse(call, RPC_CANCELLED, "the caller has ended the call");
    }
}

static void on_new(struct rpc_call *call)
{
    enum rpc_code code = RPC_OK;
    const char *refusal = NULL;

    copy_headers(call);
    find_peer(call);
    call->deadline = call->details.deadline;
    call->method =
        server_find(call->server, core_slice_str(&call->details.method));
    if (call->method) {
        call->kind = call->method->kind;
    }
    free_request(call);
    rpc_call_ref(call); /* one for the library's half, one for the handler */
    refusal = server_admit(call->server, call, &code);
    pthread_mutex_lock(&call->lock);
    call->is_gzip = call->server->gzip == RPC_GZIP_IF_ACCEPTED;
    call_start_close(call);
    pthread_mutex_unlock(&call->lock);
    if (refusal) {
        refuse(call, code, refusal);
    } else if (!call->method->admit ||
               call->method->admit(call->method->ctx, call)) {
        take_request(call);
    }
}

static size_t receive_bytes_max(const struct rpc_call *call)
{
    return call->method->receive_bytes_max ? call->method->receive_bytes_max
                                           : call->server->receive_bytes_max;
}

/* End the call for a message that cannot be taken. */
static void refuse_message(struct rpc_call *call, int rc)
{
    char text[128];

    if (rc == -ERR_LIMIT) {
        snprintf(text, sizeof(text),
                 "received message larger than max (%zu bytes)",
                 receive_bytes_max(call));
        refuse(call, RPC_RESOURCE_EXHAUSTED, text);
    } else {
        refuse(call, RPC_INTERNAL, "received message does not decompress");
    }
}

/* The request is there, or will not be. */
static void on_request(struct rpc_call *call, grpc_byte_buffer *buffer)
{
    auto_strbuf scratch = strbuf_make(0);
    struct str request = {0};
    int rc = 0;

    call->is_dispatched = true;
    if (!buffer) {
        refuse(call, RPC_INTERNAL, "the call carries no request message");
        return;
    }
    rc = core_buffer_read(buffer, receive_bytes_max(call), &scratch, &request);
    if (rc < 0) {
        refuse_message(call, rc);
        return;
    }
    if (call->server->gzip == RPC_GZIP_IF_SENT) {
        call->is_gzip = core_buffer_is_compressed(buffer);
    }
    call->method->handle(call->method->ctx, call, request);
}

/* A further message of a bidi call is there, or will not be. */
static void on_more(struct rpc_call *call, grpc_byte_buffer *buffer,
                    rpc_message_fn *on_message, void *ctx)
{
    auto_strbuf scratch = strbuf_make(0);
    struct str message = {0};
    enum rpc_received received = RPC_RECEIVED;

    if (!buffer) {
        received = grpc_call_failed_before_recv_message(call->core)
                       ? RPC_RECEIVE_CANCELLED
                       : RPC_HALF_CLOSED;
    } else if (core_buffer_read(buffer, receive_bytes_max(call), &scratch,
                                &message) < 0) {
        grpc_call_cancel_with_status(
            call->core, GRPC_STATUS_RESOURCE_EXHAUSTED,
            "received message larger than max, or not decompressible", NULL);
        received = RPC_RECEIVE_CANCELLED;
    }
    on_message(ctx, call, received, message);
}

static void on_recv(struct rpc_call *call)
{
    grpc_byte_buffer *buffer = NULL;
    rpc_message_fn *on_message = NULL;
    void *ctx = NULL;

    pthread_mutex_lock(&call->lock);
    buffer = steal_ptr(call->received);
    call->is_receiving = false;
    call->is_receive_over = !buffer;
    if (!call->is_finished) {
        on_message = steal_ptr(call->on_message);
        ctx = call->on_message_ctx;
    }
    pthread_mutex_unlock(&call->lock);
    if (!call->is_dispatched) {
        on_request(call, buffer);
    } else if (on_message) {
        on_more(call, buffer, on_message, ctx);
    }
    if (buffer) {
        grpc_byte_buffer_destroy(buffer);
    }
}

static void on_send(struct rpc_call *call, bool is_ok)
{
    grpc_byte_buffer *sent = NULL;
    rpc_sent_fn *on_sent = NULL;
    void *ctx = NULL;

    pthread_mutex_lock(&call->lock);
    sent = steal_ptr(call->sent);
    call->is_sending = false;
    if (!call->is_finished) {
        on_sent = call->on_sent;
        ctx = call->on_sent_ctx;
    } else if (call->is_status_due && !call->is_closed) {
        call_start_status(call);
    }
    pthread_mutex_unlock(&call->lock);
    grpc_byte_buffer_destroy(sent);
    if (on_sent) {
        on_sent(ctx, call, is_ok);
    }
}

static void on_close(struct rpc_call *call)
{
    rpc_cancelled_fn *on_cancelled = NULL;
    void *ctx = NULL;

    pthread_mutex_lock(&call->lock);
    call->is_closed = true;
    if (!call->is_finished) {
        call->is_cancelled = true;
        on_cancelled = call->on_cancelled;
        ctx = call->on_cancelled_ctx;
    }
    pthread_mutex_unlock(&call->lock);
    if (on_cancelled) {
        on_cancelled(ctx, call);
    }
}

static void on_status(struct rpc_call *call)
{
    grpc_byte_buffer *reply = NULL;

    pthread_mutex_lock(&call->lock);
    reply = steal_ptr(call->reply);
    pthread_mutex_unlock(&call->lock);
    if (reply) {
        grpc_byte_buffer_destroy(reply);
    }
}

void call_event(struct tag *tag, bool is_ok)
{
    struct rpc_call *call = tag->call;

    switch (tag->kind) {
    case TAG_NEW:
        if (is_ok) {
            call_post(call->server);
            on_new(call);
        } else {
            free_request(call);
            rpc_call_unref(call);
        }
        return;
    case TAG_RECV:
        on_recv(call);
        break;
    case TAG_SEND:
        on_send(call, is_ok);
        break;
    case TAG_CLOSE:
        on_close(call);
        break;
    case TAG_STATUS:
        on_status(call);
        break;
    case TAG_SHUTDOWN:
    case TAG_KINDS:
        ASSERT(!"a call's tag");
    }
    batch_done(call);
}
