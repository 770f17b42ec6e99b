/*
 * Streams over loopback sockets: that they pull, that both ways work, and
 * that each end sees the other go (rpc_server.h, rpc_channel.h).  Of Armada's
 * contract: the lease conversation (6.2), where the client does not
 * half-close and the server ends the stream.
 */
#include <stdio.h>

#include "rpc_fixture.h"

enum { MESSAGE_BYTES = 16 << 10 };

/* Sends `count` messages, one after the other was taken, then OK. */
struct producer {
    struct counter arrived, sent, cancelled, freed;
    int count;
    int together; /* messages that travel together; 0: each alone */
};

struct production {
    struct producer *producer;
    int next;
    char message[MESSAGE_BYTES];
};

static void free_production(void *arg)
{
    struct production *p = (struct production *)arg;

    counter_add(&p->producer->freed, 1);
    mem_free(p);
}

static void send_next(void *ctx, struct rpc_call *call, bool is_ok)
{
    struct production *p = (struct production *)ctx;

    if (is_ok && p->next > 0) {
        counter_add(&p->producer->sent, 1);
    }
    if (is_ok && p->next < p->producer->count) {
        struct str message = str_make(p->message, sizeof(p->message));
        memcpy(p->message, &p->next, sizeof(p->next));
        p->next++;
        bool has_more =
            p->producer->together > 0 && p->next % p->producer->together != 0;
        if ((has_more ? rpc_call_send_more(call, message, send_next, p)
                      : rpc_call_send(call, message, send_next, p)) == 0) {
            return;
        }
        is_ok = false;
    }
    if (!is_ok) {
        counter_add(&p->producer->cancelled, 1);
    }
    rpc_call_finish(call, RPC_OK, NULL, (struct str){0});
}

static void produce(void *ctx, struct rpc_call *call, struct str request)
{
    struct production *p = mem_alloc(sizeof(*p));

    (void)request;
    p->producer = (struct producer *)ctx;
    rpc_call_own(call, p, free_production);
    assert_ptr_equal(rpc_call_data(call), p);
    counter_add(&p->producer->arrived, 1);
    send_next(p, call, true);
}

#define PRODUCER(n, together)                                        \
    {                                                                \
        COUNTER_INIT, COUNTER_INIT, COUNTER_INIT, COUNTER_INIT, (n), \
            (together)                                               \
    }

static struct rpc_stream *open_stream(struct fixture *f)
{
    struct rpc_stream *stream = rpc_stream_open(f->channel, "/t.T/M", NULL);

    assert_int_equal(rpc_stream_send(stream, STR("go"), FIXTURE_WAIT_MS),
                     RPC_WAIT_READY);
    return stream;
}

static void check_all_come_in_order(int together)
{
    struct producer producer = PRODUCER(2000, together);
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;

    fixture_start_one(&f, RPC_SERVER_STREAM, produce, &producer);
    stream = open_stream(&f);
    rpc_stream_close_send(stream);
    for (int i = 0; i < producer.count; i++) {
        int number = -1;

        assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                         RPC_WAIT_READY);
        assert_int_equal(message.byte_count, MESSAGE_BYTES);
        memcpy(&number, message.bytes, sizeof(number));
        assert_int_equal(number, i);
    }
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(stream)->code, RPC_OK);
    rpc_stream_close(stream);
    assert_true(counter_wait(&producer.freed, 1));
    fixture_stop(&f);
}

static void a_server_stream_brings_all_messages_in_order(void **state)
{
    (void)state;
    check_all_come_in_order(0);
}

/* Also the first, which travels with the headers, and also when the last one
 * says that more follows: the status comes after it. */
static void messages_that_travel_together_come_in_order(void **state)
{
    (void)state;
    check_all_come_in_order(10);
    check_all_come_in_order(3000);
}

/* With 16 KiB messages the windows hold some dozens; 1,000 are offered.  The
 * kernel's socket buffers are no part of it: flow control comes first. */
static void check_slow_reader(int together)
{
    enum { BUFFERED_MAX = 100 };
    struct producer producer = PRODUCER(1000, together);
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;

    fixture_start_one(&f, RPC_SERVER_STREAM, produce, &producer);
    stream = open_stream(&f);
    for (int taken = 0; taken < producer.count; taken++) {
        if (taken % 400 == 0) {
            assert_true(counter_settle(&producer.sent) < taken + BUFFERED_MAX);
        }
        assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                         RPC_WAIT_READY);
        assert_true(counter_value(&producer.sent) <= taken + BUFFERED_MAX);
    }
    rpc_stream_close(stream);
    assert_true(counter_wait(&producer.freed, 1));
    fixture_stop(&f);
}

static void a_slow_reader_holds_the_producer_back(void **state)
{
    (void)state;
    check_slow_reader(0);
    check_slow_reader(1000);
}

static void a_reader_that_never_reads_stops_nobody_else(void **state)
{
    enum { STREAMS = 50 };
    struct producer producer = PRODUCER(1000, 0);
    struct rpc_stream *streams[STREAMS];
    struct fixture f;
    auto_strbuf message = strbuf_make(0);

    (void)state;
    fixture_start_one(&f, RPC_SERVER_STREAM, produce, &producer);
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = open_stream(&f);
    }
    assert_true(counter_wait(&producer.arrived, STREAMS));
    /* The last one reads on the same connection. */
    for (int i = 0; i < producer.count; i++) {
        assert_int_equal(
            rpc_stream_next(streams[STREAMS - 1], FIXTURE_WAIT_MS, &message),
            RPC_WAIT_READY);
    }
    for (int i = 0; i < STREAMS; i++) {
        rpc_stream_close(streams[i]);
    }
    assert_true(counter_wait(&producer.freed, STREAMS));
    assert_int_equal(counter_value(&producer.cancelled), STREAMS - 1);
    fixture_stop(&f);
}

static void a_reader_that_leaves_is_seen_by_the_producer(void **state)
{
    struct producer producer = PRODUCER(1 << 30, 0);
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;

    (void)state;
    fixture_start_one(&f, RPC_SERVER_STREAM, produce, &producer);
    stream = open_stream(&f);
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_READY);
    rpc_stream_cancel(stream);
    while (rpc_stream_next(stream, FIXTURE_WAIT_MS, &message) ==
           RPC_WAIT_READY) {
    }
    assert_int_equal(rpc_stream_status(stream)->code, RPC_CANCELLED);
    assert_true(counter_wait(&producer.cancelled, 1));
    rpc_stream_close(stream);
    fixture_stop(&f);
}

/*
 * Bidi: sends each message back, then ends with the half-close.
 */

static void echo_message(void *ctx, struct rpc_call *call,
                         enum rpc_received received, struct str message);

static void end_echo(void *ctx, struct rpc_call *call, enum rpc_code code)
{
    rpc_call_finish(call, code, NULL, (struct str){0});
    counter_add((struct counter *)ctx, 1);
}

static void ask_again(void *ctx, struct rpc_call *call, bool is_ok)
{
    if (!is_ok || rpc_call_recv(call, echo_message, ctx) < 0) {
        end_echo(ctx, call, RPC_ABORTED);
    }
}

static void echo_message(void *ctx, struct rpc_call *call,
                         enum rpc_received received, struct str message)
{
    if (received != RPC_RECEIVED) {
        end_echo(ctx, call,
                 received == RPC_HALF_CLOSED ? RPC_OK : RPC_CANCELLED);
    } else if (rpc_call_send(call, message, ask_again, ctx) < 0) {
        end_echo(ctx, call, RPC_ABORTED);
    }
}

static void echo_all(void *ctx, struct rpc_call *call, struct str request)
{
    echo_message(ctx, call, RPC_RECEIVED, request);
}

static void bidi_echo(bool is_gzip)
{
    struct counter ended = COUNTER_INIT;
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;
    char text[4000] = {0};

    fixture_start_one(&f, RPC_BIDI, echo_all, &ended);
    stream = rpc_stream_open(f.channel, "/t.T/M",
                             &(struct rpc_call_options){.is_gzip = is_gzip});
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof(text), "%3999d", i);
        assert_int_equal(rpc_stream_send(stream, str_of(text), FIXTURE_WAIT_MS),
                         RPC_WAIT_READY);
        assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                         RPC_WAIT_READY);
        assert_string_equal(strbuf_text(&message), text);
    }
    rpc_stream_close_send(stream);
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(stream)->code, RPC_OK);
    rpc_stream_close(stream);
    assert_true(counter_wait(&ended, 1));
    fixture_stop(&f);
}

static void bidi_messages_go_both_ways(void **state)
{
    (void)state;
    bidi_echo(false);
    bidi_echo(true);
}

static void an_oversize_further_message_ends_the_stream(void **state)
{
    struct counter ended = COUNTER_INIT;
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    size_t byte_count = RPC_RECEIVE_BYTES_DEFAULT_MAX + 1;
    char *bytes = mem_alloc(byte_count);

    (void)state;
    fixture_start_one(&f, RPC_BIDI, echo_all, &ended);
    for (int is_gzip = 0; is_gzip <= 1; is_gzip++) {
        struct rpc_stream *stream =
            rpc_stream_open(f.channel, "/t.T/M",
                            &(struct rpc_call_options){.is_gzip = is_gzip});

        assert_int_equal(rpc_stream_send(stream, STR("a"), FIXTURE_WAIT_MS),
                         RPC_WAIT_READY);
        assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                         RPC_WAIT_READY);
        assert_int_equal(rpc_stream_send(stream, str_make(bytes, byte_count),
                                         FIXTURE_WAIT_MS),
                         RPC_WAIT_READY);
        assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                         RPC_WAIT_ENDED);
        assert_int_equal(rpc_stream_status(stream)->code,
                         RPC_RESOURCE_EXHAUSTED);
        rpc_stream_close(stream);
        assert_true(counter_wait(&ended, is_gzip + 1));
    }
    mem_free(bytes);
    fixture_stop(&f);
}

/*
 * The lease conversation: one request, two replies, the server ends it.
 */

static void end_lease(void *ctx, struct rpc_call *call, bool is_ok)
{
    (void)ctx;
    (void)is_ok;
    rpc_call_finish(call, RPC_OK, NULL, (struct str){0});
}

static void send_end(void *ctx, struct rpc_call *call, bool is_ok)
{
    if (!is_ok || rpc_call_send(call, STR("end"), end_lease, ctx) < 0) {
        end_lease(ctx, call, false);
    }
}

static void lease(void *ctx, struct rpc_call *call, struct str request)
{
    assert_true(str_equal(request, STR("go")));
    if (rpc_call_send(call, STR("lease"), send_end, ctx) < 0) {
        end_lease(ctx, call, false);
    }
}

static void a_client_that_never_half_closes_sees_the_end(void **state)
{
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;

    (void)state;
    fixture_start_one(&f, RPC_BIDI, lease, NULL);
    stream = open_stream(&f);
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_READY);
    assert_string_equal(strbuf_text(&message), "lease");
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_READY);
    assert_string_equal(strbuf_text(&message), "end");
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(stream)->code, RPC_OK);
    rpc_stream_close(stream);
    fixture_stop(&f);
}

/*
 * A held stream: nothing happens until someone sends or wakes.
 */

static void *wake(void *arg)
{
    rpc_stream_wake((struct rpc_stream *)arg);
    return NULL;
}

static void a_waiting_reader_can_be_woken(void **state)
{
    struct counter ended = COUNTER_INIT;
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;
    pthread_t thread;

    (void)state;
    fixture_start_one(&f, RPC_BIDI, echo_all, &ended);
    stream = rpc_stream_open(f.channel, "/t.T/M", NULL);
    assert_int_equal(rpc_stream_next(stream, 0, &message), RPC_WAIT_TIMEOUT);
    assert_int_equal(rpc_stream_next(stream, 20, &message), RPC_WAIT_TIMEOUT);
    assert_int_equal(pthread_create(&thread, NULL, wake, stream), 0);
    assert_int_equal(rpc_stream_next(stream, -1, &message), RPC_WAIT_TIMEOUT);
    pthread_join(thread, NULL);
    assert_int_equal(rpc_stream_send(stream, STR("a"), -1), RPC_WAIT_READY);
    assert_int_equal(rpc_stream_next(stream, -1, &message), RPC_WAIT_READY);
    rpc_stream_close(stream);
    assert_true(counter_wait(&ended, 1));
    fixture_stop(&f);
}

static void streams_over_the_limit_are_refused(void **state)
{
    struct counter ended = COUNTER_INIT;
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_BIDI, .handle = echo_all, .ctx = &ended};
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *first = NULL, *second = NULL;

    (void)state;
    fixture_start(&f, (struct rpc_server_options){.methods = &method,
                                                  .method_count = 1,
                                                  .stream_count_max = 1});
    first = open_stream(&f);
    assert_int_equal(rpc_stream_next(first, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_READY);
    /* It may be refused before it has sent. */
    second = rpc_stream_open(f.channel, "/t.T/M", NULL);
    assert_int_equal(rpc_stream_next(second, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(second)->code, RPC_RESOURCE_EXHAUSTED);
    rpc_stream_close(second);
    rpc_stream_close(first);
    assert_true(counter_wait(&ended, 1));
    fixture_stop(&f);
}

static void a_stream_without_request_is_refused(void **state)
{
    struct counter ended = COUNTER_INIT;
    struct fixture f;
    auto_strbuf message = strbuf_make(0);
    struct rpc_stream *stream = NULL;

    (void)state;
    fixture_start_one(&f, RPC_BIDI, echo_all, &ended);
    stream = rpc_stream_open(f.channel, "/t.T/M", NULL);
    rpc_stream_close_send(stream);
    assert_int_equal(rpc_stream_next(stream, FIXTURE_WAIT_MS, &message),
                     RPC_WAIT_ENDED);
    assert_int_equal(rpc_stream_status(stream)->code, RPC_INTERNAL);
    rpc_stream_close(stream);
    assert_int_equal(counter_value(&ended), 0);
    fixture_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_stream_brings_all_messages_in_order),
        TEST(messages_that_travel_together_come_in_order),
        TEST(a_slow_reader_holds_the_producer_back),
        TEST(a_reader_that_never_reads_stops_nobody_else),
        TEST(a_reader_that_leaves_is_seen_by_the_producer),
        TEST(bidi_messages_go_both_ways),
        TEST(an_oversize_further_message_ends_the_stream),
        TEST(a_client_that_never_half_closes_sees_the_end),
        TEST(a_waiting_reader_can_be_woken),
        TEST(streams_over_the_limit_are_refused),
        TEST(a_stream_without_request_is_refused),
    };

    return RUN_TESTS(tests);
}
