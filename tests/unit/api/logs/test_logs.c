/*
 * Logs that the server asks an executor for, over the stream that it holds
 * open: each question is answered once, whatever becomes of the executor.
 */
#include <pthread.h>

#include "api/logs/log_hub.h"
#include "api_fixture.h"
#include "armada/binoculars.pb-c.h"
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "field.h"
#include "patience.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

static const char logs_path[] = "/binoculars.Binoculars/Logs";

/* A call for logs under way. */
struct asker {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool is_answered;
    struct rpc_status status;
    struct strbuf reply;
};

static void on_reply(void *ctx, const struct rpc_status *status,
                     struct str reply)
{
    struct asker *asker = ctx;

    pthread_mutex_lock(&asker->mutex);
    asker->is_answered = true;
    asker->status = *status;
    strbuf_add_str(&asker->reply, reply);
    pthread_cond_signal(&asker->changed);
    pthread_mutex_unlock(&asker->mutex);
}

static void ask(struct fixture *f, struct job_id job, int64_t timeout_ms,
                struct asker *asker)
{
    auto_arena arena = {0};
    char id[ID_TEXT_BYTES_MAX];
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;
    struct rpc_call_options how = {.timeout_ms = timeout_ms};

    *asker = (struct asker){.reply = strbuf_make(0)};
    pthread_mutex_init(&asker->mutex, NULL);
    pthread_cond_init(&asker->changed, NULL);
    job_id_format(job, id);
    request.job_id = id;
    options.container = field("main");
    request.log_options = &options;
    rpc_channel_call_async(f->channel, logs_path,
                           wire_encode_arena(&request.base, &arena), &how,
                           on_reply, asker);
}

/* Wait for the end of a call: its code. */
static enum rpc_code outcome(struct asker *asker)
{
    pthread_mutex_lock(&asker->mutex);
    while (!asker->is_answered) {
        pthread_cond_wait(&asker->changed, &asker->mutex);
    }
    pthread_mutex_unlock(&asker->mutex);
    return asker->status.code;
}

static void asker_fini(struct asker *asker)
{
    strbuf_fini(&asker->reply);
    pthread_cond_destroy(&asker->changed);
    pthread_mutex_destroy(&asker->mutex);
}

static void say(struct fixture *f, struct rpc_stream *stream,
                const Berth__Api__LogAnswer *answer)
{
    struct str bytes = wire_encode_arena(&answer->base, &f->arena);

    assert_int_equal(rpc_stream_send(stream, bytes, 10000), RPC_WAIT_READY);
}

/* Connect as the executor `id`.  The stream is known to the server once it
 * has asked something on it. */
static struct rpc_stream *serve(struct fixture *f, const char *id)
{
    struct rpc_call_options options = {.is_wait_for_ready = true};
    struct rpc_stream *stream =
        rpc_stream_open(f->channel, "/berth.api.Berth/ServeLogs", &options);
    Berth__Api__LogAnswer hello = BERTH__API__LOG_ANSWER__INIT;

    hello.executor_id = field(id);
    say(f, stream, &hello);
    return stream;
}

static struct job_id queued_job(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    struct job_id id;

    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    assert_int_equal(
        job_id_parse(str_of(response->job_response_items[0]->job_id), &id), 0);
    fixture_settle(f);
    return id;
}

/* A job that runs on the executor "cluster". */
static struct job_id leased_job(struct fixture *f)
{
    static const struct event_scope scope = {
        .queue = {"q", 1}, .job_set = {"s", 1}, .user = {"amy", 3}};
    struct job_id id = queued_job(f);

    struct event event = {.type = EVENT_LEASED,
                          .created_ms = f->now_ms,
                          .job = id,
                          .run = run_id_make(id, 0),
                          .leased = {.executor_id = STR("cluster"),
                                     .node_name = STR("node"),
                                     .pool = STR("default")}};
    fixture_log(f, &scope, &event);
    fixture_settle(f);
    return id;
}

static bool is_answered(struct asker *asker)
{
    pthread_mutex_lock(&asker->mutex);
    bool is = asker->is_answered;
    pthread_mutex_unlock(&asker->mutex);
    return is;
}

/* Ask, again while the server has not seen the stream, and give what comes on
 * it. */
static Berth__Api__LogQuestion *ask_on(struct fixture *f, struct job_id job,
                                       struct rpc_stream *stream,
                                       struct asker *asker)
{
    enum rpc_wait wait = RPC_WAIT_TIMEOUT;
    auto_strbuf bytes = strbuf_make(0);
    ProtobufCMessage *message;
    struct err err;

    while (wait == RPC_WAIT_TIMEOUT) {
        ask(f, job, 0, asker);
        while (wait == RPC_WAIT_TIMEOUT && !is_answered(asker)) {
            wait = rpc_stream_next(stream, 5, &bytes);
        }
        if (wait == RPC_WAIT_TIMEOUT) {
            assert_int_equal(outcome(asker), RPC_NOT_FOUND);
            asker_fini(asker);
        }
    }
    assert_int_equal(wait, RPC_WAIT_READY);
    assert_int_equal(wire_decode(&berth__api__log_question__descriptor,
                                 arena_str(&f->arena, strbuf_str(&bytes)),
                                 &wire_request_limits, &f->arena, &message,
                                 &err),
                     0);
    return (Berth__Api__LogQuestion *)(void *)message;
}

static void begin(struct fixture *f, uint32_t timeout_ms)
{
    fixture_init(f);
    if (timeout_ms) {
        f->config.log_timeout_ms = timeout_ms;
    }
    fixture_start(f);
    fixture_queue(f, "q");
}

static void answer(struct fixture *f, struct rpc_stream *stream,
                   uint64_t number, const char *text)
{
    Berth__Api__LogAnswer message = BERTH__API__LOG_ANSWER__INIT;

    message.number = number;
    message.text.data = (uint8_t *)(uintptr_t)text;
    message.text.len = strlen(text);
    say(f, stream, &message);
}

static void the_executor_that_has_the_job_answers(void **state)
{
    struct fixture f;
    struct asker asker;
    char id[ID_TEXT_BYTES_MAX];
    ProtobufCMessage *message;
    struct err err;

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *other = serve(&f, "another");
    struct rpc_stream *stream = serve(&f, "cluster");
    Berth__Api__LogQuestion *question = ask_on(&f, job, stream, &asker);
    assert_string_equal(question->job_id, job_id_format(job, id));
    assert_string_equal(question->container, "main");
    assert_int_equal(question->line_count_max, -1);
    assert_int_equal(question->byte_count_max, LOG_BYTES_MAX);
    answer(&f, stream, 99, "1970-01-01T00:00:01Z not asked\n");
    answer(&f, stream, question->number, "1970-01-01T00:00:01Z hello\n");
    assert_int_equal(outcome(&asker), RPC_OK);
    assert_int_equal(wire_decode(&binoculars__log_response__descriptor,
                                 strbuf_str(&asker.reply), &wire_request_limits,
                                 &f.arena, &message, &err),
                     0);
    const Binoculars__LogResponse *response = (const void *)message;
    assert_int_equal(response->n_log, 1);
    assert_string_equal(response->log[0]->line, "hello");
    asker_fini(&asker);
    rpc_stream_close(other);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* Begin a call. */
static void call_with(struct fixture *f, const char *path,
                      const ProtobufCMessage *request, struct asker *asker)
{
    struct rpc_call_options how = {0};

    *asker = (struct asker){.reply = strbuf_make(0)};
    pthread_mutex_init(&asker->mutex, NULL);
    pthread_cond_init(&asker->changed, NULL);
    rpc_channel_call_async(f->channel, path,
                           wire_encode_arena(request, &f->arena), &how,
                           on_reply, asker);
}

/* The question for files on a stream that has been seen: a caller's `request`,
 * and the executor's `answer` to it. */
static void ask_files(struct fixture *f, struct rpc_stream *stream,
                      const char *path, const ProtobufCMessage *request,
                      Berth__Api__LogAnswer *answer, struct asker *asker)
{
    call_with(f, path, request, asker);
    const Berth__Api__LogQuestion *question =
        fixture_next(f, stream, &berth__api__log_question__descriptor);
    assert_true(question->list_files || question->read_file);
    answer->number = question->number;
    say(f, stream, answer);
}

static void files_are_asked_for_on_the_same_stream(void **state)
{
    struct fixture f;
    struct asker asker;
    char id[ID_TEXT_BYTES_MAX], text[] = "hello";
    Berth__Api__ReadJobFileRequest read =
        BERTH__API__READ_JOB_FILE_REQUEST__INIT;
    Berth__Api__ListJobFilesRequest list =
        BERTH__API__LIST_JOB_FILES_REQUEST__INIT;
    Berth__Api__ReadJobFileResponse part =
        BERTH__API__READ_JOB_FILE_RESPONSE__INIT;
    Berth__Api__LogAnswer said = BERTH__API__LOG_ANSWER__INIT;
    static const char list_path[] = "/berth.api.Berth/ListJobFiles";
    static const char read_path[] = "/berth.api.Berth/ReadJobFile";

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    answer(&f, stream, ask_on(&f, job, stream, &asker)->number, "");
    assert_int_equal(outcome(&asker), RPC_OK);
    asker_fini(&asker);
    read.job_id = list.job_id = (char *)(uintptr_t)job_id_format(job, id);
    read.path = field("a");
    part.bytes.data = (uint8_t *)text;
    part.bytes.len = strlen(text);
    said.part = &part;
    ask_files(&f, stream, read_path, &read.base, &said, &asker);
    assert_int_equal(outcome(&asker), RPC_OK);
    assert_non_null(memmem(asker.reply.bytes, asker.reply.byte_count, text, 5));
    asker_fini(&asker);
    /* What was not asked for is not passed on, nor what an old one answers. */
    ask_files(&f, stream, list_path, &list.base, &said, &asker);
    assert_int_equal(outcome(&asker), RPC_UNIMPLEMENTED);
    asker_fini(&asker);
    said.part = NULL;
    ask_files(&f, stream, read_path, &read.base, &said, &asker);
    assert_int_equal(outcome(&asker), RPC_UNIMPLEMENTED);
    asker_fini(&asker);
    said.code = RPC_ABORTED;
    ask_files(&f, stream, read_path, &read.base, &said, &asker);
    assert_int_equal(outcome(&asker), RPC_ABORTED);
    asker_fini(&asker);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* What the executor says is wrong is what the caller is told. */
static void a_refusal_is_passed_on(void **state)
{
    struct fixture f;
    struct asker asker;
    Berth__Api__LogAnswer refusal = BERTH__API__LOG_ANSWER__INIT;

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    refusal.number = ask_on(&f, job, stream, &asker)->number;
    refusal.code = RPC_NOT_FOUND;
    refusal.message = field("no container x");
    say(&f, stream, &refusal);
    assert_int_equal(outcome(&asker), RPC_NOT_FOUND);
    assert_string_equal(asker.status.message, "no container x");
    asker_fini(&asker);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static void a_question_is_answered_when_time_is_up(void **state)
{
    struct fixture f;
    struct asker asker;

    (void)state;
    begin(&f, (uint32_t)patient_ms(300));
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    uint64_t number = ask_on(&f, job, stream, &asker)->number;
    assert_int_equal(outcome(&asker), RPC_UNAVAILABLE);
    assert_string_equal(asker.status.message, "the executor does not answer");
    asker_fini(&asker);
    answer(&f, stream, number, "late");
    (void)ask_on(&f, job, stream, &asker);
    assert_int_equal(outcome(&asker), RPC_UNAVAILABLE);
    asker_fini(&asker);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static void questions_end_with_the_stream(void **state)
{
    struct fixture f;
    struct asker asker;

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    (void)ask_on(&f, job, stream, &asker);
    rpc_stream_close(stream);
    assert_int_equal(outcome(&asker), RPC_UNAVAILABLE);
    assert_string_equal(asker.status.message, "the executor has disconnected");
    asker_fini(&asker);
    fixture_fini(&f);
}

/* An executor that comes back is asked where it is now. */
static void the_newest_stream_counts(void **state)
{
    struct fixture f;
    struct asker first, second;

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *old = serve(&f, "cluster");
    (void)ask_on(&f, job, old, &first);
    struct rpc_stream *stream = serve(&f, "cluster");
    assert_int_equal(outcome(&first), RPC_UNAVAILABLE);
    asker_fini(&first);
    assert_null(fixture_next(&f, old, &berth__api__log_question__descriptor));
    assert_int_equal(f.status.code, RPC_ABORTED);
    uint64_t number = ask_on(&f, job, stream, &second)->number;
    answer(&f, stream, number, "");
    assert_int_equal(outcome(&second), RPC_OK);
    asker_fini(&second);
    rpc_stream_close(old);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* Ask `count` times, and once more, which is refused. */
static void fill(bool is_administrator, int count)
{
    static const struct str everyone[] = {{"everyone", 8}};
    struct fixture f;
    struct asker askers[LOG_QUESTIONS_MAX], one_more;

    fixture_init(&f);
    if (is_administrator) {
        f.config.auth.administrators = (struct permission_grant){everyone, 1};
    }
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    (void)ask_on(&f, job, stream, &askers[0]);
    for (int i = 1; i < count; i++) {
        ask(&f, job, 0, &askers[i]);
        (void)fixture_next(&f, stream, &berth__api__log_question__descriptor);
    }
    ask(&f, job, 0, &one_more);
    assert_int_equal(outcome(&one_more), RPC_RESOURCE_EXHAUSTED);
    asker_fini(&one_more);
    rpc_stream_close(stream);
    for (int i = 0; i < count; i++) {
        assert_int_equal(outcome(&askers[i]), RPC_UNAVAILABLE);
        asker_fini(&askers[i]);
    }
    fixture_fini(&f);
}

/* An executor that does not answer is not asked without end, and nobody's
 * questions take the place of all others'. */
static void questions_that_wait_are_bounded(void **state)
{
    (void)state;
    fill(true, LOG_QUESTIONS_MAX);
    fill(false, LOG_QUESTIONS_EACH_MAX);
}

/* Who has gone away is not answered, and the next is. */
static void an_asker_may_go_away(void **state)
{
    struct fixture f;
    struct asker gone, asker;

    (void)state;
    begin(&f, 0);
    struct job_id job = leased_job(&f);
    struct rpc_stream *stream = serve(&f, "cluster");
    uint64_t number = ask_on(&f, job, stream, &asker)->number;
    ask(&f, job, 300, &gone);
    (void)fixture_next(&f, stream, &berth__api__log_question__descriptor);
    assert_int_equal(outcome(&gone), RPC_DEADLINE_EXCEEDED);
    answer(&f, stream, number + 1, "nobody wants it");
    answer(&f, stream, number, "");
    assert_int_equal(outcome(&asker), RPC_OK);
    asker_fini(&asker);
    asker_fini(&gone);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* A job that ended without a run has no logs to come. */
static void a_job_that_never_ran_says_what_became_of_it(void **state)
{
    static const struct event_scope scope = {
        .queue = {"q", 1}, .job_set = {"s", 1}, .user = {"amy", 3}};
    struct event events[] = {
        {.type = EVENT_CANCELLED},
        {.type = EVENT_FAILED,
         .error = {.kind = ERROR_REJECTED,
                   .is_terminal = true,
                   .message = STR("it fits nowhere\nNearest is n")}},
    };
    static const char *const texts[] = {
        "the job was cancelled and never ran",
        "the job failed and never ran: it fits nowhere",
    };
    struct fixture f;
    struct asker asker;

    (void)state;
    begin(&f, 0);
    for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
        struct job_id job = queued_job(&f);
        ask(&f, job, 0, &asker);
        assert_int_equal(outcome(&asker), RPC_NOT_FOUND);
        assert_string_equal(asker.status.message, "the job has not run yet");
        asker_fini(&asker);
        events[i].created_ms = f.now_ms;
        events[i].job = job;
        fixture_log(&f, &scope, &events[i]);
        fixture_settle(&f);
        ask(&f, job, 0, &asker);
        assert_int_equal(outcome(&asker), RPC_NOT_FOUND);
        assert_string_equal(asker.status.message, texts[i]);
        asker_fini(&asker);
    }
    fixture_fini(&f);
}

/* The server has no logs of its own, whose reading would hold up its calls:
 * also where a pod runs under this very program its executor is asked. */
static void without_its_executor_there_are_no_logs(void **state)
{
    struct fixture f;
    struct asker asker;

    (void)state;
    begin(&f, 0);
    ask(&f, leased_job(&f), 0, &asker);
    assert_int_equal(outcome(&asker), RPC_NOT_FOUND);
    assert_string_equal(asker.status.message,
                        "executor cluster does not serve logs and files now");
    asker_fini(&asker);
    fixture_fini(&f);
}

/* Ask on a stream that has been seen, and take the question that comes of
 * it. */
static const Berth__Api__LogQuestion *
question_of(struct fixture *f, struct rpc_stream *stream,
            const Binoculars__LogRequest *request, struct asker *asker)
{
    call_with(f, logs_path, &request->base, asker);
    const Berth__Api__LogQuestion *question =
        fixture_next(f, stream, &berth__api__log_question__descriptor);
    assert_non_null(question);
    return question;
}

/* The reply to a call. */
static const Binoculars__LogResponse *response_of(struct fixture *f,
                                                  struct asker *asker)
{
    ProtobufCMessage *message;
    struct err err;

    assert_int_equal(outcome(asker), RPC_OK);
    assert_int_equal(
        wire_decode(&binoculars__log_response__descriptor,
                    arena_str(&f->arena, strbuf_str(&asker->reply)),
                    &wire_request_limits, &f->arena, &message, &err),
        0);
    asker_fini(asker);
    return (const void *)message;
}

/* What one test of the lines needs: a job, and the stream of its executor. */
static struct rpc_stream *begin_lines(struct fixture *f,
                                      Binoculars__LogRequest *request)
{
    char id[ID_TEXT_BYTES_MAX];
    struct asker asker;

    begin(f, 0);
    struct job_id job = leased_job(f);
    struct rpc_stream *stream = serve(f, "cluster");
    answer(f, stream, ask_on(f, job, stream, &asker)->number, "");
    assert_int_equal(outcome(&asker), RPC_OK);
    asker_fini(&asker);
    request->job_id = arena_strdup(&f->arena, str_of(job_id_format(job, id)));
    return stream;
}

static void lines_have_times(void **state)
{
    struct fixture f;
    struct asker asker;
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    Berth__Api__LogAnswer said = BERTH__API__LOG_ANSWER__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;
    char text[] =
        "1970-01-01T00:00:00Z hello\n1970-01-01T00:00:01.500Z world\xff\n"
        "9999-12-31T23:59:59.9Z late\n";

    (void)state;
    struct rpc_stream *stream = begin_lines(&f, &request);
    assert_int_equal(fixture_code(&f, logs_path, &request.base),
                     RPC_INVALID_ARGUMENT);
    request.log_options = &options;
    request.since_time = field("1970-01-01T01:00:01.5+01:00");
    options.has_taillines = true;
    options.taillines = 2;
    const Berth__Api__LogQuestion *question =
        question_of(&f, stream, &request, &asker);
    assert_string_equal(question->since, "1970-01-01T01:00:01.5+01:00");
    assert_int_equal(question->line_count_max, 2);
    said.number = question->number;
    said.text.data = (uint8_t *)text;
    said.text.len = strlen(text);
    said.cut = true;
    say(&f, stream, &said);
    const Binoculars__LogResponse *response = response_of(&f, &asker);
    assert_int_equal(response->n_log, 3);
    assert_string_equal(response->log[1]->timestamp,
                        "1970-01-01T00:00:01.500000000Z");
    assert_string_equal(response->log[2]->timestamp,
                        "9999-12-31T23:59:59.900000000Z");
    assert_string_equal(response->log[0]->line, "hello");
    assert_string_equal(response->log[1]->line, "world?");
    assert_true(response->cut);
    request.since_time = field("yesterday");
    assert_int_equal(fixture_code(&f, logs_path, &request.base),
                     RPC_INVALID_ARGUMENT);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static void logs_since_any_number_of_seconds_are_asked_for(void **state)
{
    struct fixture f;
    struct asker asker;
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;

    (void)state;
    struct rpc_stream *stream = begin_lines(&f, &request);
    request.log_options = &options;
    options.has_sinceseconds = true;
    options.sinceseconds = INT64_MIN;
    const Berth__Api__LogQuestion *question =
        question_of(&f, stream, &request, &asker);
    assert_int_equal(strncmp(question->since, "9999-12-31T", 11), 0);
    answer(&f, stream, question->number, "");
    (void)response_of(&f, &asker);
    options.sinceseconds = INT64_MAX; /* before any log: all of it */
    question = question_of(&f, stream, &request, &asker);
    assert_string_equal(question->since, "");
    answer(&f, stream, question->number, "");
    assert_int_equal(response_of(&f, &asker)->n_log, 0);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static void a_stream_says_whose_it_is(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f, 0);
    struct rpc_stream *stream = serve(&f, "");
    assert_null(
        fixture_next(&f, stream, &berth__api__log_question__descriptor));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_executor_that_has_the_job_answers),
        TEST(files_are_asked_for_on_the_same_stream),
        TEST(a_refusal_is_passed_on),
        TEST(a_question_is_answered_when_time_is_up),
        TEST(questions_end_with_the_stream),
        TEST(the_newest_stream_counts),
        TEST(questions_that_wait_are_bounded),
        TEST(an_asker_may_go_away),
        TEST(a_job_that_never_ran_says_what_became_of_it),
        TEST(without_its_executor_there_are_no_logs),
        TEST(lines_have_times),
        TEST(logs_since_any_number_of_seconds_are_asked_for),
        TEST(a_stream_says_whose_it_is),
    };

    return RUN_TESTS(tests);
}
