/*
 * Event streams: what they show, in what order, from where, and how they end
 * (armada-api.md 2.1, 2.2).
 */

#include "api/core/event_id.h"
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "model/gang_terms.h"
#include "sample.h"
#include "unit.h"

static const struct event_scope scope = {{"q", 1}, {"s", 1}, {"anonymous", 9}};

/* Submit one job to q/s; its id. */
static struct job_id submit(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    struct job_id id;

    assert_non_null(response);
    assert_int_equal(
        job_id_parse(str_of(response->job_response_items[0]->job_id), &id), 0);
    return id;
}

static struct rpc_stream *events(struct fixture *f, const char *from,
                                 bool is_watch, bool is_missing_error)
{
    Api__JobSetRequest request = API__JOB_SET_REQUEST__INIT;

    request.queue = field("q");
    request.id = field("s");
    request.from_message_id = field(from);
    request.watch = is_watch;
    request.errorifmissing = is_missing_error;
    return fixture_stream(f, "/api.Event/GetJobSetEvents", &request.base);
}

static Api__EventStreamMessage *next(struct fixture *f,
                                     struct rpc_stream *stream)
{
    return fixture_next(f, stream, &api__event_stream_message__descriptor);
}

/* Log that a job was leased. */
static void lease(struct fixture *f, struct job_id job)
{
    struct event event = {.type = EVENT_LEASED,
                          .created_ms = f->now_ms,
                          .job = job,
                          .run = run_id_make(job, 0),
                          .leased = {.executor_id = STR("cluster"),
                                     .node_name = STR("node"),
                                     .pool = STR("default")}};

    fixture_log(f, &scope, &event);
}

static void cancelled(struct fixture *f, struct job_id job, struct str reason)
{
    struct event event = {
        .type = EVENT_CANCELLED,
        .created_ms = f->now_ms,
        .job = job,
        .cancel = {.reason = reason, .requestor = STR("amy")}};

    fixture_log(f, &scope, &event);
}

static void test_event_ids(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
        struct event_id id;
    } cases[] = {
        {"1:2:3:0", true, {1, 2, 3, false}},
        {"1700000000123:9:0:1", true, {1700000000123, 9, 0, true}},
        {"5-7", true, {5, 7, 0, true}},
        {"", false, {0}},
        {"5", false, {0}},
        {"1:2:3", false, {0}},
        {"1:2:3:2", false, {0}},
        {"1:2:3:0:", false, {0}},
        {"-1:2:3:0", false, {0}},
        {"1:2:x:0", false, {0}},
        {"1:99999999999999999999:3:0", false, {0}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct event_id id = {0};
        char text[EVENT_ID_TEXT_BYTES_MAX];
        int rc = event_id_parse(str_of(cases[i].text), &id);
        assert_int_equal(rc == 0, cases[i].is_good);
        if (rc == 0) {
            assert_int_equal(id.time_ms, cases[i].id.time_ms);
            assert_int_equal(id.seq, cases[i].id.seq);
            assert_int_equal(id.index, cases[i].id.index);
            assert_int_equal(id.is_last, cases[i].id.is_last);
            event_id_format(&id, text);
            assert_true(strchr(cases[i].text, '-') ||
                        strcmp(text, cases[i].text) == 0);
        }
    }
}

/* TRAP-08: the job is shown completed, in the field that is deprecated. */
static void test_trap_08_submitted_then_queued(void **state)
{
    struct fixture f;
    char id[ID_TEXT_BYTES_MAX];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct job_id job = submit(&f);
    struct rpc_stream *stream = events(&f, "", false, true);
    Api__EventStreamMessage *message = next(&f, stream);
    assert_non_null(message);
    assert_int_equal(message->message->events_case,
                     API__EVENT_MESSAGE__EVENTS_SUBMITTED);
    Api__JobSubmittedEvent *event = message->message->submitted;
    assert_string_equal(event->job_id, job_id_format(job, id));
    assert_string_equal(event->queue, "q");
    assert_string_equal(event->job_set_id, "s");
    assert_int_equal(event->created->seconds, f.now_ms / 1000);
    assert_int_equal(event->created->nanos, f.now_ms % 1000 * 1000000);
    assert_string_equal(event->job->owner, "anonymous");
    assert_string_equal(event->job->namespace_, "default");
    assert_int_equal(event->job->n_pod_specs, 0);
    assert_non_null(event->job->pod_spec);
    assert_int_equal(event->job->pod_spec->activedeadlineseconds, 259200);
    assert_int_equal(event->job->pod_spec->n_tolerations, 2);
    K8s__Io__Api__Core__V1__ResourceRequirements *all =
        event->job->scheduling_resource_requirements;
    assert_int_equal(all->n_requests, 3);
    assert_string_equal(all->requests[0]->key, "cpu");
    assert_string_equal(all->requests[0]->value->string, "1");
    assert_string_equal(all->requests[2]->value->string, "1Gi");
    message = next(&f, stream);
    assert_non_null(message);
    assert_int_equal(message->message->events_case,
                     API__EVENT_MESSAGE__EVENTS_QUEUED);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_OK);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

static void test_missing_job_set(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct rpc_stream *stream = events(&f, "", true, true);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    assert_string_equal(f.status.message,
                        "[GetJobSetEvents] Jobset s for queue q does not "
                        "exist");
    rpc_stream_close(stream);
    stream = events(&f, "", false, false);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_OK);
    rpc_stream_close(stream);
    /* A watch waits for the first event. */
    stream = events(&f, "", true, false);
    submit(&f);
    Api__EventStreamMessage *message = next(&f, stream);
    assert_non_null(message);
    assert_int_equal(message->message->events_case,
                     API__EVENT_MESSAGE__EVENTS_SUBMITTED);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* From each id the stream goes on with the event after it. */
static void test_resume_after_each_id(void **state)
{
    enum { EVENT_COUNT = 6 };
    struct fixture f;
    char *ids[EVENT_COUNT];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct job_id job = submit(&f);
    lease(&f, job);
    submit(&f);
    cancelled(&f, job, STR("because"));
    struct rpc_stream *stream = events(&f, "", false, true);
    for (int i = 0; i < EVENT_COUNT; i++) {
        Api__EventStreamMessage *message = next(&f, stream);
        assert_non_null(message);
        ids[i] = message->id;
    }
    assert_null(next(&f, stream));
    rpc_stream_close(stream);
    for (int i = 0; i < EVENT_COUNT; i++) {
        stream = events(&f, ids[i], false, true);
        for (int k = i + 1; k < EVENT_COUNT; k++) {
            Api__EventStreamMessage *message = next(&f, stream);
            assert_non_null(message);
            assert_string_equal(message->id, ids[k]);
        }
        assert_null(next(&f, stream));
        assert_int_equal(f.status.code, RPC_OK);
        rpc_stream_close(stream);
    }
    /* The first event of a submission is not the last of its record. */
    assert_string_equal(strrchr(ids[0], ':'), ":0");
    assert_string_equal(strrchr(ids[1], ':'), ":1");
    fixture_fini(&f);
}

static void test_bad_id_is_unknown(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct rpc_stream *stream = events(&f, "yesterday", false, false);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_UNKNOWN);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* Watchers of one job set hear of it, others do not; many at once. */
static void test_watch_wakes_the_right_ones(void **state)
{
    enum { WATCHER_COUNT = 20 };
    struct fixture f;
    struct rpc_stream *streams[WATCHER_COUNT];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct job_id job = submit(&f);
    for (int i = 0; i < WATCHER_COUNT; i++) {
        streams[i] = events(&f, "", true, true);
        assert_non_null(next(&f, streams[i]));
        assert_non_null(next(&f, streams[i]));
    }
    assert_int_equal(api_watcher_count(f.api), WATCHER_COUNT);
    lease(&f, job);
    cancelled(&f, job, STR("because"));
    for (int i = 0; i < WATCHER_COUNT; i++) {
        Api__EventStreamMessage *message = next(&f, streams[i]);
        assert_int_equal(message->message->events_case,
                         API__EVENT_MESSAGE__EVENTS_LEASED);
        assert_string_equal(message->message->leased->cluster_id, "cluster");
        message = next(&f, streams[i]);
        assert_int_equal(message->message->events_case,
                         API__EVENT_MESSAGE__EVENTS_CANCELLED);
        /* Reasons are left out; who did it is not. */
        assert_string_equal(message->message->cancelled->reason, "");
        assert_string_equal(message->message->cancelled->requestor, "amy");
        rpc_stream_close(streams[i]);
    }
    fixture_fini(&f);
}

static void test_the_end_of_a_group_that_succeeded_is_told(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    struct job_id job = submit(&f);
    struct rpc_stream *stream = events(&f, "", true, true);
    assert_non_null(next(&f, stream));
    assert_non_null(next(&f, stream));
    cancelled(&f, job, STR(GANG_SUCCEEDED_REASON));
    assert_string_equal(next(&f, stream)->message->cancelled->reason,
                        GANG_SUCCEEDED_REASON);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* A client that goes away frees its stream at once, waiting or not. */
static void test_cancel_frees_the_watcher(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    submit(&f);
    struct rpc_stream *stream = events(&f, "", true, true);
    assert_non_null(next(&f, stream));
    assert_non_null(next(&f, stream));
    rpc_stream_close(stream);
    while (api_watcher_count(f.api) > 0) {
        fixture_settle(&f);
    }
    fixture_fini(&f);
}

/* More watchers than the limit are refused politely. */
static void test_watcher_limit(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    f.config.watchers_max = 1;
    fixture_start(&f);
    fixture_queue(&f, "q");
    submit(&f);
    struct rpc_stream *first = events(&f, "", true, true);
    assert_non_null(next(&f, first));
    struct rpc_stream *second = events(&f, "", true, true);
    assert_null(next(&f, second));
    assert_int_equal(f.status.code, RPC_RESOURCE_EXHAUSTED);
    rpc_stream_close(second);
    rpc_stream_close(first);
    fixture_fini(&f);
}

/* A record with more events than the buffer holds comes whole, and a client
 * that has read nothing yet holds up nobody. */
static void test_slow_reader_of_a_large_record(void **state)
{
    enum { JOB_COUNT = 2000 };
    struct fixture f;
    Berth__Submission__Item **items;
    struct event_id last = {0};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    items = arena_alloc_array(&f.arena, JOB_COUNT, sizeof(*items));
    for (int i = 0; i < JOB_COUNT; i++) {
        items[i] = sample_item(&f.arena, sample_pod(&f.arena));
    }
    Berth__Submission__Request *request =
        sample_request_of(&f.arena, items, JOB_COUNT);
    assert_non_null(fixture_call(&f, "/api.Submit/SubmitJobs", &request->base,
                                 &api__job_submit_response__descriptor));
    struct rpc_stream *stream = events(&f, "", true, true);
    submit(&f);
    for (int i = 0; i < 2 * (JOB_COUNT + 1); i++) {
        Api__EventStreamMessage *message = next(&f, stream);
        struct event_id id;
        assert_non_null(message);
        assert_int_equal(event_id_parse(str_of(message->id), &id), 0);
        assert_true(id.seq > last.seq ||
                    (id.seq == last.seq && id.index == last.index + 1));
        assert_int_equal(id.is_last,
                         i == 2 * JOB_COUNT - 1 || i == 2 * JOB_COUNT + 1);
        last = id;
    }
    rpc_stream_close(stream);
    fixture_fini(&f);
}

/* Armada's older Watch is the same, and never of what is missing. */
static void test_watch_method(void **state)
{
    struct fixture f;
    Api__WatchRequest request = API__WATCH_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    request.queue = field("q");
    request.job_set_id = field("s");
    struct rpc_stream *stream =
        fixture_stream(&f, "/api.Event/Watch", &request.base);
    assert_null(next(&f, stream));
    assert_int_equal(f.status.code, RPC_NOT_FOUND);
    rpc_stream_close(stream);
    submit(&f);
    stream = fixture_stream(&f, "/api.Event/Watch", &request.base);
    assert_non_null(next(&f, stream));
    rpc_stream_close(stream);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_event_ids),
        TEST(test_trap_08_submitted_then_queued),
        TEST(test_missing_job_set),
        TEST(test_resume_after_each_id),
        TEST(test_bad_id_is_unknown),
        TEST(test_watch_wakes_the_right_ones),
        TEST(test_the_end_of_a_group_that_succeeded_is_told),
        TEST(test_cancel_frees_the_watcher),
        TEST(test_watcher_limit),
        TEST(test_slow_reader_of_a_large_record),
        TEST(test_watch_method),
    };

    return RUN_TESTS(tests);
}
