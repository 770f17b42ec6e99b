/*
 * The server as a whole: stopping, TLS, and peers that misbehave
 * (rpc_server.h).  Of issue 3's bad input: 1,000 idle connections, garbage.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rpc_fixture.h"

static void echo(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    rpc_call_finish(call, RPC_OK, NULL, request);
}

static void expect_echo(struct rpc_channel *channel)
{
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    rpc_channel_call(channel, "/t.T/M", STR("hello"),
                     &(struct rpc_call_options){.timeout_ms = FIXTURE_WAIT_MS,
                                                .is_wait_for_ready = true},
                     &reply, &status);
    assert_string_equal(status.message, "");
    assert_int_equal(status.code, RPC_OK);
    assert_string_equal(strbuf_text(&reply), "hello");
}

/*
 * Stopping.
 */

/* Keeps calls; some are finished by the test, others when cancelled. */
struct keeper {
    struct counter arrived, cancelled;
    struct rpc_call *last;
};

static void count_cancelled(void *ctx, struct rpc_call *call)
{
    (void)call;
    counter_add(&((struct keeper *)ctx)->cancelled, 1);
}

static void keep(void *ctx, struct rpc_call *call, struct str request)
{
    struct keeper *keeper = (struct keeper *)ctx;

    (void)request;
    rpc_call_on_cancelled(call, count_cancelled, keeper);
    keeper->last = call;
    counter_add(&keeper->arrived, 1);
}

#define KEEPER                           \
    {                                    \
        COUNTER_INIT, COUNTER_INIT, NULL \
    }

struct outcome {
    struct counter ended;
    enum rpc_code code;
};

static void note(void *ctx, const struct rpc_status *status, struct str reply)
{
    struct outcome *outcome = (struct outcome *)ctx;

    (void)reply;
    outcome->code = status->code;
    counter_add(&outcome->ended, 1);
}

static void
stopping_cancels_streams_and_late_calls_within_the_grace(void **state)
{
    enum { GRACE_MS = 200 };
    struct keeper streams = KEEPER, calls = KEEPER;
    const struct rpc_method methods[] = {
        {.path = "/t.T/S", .kind = RPC_BIDI, .handle = keep, .ctx = &streams},
        {.path = "/t.T/M", .kind = RPC_UNARY, .handle = keep, .ctx = &calls},
    };
    struct outcome outcome = {COUNTER_INIT, RPC_OK};
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;
    struct fixture f;
    int64_t begun_ms = 0;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = methods, .method_count = 2});
    stream = rpc_stream_open(f.channel, "/t.T/S", NULL);
    assert_int_equal(rpc_stream_send(stream, STR("x"), -1), RPC_WAIT_READY);
    rpc_channel_call_async(f.channel, "/t.T/M", STR("x"), NULL, note, &outcome);
    assert_true(counter_wait(&streams.arrived, 1));
    assert_true(counter_wait(&calls.arrived, 1));
    begun_ms = fixture_now_ms();
    rpc_server_stop(f.server, GRACE_MS);
    assert_true(fixture_now_ms() - begun_ms >= GRACE_MS);
    assert_true(fixture_now_ms() - begun_ms < GRACE_MS + 3000);
    assert_int_equal(counter_value(&streams.cancelled), 1);
    assert_int_equal(counter_value(&calls.cancelled), 1);
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(stream)->code, RPC_UNAVAILABLE);
    assert_true(counter_wait(&outcome.ended, 1));
    assert_int_equal(outcome.code, RPC_UNAVAILABLE);
    rpc_stream_close(stream);
    rpc_server_stop(f.server, GRACE_MS);
    rpc_server_destroy(f.server);
    f.server = NULL;
    /* Nobody finished them: they are still ours, and do nothing. */
    assert_int_equal(rpc_call_send(streams.last, STR("x"), NULL, NULL),
                     -ERR_UNAVAILABLE);
    assert_int_equal(rpc_call_recv(streams.last, NULL, NULL), -ERR_UNAVAILABLE);
    assert_true(rpc_call_is_cancelled(calls.last));
    rpc_call_finish(streams.last, RPC_OK, NULL, STR(""));
    rpc_call_finish(calls.last, RPC_OK, NULL, STR("x"));
    fixture_stop(&f);
}

static void *finish_last(void *arg)
{
    rpc_call_finish((struct rpc_call *)arg, RPC_OK, NULL, STR("in time"));
    return NULL;
}

static void a_call_that_ends_within_the_grace_is_answered(void **state)
{
    struct keeper calls = KEEPER;
    struct outcome outcome = {COUNTER_INIT, RPC_UNKNOWN};
    struct fixture f;
    pthread_t thread;
    int64_t begun_ms = fixture_now_ms();

    (void)state;
    fixture_start_one(&f, RPC_UNARY, keep, &calls);
    rpc_channel_call_async(f.channel, "/t.T/M", STR("x"), NULL, note, &outcome);
    assert_true(counter_wait(&calls.arrived, 1));
    assert_int_equal(pthread_create(&thread, NULL, finish_last, calls.last), 0);
    rpc_server_stop(f.server, FIXTURE_WAIT_MS);
    assert_true(fixture_now_ms() - begun_ms < FIXTURE_WAIT_MS);
    pthread_join(thread, NULL);
    assert_true(counter_wait(&outcome.ended, 1));
    assert_int_equal(outcome.code, RPC_OK);
    fixture_stop(&f);
}

/*
 * Listening.
 */

static void a_server_listens_on_several_addresses(void **state)
{
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = echo};
    static const char *const addresses[] = {"127.0.0.1:0", "localhost:0"};
    struct rpc_channel *channel = NULL;
    struct fixture f;
    struct err err;
    char address[64];

    (void)state;
    fixture_start(&f, (struct rpc_server_options){.methods = &method,
                                                  .method_count = 1,
                                                  .addresses = addresses,
                                                  .address_count = 2});
    snprintf(address, sizeof(address), "localhost:%u",
             rpc_server_port(f.server, 1));
    channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = address}, &err);
    expect_echo(f.channel);
    expect_echo(channel);
    rpc_channel_close(channel);
    fixture_stop(&f);
}

static void a_taken_or_wrong_address_is_told(void **state)
{
    const char *addresses[] = {NULL};
    struct rpc_server_options options = {.addresses = addresses,
                                         .address_count = 1};
    struct fixture f;
    struct err err = {""};

    (void)state;
    fixture_start_one(&f, RPC_UNARY, echo, NULL);
    addresses[0] = f.address;
    assert_null(rpc_server_create(&options, &err));
    assert_non_null(strstr(err.text, "in use"));
    addresses[0] = "nonsense";
    assert_null(rpc_server_create(&options, &err));
    assert_non_null(strstr(err.text, "nonsense"));
    assert_null(rpc_channel_open(
        &(struct rpc_channel_options){.address = "nonsense"}, &err));
    expect_echo(f.channel);
    fixture_stop(&f);
}

/* Blocks its thread until the test says so. */
struct block {
    struct counter arrived, released;
};

static void block(void *ctx, struct rpc_call *call, struct str request)
{
    struct block *b = (struct block *)ctx;

    counter_add(&b->arrived, 1);
    counter_wait(&b->released, 1);
    rpc_call_finish(call, RPC_OK, NULL, request);
}

static void one_handler_that_blocks_does_not_hold_up_others(void **state)
{
    struct block b = {COUNTER_INIT, COUNTER_INIT};
    const struct rpc_method methods[] = {
        {.path = "/t.T/M", .kind = RPC_UNARY, .handle = echo},
        {.path = "/t.T/B", .kind = RPC_UNARY, .handle = block, .ctx = &b},
    };
    struct outcome outcome = {COUNTER_INIT, RPC_UNKNOWN};
    struct fixture f;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = methods, .method_count = 2});
    rpc_channel_call_async(f.channel, "/t.T/B", STR("x"), NULL, note, &outcome);
    assert_true(counter_wait(&b.arrived, 1));
    for (int i = 0; i < 300; i++) {
        expect_echo(f.channel);
    }
    counter_add(&b.released, 1);
    assert_true(counter_wait(&outcome.ended, 1));
    assert_int_equal(outcome.code, RPC_OK);
    fixture_stop(&f);
}

/*
 * Peers that misbehave.
 */

static void a_thousand_idle_connections_disturb_nobody(void **state)
{
    enum { IDLE_COUNT = 1000 };
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                  "\0\0\0\4\0\0\0\0\0";
    static int fds[IDLE_COUNT];
    struct rlimit limit = {0};
    struct fixture f;
    int64_t begun_ms = 0;

    (void)state;
    /* Both ends of each are in this process. */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 2 * IDLE_COUNT + 100) {
        skip();
    }
    fixture_start_one(&f, RPC_UNARY, echo, NULL);
    for (int i = 0; i < IDLE_COUNT; i++) {
        fds[i] = fixture_connect(rpc_server_port(f.server, 0));
        /* Half of them say nothing at all. */
        if (i % 2 == 0) {
            assert_int_equal(
                send(fds[i], preface, sizeof(preface) - 1, MSG_NOSIGNAL),
                sizeof(preface) - 1);
        }
    }
    for (int i = 0; i < 100; i++) {
        expect_echo(f.channel);
    }
    begun_ms = fixture_now_ms();
    rpc_server_stop(f.server, 1000);
    assert_true(fixture_now_ms() - begun_ms < 5000);
    for (int i = 0; i < IDLE_COUNT; i++) {
        close(fds[i]);
    }
    fixture_stop(&f);
}

static void garbage_is_survived(void **state)
{
    struct fixture f;
    unsigned seed = 1;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, echo, NULL);
    for (int i = 0; i < 100; i++) {
        static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
                                      "\0\0\0\4\0\0\0\0\0";
        char bytes[512];
        int fd = fixture_connect(rpc_server_port(f.server, 0));

        if (i % 2) { /* garbage frames, else garbage from the start */
            (void)send(fd, preface, sizeof(preface) - 1, MSG_NOSIGNAL);
        }
        for (size_t at = 0; at < sizeof(bytes); at++) {
            bytes[at] = (char)rand_r(&seed);
        }
        (void)send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL);
        if (i % 3 == 0) { /* wait for the server to close, or hang up */
            shutdown(fd, SHUT_WR);
            while (recv(fd, bytes, sizeof(bytes), 0) > 0) {
            }
        }
        close(fd);
    }
    expect_echo(f.channel);
    fixture_stop(&f);
}

static bool refuse(void *ctx, struct rpc_call *call)
{
    (void)ctx;
    assert_true(rpc_call_header(call, "user-agent").byte_count > 0);
    rpc_call_finish(call, RPC_UNAUTHENTICATED, "nobody", STR(""));
    return false;
}

static void never(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    (void)call;
    (void)request;
    fail_msg("it was not admitted");
}

/* Who may not call is told so by the headers, whatever would follow them; the
 * request, which is larger than may be received, is not even looked at. */
static void a_call_is_admitted_before_its_request(void **state)
{
    enum { MESSAGE_BYTES = 8 << 20 };
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = never, .admit = refuse};
    char *bytes = mem_alloc(MESSAGE_BYTES);
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;
    struct fixture f;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = &method, .method_count = 1});
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M",
                                      str_make(bytes, MESSAGE_BYTES), NULL,
                                      &reply, &status),
                     RPC_UNAUTHENTICATED);
    assert_string_equal(status.message, "nobody");
    fixture_stop(&f);
    mem_free(bytes);
}

/* Raised when the server that a call is for is known. */
static struct counter is_started = COUNTER_INIT;

/* Admit a call when the library's half of it is gone. */
static bool admit_late(void *ctx, struct rpc_call *call)
{
    struct fixture *f = ctx;
    int64_t end_ms = fixture_now_ms() + FIXTURE_WAIT_MS;

    (void)call;
    assert_true(counter_wait(&is_started, 1));
    while (rpc_server_call_count(f->server) > 0) {
        assert_true(fixture_now_ms() < end_ms);
        sched_yield();
    }
    return true;
}

/* The address sanitizer sees it if such a call is kept. */
static void a_call_that_ends_before_it_is_admitted_is_let_go(void **state)
{
    struct fixture f;
    const struct rpc_method method = {.path = "/t.T/M",
                                      .kind = RPC_UNARY,
                                      .handle = never,
                                      .admit = admit_late,
                                      .ctx = &f};
    const struct rpc_call_options options = {.timeout_ms = 50};
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = &method, .method_count = 1});
    counter_add(&is_started, 1);
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M", STR(""), &options,
                                      &reply, &status),
                     RPC_DEADLINE_EXCEEDED);
    fixture_stop(&f);
}

/* The library reads a message to its end before it looks at its size; past the
 * buffer limit it resets the stream, though not at the very byte. */
static void a_message_over_the_buffer_limit_is_refused(void **state)
{
    enum { BUFFER_BYTES = 16 << 20, MESSAGE_BYTES = 64 << 20 };
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = echo};
    char *bytes = mem_alloc(MESSAGE_BYTES);
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;
    struct fixture f;
    int64_t begun_ms = 0;

    (void)state;
    fixture_start(
        &f, (struct rpc_server_options){.methods = &method,
                                        .method_count = 1,
                                        .buffer_bytes_max = BUFFER_BYTES});
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M",
                                      str_make(bytes, MESSAGE_BYTES), NULL,
                                      &reply, &status),
                     RPC_RESOURCE_EXHAUSTED);
    expect_echo(f.channel);
    begun_ms = fixture_now_ms();
    rpc_server_stop(f.server, 1000);
    assert_true(fixture_now_ms() - begun_ms < 5000);
    fixture_stop(&f);
    mem_free(bytes);
}

/*
 * TLS.
 */

/* Code of one call through a TLS channel made with `tls` (NULL: plain). */
static enum rpc_code call_with(const char *address,
                               const struct rpc_channel_tls *tls)
{
    auto_strbuf reply = strbuf_make(0);
    struct err err;
    struct rpc_channel *channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = address, .tls = tls}, &err);
    enum rpc_code code = RPC_UNKNOWN;

    assert_non_null(channel);
    code = rpc_channel_call(
        channel, "/t.T/M", STR("hello"),
        &(struct rpc_call_options){.timeout_ms = FIXTURE_WAIT_MS}, &reply,
        NULL);
    rpc_channel_close(channel);
    return code;
}

static void tls_is_served_and_checked(void **state)
{
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = echo};
    struct fixture_pem pem;
    const char *certificate = pem.certificate, *key = pem.key;
    struct rpc_server_tls tls = {.certificate_file = certificate,
                                 .key_file = key};
    struct rpc_server_options options = {
        .methods = &method, .method_count = 1, .tls = &tls};
    const struct rpc_channel_tls trusted = {.ca_file = certificate,
                                            .server_name = "localhost"};
    const struct rpc_channel_tls misnamed = {.ca_file = certificate,
                                             .server_name = "elsewhere"};
    const struct rpc_channel_tls with_own = {.ca_file = certificate,
                                             .certificate_file = certificate,
                                             .key_file = key,
                                             .server_name = "localhost"};
    struct fixture f;

    (void)state;
    if (!fixture_pem_make(&pem)) {
        skip();
    }
    fixture_start(&f, options);
    assert_int_equal(call_with(f.address, &trusted), RPC_OK);
    assert_int_equal(call_with(f.address, &misnamed), RPC_UNAVAILABLE);
    assert_int_equal(call_with(f.address, NULL), RPC_UNAVAILABLE);
    fixture_stop(&f);
    /* With a client CA, a client needs a certificate. */
    tls.client_ca_file = certificate;
    fixture_start(&f, options);
    assert_int_equal(call_with(f.address, &with_own), RPC_OK);
    assert_int_equal(call_with(f.address, &trusted), RPC_UNAVAILABLE);
    fixture_stop(&f);
    fixture_pem_remove(&pem);
}

static void unreadable_tls_files_are_told(void **state)
{
    static const char *const addresses[] = {"127.0.0.1:0"};
    struct rpc_server_tls tls = {.certificate_file = "/nowhere/cert.pem",
                                 .key_file = "/nowhere/key.pem"};
    const struct rpc_server_options options = {
        .addresses = addresses, .address_count = 1, .tls = &tls};
    const struct rpc_channel_tls client = {.ca_file = "/nowhere/ca.pem"};
    struct err err = {""};

    (void)state;
    assert_null(rpc_server_create(&options, &err));
    assert_non_null(strstr(err.text, "/nowhere/cert.pem"));
    assert_null(rpc_channel_open(
        &(struct rpc_channel_options){.address = "localhost:1", .tls = &client},
        &err));
    assert_non_null(strstr(err.text, "/nowhere/ca.pem"));
    tls.certificate_file = tls.key_file = "/dev/null";
    assert_null(rpc_server_create(&options, &err));
    assert_non_null(strstr(err.text, "TLS"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stopping_cancels_streams_and_late_calls_within_the_grace),
        TEST(a_call_that_ends_within_the_grace_is_answered),
        TEST(a_server_listens_on_several_addresses),
        TEST(a_taken_or_wrong_address_is_told),
        TEST(one_handler_that_blocks_does_not_hold_up_others),
        TEST(a_thousand_idle_connections_disturb_nobody),
        TEST(garbage_is_survived),
        TEST(a_call_is_admitted_before_its_request),
        TEST(a_call_that_ends_before_it_is_admitted_is_let_go),
        TEST(a_message_over_the_buffer_limit_is_refused),
        TEST(tls_is_served_and_checked),
        TEST(unreadable_tls_files_are_told),
    };

    return RUN_TESTS(tests);
}
