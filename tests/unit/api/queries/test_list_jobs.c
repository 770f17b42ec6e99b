/*
 * list_jobs, explain and backup: what the API serves beyond Armada's services.
 */
#include <stdio.h>

#include "api_fixture.h"
#include "armada/scheduler_reporting.pb-c.h"
#include "berth/api.pb-c.h"
#include "sample.h"
#include "unit.h"
#include "wire/message/message.h"

enum { JOBS = 5 };

/* Which of them gets the label k=v; -1: none. */
static int labelled = -1;

/* Five jobs of queue q in the store, oldest first. */
static void make_jobs(struct fixture *f, char *ids[JOBS])
{
    Berth__Submission__Item *items[JOBS];
    Api__JobSubmitResponse *response;

    fixture_queue(f, "q");
    for (int i = 0; i < JOBS; i++) {
        items[i] = sample_item(&f->arena, sample_pod(&f->arena));
        if (i == labelled) {
            sample_label(&f->arena, items[i], "k", "v");
        }
    }
    response = fixture_call(f, "/api.Submit/SubmitJobs",
                            &sample_request_of(&f->arena, items, JOBS)->base,
                            &api__job_submit_response__descriptor);
    assert_non_null(response);
    for (int i = 0; i < JOBS; i++) {
        ids[i] = response->job_response_items[i]->job_id;
    }
    fixture_settle(f);
}

static Berth__Api__ListJobsResponse *
list_jobs(struct fixture *f, const Berth__Api__ListJobsRequest *request)
{
    return fixture_call(f, "/berth.api.Berth/ListJobs", &request->base,
                        &berth__api__list_jobs_response__descriptor);
}

static void jobs_are_listed_newest_first_in_pages(void **state)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    Berth__Api__ListJobsResponse *response;
    struct fixture f;
    char *ids[JOBS];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    make_jobs(&f, ids);
    request.limit = 2;
    int at = JOBS;
    do {
        response = list_jobs(&f, &request);
        assert_non_null(response);
        for (size_t i = 0; i < response->n_jobs; i++) {
            assert_string_equal(response->jobs[i]->job_id, ids[--at]);
            assert_string_equal(response->jobs[i]->queue, "q");
            assert_int_equal(response->jobs[i]->state, API__JOB_STATE__QUEUED);
        }
        request.older_than_job_id = response->next_job_id;
    } while (*response->next_job_id);
    assert_int_equal(at, 0);
    fixture_fini(&f);
}

static void jobs_are_found_by_id_queue_and_state(void **state)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    Api__JobState failed = API__JOB_STATE__FAILED;
    char unknown[] = "01h00000000000000000000000", other[] = "other";
    struct fixture f;
    char *ids[JOBS], *named[2];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    make_jobs(&f, ids);
    named[0] = unknown;
    named[1] = ids[3];
    request.job_ids = named;
    request.n_job_ids = 2;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 1);
    request.n_job_ids = 0;
    request.queue = other;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 0);
    request.queue = ids[0] + 26; /* the empty text */
    request.states = &failed;
    request.n_states = 1;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 0);
    failed = API__JOB_STATE__QUEUED;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, JOBS);
    request.older_than_job_id = other;
    assert_null(list_jobs(&f, &request));
    assert_int_equal(f.status.code, RPC_INVALID_ARGUMENT);
    fixture_fini(&f);
}

static void job_sets_are_listed(void **state)
{
    Berth__Api__ListJobSetsRequest request =
        BERTH__API__LIST_JOB_SETS_REQUEST__INIT;
    Berth__Api__ListJobSetsResponse *response;
    struct fixture f;
    char *ids[JOBS], queue[] = "q";

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    make_jobs(&f, ids);
    request.queue = queue;
    request.limit = 1;
    response = fixture_call(&f, "/berth.api.Berth/ListJobSets", &request.base,
                            &berth__api__list_job_sets_response__descriptor);
    assert_non_null(response);
    assert_int_equal(response->n_job_sets, 1);
    assert_false(response->has_more);
    assert_string_equal(response->job_sets[0]->queue, "q");
    assert_int_equal(response->job_sets[0]->queued, JOBS);
    assert_non_null(response->job_sets[0]->last_transition);
    fixture_fini(&f);
}

static void jobs_are_found_by_labels_and_owner(void **state)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    Berth__Api__ListJobsRequest__LabelsEntry pair =
        BERTH__API__LIST_JOBS_REQUEST__LABELS_ENTRY__INIT;
    Berth__Api__ListJobsRequest__LabelsEntry *pairs[] = {&pair};
    char key[] = "k", value[] = "v", other[] = "other";
    struct fixture f;
    char *ids[JOBS];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    labelled = 2;
    make_jobs(&f, ids);
    labelled = -1;
    pair.key = key;
    pair.value = value;
    request.labels = pairs;
    request.n_labels = 1;
    Berth__Api__ListJobsResponse *response = list_jobs(&f, &request);
    assert_int_equal(response->n_jobs, 1);
    assert_string_equal(response->jobs[0]->job_id, ids[2]);
    assert_string_equal(response->next_job_id, "");
    assert_non_null(strstr(response->event_id, ":"));
    request.limit = 1; /* whatever was not looked at yet follows */
    response = list_jobs(&f, &request);
    assert_string_equal(response->next_job_id, ids[2]);
    request.older_than_job_id = response->next_job_id;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 0);
    request.older_than_job_id = other + sizeof(other) - 1;
    pair.value = other;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 0);
    request.n_labels = 0;
    request.limit = 0;
    request.mine = true;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, JOBS);
    request.mine = false;
    request.owner = other;
    assert_int_equal(list_jobs(&f, &request)->n_jobs, 0);
    fixture_fini(&f);
}

/* Jobs 1 to 3 of five are of an array. */
static void arrays_are_listed_once(void **state)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;
    static const char *const indexes[JOBS] = {"0", "1", "2", "3", "4"};
    Berth__Submission__Item *items[JOBS];
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    for (int i = 0; i < JOBS; i++) {
        items[i] = sample_item(&f.arena, sample_pod(&f.arena));
        if (i >= 1 && i <= 3) {
            sample_label(&f.arena, items[i], "berth.dev/array", "a");
            sample_label(&f.arena, items[i], "berth.dev/arrayIndex",
                         indexes[i]);
        }
    }
    Api__JobSubmitResponse *response =
        fixture_call(&f, "/api.Submit/SubmitJobs",
                     &sample_request_of(&f.arena, items, JOBS)->base,
                     &api__job_submit_response__descriptor);
    fixture_settle(&f);
    request.arrays_once = true;
    Berth__Api__ListJobsResponse *list = list_jobs(&f, &request);
    assert_int_equal(list->n_jobs, 3);
    assert_string_equal(list->jobs[0]->array_id, "");
    assert_null(list->jobs[0]->array);
    assert_string_equal(list->jobs[1]->job_id,
                        response->job_response_items[3]->job_id);
    assert_string_equal(list->jobs[1]->array_id, "a");
    assert_string_equal(list->jobs[1]->array_index, "3");
    assert_int_equal(list->jobs[1]->array->queued, 3);
    assert_int_equal(list->jobs[1]->array->running, 0);
    request.arrays_once = false;
    list = list_jobs(&f, &request);
    assert_int_equal(list->n_jobs, JOBS);
    assert_string_equal(list->jobs[2]->array_index, "2");
    fixture_fini(&f);
}

/* Jobs of array `a` from 2 to 41, then one alone, then those of `b` and `c`,
 * which alternate, up to 61; 0 and 1 are alone. */
static const char *array_of(int i)
{
    return i < 2 || i == 42 ? "" : i < 42 ? "a" : i % 2 ? "b" : "c";
}

/* In whatever pages, and wherever arrays lie in one piece or do not. */
static void arrays_are_listed_once_in_pages(void **state)
{
    enum { COUNT = 62 };
    static const char *const expected[] = {"b", "c", "", "a", "", ""};
    Berth__Submission__Item *items[COUNT];
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    fixture_queue(&f, "q");
    for (int i = 0; i < COUNT; i++) {
        items[i] = sample_item(&f.arena, sample_pod(&f.arena));
        if (*array_of(i)) {
            sample_label(&f.arena, items[i], "berth.dev/array", array_of(i));
        }
    }
    (void)fixture_call(&f, "/api.Submit/SubmitJobs",
                       &sample_request_of(&f.arena, items, COUNT)->base,
                       &api__job_submit_response__descriptor);
    fixture_settle(&f);
    for (uint32_t limit = 1; limit <= ARRAY_COUNT(expected) + 1; limit++) {
        Berth__Api__ListJobsRequest request =
            BERTH__API__LIST_JOBS_REQUEST__INIT;
        size_t count = 0;
        request.arrays_once = true;
        request.limit = limit;
        do {
            Berth__Api__ListJobsResponse *list = list_jobs(&f, &request);
            assert_true(list->n_jobs <= limit);
            for (size_t i = 0; i < list->n_jobs; i++, count++) {
                assert_true(count < ARRAY_COUNT(expected));
                assert_string_equal(list->jobs[i]->array_id, expected[count]);
            }
            request.older_than_job_id = list->next_job_id;
        } while (*request.older_than_job_id);
        assert_int_equal(count, ARRAY_COUNT(expected));
    }
    fixture_fini(&f);
}

/* Submit two jobs of array `a` to a queue, as somebody; the newer one's id. */
static char *submit_array(struct fixture *f, const char *queue,
                          const char *caller)
{
    Berth__Submission__Item *items[2];

    f->credentials = caller;
    f->now_ms++; /* so that its jobs are newer than all before */
    for (size_t i = 0; i < ARRAY_COUNT(items); i++) {
        items[i] = sample_item(&f->arena, sample_pod(&f->arena));
        sample_label(&f->arena, items[i], "berth.dev/array", "a");
    }
    Berth__Submission__Request *request =
        sample_request_of(&f->arena, items, ARRAY_COUNT(items));
    request->queue = arena_strdup(&f->arena, str_of(queue));
    Api__JobSubmitResponse *response =
        fixture_call(f, "/api.Submit/SubmitJobs", &request->base,
                     &api__job_submit_response__descriptor);
    assert_non_null(response);
    fixture_settle(f);
    return response->job_response_items[1]->job_id;
}

/* The rows of a list with arrays once. */
static Berth__Api__ListJobsResponse *
list_arrays(struct fixture *f, char *queue, const char *caller, uint32_t limit)
{
    Berth__Api__ListJobsRequest request = BERTH__API__LIST_JOBS_REQUEST__INIT;

    f->credentials = caller;
    request.arrays_once = true;
    request.queue = queue;
    request.limit = limit;
    Berth__Api__ListJobsResponse *list = list_jobs(f, &request);
    assert_non_null(list);
    return list;
}

/* Whoever gives their jobs the label of another's array neither hides it nor
 * learns what became of it; each of the jobs is listed then. */
static void a_foreign_job_does_not_join_an_array(void **state)
{
    static const struct basic_user users[] = {
        {.name = {"amy", 3}, .password = {"p", 1}},
        {.name = {"eve", 3}, .password = {"p", 1}},
    };
    static const char as_amy[] = "Basic YW15OnA=", as_eve[] = "Basic ZXZlOnA=";
    static const char *const foreign_queues[] = {"other", "q"};
    char all[] = "";

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(foreign_queues); i++) {
        struct fixture f;
        fixture_init(&f);
        f.config.auth.users = users;
        f.config.auth.user_count = ARRAY_COUNT(users);
        f.config.auth.grants[PERMISSION_WATCH_ALL_EVENTS] =
            (struct permission_grant){0};
        fixture_start(&f);
        fixture_queue(&f, "q");
        fixture_queue(&f, "other");
        char *amys = submit_array(&f, "q", as_amy);
        Berth__Api__ListJobsResponse *list = list_arrays(&f, all, as_amy, 0);
        assert_int_equal(list->n_jobs, 1);
        assert_string_equal(list->jobs[0]->job_id, amys);
        assert_int_equal(list->jobs[0]->array->queued, 2);
        char *eves = submit_array(&f, foreign_queues[i], as_eve);
        list = list_arrays(&f, all, as_amy, 0);
        assert_int_equal(list->n_jobs, 2);
        assert_string_equal(list->jobs[0]->job_id, amys);
        assert_null(list->jobs[0]->array);
        list = list_arrays(&f, all, as_eve, 0);
        assert_int_equal(list->n_jobs, 2);
        assert_string_equal(list->jobs[0]->job_id, eves);
        assert_null(list->jobs[0]->array);
        fixture_fini(&f);
    }
}

/* A job is told so by GetJobReport. */
static void assert_reported(struct fixture *f, char *id, const char *text)
{
    Schedulerobjects__JobReportRequest request =
        SCHEDULEROBJECTS__JOB_REPORT_REQUEST__INIT;

    request.job_id = id;
    Schedulerobjects__JobReport *report =
        fixture_call(f, "/schedulerobjects.SchedulerReporting/GetJobReport",
                     &request.base, &schedulerobjects__job_report__descriptor);
    assert_string_equal(report->report, text);
}

static void
job_that_the_leader_has_forgotten_is_explained_from_the_store(void **state)
{
    Berth__Api__ExplainJobRequest request =
        BERTH__API__EXPLAIN_JOB_REQUEST__INIT;
    char text[128], bad[] = "x", unknown[] = "01h00000000000000000000000";
    struct fixture f;
    char *ids[JOBS];

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    make_jobs(&f, ids);
    fixture_trouble(&f, COMMAND_NOT_FOUND, STR("no"));
    request.job_id = ids[1];
    Berth__Api__ExplainJobResponse *response =
        fixture_call(&f, "/berth.api.Berth/ExplainJob", &request.base,
                     &berth__api__explain_job_response__descriptor);
    assert_non_null(response);
    (void)snprintf(text, sizeof(text), "Job %s: queued.\nIt was submitted at ",
                   ids[1]);
    assert_memory_equal(response->text, text, strlen(text));
    assert_non_null(strstr(response->json, ",\"submittedMs\":"));
    assert_reported(&f, ids[1], response->text);
    request.job_id = unknown;
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/ExplainJob", &request.base),
        RPC_NOT_FOUND);
    request.job_id = bad;
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/ExplainJob", &request.base),
        RPC_INVALID_ARGUMENT);
    fixture_trouble(&f, COMMAND_OK, STR(""));
    fixture_fini(&f);
}

/* What a leader says of a job that waits.  A store that was held back has all
 * of the log before it answers. */
static void days_in_the_wrong_order_are_refused(void **state)
{
    Berth__Api__GetUsageRequest request = BERTH__API__GET_USAGE_REQUEST__INIT;
    char early[] = "2026-01-30", late[] = "2026-01-31";
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    request.from_day = late;
    request.to_day = early;
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/GetUsage", &request.base),
        RPC_INVALID_ARGUMENT);
    request.to_day = late;
    assert_int_equal(
        fixture_code(&f, "/berth.api.Berth/GetUsage", &request.base), RPC_OK);
    fixture_fini(&f);
}

static void answer_explain(struct fixture *fixture, struct command *command)
{
    fixture->is_store_held = false;
    fixture_project(fixture);
    if (command->kind == COMMAND_EXPLAIN) {
        command->explain.text = STR("It waits.\n");
        command->explain.json = STR("{\"reason\":\"capacity\"}");
        command->explain.waits_again = true;
    }
}

static Berth__Api__ExplainJobResponse *explain(struct fixture *f, char *id)
{
    Berth__Api__ExplainJobRequest request =
        BERTH__API__EXPLAIN_JOB_REQUEST__INIT;

    request.job_id = id;
    return fixture_call(f, "/berth.api.Berth/ExplainJob", &request.base,
                        &berth__api__explain_job_response__descriptor);
}

/* A job's first run is preempted. */
static void log_preemption(struct fixture *f, struct job_id job)
{
    static const struct event_scope scope = {
        .queue = {"q", 1}, .job_set = {"s", 1}, .user = {"amy", 3}};
    struct event events[] = {
        {.type = EVENT_LEASED,
         .created_ms = 1000,
         .leased = {.executor_id = STR("cluster"),
                    .node_name = STR("node"),
                    .pool = STR("default")}},
        {.type = EVENT_RUN_PREEMPTED,
         .created_ms = 2000,
         .preempted.reason = STR("for the \"share\" of others")},
        {.type = EVENT_REQUEUED, .created_ms = 2000},
    };
    for (size_t i = 0; i < ARRAY_COUNT(events); i++) {
        events[i].job = job;
        events[i].run = run_id_make(job, 0);
        fixture_log(f, &scope, &events[i]);
    }
}

static void job_that_waits_again_is_told_how_its_last_run_ended(void **state)
{
    struct fixture f;
    struct job_id job;
    char *ids[JOBS];

    (void)state;
    fixture_init(&f);
    f.on_exchange = answer_explain;
    fixture_start(&f);
    make_jobs(&f, ids);
    assert_int_equal(job_id_parse(str_of(ids[0]), &job), 0);
    assert_string_equal(explain(&f, ids[0])->text, "It waits.\n");
    log_preemption(&f, job);
    fixture_settle(&f);
    Berth__Api__ExplainJobResponse *response = explain(&f, ids[0]);
    assert_string_equal(
        response->text,
        "It waits.\nIt has run before: run 1, on node node of executor "
        "cluster, was preempted at 1970-01-01T00:00:02.000Z: for the \"share\" "
        "of others\n");
    assert_string_equal(
        response->json,
        "{\"reason\":\"capacity\",\"lastRun\":{\"run\":1,\"node\":\"node\","
        "\"executor\":\"cluster\",\"endedMs\":2000,\"how\":\"was preempted\","
        "\"error\":\"for the \\\"share\\\" of others\"}}");
    assert_reported(&f, ids[0], response->text);
    fixture_fini(&f);
}

/* The leader's thread, on which its answer comes, must not wait for a disk:
 * what the store learns while it answers is not in the answer. */
static void last_run_is_read_before_the_leader_is_asked(void **state)
{
    struct fixture f;
    struct job_id job;
    char *ids[JOBS];

    (void)state;
    fixture_init(&f);
    f.on_exchange = answer_explain;
    fixture_start(&f);
    make_jobs(&f, ids);
    assert_int_equal(job_id_parse(str_of(ids[0]), &job), 0);
    f.is_store_held = true;
    log_preemption(&f, job);
    assert_string_equal(explain(&f, ids[0])->text, "It waits.\n");
    Berth__Api__ExplainJobResponse *response = explain(&f, ids[0]);
    assert_non_null(strstr(response->text, "\nIt has run before: "));
    fixture_fini(&f);

    fixture_init(&f);
    f.on_exchange = answer_explain;
    fixture_start(&f);
    make_jobs(&f, ids);
    assert_int_equal(job_id_parse(str_of(ids[0]), &job), 0);
    f.is_store_held = true;
    log_preemption(&f, job);
    assert_reported(&f, ids[0], "It waits.\n");
    fixture_fini(&f);
}

static void backup_needs_files_and_its_permission(void **state)
{
    Berth__Api__BackupRequest request = BERTH__API__BACKUP_REQUEST__INIT;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_start(&f);
    struct rpc_stream *stream =
        fixture_stream(&f, "/berth.api.Berth/Backup", &request.base);
    assert_null(
        fixture_next(&f, stream, &berth__api__backup_chunk__descriptor));
    assert_int_equal(f.status.code, RPC_UNIMPLEMENTED);
    rpc_stream_close(stream);
    fixture_fini(&f);

    fixture_init(&f);
    f.config.auth.grants[PERMISSION_BACKUP] = (struct permission_grant){0};
    fixture_start(&f);
    stream = fixture_stream(&f, "/berth.api.Berth/Backup", &request.base);
    assert_null(
        fixture_next(&f, stream, &berth__api__backup_chunk__descriptor));
    assert_int_equal(f.status.code, RPC_PERMISSION_DENIED);
    rpc_stream_close(stream);
    fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(jobs_are_listed_newest_first_in_pages),
        TEST(jobs_are_found_by_id_queue_and_state),
        TEST(job_sets_are_listed),
        TEST(jobs_are_found_by_labels_and_owner),
        TEST(arrays_are_listed_once),
        TEST(arrays_are_listed_once_in_pages),
        TEST(a_foreign_job_does_not_join_an_array),
        TEST(days_in_the_wrong_order_are_refused),
        TEST(job_that_the_leader_has_forgotten_is_explained_from_the_store),
        TEST(job_that_waits_again_is_told_how_its_last_run_ended),
        TEST(last_run_is_read_before_the_leader_is_asked),
        TEST(backup_needs_files_and_its_permission),
    };
    return RUN_TESTS(tests);
}
