/*
 * Sessions in jobs: a user's stream and an executor's, tied to each other; each
 * session ends once, whoever goes.
 */
#include <poll.h>

#include "api/exec/exec_link.h"
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "patience.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

static const char exec_path[] = "/berth.api.Berth/Exec";

static struct rpc_stream *open_stream(struct fixture *f, const char *path)
{
    struct rpc_call_options options = {.is_wait_for_ready = true};

    return rpc_stream_open(f->channel, path, &options);
}

static void say(struct fixture *f, struct rpc_stream *stream,
                const ProtobufCMessage *message)
{
    struct str bytes = wire_encode_arena(message, &f->arena);

    assert_int_equal(rpc_stream_send(stream, bytes, patient_ms(10000)),
                     RPC_WAIT_READY);
}

/* The next message of a stream. */
static void *hear(struct fixture *f, struct rpc_stream *stream,
                  const ProtobufCMessageDescriptor *type)
{
    auto_strbuf bytes = {0};
    ProtobufCMessage *message;
    struct err err;

    assert_int_equal(rpc_stream_next(stream, patient_ms(10000), &bytes),
                     RPC_WAIT_READY);
    assert_int_equal(wire_decode(type, arena_str(&f->arena, strbuf_str(&bytes)),
                                 &wire_request_limits, &f->arena, &message,
                                 &err),
                     0);
    return message;
}

static enum rpc_code end_of(struct rpc_stream *stream)
{
    auto_strbuf bytes = {0};

    assert_int_equal(rpc_stream_next(stream, patient_ms(10000), &bytes),
                     RPC_WAIT_ENDED);
    return rpc_stream_status(stream)->code;
}

/* A job that runs on the executor "cluster"; `is_running` false: that was only
 * leased. */
static struct job_id make_job(struct fixture *f, bool is_running)
{
    static const struct event_scope scope = {
        .queue = {"q", 1}, .job_set = {"s", 1}, .user = {"amy", 3}};
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    struct event event = {.type = EVENT_LEASED, .created_ms = f->now_ms};

    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    assert_int_equal(
        job_id_parse(str_of(response->job_response_items[0]->job_id),
                     &event.job),
        0);
    fixture_settle(f);
    event.run = run_id_make(event.job, 0);
    event.leased.executor_id = STR("cluster");
    event.leased.node_name = STR("node");
    event.leased.pool = STR("default");
    fixture_log(f, &scope, &event);
    if (is_running) {
        event.type = EVENT_RUN_RUNNING;
        fixture_log(f, &scope, &event);
    }
    fixture_settle(f);
    return event.job;
}

/* A user's session in a job. */
static struct rpc_stream *enter(struct fixture *f, struct job_id job)
{
    struct rpc_stream *stream = open_stream(f, exec_path);
    Berth__Api__ExecInput input = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecStart start = BERTH__API__EXEC_START__INIT;
    char id[ID_TEXT_BYTES_MAX];
    char *words[] = {field("ls")};

    job_id_format(job, id);
    start.job_id = id;
    start.command = words;
    start.n_command = 1;
    input.start = &start;
    say(f, stream, &input.base);
    return stream;
}

/* The executor's stream of questions. */
static struct rpc_stream *serve(struct fixture *f)
{
    struct rpc_stream *stream = open_stream(f, "/berth.api.Berth/ServeLogs");
    Berth__Api__LogAnswer hello = BERTH__API__LOG_ANSWER__INIT;

    hello.executor_id = field("cluster");
    say(f, stream, &hello.base);
    return stream;
}

/* Enter, again while the server has not seen the executor: the number of its
 * question. */
static struct rpc_stream *enter_asked(struct fixture *f, struct job_id job,
                                      struct rpc_stream *logs,
                                      uint64_t *ret_number)
{
    auto_strbuf bytes = {0};
    ProtobufCMessage *message;
    struct err err;

    for (;;) {
        struct rpc_stream *user = enter(f, job);
        enum rpc_wait asked = RPC_WAIT_TIMEOUT;
        while (asked == RPC_WAIT_TIMEOUT && !rpc_stream_is_over(user)) {
            asked = rpc_stream_next(logs, 5, &bytes);
        }
        if (asked == RPC_WAIT_READY) {
            assert_int_equal(
                wire_decode(&berth__api__log_question__descriptor,
                            arena_str(&f->arena, strbuf_str(&bytes)),
                            &wire_request_limits, &f->arena, &message, &err),
                0);
            const Berth__Api__LogQuestion *question = (const void *)message;
            assert_true(question->exec);
            *ret_number = question->number;
            return user;
        }
        assert_int_equal(end_of(user), RPC_NOT_FOUND);
        rpc_stream_close(user);
    }
}

/* The executor comes to the session. */
static struct rpc_stream *come(struct fixture *f, uint64_t number)
{
    struct rpc_stream *stream = open_stream(f, "/berth.api.Berth/ServeExec");
    Berth__Api__ExecOutput hello = BERTH__API__EXEC_OUTPUT__INIT;

    hello.executor_id = field("cluster");
    hello.number = number;
    say(f, stream, &hello.base);
    return stream;
}

/* A server, an executor, and a session of both. */
struct scene {
    struct fixture f;
    struct rpc_stream *logs, *user, *executor;
};

static void begin(struct scene *s)
{
    uint64_t number;

    *s = (struct scene){0};
    fixture_init(&s->f);
    fixture_start(&s->f);
    fixture_queue(&s->f, "q");
    s->logs = serve(&s->f);
    s->user = enter_asked(&s->f, make_job(&s->f, true), s->logs, &number);
    s->executor = come(&s->f, number);
    const Berth__Api__ExecInput *start =
        hear(&s->f, s->executor, &berth__api__exec_input__descriptor);
    assert_non_null(start->start);
    assert_string_equal(start->start->command[0], "ls");
}

static void end(struct scene *s)
{
    rpc_stream_close(s->user);
    rpc_stream_close(s->executor);
    rpc_stream_close(s->logs);
    fixture_fini(&s->f);
}

static void bytes_go_both_ways_until_the_end(void **state)
{
    Berth__Api__ExecInput input = BERTH__API__EXEC_INPUT__INIT;
    Berth__Api__ExecOutput output = BERTH__API__EXEC_OUTPUT__INIT;
    Berth__Api__ExecEnd last = BERTH__API__EXEC_END__INIT;
    char typed[] = "typed", written[] = "written";
    struct scene s;

    (void)state;
    begin(&s);
    input.input.data = (uint8_t *)typed;
    input.input.len = 5;
    say(&s.f, s.user, &input.base);
    say(&s.f, s.user, &input.base);
    for (int i = 0; i < 2; i++) {
        const Berth__Api__ExecInput *came =
            hear(&s.f, s.executor, &berth__api__exec_input__descriptor);
        assert_int_equal(came->input.len, 5);
    }
    output.output.data = (uint8_t *)written;
    output.output.len = 7;
    say(&s.f, s.executor, &output.base);
    /* A user who types no more still reads. */
    rpc_stream_close_send(s.user);
    last.code = 3;
    output.end = &last;
    say(&s.f, s.executor, &output.base);
    rpc_stream_close_send(s.executor);
    const Berth__Api__ExecOutput *came =
        hear(&s.f, s.user, &berth__api__exec_output__descriptor);
    assert_memory_equal(came->output.data, "written", 7);
    came = hear(&s.f, s.user, &berth__api__exec_output__descriptor);
    assert_int_equal(came->end->code, 3);
    assert_int_equal(end_of(s.user), RPC_OK);
    assert_int_equal(end_of(s.executor), RPC_OK);
    end(&s);
}

static void the_executor_learns_that_its_user_is_gone(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    rpc_stream_cancel(s.user);
    assert_int_equal(end_of(s.executor), RPC_CANCELLED);
    end(&s);
}

/* Though it reads nothing, for its program does not. */
static void an_executor_that_does_not_read_learns_it_too(void **state)
{
    static uint8_t typed[16 << 10];
    Berth__Api__ExecInput input = BERTH__API__EXEC_INPUT__INIT;
    enum rpc_wait sent = RPC_WAIT_READY;
    struct scene s;

    (void)state;
    begin(&s);
    input.input.data = typed;
    input.input.len = sizeof(typed);
    struct str bytes = wire_encode_arena(&input.base, &s.f.arena);
    while (sent == RPC_WAIT_READY) {
        sent = rpc_stream_send(s.user, bytes, 200);
    }
    assert_int_equal(sent, RPC_WAIT_TIMEOUT);
    rpc_stream_cancel(s.user);
    int64_t left_ms = patient_ms(10000);
    for (; !rpc_stream_is_over(s.executor) && left_ms > 0; left_ms -= 5) {
        (void)rpc_stream_send(s.executor, STR(""), 0);
        (void)poll(NULL, 0, 5);
    }
    assert_true(left_ms > 0);
    end(&s);
}

static void the_user_learns_that_the_executor_is_gone(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    rpc_stream_cancel(s.executor);
    assert_int_equal(end_of(s.user), RPC_UNAVAILABLE);
    end(&s);
}

static void a_message_out_of_bounds_ends_the_session(void **state)
{
    static uint8_t many[EXEC_MESSAGE_BYTES_MAX];
    Berth__Api__ExecOutput output = BERTH__API__EXEC_OUTPUT__INIT;
    struct scene s;

    (void)state;
    begin(&s);
    output.output.data = many;
    output.output.len = sizeof(many);
    say(&s.f, s.executor, &output.base);
    assert_int_equal(end_of(s.user), RPC_INVALID_ARGUMENT);
    assert_int_equal(end_of(s.executor), RPC_CANCELLED);
    end(&s);
}

/* A number is good once, and for the executor that was asked. */
static void nobody_else_comes_to_a_session(void **state)
{
    struct scene s;
    uint64_t number;

    (void)state;
    begin(&s);
    struct rpc_stream *user =
        enter_asked(&s.f, make_job(&s.f, true), s.logs, &number);
    struct rpc_stream *again = come(&s.f, number - 1);
    assert_int_equal(end_of(again), RPC_NOT_FOUND);
    struct rpc_stream *other = open_stream(&s.f, "/berth.api.Berth/ServeExec");
    Berth__Api__ExecOutput hello = BERTH__API__EXEC_OUTPUT__INIT;
    hello.executor_id = field("another");
    hello.number = number;
    say(&s.f, other, &hello.base);
    assert_int_equal(end_of(other), RPC_NOT_FOUND);
    rpc_stream_close(other);
    rpc_stream_close(again);
    rpc_stream_close(user);
    end(&s);
}

static void answer(struct scene *s, uint64_t number, uint32_t code,
                   const char *text)
{
    Berth__Api__LogAnswer message = BERTH__API__LOG_ANSWER__INIT;

    message.number = number;
    message.code = code;
    message.message = field(text);
    say(&s->f, s->logs, &message.base);
}

static void an_executor_refuses_in_its_words(void **state)
{
    static const struct {
        uint32_t code;
        enum rpc_code seen;
    } cases[] = {
        {RPC_INVALID_ARGUMENT, RPC_FAILED_PRECONDITION},
        {RPC_NOT_FOUND, RPC_NOT_FOUND},
        {RPC_RESOURCE_EXHAUSTED, RPC_RESOURCE_EXHAUSTED},
        {RPC_OK, RPC_UNIMPLEMENTED}, /* it took it for a log's */
    };
    struct scene s;
    uint64_t number;

    (void)state;
    begin(&s);
    struct job_id job = make_job(&s.f, true);
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct rpc_stream *user = enter_asked(&s.f, job, s.logs, &number);
        answer(&s, number, cases[i].code, "runtime fake cannot exec");
        assert_int_equal(end_of(user), cases[i].seen);
        if (cases[i].code != RPC_OK) {
            assert_string_equal(rpc_stream_status(user)->message,
                                "runtime fake cannot exec");
        }
        rpc_stream_close(user);
    }
    end(&s);
}

static void a_job_that_does_not_run_lets_nobody_in(void **state)
{
    struct scene s;

    (void)state;
    begin(&s);
    struct rpc_stream *user = enter(&s.f, make_job(&s.f, false));
    assert_int_equal(end_of(user), RPC_FAILED_PRECONDITION);
    rpc_stream_close(user);
    user = open_stream(&s.f, exec_path);
    Berth__Api__ExecInput input = BERTH__API__EXEC_INPUT__INIT;
    say(&s.f, user, &input.base);
    assert_int_equal(end_of(user), RPC_INVALID_ARGUMENT);
    rpc_stream_close(user);
    end(&s);
}

/* One user cannot have them all. */
static void a_user_has_a_limit_of_sessions(void **state)
{
    struct rpc_stream *users[EXEC_SESSIONS_EACH_MAX], *last = NULL;
    enum rpc_code code = RPC_RESOURCE_EXHAUSTED;
    struct scene s;
    uint64_t number;

    (void)state;
    begin(&s); /* has one */
    struct job_id job = make_job(&s.f, true);
    for (int i = 1; i < EXEC_SESSIONS_EACH_MAX; i++) {
        users[i] = enter_asked(&s.f, job, s.logs, &number);
    }
    last = enter(&s.f, job);
    assert_int_equal(end_of(last), RPC_RESOURCE_EXHAUSTED);
    rpc_stream_close(last);
    rpc_stream_cancel(users[1]);
    assert_int_equal(end_of(users[1]), RPC_CANCELLED);
    while (code == RPC_RESOURCE_EXHAUSTED) {
        auto_strbuf bytes = {0};
        last = enter(&s.f, job);
        if (rpc_stream_next(s.logs, 100, &bytes) == RPC_WAIT_READY) {
            break; /* the executor is asked */
        }
        code = end_of(last);
        rpc_stream_close(last);
        last = NULL;
    }
    assert_non_null(last);
    rpc_stream_close(last);
    for (int i = 1; i < EXEC_SESSIONS_EACH_MAX; i++) {
        rpc_stream_close(users[i]);
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_go_both_ways_until_the_end),
        TEST(the_executor_learns_that_its_user_is_gone),
        TEST(an_executor_that_does_not_read_learns_it_too),
        TEST(the_user_learns_that_the_executor_is_gone),
        TEST(a_message_out_of_bounds_ends_the_session),
        TEST(nobody_else_comes_to_a_session),
        TEST(an_executor_refuses_in_its_words),
        TEST(a_job_that_does_not_run_lets_nobody_in),
        TEST(a_user_has_a_limit_of_sessions),
    };
    return RUN_TESTS(tests);
}
