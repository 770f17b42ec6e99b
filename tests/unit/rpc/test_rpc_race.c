/*
 * Calls that end on both sides at once: answered late while their client
 * gives up, streams closed in the middle, and a server that stops under all
 * of it.  Each call must be let go exactly once; ThreadSanitizer and
 * AddressSanitizer do the rest of the looking.
 */
#include <stdlib.h>

#include "rpc_fixture.h"

enum {
    CLIENTS = 3,
    ROUNDS = 150, /* of each client */
    STOP_AFTER = 300,
    ANSWERERS = 2,
    WAITING_MAX = CLIENTS * ROUNDS,
};

/* Calls that wait for an answerer; what each call owns counts its end. */
struct ground {
    struct counter arrived, freed, rounds;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct rpc_call *waiting[WAITING_MAX];
    int waiting_count;
    bool is_over;
};

static void count_freed(void *arg)
{
    counter_add(&((struct ground *)arg)->freed, 1);
}

static void arrive(struct ground *ground, struct rpc_call *call)
{
    rpc_call_own(call, ground, count_freed);
    counter_add(&ground->arrived, 1);
}

static void look(void *ctx, struct rpc_call *call)
{
    (void)ctx;
    assert_true(rpc_call_is_cancelled(call));
}

static void answer_later(void *ctx, struct rpc_call *call, struct str request)
{
    struct ground *ground = (struct ground *)ctx;

    (void)request;
    arrive(ground, call);
    (void)rpc_call_on_cancelled(call, look, ground);
    pthread_mutex_lock(&ground->lock);
    assert_true(ground->waiting_count < WAITING_MAX);
    ground->waiting[ground->waiting_count++] = call;
    pthread_cond_signal(&ground->changed);
    pthread_mutex_unlock(&ground->lock);
}

static void *answer(void *arg)
{
    struct ground *ground = (struct ground *)arg;

    for (;;) {
        struct rpc_call *call = NULL;

        pthread_mutex_lock(&ground->lock);
        while (ground->waiting_count == 0 && !ground->is_over) {
            pthread_cond_wait(&ground->changed, &ground->lock);
        }
        if (ground->waiting_count > 0) {
            call = ground->waiting[--ground->waiting_count];
        }
        pthread_mutex_unlock(&ground->lock);
        if (!call) {
            return NULL;
        }
        rpc_call_ref(call);
        rpc_call_finish(call, RPC_OK, NULL, STR("late"));
        (void)rpc_call_peer(call);
        (void)rpc_call_is_cancelled(call);
        rpc_call_unref(call);
    }
}

static void pour(void *ctx, struct rpc_call *call, bool is_ok)
{
    static const char message[3000];

    if (!is_ok || rpc_call_send(call, str_make(message, sizeof(message)), pour,
                                ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void begin_pouring(void *ctx, struct rpc_call *call, struct str request)
{
    (void)request;
    arrive((struct ground *)ctx, call);
    pour(ctx, call, true);
}

static void on_message(void *ctx, struct rpc_call *call,
                       enum rpc_received received, struct str message);

static void ask(void *ctx, struct rpc_call *call, bool is_ok)
{
    if (!is_ok || rpc_call_recv(call, on_message, ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void on_message(void *ctx, struct rpc_call *call,
                       enum rpc_received received, struct str message)
{
    if (received != RPC_RECEIVED ||
        rpc_call_send(call, message, ask, ctx) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void begin_echoing(void *ctx, struct rpc_call *call, struct str request)
{
    arrive((struct ground *)ctx, call);
    on_message(ctx, call, RPC_RECEIVED, request);
}

/* One client: its own channel and its own luck. */
struct client {
    struct ground *ground;
    const char *address;
    unsigned seed;
    pthread_t thread;
};

static void use_unary(struct client *client, struct rpc_channel *channel)
{
    auto_strbuf reply = strbuf_make(0);
    const struct rpc_call_options options = {.timeout_ms =
                                                 1 + rand_r(&client->seed) % 3};

    (void)rpc_channel_call(channel, "/t.T/Later", STR("x"), &options, &reply,
                           NULL);
}

static void use_stream(struct client *client, struct rpc_channel *channel)
{
    bool is_echo = rand_r(&client->seed) % 2;
    struct rpc_stream *stream =
        rpc_stream_open(channel, is_echo ? "/t.T/Echo" : "/t.T/Pour", NULL);
    auto_strbuf message = strbuf_make(0);
    int count = rand_r(&client->seed) % 6;

    for (int i = 0; i < count; i++) {
        if ((is_echo || i == 0) &&
            rpc_stream_send(stream, STR("x"), -1) != RPC_WAIT_READY) {
            break;
        }
        if (rpc_stream_next(stream, -1, &message) != RPC_WAIT_READY) {
            break;
        }
    }
    if (rand_r(&client->seed) % 2) {
        rpc_stream_close_send(stream);
    }
    rpc_stream_close(stream);
}

static void *run_client(void *arg)
{
    struct client *client = (struct client *)arg;
    struct err err;
    struct rpc_channel *channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = client->address}, &err);

    for (int i = 0; i < ROUNDS; i++) {
        if (rand_r(&client->seed) % 2) {
            use_unary(client, channel);
        } else {
            use_stream(client, channel);
        }
        counter_add(&client->ground->rounds, 1);
    }
    rpc_channel_close(channel);
    return NULL;
}

static void each_call_ends_once_whoever_ends_it(void **state)
{
    static struct ground ground = {.arrived = COUNTER_INIT,
                                   .freed = COUNTER_INIT,
                                   .rounds = COUNTER_INIT,
                                   .lock = PTHREAD_MUTEX_INITIALIZER,
                                   .changed = PTHREAD_COND_INITIALIZER};
    const struct rpc_method methods[] = {
        {.path = "/t.T/Later",
         .kind = RPC_UNARY,
         .handle = answer_later,
         .ctx = &ground},
        {.path = "/t.T/Pour",
         .kind = RPC_SERVER_STREAM,
         .handle = begin_pouring,
         .ctx = &ground},
        {.path = "/t.T/Echo",
         .kind = RPC_BIDI,
         .handle = begin_echoing,
         .ctx = &ground},
    };
    struct client clients[CLIENTS];
    pthread_t answerers[ANSWERERS];
    struct fixture f;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = methods, .method_count = 3});
    for (int i = 0; i < ANSWERERS; i++) {
        assert_int_equal(pthread_create(&answerers[i], NULL, answer, &ground),
                         0);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){&ground, f.address, i + 1, 0};
        assert_int_equal(
            pthread_create(&clients[i].thread, NULL, run_client, &clients[i]),
            0);
    }
    assert_true(counter_wait(&ground.rounds, STOP_AFTER));
    rpc_server_destroy(f.server);
    f.server = NULL;
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
    }
    pthread_mutex_lock(&ground.lock);
    ground.is_over = true;
    pthread_cond_broadcast(&ground.changed);
    pthread_mutex_unlock(&ground.lock);
    for (int i = 0; i < ANSWERERS; i++) {
        pthread_join(answerers[i], NULL);
    }
    assert_true(counter_value(&ground.arrived) > 0);
    assert_true(counter_wait(&ground.freed, counter_value(&ground.arrived)));
    assert_int_equal(counter_value(&ground.freed),
                     counter_value(&ground.arrived));
    fixture_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_call_ends_once_whoever_ends_it),
    };

    return RUN_TESTS(tests);
}
