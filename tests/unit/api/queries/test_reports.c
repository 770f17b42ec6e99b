/*
 * Reports of the scheduler, logs and health (armada-api.md 1.10 to 1.12).
 */

#include "api_fixture.h"
#include "armada/binoculars.pb-c.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "unit.h"

/* Answers what the scheduler is asked for. */
static void on_query(struct fixture *f, struct command *command)
{
    (void)f;
    if (command->kind == COMMAND_QUERY_REPORT) {
        command->report.text = STR("all is well");
    } else if (command->kind == COMMAND_EXPLAIN) {
        command->result = COMMAND_NOT_FOUND;
        command->result_text = STR("no report for this job");
    }
}

static void test_reports(void **state)
{
    struct fixture f;
    Schedulerobjects__SchedulingReportRequest request =
        SCHEDULEROBJECTS__SCHEDULING_REPORT_REQUEST__INIT;
    Schedulerobjects__JobReportRequest job =
        SCHEDULEROBJECTS__JOB_REPORT_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    f.on_exchange = on_query;
    fixture_start(&f);
    Schedulerobjects__SchedulingReport *report = fixture_call(
        &f, "/schedulerobjects.SchedulerReporting/GetSchedulingReport",
        &request.base, &schedulerobjects__scheduling_report__descriptor);
    assert_string_equal(report->report, "all is well");
    static const char *const path =
        "/schedulerobjects.SchedulerReporting/GetJobReport";
    job.job_id = field("x");
    assert_int_equal(fixture_code(&f, path, &job.base), RPC_INVALID_ARGUMENT);
    assert_string_equal(f.status.message, "x is not a valid jobId");
    job.job_id = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    Schedulerobjects__JobReport *about = fixture_call(
        &f, path, &job.base, &schedulerobjects__job_report__descriptor);
    assert_string_equal(about->report, "no report for this job");
    fixture_fini(&f);
}

/* Three lines of any pod, the second at the epoch plus 1.5 s. */
static int read_lines(const struct log_source *source,
                      const struct log_query *query, struct arena *arena,
                      struct log_answer *ret_answer, struct err *err)
{
    (void)source;
    (void)arena;
    if (str_equal(query->container, STR("none"))) {
        return err_set(err, -ERR_NOT_FOUND, "no such container");
    }
    assert_true(str_equal(query->since, STR("1970-01-01T01:00:01.5+01:00")));
    assert_int_equal(query->tail_lines, 2);
    *ret_answer = (struct log_answer){
        .text = STR(
            "1970-01-01T00:00:00Z hello\n1970-01-01T00:00:01.500Z world\xff\n"
            "9999-12-31T23:59:59.9Z late\n"),
        .is_cut = true};
    return 0;
}

static void test_logs(void **state)
{
    static const struct log_source source = {read_lines, NULL};
    struct fixture f;
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;
    static const char *const path = "/binoculars.Binoculars/Logs";

    (void)state;
    fixture_init(&f);
    f.logs = &source;
    fixture_start(&f);
    request.job_id = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    assert_int_equal(fixture_code(&f, path, &request.base),
                     RPC_INVALID_ARGUMENT);
    request.log_options = &options;
    request.since_time = field("1970-01-01T01:00:01.5+01:00");
    options.has_taillines = true;
    options.taillines = 2;
    Binoculars__LogResponse *response = fixture_call(
        &f, path, &request.base, &binoculars__log_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_log, 3);
    assert_string_equal(response->log[1]->timestamp,
                        "1970-01-01T00:00:01.500000000Z");
    assert_string_equal(response->log[2]->timestamp,
                        "9999-12-31T23:59:59.900000000Z");
    assert_string_equal(response->log[0]->line, "hello");
    assert_string_equal(response->log[1]->line, "world?");
    assert_true(response->cut);
    options.container = field("none");
    assert_int_equal(fixture_code(&f, path, &request.base), RPC_NOT_FOUND);
    request.since_time = field("yesterday");
    assert_int_equal(fixture_code(&f, path, &request.base),
                     RPC_INVALID_ARGUMENT);
    fixture_fini(&f);
}

/* Takes the time a client asks from. */
static int read_since(const struct log_source *source,
                      const struct log_query *query, struct arena *arena,
                      struct log_answer *ret_answer, struct err *err)
{
    (void)source;
    (void)err;
    *ret_answer = (struct log_answer){.text = arena_str(arena, query->since)};
    return 0;
}

static void logs_since_any_number_of_seconds_are_asked_for(void **state)
{
    static const struct log_source source = {read_since, NULL};
    struct fixture f;
    Binoculars__LogRequest request = BINOCULARS__LOG_REQUEST__INIT;
    K8s__Io__Api__Core__V1__PodLogOptions options =
        K8S__IO__API__CORE__V1__POD_LOG_OPTIONS__INIT;

    (void)state;
    fixture_init(&f);
    f.logs = &source;
    fixture_start(&f);
    request.job_id = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    request.log_options = &options;
    options.has_sinceseconds = true;
    options.sinceseconds = INT64_MIN;
    Binoculars__LogResponse *response =
        fixture_call(&f, "/binoculars.Binoculars/Logs", &request.base,
                     &binoculars__log_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_log, 1);
    assert_int_equal(strncmp(response->log[0]->timestamp, "9999-12-31T", 11),
                     0);
    options.sinceseconds = INT64_MAX; /* before any log: all of it */
    response = fixture_call(&f, "/binoculars.Binoculars/Logs", &request.base,
                            &binoculars__log_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_log, 0);
    fixture_fini(&f);
}

static void test_health(void **state)
{
    struct fixture f;
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;
    static const char *const paths[] = {"/api.Submit/Health",
                                        "/api.Event/Health",
                                        "/grpc.health.v1.Health/Check"};

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
        Api__HealthCheckResponse *response = fixture_call(
            &f, paths[i], &empty.base, &api__health_check_response__descriptor);
        assert_non_null(response);
        assert_int_equal(response->status, 1);
    }
    fixture_fini(&f);
}

/* One status comes at once; then the stream stays open. */
static void test_health_can_be_watched(void **state)
{
    struct fixture f;
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;
    static const char path[] = "/grpc.health.v1.Health/Watch";

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    for (int i = 0; i < 2; i++) {
        struct rpc_stream *stream = fixture_stream(&f, path, &empty.base);
        Api__HealthCheckResponse *response =
            fixture_next(&f, stream, &api__health_check_response__descriptor);
        assert_non_null(response);
        assert_int_equal(response->status, 1);
        assert_int_equal(
            fixture_code(&f, "/grpc.health.v1.Health/Check", &empty.base),
            RPC_OK);
        rpc_stream_cancel(stream);
        assert_null(
            fixture_next(&f, stream, &api__health_check_response__descriptor));
        assert_int_equal(f.status.code, RPC_CANCELLED);
        rpc_stream_close(stream);
    }
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_reports),
        TEST(test_logs),
        TEST(logs_since_any_number_of_seconds_are_asked_for),
        TEST(test_health),
        TEST(test_health_can_be_watched),
    };

    return RUN_TESTS(tests);
}
