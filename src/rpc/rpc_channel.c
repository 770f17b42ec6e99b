#include "rpc/rpc_channel.h"

#include <grpc/grpc_security.h>

#include "rpc/channel.h"
#include "rpc/guard/guard.h"
#include "rpc/thread_room.h"

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
    /* After so many batches their users are told, whatever else is there. */
    UNTOLD_MAX = 64,
};

/* The next event; while somebody is to be told something, only one that is
 * there already. */
static grpc_event next_event(const struct rpc_channel *channel)
{
    gpr_timespec until = channel->untold ? gpr_inf_past(GPR_CLOCK_MONOTONIC)
                                         : gpr_inf_future(GPR_CLOCK_MONOTONIC);

    return grpc_completion_queue_next(channel->queue, until, NULL);
}

static void *run_channel(void *arg)
{
    struct rpc_channel *channel = (struct rpc_channel *)arg;
    uint32_t done_count = 0;

    for (;;) {
        grpc_event event = next_event(channel);
        struct channel_tag *tag = (struct channel_tag *)event.tag;

        if (event.type == GRPC_OP_COMPLETE) {
            core_take_over(tag);
            tag->done(tag->owner, event.success != 0);
            done_count++;
        }
        if (event.type != GRPC_OP_COMPLETE || done_count >= UNTOLD_MAX) {
            channel_tell(channel);
            done_count = 0;
        }
        if (event.type == GRPC_QUEUE_SHUTDOWN) {
            return NULL;
        }
    }
}

/* The library takes any bytes, and then fails to connect without a word. */
int rpc_channel_check_tls(const struct rpc_channel_tls *tls, struct err *err)
{
    struct guard_tls files = {tls->certificate_file, tls->key_file,
                              tls->ca_file};

    return guard_tls_check(&files, err);
}

static grpc_channel_credentials *make_tls(const struct rpc_channel_tls *tls,
                                          struct err *err)
{
    auto_mem char *ca = NULL;
    auto_mem char *certificate = NULL;
    auto_mem char *key = NULL;

    if (rpc_channel_check_tls(tls, err) < 0) {
        return NULL;
    }
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

/* Its queue is empty and shut down. */
static void channel_free(struct rpc_channel *channel)
{
    grpc_completion_queue_destroy(channel->queue);
    grpc_channel_destroy(channel->core);
    pthread_cond_destroy(&channel->changed);
    pthread_mutex_destroy(&channel->lock);
    mem_free(channel);
}

/* Signals are blocked. */
static struct rpc_channel *
open_blocked(const struct rpc_channel_options *options, struct err *err)
{
    struct rpc_channel *channel = NULL;
    grpc_channel_credentials *credentials =
        options->tls ? make_tls(options->tls, err)
                     : grpc_insecure_credentials_create();

    if (!credentials) {
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
    if (pthread_create(&channel->thread, NULL, run_channel, channel) != 0) {
        (void)err_set(err, -ERR_IO, "cannot start a thread");
        grpc_completion_queue_shutdown(channel->queue);
        (void)run_channel(channel); /* empties the queue */
        channel_free(channel);
        return NULL;
    }
    return channel;
}

struct rpc_channel *rpc_channel_open(const struct rpc_channel_options *options,
                                     struct err *err)
{
    struct rpc_channel *channel = NULL;
    sigset_t before;

    if (!options->address || !strchr(options->address, ':')) {
        err_set(err, -ERR_INVALID, "'%s' is not of the form host:port",
                options->address ? options->address : "");
        return NULL;
    }
    core_block_signals(&before);
    if (thread_room_check(err) == 0) {
        core_begin();
        channel = open_blocked(options, err);
    }
    core_unblock_signals(&before);
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
    channel_free(channel);
}
