/*
 * Queries, reports, logs and health (armada-api.md 1.8, 1.10 to 1.12; traps
 * 6 and 15), and the contents of `failed` (2.3).
 */
#include <stdio.h>

#include "api/event_convert.h"
#include "api_fixture.h"
#include "armada/binoculars.pb-c.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"
#include "wire/message.h"

static const struct event_scope scope = {{"q", 1}, {"s", 1}, {"anonymous", 9}};

static char *submit(struct fixture *f)
{
    Berth__Submission__Item *item =
        sample_item(&f->arena, sample_pod(&f->arena));
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, &item, 1);

    item->external_job_uri = field("a://1");
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    return response->job_response_items[0]->job_id;
}

static void log_event(struct fixture *f, const char *job, struct event *event)
{
    assert_int_equal(job_id_parse(str_of(job), &event->job), 0);
    event->run = run_id_make(event->job, 0);
    event->created_ms = f->now_ms;
    fixture_log(f, &scope, event);
}

static Api__JobState status_of(struct fixture *f, char *id)
{
    Api__JobStatusRequest request = API__JOB_STATUS_REQUEST__INIT;

    request.job_ids = &id;
    request.n_job_ids = 1;
    Api__JobStatusResponse *response =
        fixture_call(f, "/api.Jobs/GetJobStatus", &request.base,
                     &api__job_status_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_job_states, 1);
    assert_string_equal(response->job_states[0]->key, id);
    return response->job_states[0]->value;
}

/* TRAP-15: an id that is not known is answered, as UNKNOWN. */
static void test_status(void **state)
{
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    assert_int_equal(status_of(&f, field("01jzzzzzzzzzzzzzzzzzzzzzzz")),
                     API__JOB_STATE__UNKNOWN);
    assert_int_equal(status_of(&f, field("nonsense")), API__JOB_STATE__UNKNOWN);
    char *id = submit(&f);
    assert_int_equal(status_of(&f, id), API__JOB_STATE__QUEUED);
    struct event leased = {.type = EVENT_LEASED,
                           .leased = {.executor_id = STR("cluster"),
                                      .node_name = STR("node"),
                                      .pool = STR("default")}};
    log_event(&f, id, &leased);
    assert_int_equal(status_of(&f, id), API__JOB_STATE__LEASED);
    Api__JobStatusUsingExternalJobUriRequest by_uri =
        API__JOB_STATUS_USING_EXTERNAL_JOB_URI_REQUEST__INIT;
    by_uri.queue = field("q");
    by_uri.jobset = field("s");
    assert_int_equal(fixture_code(&f,
                                  "/api.Jobs/GetJobStatusUsingExternalJobUri",
                                  &by_uri.base),
                     RPC_UNKNOWN);
    by_uri.external_job_uri = field("a://1");
    Api__JobStatusResponse *response =
        fixture_call(&f, "/api.Jobs/GetJobStatusUsingExternalJobUri",
                     &by_uri.base, &api__job_status_response__descriptor);
    assert_int_equal(response->n_job_states, 1);
    assert_string_equal(response->job_states[0]->key, id);
    Api__GetActiveQueuesRequest empty = API__GET_ACTIVE_QUEUES_REQUEST__INIT;
    Api__GetActiveQueuesResponse *active =
        fixture_call(&f, "/api.Jobs/GetActiveQueues", &empty.base,
                     &api__get_active_queues_response__descriptor);
    assert_int_equal(active->n_active_queues_by_pool, 1);
    assert_string_equal(active->active_queues_by_pool[0]->key, "default");
    assert_string_equal(active->active_queues_by_pool[0]->value->queues[0],
                        "q");
    fixture_fini(&f);
}

static void test_too_many_ids(void **state)
{
    struct fixture f;
    Api__JobStatusRequest request = API__JOB_STATUS_REQUEST__INIT;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    request.n_job_ids = QUERY_ITEMS_DEFAULT_MAX + 1;
    request.job_ids = arena_alloc_array(&f.arena, request.n_job_ids,
                                        sizeof(request.job_ids[0]));
    for (size_t i = 0; i < request.n_job_ids; i++) {
        request.job_ids[i] = field("x");
    }
    assert_int_equal(fixture_code(&f, "/api.Jobs/GetJobStatus", &request.base),
                     RPC_UNKNOWN);
    fixture_fini(&f);
}

/* A job that has a node, and an address there. */
static char *submit_and_lease(struct fixture *f)
{
    char *id = submit(f);
    struct event leased = {.type = EVENT_LEASED,
                           .leased = {.executor_id = STR("cluster"),
                                      .node_name = STR("node"),
                                      .pool = STR("default")}};
    log_event(f, id, &leased);
    const struct str address = STR("\x08\x50\x12\x03"
                                   "a:1"); /* port 80 */
    struct event ingress = {.type = EVENT_INGRESS_INFO,
                            .ingress = {&address, 1}};
    log_event(f, id, &ingress);
    return id;
}

static void test_details(void **state)
{
    struct fixture f;
    Api__JobDetailsRequest request = API__JOB_DETAILS_REQUEST__INIT;
    char *ids[2];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    static const char *const path = "/api.Jobs/GetJobDetails";
    Api__JobDetailsResponse *response = fixture_call(
        &f, path, &request.base, &api__job_details_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_job_details, 0);
    ids[0] = submit_and_lease(&f);
    ids[1] = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    request.job_ids = ids;
    request.n_job_ids = 2;
    request.expand_job_run = request.expand_job_spec = true;
    response = fixture_call(&f, path, &request.base,
                            &api__job_details_response__descriptor);
    assert_int_equal(response->n_job_details, 1);
    Api__JobDetails *details = response->job_details[0]->value;
    assert_string_equal(details->job_id, ids[0]);
    assert_string_equal(details->queue, "q");
    assert_string_equal(details->jobset, "s");
    assert_string_equal(details->namespace_, "default");
    assert_int_equal(details->submitted_ts->seconds, f.now_ms / 1000);
    assert_null(details->cancel_ts);
    assert_non_null(details->job_spec);
    assert_non_null(details->job_spec->pod_spec);
    assert_int_equal(details->n_job_runs, 1);
    assert_string_equal(details->job_runs[0]->cluster, "cluster");
    assert_int_equal(details->job_runs[0]->n_ingress_addresses, 1);
    assert_int_equal(details->job_runs[0]->ingress_addresses[0]->key, 80);
    assert_string_equal(details->job_runs[0]->ingress_addresses[0]->value,
                        "a:1");
    assert_int_equal(details->job_runs[0]->state,
                     API__JOB_RUN_STATE__RUN_STATE_LEASED);
    assert_string_equal(details->latest_run_id, details->job_runs[0]->run_id);
    fixture_fini(&f);
}

/* A run is told of by its id; of a job that has not failed, and of one that is
 * unknown, the error is empty. */
static void test_runs_and_errors(void **state)
{
    struct fixture f;
    char *ids[2], run_id[ID_TEXT_BYTES_MAX];
    char *run_ids[] = {run_id};
    struct job_id job;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    ids[0] = submit_and_lease(&f);
    ids[1] = field("01jzzzzzzzzzzzzzzzzzzzzzzz");
    assert_int_equal(job_id_parse(str_of(ids[0]), &job), 0);
    run_id_format(run_id_make(job, 0), run_id);
    Api__JobRunDetailsRequest run = API__JOB_RUN_DETAILS_REQUEST__INIT;
    run.run_ids = run_ids;
    run.n_run_ids = 1;
    Api__JobRunDetailsResponse *runs =
        fixture_call(&f, "/api.Jobs/GetJobRunDetails", &run.base,
                     &api__job_run_details_response__descriptor);
    assert_int_equal(runs->n_job_run_details, 1);
    Api__JobErrorsRequest errors = API__JOB_ERRORS_REQUEST__INIT;
    errors.job_ids = ids;
    errors.n_job_ids = 2;
    Api__JobErrorsResponse *texts =
        fixture_call(&f, "/api.Jobs/GetJobErrors", &errors.base,
                     &api__job_errors_response__descriptor);
    assert_int_equal(texts->n_job_errors, 2);
    assert_string_equal(texts->job_errors[0]->value, "");
    fixture_fini(&f);
}

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

/* Two lines of any pod, the second at the epoch plus 1.5 s. */
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
        STR("1970-01-01T00:00:00Z hello\n1970-01-01T00:00:01.500Z world\xff\n"),
        true};
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
    assert_int_equal(response->n_log, 2);
    assert_string_equal(response->log[1]->timestamp,
                        "1970-01-01T00:00:01.500000000Z");
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

/* The `failed` events of one errors fact. */
struct failed {
    Api__JobFailedEvent event;
    int count;
};

static int take_failed(void *ctx, const Api__EventMessage *message)
{
    struct failed *failed = ctx;

    assert_int_equal(message->events_case, API__EVENT_MESSAGE__EVENTS_FAILED);
    failed->event = *message->failed;
    failed->count++;
    return 0;
}

static struct failed convert_error(struct arena *arena,
                                   Armadaevents__Error *error)
{
    Armadaevents__JobErrors errors = ARMADAEVENTS__JOB_ERRORS__INIT;
    Armadaevents__EventSequence__Event event =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__INIT;
    struct failed failed = {.count = 0};
    struct err err;

    errors.errors = &error;
    errors.n_errors = 1;
    errors.job_id = field("j");
    event.event_case = ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_ERRORS;
    event.joberrors = &errors;
    int rc = event_convert(wire_encode_arena(&event.base, arena), &scope, arena,
                           take_failed, &failed, &err);
    assert_int_equal(rc, 0);
    assert_int_equal(failed.count, 1);
    return failed;
}

/* TRAP-06: a rejected job shows as failed, with its cause. */
static void test_trap_06_failed_contents(void **state)
{
    auto_arena arena = {0};
    Armadaevents__Error error = ARMADAEVENTS__ERROR__INIT;
    Armadaevents__JobRejected rejected = ARMADAEVENTS__JOB_REJECTED__INIT;
    Armadaevents__LeaseExpired expired = ARMADAEVENTS__LEASE_EXPIRED__INIT;
    Armadaevents__JobRunPreemptedError preempted =
        ARMADAEVENTS__JOB_RUN_PREEMPTED_ERROR__INIT;

    (void)state;
    error.terminal = true;
    error.reason_case = ARMADAEVENTS__ERROR__REASON_JOB_REJECTED;
    error.jobrejected = &rejected;
    rejected.message = field("fits nowhere");
    Api__JobFailedEvent event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "fits nowhere");
    assert_int_equal(event.cause, API__CAUSE__Rejected);
    assert_string_equal(event.failure_category, "internal");
    assert_string_equal(event.failure_subcategory, "job-rejected");
    assert_false(event.retryable);

    error.reason_case = ARMADAEVENTS__ERROR__REASON_LEASE_EXPIRED;
    error.leaseexpired = &expired;
    event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "Lease expired");
    assert_string_equal(event.failure_subcategory, "lease-expired");

    error.reason_case = ARMADAEVENTS__ERROR__REASON_JOB_RUN_PREEMPTED_ERROR;
    error.jobrunpreemptederror = &preempted;
    preempted.reason = field("Preempted by amy");
    event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "Preempted by amy");
    assert_string_equal(event.failure_category, "");
}

/* A pod's own failure shows what its containers did. */
static void test_failed_contents_of_a_pod(void **state)
{
    auto_arena arena = {0};
    Armadaevents__Error error = ARMADAEVENTS__ERROR__INIT;
    Armadaevents__PodError pod = ARMADAEVENTS__POD_ERROR__INIT;
    Armadaevents__ObjectMeta meta = ARMADAEVENTS__OBJECT_META__INIT;
    Armadaevents__ContainerError container =
        ARMADAEVENTS__CONTAINER_ERROR__INIT;
    Armadaevents__ContainerError *containers[] = {&container};

    (void)state;
    error.reason_case = ARMADAEVENTS__ERROR__REASON_POD_ERROR;
    error.poderror = &pod;
    error.failure_category = field("user_error");
    meta.executor_id = field("cluster");
    meta.name = field("armada-j-0");
    container.objectmeta = &meta;
    container.exit_code = 3;
    pod.objectmeta = &meta;
    pod.message = field("it broke");
    pod.node_name = field("node");
    pod.kubernetes_reason = ARMADAEVENTS__KUBERNETES_REASON__OOM;
    pod.containererrors = containers;
    pod.n_containererrors = 1;
    Api__JobFailedEvent event = convert_error(&arena, &error).event;
    assert_string_equal(event.reason, "it broke");
    assert_int_equal(event.cause, API__CAUSE__OOM);
    assert_string_equal(event.cluster_id, "cluster");
    assert_string_equal(event.node_name, "node");
    assert_string_equal(event.pod_name, "armada-j-0");
    assert_int_equal(event.n_container_statuses, 1);
    assert_int_equal(event.container_statuses[0]->exitcode, 3);
    assert_string_equal(event.failure_category, "user_error");
    assert_true(event.retryable);
}

static int count_event(void *ctx, const Api__EventMessage *message)
{
    (void)message;
    ++*(int *)ctx;
    return 0;
}

/* TRAP-07: many facts show nothing. */
static void test_trap_07_silent_facts(void **state)
{
    auto_arena arena = {0};
    Armadaevents__EventSequence__Event event =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__INIT;
    Armadaevents__JobRequeued requeued = ARMADAEVENTS__JOB_REQUEUED__INIT;
    Armadaevents__JobRunSucceeded succeeded =
        ARMADAEVENTS__JOB_RUN_SUCCEEDED__INIT;
    Armadaevents__CancelJobSet cancel = ARMADAEVENTS__CANCEL_JOB_SET__INIT;
    int count = 0;
    struct err err;

    (void)state;
    event.event_case = ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_REQUEUED;
    event.jobrequeued = &requeued;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_JOB_RUN_SUCCEEDED;
    event.jobrunsucceeded = &succeeded;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    event.event_case =
        ARMADAEVENTS__EVENT_SEQUENCE__EVENT__EVENT_CANCEL_JOB_SET;
    event.canceljobset = &cancel;
    assert_int_equal(event_convert(wire_encode_arena(&event.base, &arena),
                                   &scope, &arena, count_event, &count, &err),
                     0);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_status),
        TEST(test_too_many_ids),
        TEST(test_details),
        TEST(test_runs_and_errors),
        TEST(test_reports),
        TEST(test_logs),
        TEST(test_health),
        TEST(test_health_can_be_watched),
        TEST(test_trap_06_failed_contents),
        TEST(test_failed_contents_of_a_pod),
        TEST(test_trap_07_silent_facts),
    };

    return RUN_TESTS(tests);
}
