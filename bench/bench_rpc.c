/*
 * bench_rpc - what src/rpc carries on this machine, client and server in one
 * process: unary calls a second, messages a second of one stream and of
 * eight, and of a bidi echo.  One JSON line per figure.
 *
 *     bench_rpc [seconds per figure, default 2]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rpc/rpc_channel.h"
#include "rpc/rpc_server.h"

enum {
    CHANNELS = 8,
    CALLS_IN_FLIGHT = 32, /* on each channel */
    UNARY_BYTES = 156,
    STREAM_BYTES = 349,
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * The server's side.
 */

static void echo(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    rpc_call_finish(call, RPC_OK, NULL, request);
}

static void pour(void *ctx, struct rpc_call *call, bool is_ok)
{
    static const char message[STREAM_BYTES];

    if (!is_ok || rpc_call_send(call, str_make(message, sizeof(message)), pour,
                                ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void begin_pouring(void *ctx, struct rpc_call *call, struct str request)
{
    (void)request;
    pour(ctx, call, true);
}

static void mirror(void *ctx, struct rpc_call *call, enum rpc_received received,
                   struct str message);

static void ask(void *ctx, struct rpc_call *call, bool is_ok)
{
    if (!is_ok || rpc_call_recv(call, mirror, ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void mirror(void *ctx, struct rpc_call *call, enum rpc_received received,
                   struct str message)
{
    if (received != RPC_RECEIVED ||
        rpc_call_send(call, message, ask, ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void begin_mirroring(void *ctx, struct rpc_call *call,
                            struct str request)
{
    mirror(ctx, call, RPC_RECEIVED, request);
}

/*
 * The clients' side.
 */

struct bench {
    char address[64];
    int64_t until_ms;
    atomic_long done;
    atomic_int in_flight;
    pthread_mutex_t lock;
    pthread_cond_t idle;
};

/* One slot of a channel, which always has one call under way. */
struct slot {
    struct bench *bench;
    struct rpc_channel *channel;
};

static void call_again(void *ctx, const struct rpc_status *status,
                       struct str reply)
{
    static const char request[UNARY_BYTES];
    struct slot *slot = (struct slot *)ctx;
    struct bench *bench = slot->bench;

    (void)reply;
    if (status) {
        ASSERT(status->code == RPC_OK);
        atomic_fetch_add(&bench->done, 1);
    }
    if (now_ms() < bench->until_ms) {
        rpc_channel_call_async(slot->channel, "/bench.Bench/Echo",
                               str_make(request, sizeof(request)), NULL,
                               call_again, slot);
        return;
    }
    pthread_mutex_lock(&bench->lock);
    if (atomic_fetch_sub(&bench->in_flight, 1) == 1) {
        pthread_cond_signal(&bench->idle);
    }
    pthread_mutex_unlock(&bench->lock);
}

static struct rpc_channel *open_channel(const struct bench *bench)
{
    struct err err = {""};
    struct rpc_channel *channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = bench->address}, &err);

    ASSERT(channel);
    return channel;
}

static void print_rate(const char *name, long count, int64_t begun_ms)
{
    printf("{\"name\": \"%s_per_s\", \"value\": %ld, \"unit\": \"/s\"}\n", name,
           count * 1000 / (now_ms() - begun_ms));
}

static void bench_unary(struct bench *bench, const char *name, int channels,
                        int in_flight, int64_t length_ms)
{
    struct rpc_channel *opened[CHANNELS];
    struct slot slots[CHANNELS * CALLS_IN_FLIGHT];
    int64_t begun_ms = now_ms();
    int count = 0;

    bench->until_ms = begun_ms + length_ms;
    atomic_store(&bench->done, 0);
    atomic_store(&bench->in_flight, channels * in_flight);
    for (int c = 0; c < channels; c++) {
        opened[c] = open_channel(bench);
        for (int i = 0; i < in_flight; i++) {
            slots[count] = (struct slot){bench, opened[c]};
            call_again(&slots[count++], NULL, (struct str){0});
        }
    }
    pthread_mutex_lock(&bench->lock);
    while (atomic_load(&bench->in_flight) > 0) {
        pthread_cond_wait(&bench->idle, &bench->lock);
    }
    pthread_mutex_unlock(&bench->lock);
    print_rate(name, atomic_load(&bench->done), begun_ms);
    for (int c = 0; c < channels; c++) {
        rpc_channel_close(opened[c]);
    }
}

static void *read_stream(void *arg)
{
    struct bench *bench = (struct bench *)arg;
    struct rpc_channel *channel = open_channel(bench);
    struct rpc_stream *stream =
        rpc_stream_open(channel, "/bench.Bench/Pour", NULL);
    auto_strbuf message = strbuf_make(0);
    long count = 0;

    ASSERT(rpc_stream_send(stream, STR("go"), -1) == RPC_WAIT_READY);
    while (now_ms() < bench->until_ms &&
           rpc_stream_next(stream, -1, &message) == RPC_WAIT_READY) {
        count++;
    }
    rpc_stream_close(stream);
    rpc_channel_close(channel);
    atomic_fetch_add(&bench->done, count);
    return NULL;
}

static void bench_streams(struct bench *bench, const char *name, int streams,
                          int64_t length_ms)
{
    pthread_t threads[CHANNELS];
    int64_t begun_ms = now_ms();

    bench->until_ms = begun_ms + length_ms;
    atomic_store(&bench->done, 0);
    for (int i = 0; i < streams; i++) {
        ASSERT(pthread_create(&threads[i], NULL, read_stream, bench) == 0);
    }
    for (int i = 0; i < streams; i++) {
        pthread_join(threads[i], NULL);
    }
    print_rate(name, atomic_load(&bench->done), begun_ms);
}

static void bench_echo(struct bench *bench, int64_t length_ms)
{
    struct rpc_channel *channel = open_channel(bench);
    struct rpc_stream *stream =
        rpc_stream_open(channel, "/bench.Bench/Mirror", NULL);
    auto_strbuf message = strbuf_make(0);
    int64_t begun_ms = now_ms();
    long count = 0;

    while (now_ms() < begun_ms + length_ms) {
        ASSERT(rpc_stream_send(stream, STR("ping"), -1) == RPC_WAIT_READY);
        ASSERT(rpc_stream_next(stream, -1, &message) == RPC_WAIT_READY);
        count++;
    }
    print_rate("rpc.bidi_echo", count, begun_ms);
    rpc_stream_close(stream);
    rpc_channel_close(channel);
}

int main(int argc, char **argv)
{
    const struct rpc_method methods[] = {
        {.path = "/bench.Bench/Echo", .kind = RPC_UNARY, .handle = echo},
        {.path = "/bench.Bench/Pour",
         .kind = RPC_SERVER_STREAM,
         .handle = begin_pouring},
        {.path = "/bench.Bench/Mirror",
         .kind = RPC_BIDI,
         .handle = begin_mirroring},
    };
    static const char *const addresses[] = {"127.0.0.1:0"};
    int64_t length_ms = argc > 1 ? atoi(argv[1]) * 1000 : 2000;
    struct bench bench = {.lock = PTHREAD_MUTEX_INITIALIZER,
                          .idle = PTHREAD_COND_INITIALIZER};
    struct err err = {""};
    struct rpc_server *server =
        rpc_server_create(&(struct rpc_server_options){.methods = methods,
                                                       .method_count = 3,
                                                       .addresses = addresses,
                                                       .address_count = 1},
                          &err);

    if (!server) {
        fprintf(stderr, "bench_rpc: %s\n", err.text);
        return 1;
    }
    snprintf(bench.address, sizeof(bench.address), "127.0.0.1:%u",
             rpc_server_port(server, 0));
    bench_unary(&bench, "rpc.unary_serial", 1, 1, length_ms);
    bench_unary(&bench, "rpc.unary_8x32", CHANNELS, CALLS_IN_FLIGHT, length_ms);
    bench_streams(&bench, "rpc.stream_1", 1, length_ms);
    bench_streams(&bench, "rpc.stream_8", CHANNELS, length_ms);
    bench_echo(&bench, length_ms);
    rpc_server_destroy(server);
    return 0;
}
