/*
 * Reports of the scheduler and health (armada-api.md 1.11 and 1.12).
 */

#include "api_fixture.h"
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
        TEST(test_health),
        TEST(test_health_can_be_watched),
    };

    return RUN_TESTS(tests);
}
