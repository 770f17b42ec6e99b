/* Starts a server: its table of methods, its sockets, its guard. */
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rpc/listen.h"
#include "rpc/server.h"

enum {
    /* Requests for calls that are kept posted. */
    POSTED_COUNT = 128,
    PING_INTERVAL_MIN_MS = 10 * 1000,
    IDLE_MAX_MS = 5 * 60 * 1000,
    PING_AFTER_MS = 120 * 1000,
    PING_TIMEOUT_MS = 20 * 1000,
    SILENCE_MAX_MS = 60 * 1000, /* until a connection's first request */
    PROBE_MS = 5 * 1000,        /* between two probes of our own listeners */
    DESCRIPTORS_KEPT = 512,     /* for files, streams of logs, HTTP */
};

static int compare_methods(const void *a, const void *b)
{
    const struct rpc_method *one = (const struct rpc_method *)a;
    const struct rpc_method *two = (const struct rpc_method *)b;

    return strcmp(one->path, two->path);
}

static void copy_methods(struct rpc_server *server,
                         const struct rpc_server_options *options)
{
    uint32_t count = options->method_count;

    ASSERT(count <= RPC_SERVER_METHODS_MAX);
    server->methods = mem_alloc_array(count + 1, sizeof(struct rpc_method));
    server->method_count = count;
    for (uint32_t i = 0; i < count; i++) {
        server->methods[i] = options->methods[i];
        server->methods[i].path = mem_strdup(options->methods[i].path);
        ASSERT(options->methods[i].path[0] == '/');
    }
    qsort(server->methods, count, sizeof(struct rpc_method), compare_methods);
    for (uint32_t i = 1; i < count; i++) {
        ASSERT(compare_methods(&server->methods[i - 1], &server->methods[i]) !=
               0);
    }
}

static grpc_server *make_core(const struct rpc_server *server,
                              size_t buffer_bytes_max)
{
    grpc_resource_quota *quota = grpc_resource_quota_create(NULL);
    grpc_server *core = NULL;
    size_t receive_max = server->receive_bytes_max;

    for (uint32_t i = 0; i < server->method_count; i++) {
        if (server->methods[i].receive_bytes_max > receive_max) {
            receive_max = server->methods[i].receive_bytes_max;
        }
    }
    grpc_arg args[] = {
        core_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int64_t)receive_max),
        core_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, -1),
        core_arg(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        core_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                 RPC_SERVER_CONNECTION_CALLS_MAX),
        core_arg(GRPC_ARG_MAX_METADATA_SIZE, RPC_SERVER_HEADERS_BYTES_MAX),
        core_arg(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                 PING_INTERVAL_MIN_MS),
        core_arg(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        core_arg(GRPC_ARG_MAX_CONNECTION_IDLE_MS, IDLE_MAX_MS),
        core_arg(GRPC_ARG_KEEPALIVE_TIME_MS, PING_AFTER_MS),
        core_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, PING_TIMEOUT_MS),
        core_arg(GRPC_ARG_ENABLE_CHANNELZ, 0),
        {.type = GRPC_ARG_POINTER,
         .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
         .value.pointer = {quota, grpc_resource_quota_arg_vtable()}},
    };
    grpc_channel_args list = {ARRAY_COUNT(args), args};

    grpc_resource_quota_resize(quota, buffer_bytes_max);
    core = grpc_server_create(&list, NULL);
    grpc_resource_quota_unref(quota);
    return core;
}

/* The guard hands over a connection. */
static void take_connection(void *ctx, int fd)
{
    struct rpc_server *server = ctx;

    grpc_server_add_channel_from_fd(server->core, fd, server->credentials);
}

/* As many connections as there are descriptors for, and some left. */
static uint32_t connections_max(const struct rpc_server_options *options)
{
    struct rlimit limit = {0};
    uint32_t count_max = options->connection_count_max
                             ? options->connection_count_max
                             : RPC_SERVER_CONNECTIONS_DEFAULT_MAX;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY) {
        rlim_t left = limit.rlim_cur > 2 * DESCRIPTORS_KEPT
                          ? limit.rlim_cur - DESCRIPTORS_KEPT
                          : limit.rlim_cur / 2;
        rlim_t most = left / GUARD_DESCRIPTORS_EACH;
        count_max = most < count_max ? (uint32_t)most : count_max;
    }
    return count_max < GUARD_CONNECTIONS_MAX ? count_max
                                             : GUARD_CONNECTIONS_MAX;
}

static struct guard_tls files_of(const struct rpc_server_tls *tls)
{
    return (struct guard_tls){tls->certificate_file, tls->key_file,
                              tls->client_ca_file};
}

int rpc_server_check_tls(const struct rpc_server_tls *tls, struct err *err)
{
    struct guard_tls files = files_of(tls);

    return guard_tls_check(&files, err);
}

/* Listen on every address, and put the guard in front. */
static int start_guard(struct rpc_server *server,
                       const struct rpc_server_options *options, int *fds,
                       uint32_t fd_count, struct err *err)
{
    struct guard_tls tls = {0};
    struct guard_options guard = {
        .fds = fds,
        .fd_count = fd_count,
        .connection_count_max = connections_max(options),
        .address_count_max = options->address_count_max
                                 ? options->address_count_max
                                 : RPC_SERVER_ADDRESS_DEFAULT_MAX,
        .silence_ms_max = SILENCE_MAX_MS,
        .probe_ms = PROBE_MS,
        .hand_over = take_connection,
        .ctx = server,
    };

    if (options->tls) {
        tls = files_of(options->tls);
        guard.tls = &tls;
    }
    server->guard = guard_create(&guard, err);
    return server->guard ? 0 : -ERR_IO;
}

static int bind_all(struct rpc_server *server,
                    const struct rpc_server_options *options, int *fds,
                    uint32_t *ret_count, struct err *err)
{
    int rc = 0;

    *ret_count = 0;
    for (uint32_t i = 0; i < options->address_count && rc == 0; i++) {
        uint32_t count = 0;
        rc = listen_open_each(options->addresses[i], fds + *ret_count, &count,
                              &server->ports[i], err);
        *ret_count += rc == 0 ? count : 0;
    }
    for (uint32_t i = 0; i < *ret_count && rc < 0; i++) {
        close(fds[i]);
    }
    return rc;
}

static struct rpc_server *make(const struct rpc_server_options *options)
{
    struct rpc_server *server = mem_alloc(sizeof(*server));

    ASSERT(options->address_count >= 1 &&
           options->address_count <= RPC_SERVER_ADDRESSES_MAX);
    ASSERT(options->thread_count <= RPC_SERVER_THREADS_MAX);
    copy_methods(server, options);
    server->address_count = options->address_count;
    server->thread_count = options->thread_count ? options->thread_count
                                                 : RPC_SERVER_THREADS_DEFAULT;
    server->receive_bytes_max = options->receive_bytes_max
                                    ? options->receive_bytes_max
                                    : RPC_RECEIVE_BYTES_DEFAULT_MAX;
    server->call_count_max = options->call_count_max
                                 ? options->call_count_max
                                 : RPC_SERVER_CALLS_DEFAULT_MAX;
    server->stream_count_max = options->stream_count_max
                                   ? options->stream_count_max
                                   : RPC_SERVER_STREAMS_DEFAULT_MAX;
    server->gzip = options->gzip;
    server->shutdown_tag = (struct tag){.kind = TAG_SHUTDOWN};
    pthread_mutex_init(&server->lock, NULL);
    core_cond_init(&server->changed);
    return server;
}

struct rpc_server *rpc_server_create(const struct rpc_server_options *options,
                                     struct err *err)
{
    struct rpc_server *server = make(options);
    int fds[RPC_SERVER_ADDRESSES_MAX * LISTEN_SOCKETS_MAX];
    bool is_bound = false, is_served = false;
    uint32_t fd_count = 0;
    sigset_t before;

    core_block_signals(&before);
    core_begin();
    server->credentials = grpc_insecure_server_credentials_create();
    server->core = make_core(server, options->buffer_bytes_max
                                         ? options->buffer_bytes_max
                                         : RPC_SERVER_BUFFER_BYTES_DEFAULT_MAX);
    server->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(server->core, server->queue, NULL);
    is_bound = bind_all(server, options, fds, &fd_count, err) == 0;
    if (is_bound) {
        grpc_server_start(server->core);
        for (int posted = 0; posted < POSTED_COUNT; posted++) {
            call_post(server);
        }
        is_bound = start_guard(server, options, fds, fd_count, err) == 0;
    }
    /* Also one that was not started has to be shut down by its threads. */
    is_served = server_start_threads(server, is_bound ? err : NULL) == 0;
    core_unblock_signals(&before);
    if (!is_bound || !is_served) {
        rpc_server_destroy(server);
        return NULL;
    }
    return server;
}
