#include "rpc/rpc_server.h"

#include <errno.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <sys/resource.h>

#include "rpc/server.h"

static const char STOPPING[] = "the server is stopping";

/*
 * The table.
 */

const struct rpc_method *server_find(const struct rpc_server *server,
                                     struct str path)
{
    uint32_t low = 0, high = server->method_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int c = str_compare(path, str_of(server->methods[middle].path));

        if (c == 0) {
            return &server->methods[middle];
        }
        if (c < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

/*
 * Live calls.
 */

const char *server_admit(struct rpc_server *server, struct rpc_call *call,
                         enum rpc_code *ret_code)
{
    const char *refusal = NULL;
    bool is_stream = call->method && call->method->kind != RPC_UNARY;

    pthread_mutex_lock(&server->lock);
    if (server->is_stopping) {
        *ret_code = RPC_UNAVAILABLE;
        refusal = STOPPING;
    } else if (!call->method) {
        *ret_code = RPC_UNIMPLEMENTED;
        refusal = "unknown method";
    } else if (server->call_count >= server->call_count_max) {
        *ret_code = RPC_RESOURCE_EXHAUSTED;
        refusal = "too many concurrent calls";
    } else if (is_stream && server->stream_count >= server->stream_count_max) {
        *ret_code = RPC_RESOURCE_EXHAUSTED;
        refusal = "too many concurrent streams";
    } else if (is_stream) {
        call->is_counted_stream = true;
        server->stream_count++;
    }
    server->call_count++;
    call->next = server->calls;
    if (call->next) {
        call->next->previous = call;
    }
    server->calls = call;
    pthread_mutex_unlock(&server->lock);
    return refusal;
}

void server_forget(struct rpc_server *server, struct rpc_call *call)
{
    pthread_mutex_lock(&server->lock);
    if (call->next) {
        call->next->previous = call->previous;
    }
    if (call->previous) {
        call->previous->next = call->next;
    } else {
        server->calls = call->next;
    }
    ASSERT(server->call_count > 0);
    server->call_count--;
    server->stream_count -= call->is_counted_stream;
    if (server->call_count == 0 && server->is_stopping) {
        pthread_cond_broadcast(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
}

uint32_t rpc_server_call_count(const struct rpc_server *server)
{
    struct rpc_server *unconst = (struct rpc_server *)(uintptr_t)server;
    uint32_t count = 0;

    pthread_mutex_lock(&unconst->lock);
    count = server->call_count;
    pthread_mutex_unlock(&unconst->lock);
    return count;
}

void rpc_server_connections(struct rpc_server *server,
                            struct rpc_server_connections *ret_connections)
{
    struct guard_counts counts;

    guard_counts(server->guard, &counts);
    *ret_connections = (struct rpc_server_connections){
        .open_count = counts.open_count,
        .accepted_count = counts.accepted_count,
        .refused_count = counts.refused_count,
        .silent_count = counts.silent_count,
        .ended_count = counts.ended_count,
    };
}

bool rpc_server_is_listening(struct rpc_server *server, uint32_t ms_max)
{
    return guard_is_alive(server->guard, ms_max);
}

uint16_t rpc_server_port(const struct rpc_server *server,
                         uint32_t address_index)
{
    ASSERT(address_index < server->address_count);
    return server->ports[address_index];
}

/*
 * Threads.
 */

static void on_shut_down(struct rpc_server *server)
{
    pthread_mutex_lock(&server->lock);
    server->is_shut_down = true;
    pthread_cond_broadcast(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* Wait for the next event and see to it; false when the queue is shut down. */
static bool serve_one(struct rpc_server *server)
{
    gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    grpc_event event = grpc_completion_queue_next(server->queue, never, NULL);
    struct tag *tag = (struct tag *)event.tag;

    if (event.type == GRPC_QUEUE_SHUTDOWN) {
        return false;
    }
    ASSERT(event.type == GRPC_OP_COMPLETE);
    core_take_over(tag);
    if (tag->kind == TAG_SHUTDOWN) {
        on_shut_down(server);
    } else {
        call_event(tag, event.success != 0);
    }
    return true;
}

static void *serve(void *arg)
{
    while (serve_one((struct rpc_server *)arg)) {
    }
    return NULL;
}

int server_start_threads(struct rpc_server *server, struct err *err)
{
    for (uint32_t i = 0; i < server->thread_count; i++) {
        if (pthread_create(&server->threads[i], NULL, serve, server) != 0) {
            server->thread_count = i;
            return err_set(err, -ERR_IO, "cannot start a thread");
        }
    }
    return 0;
}

/*
 * Ending.
 */

/* Wait until no call is left, for `grace_ms` at most.  Locked. */
static void wait_for_calls(struct rpc_server *server, uint32_t grace_ms)
{
    struct timespec until = core_time_after(grace_ms);
    int rc = 0;

    while (server->call_count > 0 && rc != ETIMEDOUT) {
        rc = pthread_cond_timedwait(&server->changed, &server->lock, &until);
    }
}

static void cancel_streams(struct rpc_server *server)
{
    for (struct rpc_call *call = server->calls; call; call = call->next) {
        if (call->method && call->method->kind != RPC_UNARY) {
            call_cancel(call, STOPPING);
        }
    }
}

static void cancel_calls(struct rpc_server *server)
{
    for (struct rpc_call *call = server->calls; call; call = call->next) {
        call_cancel(call, STOPPING);
    }
}

/* Its threads see to it; where none could be started, the caller does. */
static void wait_for_shutdown(struct rpc_server *server)
{
    pthread_mutex_lock(&server->lock);
    while (!server->is_shut_down) {
        if (server->thread_count > 0) {
            pthread_cond_wait(&server->changed, &server->lock);
            continue;
        }
        pthread_mutex_unlock(&server->lock);
        (void)serve_one(server);
        pthread_mutex_lock(&server->lock);
    }
    pthread_mutex_unlock(&server->lock);
}

void rpc_server_stop(struct rpc_server *server, uint32_t grace_ms)
{
    if (server->is_stopped) {
        return;
    }
    server->is_stopped = true;
    pthread_mutex_lock(&server->lock);
    server->is_stopping = true;
    pthread_mutex_unlock(&server->lock);
    if (server->guard) {
        guard_close(server->guard);
    }
    core_hand_over(&server->shutdown_tag);
    grpc_server_shutdown_and_notify(server->core, server->queue,
                                    &server->shutdown_tag);
    pthread_mutex_lock(&server->lock);
    cancel_streams(server);
    wait_for_calls(server, grace_ms);
    cancel_calls(server);
    pthread_mutex_unlock(&server->lock);
    /* Also closes connections that are idle or have never spoken. */
    grpc_server_cancel_all_calls(server->core);
    wait_for_shutdown(server);
    grpc_completion_queue_shutdown(server->queue);
    if (server->thread_count == 0) {
        (void)serve(server); /* empties the queue */
    }
    for (uint32_t i = 0; i < server->thread_count; i++) {
        pthread_join(server->threads[i], NULL);
    }
    guard_destroy(steal_ptr(server->guard));
    grpc_completion_queue_destroy(server->queue);
    grpc_server_destroy(server->core);
    grpc_server_credentials_release(server->credentials);
    server->core = NULL;
}

void rpc_server_destroy(struct rpc_server *server)
{
    if (!server) {
        return;
    }
    rpc_server_stop(server, 0);
    for (uint32_t i = 0; i < server->method_count; i++) {
        mem_free((char *)(uintptr_t)server->methods[i].path);
    }
    mem_free(server->methods);
    pthread_cond_destroy(&server->changed);
    pthread_mutex_destroy(&server->lock);
    mem_free(server);
}
