/*
 * transport: an executor and a gRPC server in one process, over loopback.
 * The server leases one job, by polling or on a held stream, and notes what
 * is reported.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>

#include "armada/executorapi.pb-c.h"
#include "executor/fake/fake.h"
#include "executor/loop/transport.h"
#include "field.h"
#include "rpc/rpc_server.h"
#include "support.h"
#include "unit.h"
#include "wire/message/message.h"

struct fixture {
    pthread_mutex_t lock; /* of what the server's threads touch */
    struct run_id run;
    struct job_id job;
    bool is_held_agreed, is_leased, is_succeeded;
    int exchange_count, delta_count;
    char authorization[64];

    struct rpc_server *server;
    uint16_t port;
    struct runtime *runtime;
    struct transport *transport;
    struct executor *executor;
};

static void send_done(void *ctx, struct rpc_call *call, bool is_ok);

/* What a call has still to send. */
struct stream {
    struct fixture *fixture;
    int step;
};

static void encode_lease(struct fixture *fixture, struct strbuf *buf)
{
    char id[ID_TEXT_BYTES_MAX], run[ID_TEXT_BYTES_MAX];
    Executorapi__LeaseStreamMessage message =
        EXECUTORAPI__LEASE_STREAM_MESSAGE__INIT;
    Executorapi__JobRunLease lease = EXECUTORAPI__JOB_RUN_LEASE__INIT;
    struct job job;

    job_make(&job, 0, NULL);
    job_annotate(&job, "berth.dev/fakeRunMs", "1");
    job.submit->job_id = job_id_format(fixture->job, id);
    lease.queue = field("queue");
    lease.jobset = field("set");
    lease.job_run_id = run_id_format(fixture->run, run);
    lease.job = job.submit;
    message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_LEASE;
    message.lease = &lease;
    wire_encode(&message.base, buf);
    job_free(&job);
}

static void encode_heartbeat(struct strbuf *buf)
{
    Executorapi__LeaseStreamMessage message =
        EXECUTORAPI__LEASE_STREAM_MESSAGE__INIT;
    Executorapi__Heartbeat heartbeat = EXECUTORAPI__HEARTBEAT__INIT;

    message.event_case = EXECUTORAPI__LEASE_STREAM_MESSAGE__EVENT_HEARTBEAT;
    message.heartbeat = &heartbeat;
    wire_encode(&message.base, buf);
}

/* Heartbeat (if held), lease (once), end of the call (unless held). */
static void send_next(struct stream *stream, struct rpc_call *call)
{
    struct fixture *fixture = stream->fixture;
    auto_strbuf bytes = {0};

    pthread_mutex_lock(&fixture->lock);
    if (stream->step == 0) {
        stream->step = 1;
        if (fixture->is_held_agreed) {
            encode_heartbeat(&bytes);
        }
    }
    if (bytes.byte_count == 0 && stream->step == 1) {
        stream->step = 2;
        if (!fixture->is_leased) {
            fixture->is_leased = true;
            encode_lease(fixture, &bytes);
        }
    }
    bool is_held = fixture->is_held_agreed;
    pthread_mutex_unlock(&fixture->lock);
    if (bytes.byte_count > 0) {
        (void)!rpc_call_send(call, strbuf_str(&bytes), send_done, stream);
    } else if (!is_held) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void send_done(void *ctx, struct rpc_call *call, bool is_ok)
{
    if (is_ok) {
        send_next(ctx, call);
    }
}

static void take_more(void *ctx, struct rpc_call *call,
                      enum rpc_received received, struct str message)
{
    struct stream *stream = ctx;

    (void)message;
    if (received != RPC_RECEIVED) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
        return;
    }
    pthread_mutex_lock(&stream->fixture->lock);
    stream->fixture->delta_count++;
    pthread_mutex_unlock(&stream->fixture->lock);
    if (rpc_call_recv(call, take_more, stream) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
    }
}

static void handle_lease(void *ctx, struct rpc_call *call, struct str request)
{
    struct fixture *fixture = ctx;
    struct stream *stream = mem_alloc(sizeof(*stream));
    struct str who = rpc_call_header(call, "authorization");

    (void)request;
    stream->fixture = fixture;
    rpc_call_own(call, stream, mem_free);
    pthread_mutex_lock(&fixture->lock);
    fixture->exchange_count++;
    snprintf(fixture->authorization, sizeof(fixture->authorization), "%.*s",
             STR_ARG(who));
    bool is_held = fixture->is_held_agreed;
    pthread_mutex_unlock(&fixture->lock);
    if (is_held && rpc_call_recv(call, take_more, stream) < 0) {
        rpc_call_finish(call, RPC_OK, NULL, STR(""));
        return;
    }
    send_next(stream, call);
}

static void handle_report(void *ctx, struct rpc_call *call, struct str request)
{
    struct fixture *fixture = ctx;
    auto_arena arena = {0};
    ProtobufCMessage *base;
    struct err err;

    if (wire_decode(&executorapi__event_list__descriptor, request,
                    &wire_request_limits, &arena, &base, &err) < 0) {
        rpc_call_finish(call, RPC_INVALID_ARGUMENT, err.text, STR(""));
        return;
    }
    const Executorapi__EventList *list = (const Executorapi__EventList *)base;
    pthread_mutex_lock(&fixture->lock);
    for (size_t s = 0; s < list->n_events; s++) {
        for (size_t e = 0; e < list->events[s]->n_events; e++) {
            fixture->is_succeeded |=
                list->events[s]->events[e]->event_case ==
                ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_SUCCEEDED;
        }
    }
    pthread_mutex_unlock(&fixture->lock);
    rpc_call_finish(call, RPC_OK, NULL, STR(""));
}

static void serve(struct fixture *fixture)
{
    char address[32];
    const char *addresses[] = {address};
    struct rpc_method methods[] = {
        {.path = "/executorapi.ExecutorApi/LeaseJobRuns",
         .kind = RPC_BIDI,
         .handle = handle_lease,
         .ctx = fixture},
        {.path = "/executorapi.ExecutorApi/ReportEvents",
         .kind = RPC_UNARY,
         .handle = handle_report,
         .ctx = fixture},
    };
    struct rpc_server_options options = {
        .methods = methods,
        .method_count = ARRAY_COUNT(methods),
        .addresses = addresses,
        .address_count = 1,
    };
    struct err err = {""};

    snprintf(address, sizeof(address), "127.0.0.1:%u", fixture->port);
    fixture->server = rpc_server_create(&options, &err);
    if (!fixture->server) {
        fail_msg("%s", err.text);
    }
    fixture->port = rpc_server_port(fixture->server, 0);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    uint8_t random[10] = {9};

    fixture = (struct fixture){.lock = PTHREAD_MUTEX_INITIALIZER};
    fixture.job = job_id_make(1700000000000, random);
    fixture.run = run_id_make(fixture.job, 0);
    *state = &fixture;
    return 0;
}

/* An executor with a fake runtime, which talks to the fixture's port. */
static void connect_executor(struct fixture *fixture)
{
    char address[32];
    struct rpc_channel_options channel = {
        .address = address, .receive_bytes_max = EXECUTOR_MESSAGE_BYTES_MAX};
    struct rpc_header header = {"authorization", "Basic abc"};
    struct transport_options options = {
        .headers = &header, .header_count = 1, .is_gzip = true};
    struct executor_options executor;
    struct fake_options fake;
    struct err err;

    snprintf(address, sizeof(address), "127.0.0.1:%u", fixture->port);
    fake_options_default(&fake);
    assert_int_equal(fake_open(&fake, &machine_clock, &fixture->runtime, &err),
                     0);
    fixture->transport =
        transport_create(rpc_channel_open(&channel, &err), &options, &err);
    assert_non_null(fixture->transport);
    executor_options_default(&executor);
    executor.lease_period_ms = 50;
    executor.report_delay_ms = 10;
    executor.report_retry_ms = 20;
    fixture->executor =
        executor_create(&executor, &machine_clock,
                        transport_port(fixture->transport), fixture->runtime);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    executor_destroy(fixture->executor);
    transport_destroy(fixture->transport);
    runtime_close(fixture->runtime);
    rpc_server_destroy(fixture->server);
    return 0;
}

static void step(struct fixture *fixture)
{
    int64_t wait_ms = executor_step(fixture->executor);
    struct pollfd fd = {transport_wake_fd(fixture->transport), POLLIN, 0};

    (void)poll(&fd, 1, wait_ms > 50 ? 50 : (int)wait_ms);
    transport_clear_wake(fixture->transport);
}

/* Step until the job's end was reported and it is forgotten. */
static void run_to_end(struct fixture *fixture)
{
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    bool is_done = false;

    while (!is_done) {
        assert_true(machine_ms() < until_ms);
        step(fixture);
        pthread_mutex_lock(&fixture->lock);
        is_done = fixture->is_succeeded &&
                  executor_stats(fixture->executor)->run_count == 0;
        pthread_mutex_unlock(&fixture->lock);
    }
}

static void a_polled_server_is_served(void **state)
{
    struct fixture *fixture = *state;
    serve(fixture);
    connect_executor(fixture);

    run_to_end(fixture);

    assert_string_equal(fixture->authorization, "Basic abc");
    assert_true(executor_stats(fixture->executor)->is_connected);
    assert_false(executor_stats(fixture->executor)->is_held);
}

static void a_held_stream_is_kept(void **state)
{
    struct fixture *fixture = *state;
    fixture->is_held_agreed = true;
    serve(fixture);
    connect_executor(fixture);

    run_to_end(fixture);

    assert_int_equal(fixture->exchange_count, 1);
    assert_true(fixture->delta_count > 0);
    assert_true(executor_stats(fixture->executor)->is_held);
}

static void a_server_that_comes_late_or_again_is_found(void **state)
{
    struct fixture *fixture = *state;
    serve(fixture);
    rpc_server_destroy(fixture->server);
    fixture->server = NULL;
    fixture->is_held_agreed = true;
    connect_executor(fixture);
    int64_t until_ms = machine_ms() + WAIT_MS_MAX;
    while (executor_stats(fixture->executor)->exchange_failed_count == 0) {
        assert_true(machine_ms() < until_ms);
        step(fixture);
    }

    serve(fixture);
    run_to_end(fixture);
}

#define TRANSPORT_TEST(name) \
    cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRANSPORT_TEST(a_polled_server_is_served),
        TRANSPORT_TEST(a_held_stream_is_kept),
        TRANSPORT_TEST(a_server_that_comes_late_or_again_is_found),
    };
    return RUN_TESTS(tests);
}
