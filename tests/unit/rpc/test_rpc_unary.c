/*
 * Unary calls over loopback sockets: rpc_server.h and rpc_channel.h.
 */
#include "rpc_fixture.h"

static void an_answer_comes_back(void **state)
{
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, fixture_echo, NULL);
    assert_int_equal(rpc_channel_call(f.channel, "/t.T/M", STR("hello"), NULL,
                                      &reply, &status),
                     RPC_OK);
    assert_string_equal(strbuf_text(&reply), "hello");
    assert_string_equal(status.message, "");
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR(""), NULL, &reply, NULL),
        RPC_OK);
    assert_int_equal(reply.byte_count, 0);
    fixture_stop(&f);
}

static void an_unknown_method_is_unimplemented(void **state)
{
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start_one(&f, RPC_UNARY, fixture_echo, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/N", STR("x"), NULL, &reply, NULL),
        RPC_UNIMPLEMENTED);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, NULL),
        RPC_OK);
    fixture_stop(&f);
}

/* Keeps each call and answers it from a thread of its own. */
static void *answer(void *arg)
{
    rpc_call_finish((struct rpc_call *)arg, RPC_OK, NULL, STR("late"));
    return NULL;
}

static void answer_later(void *ctx, struct rpc_call *call, struct str request)
{
    pthread_t thread;

    (void)ctx;
    (void)request;
    assert_int_equal(pthread_create(&thread, NULL, answer, call), 0);
    pthread_detach(thread);
}

static void count_ok(void *ctx, const struct rpc_status *status,
                     struct str reply)
{
    if (status->code == RPC_OK && str_equal(reply, STR("late"))) {
        counter_add((struct counter *)ctx, 1);
    }
}

static void calls_may_be_answered_later_from_other_threads(void **state)
{
    struct fixture f;
    struct counter ok = COUNTER_INIT;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, answer_later, NULL);
    for (int i = 0; i < 200; i++) {
        rpc_channel_call_async(f.channel, "/t.T/M", STR("x"), NULL, count_ok,
                               &ok);
    }
    assert_true(counter_wait(&ok, 200));
    fixture_stop(&f);
}

static void refuse_utf8(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    (void)request;
    rpc_call_finish(call, RPC_NOT_FOUND,
                    "Schlange \"größer\" 100% \xe6\x97\xa5\n", STR("dropped"));
}

static void a_status_message_may_hold_any_text(void **state)
{
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, refuse_utf8, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, &status),
        RPC_NOT_FOUND);
    assert_string_equal(status.message,
                        "Schlange \"größer\" 100% \xe6\x97\xa5\n");
    assert_int_equal(reply.byte_count, 0);
    assert_string_equal(rpc_code_name(status.code), "NOT_FOUND");
    fixture_stop(&f);
}

static void refuse_field(void *ctx, struct rpc_call *call, struct str request)
{
    (void)ctx;
    (void)request;
    rpc_call_set_field(call, "items[0]");
    rpc_call_set_field(call, "items[7]");
    rpc_call_finish(call, RPC_INVALID_ARGUMENT, "bad", STR(""));
}

static void a_status_may_name_the_field_that_is_refused(void **state)
{
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, refuse_field, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, &status),
        RPC_INVALID_ARGUMENT);
    assert_string_equal(status.message, "bad");
    assert_string_equal(status.field, "items[7]");
    rpc_channel_call(f.channel, "/t.T/N", STR("x"), NULL, &reply, &status);
    assert_string_equal(status.field, "");
    fixture_stop(&f);
}

static void refuse_at_length(void *ctx, struct rpc_call *call,
                             struct str request)
{
    char text[2 * RPC_MESSAGE_BYTES_MAX] = {0};

    (void)ctx;
    (void)request;
    /* Two-byte characters, so that the cut falls inside one. */
    for (size_t i = 0; i + 2 < sizeof(text); i += 2) {
        memcpy(text + i, "\xc3\xbc", 2);
    }
    rpc_call_finish(call, RPC_INTERNAL, text, (struct str){0});
}

static void a_long_status_message_is_cut_between_characters(void **state)
{
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);
    struct rpc_status status;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, refuse_at_length, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, &status),
        RPC_INTERNAL);
    assert_int_equal(strlen(status.message), RPC_MESSAGE_BYTES_MAX - 2);
    fixture_stop(&f);
}

static void tell_headers(void *ctx, struct rpc_call *call, struct str request)
{
    auto_strbuf text = strbuf_make(0);
    int64_t remaining_ms = rpc_call_remaining_ms(call);

    (void)ctx;
    (void)request;
    strbuf_addf(&text, "%.*s|%.*s|%s|%d|%.5s|%.9s",
                STR_ARG(rpc_call_header(call, "authorization")),
                STR_ARG(rpc_call_header(call, "x-request-id")),
                rpc_call_path(call),
                remaining_ms > 5000 && remaining_ms <= 10100,
                rpc_call_header(call, "user-agent").p, rpc_call_peer(call));
    assert_null(rpc_call_header(call, "x-none").p);
    rpc_call_finish(call, RPC_OK, NULL, strbuf_str(&text));
}

static void a_handler_sees_headers_peer_and_deadline(void **state)
{
    static const struct rpc_header headers[] = {{"authorization", "Basic dTpw"},
                                                {"x-request-id", "r-1"}};
    const struct rpc_call_options options = {
        .timeout_ms = 10000, .headers = headers, .header_count = 2};
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start_one(&f, RPC_UNARY, tell_headers, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), &options, &reply, NULL),
        RPC_OK);
    assert_string_equal(strbuf_text(&reply),
                        "Basic dTpw|r-1|/t.T/M|1|grpc-|ipv4:127.");
    fixture_stop(&f);
}

static void an_illegal_header_is_refused_on_this_side(void **state)
{
    static const struct rpc_header headers[] = {{"authorization", "a\nb"}};
    const struct rpc_call_options options = {.headers = headers,
                                             .header_count = 1};
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start_one(&f, RPC_UNARY, fixture_echo, NULL);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), &options, &reply, NULL),
        RPC_INVALID_ARGUMENT);
    fixture_stop(&f);
}

/* Keeps a call until it is cancelled. */
struct keeper {
    struct counter arrived, cancelled;
};

static void finish_cancelled(void *ctx, struct rpc_call *call)
{
    struct keeper *keeper = (struct keeper *)ctx;

    assert_true(rpc_call_is_cancelled(call));
    rpc_call_finish(call, RPC_OK, NULL, STR("too late"));
    counter_add(&keeper->cancelled, 1);
}

static void keep(void *ctx, struct rpc_call *call, struct str request)
{
    struct keeper *keeper = (struct keeper *)ctx;

    (void)request;
    if (rpc_call_on_cancelled(call, finish_cancelled, keeper) < 0) {
        finish_cancelled(keeper, call);
    }
    counter_add(&keeper->arrived, 1);
}

static void a_deadline_ends_the_call_on_both_sides(void **state)
{
    struct keeper keeper = {COUNTER_INIT, COUNTER_INIT};
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start_one(&f, RPC_UNARY, keep, &keeper);
    /* On a busy machine it may be over before the server has seen it. */
    for (struct rpc_call_options options = {.timeout_ms = 50};
         counter_value(&keeper.arrived) == 0; options.timeout_ms *= 2) {
        assert_true(options.timeout_ms < FIXTURE_WAIT_MS);
        assert_int_equal(rpc_channel_call(f.channel, "/t.T/M", STR("x"),
                                          &options, &reply, NULL),
                         RPC_DEADLINE_EXCEEDED);
    }
    assert_true(counter_wait(&keeper.cancelled, 1));
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"),
                         &(struct rpc_call_options){.timeout_ms = -1}, &reply,
                         NULL),
        RPC_DEADLINE_EXCEEDED);
    fixture_stop(&f);
}

static void count_any(void *ctx, const struct rpc_status *status,
                      struct str reply)
{
    (void)status;
    (void)reply;
    counter_add((struct counter *)ctx, 1);
}

static void a_client_that_leaves_is_seen_by_the_server(void **state)
{
    struct keeper keeper = {COUNTER_INIT, COUNTER_INIT};
    struct counter ended = COUNTER_INIT;
    struct fixture f;

    (void)state;
    fixture_start_one(&f, RPC_UNARY, keep, &keeper);
    for (int i = 0; i < 20; i++) {
        rpc_channel_call_async(f.channel, "/t.T/M", STR("x"), NULL, count_any,
                               &ended);
    }
    assert_true(counter_wait(&keeper.arrived, 20));
    rpc_channel_close(f.channel);
    f.channel = NULL;
    assert_int_equal(counter_value(&ended), 20);
    assert_true(counter_wait(&keeper.cancelled, 20));
    fixture_stop(&f);
}

static void without_a_server_a_call_fails_or_waits_as_asked(void **state)
{
    struct err err;
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);
    struct rpc_channel *channel = NULL;

    (void)state;
    /* A port that was free a moment ago. */
    fixture_start_one(&f, RPC_UNARY, fixture_echo, NULL);
    fixture_stop(&f);
    channel = rpc_channel_open(
        &(struct rpc_channel_options){.address = f.address}, &err);
    assert_int_equal(
        rpc_channel_call(channel, "/t.T/M", STR("x"), NULL, &reply, NULL),
        RPC_UNAVAILABLE);
    assert_int_equal(
        rpc_channel_call(channel, "/t.T/M", STR("x"),
                         &(struct rpc_call_options){.timeout_ms = 50,
                                                    .is_wait_for_ready = true},
                         &reply, NULL),
        RPC_DEADLINE_EXCEEDED);
    rpc_channel_close(channel);
}

static void a_channel_comes_back_when_the_server_does(void **state)
{
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = fixture_echo};
    struct rpc_server_options options = {.methods = &method, .method_count = 1};
    const char *addresses[1];
    struct fixture f;
    struct err err = {""};
    int64_t until_ms = fixture_now_ms() + FIXTURE_WAIT_MS;
    enum rpc_code code = RPC_UNKNOWN;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start(&f, options);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, NULL),
        RPC_OK);
    rpc_server_destroy(f.server);
    addresses[0] = f.address;
    options.addresses = addresses;
    options.address_count = 1;
    f.server = rpc_server_create(&options, &err);
    assert_string_equal(err.text, "");
    /* A call that still goes out on the old connection may be lost with it. */
    do {
        code = rpc_channel_call(
            f.channel, "/t.T/M", STR("x"),
            &(struct rpc_call_options){.timeout_ms = FIXTURE_WAIT_MS,
                                       .is_wait_for_ready = true},
            &reply, NULL);
    } while (code == RPC_UNAVAILABLE && fixture_now_ms() < until_ms);
    assert_int_equal(code, RPC_OK);
    fixture_stop(&f);
}

static void calls_over_the_limit_are_refused(void **state)
{
    struct keeper keeper = {COUNTER_INIT, COUNTER_INIT};
    struct counter ended = COUNTER_INIT;
    const struct rpc_method method = {
        .path = "/t.T/M", .kind = RPC_UNARY, .handle = keep, .ctx = &keeper};
    struct fixture f;
    auto_strbuf reply = strbuf_make(0);

    (void)state;
    fixture_start(&f, (struct rpc_server_options){.methods = &method,
                                                  .method_count = 1,
                                                  .call_count_max = 3});
    for (int i = 0; i < 3; i++) {
        rpc_channel_call_async(f.channel, "/t.T/M", STR("x"), NULL, count_any,
                               &ended);
    }
    assert_true(counter_wait(&keeper.arrived, 3));
    assert_int_equal(rpc_server_call_count(f.server), 3);
    assert_int_equal(
        rpc_channel_call(f.channel, "/t.T/M", STR("x"), NULL, &reply, NULL),
        RPC_RESOURCE_EXHAUSTED);
    assert_int_equal(counter_value(&keeper.arrived), 3);
    fixture_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_answer_comes_back),
        TEST(an_unknown_method_is_unimplemented),
        TEST(calls_may_be_answered_later_from_other_threads),
        TEST(a_status_message_may_hold_any_text),
        TEST(a_status_may_name_the_field_that_is_refused),
        TEST(a_long_status_message_is_cut_between_characters),
        TEST(a_handler_sees_headers_peer_and_deadline),
        TEST(an_illegal_header_is_refused_on_this_side),
        TEST(a_deadline_ends_the_call_on_both_sides),
        TEST(a_client_that_leaves_is_seen_by_the_server),
        TEST(without_a_server_a_call_fails_or_waits_as_asked),
        TEST(a_channel_comes_back_when_the_server_does),
        TEST(calls_over_the_limit_are_refused),
    };

    return RUN_TESTS(tests);
}
