/*
 * Queries of jobs and their runs (armada-api.md 1.8; trap 15).
 */
#include "api_fixture.h"
#include "armada/services.pb-c.h"
#include "field.h"
#include "sample.h"
#include "unit.h"

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
    assert_int_equal(texts->n_job_errors, 1); /* nothing of what is unknown */
    assert_string_equal(texts->job_errors[0]->key, ids[0]);
    assert_string_equal(texts->job_errors[0]->value, "");
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_status),
        TEST(test_too_many_ids),
        TEST(test_details),
        TEST(test_runs_and_errors),
    };

    return RUN_TESTS(tests);
}
