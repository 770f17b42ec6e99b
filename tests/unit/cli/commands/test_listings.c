/*
 * what is asked about jobs, nodes, executors and TrainingJobs, as it is
 * printed.
 */
#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "script.h"
#include "unit.h"
#include "wire/message/message.h"

static void watch_prints_a_summary_before_each_event(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__EventStreamMessage stream = API__EVENT_STREAM_MESSAGE__INIT;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobFailedEvent failed = API__JOB_FAILED_EVENT__INIT;
    Google__Protobuf__Timestamp created = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    char id[] = "5:0:0:1", job[] = "01a",
         reason[] = "exit code 3:\nno \x1b[2Jdisk\n";

    created.seconds = 1700000000;
    failed.job_id = job;
    failed.reason = reason;
    failed.created = &created;
    message.events_case = API__EVENT_MESSAGE__EVENTS_FAILED;
    message.failed = &failed;
    stream.id = id;
    stream.message = &message;
    answer(script, &stream.base);
    check(ASK(script, "", "watch", "q", "s", "--exit-if-inactive"), CLI_OK,
          "Nov 14 22:13:20 | Queued: 0, Leased: 0, Pending: 0, Running: 0, "
          "Succeeded: 0, Failed: 1, Cancelled: 0 | JobFailedEvent, job id: "
          "01a pod: 0\nJob failed: exit code 3: no \\x1b[2Jdisk\n",
          "");

    Api__JobSetRequest *request =
        asked(script, &arena, &api__job_set_request__descriptor);
    assert_false(request->watch);
    assert_true(request->errorifmissing);
}

/* It waits again, unless its end follows. */
static void watch_says_why_a_job_was_preempted(void **state)
{
    struct script *script = *state;
    Api__EventStreamMessage stream = API__EVENT_STREAM_MESSAGE__INIT;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobPreemptedEvent preempted = API__JOB_PREEMPTED_EVENT__INIT;
    char id[] = "5:0:0:1", job[] = "01a", reason[] = "for another";

    preempted.job_id = job;
    preempted.reason = reason;
    message.events_case = API__EVENT_MESSAGE__EVENTS_PREEMPTED;
    message.preempted = &preempted;
    stream.id = id;
    stream.message = &message;
    answer(script, &stream.base);
    check(ASK(script, "", "watch", "q", "s"), CLI_OK,
          "Jan  1 00:00:00 | Queued: 1, Leased: 0, Pending: 0, Running: 0, "
          "Succeeded: 0, Failed: 0, Cancelled: 0 | JobPreemptedEvent, job id: "
          "01a\nJob preempted: for another\n",
          "");
}

/* A set that was used before is idle in between: what there is is read first,
 * and what comes is awaited only if a job of it has not ended. */
static void watch_ends_with_the_last_job_that_there_is(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobSubmittedEvent submitted = API__JOB_SUBMITTED_EVENT__INIT;
    Api__JobSucceededEvent succeeded = API__JOB_SUCCEEDED_EVENT__INIT;
    char first[] = "01a", second[] = "01b";

    submitted.job_id = succeeded.job_id = first;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUBMITTED,
              &submitted);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUCCEEDED,
              &succeeded);
    submitted.job_id = succeeded.job_id = second;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUBMITTED,
              &submitted);
    struct run_result result =
        ASK(script, "", "watch", "q", "s", "--exit-if-inactive", "--raw");
    assert_non_null(strstr(result.out, "{\"jobId\":\"01b\"}"));
    free(result.out);
    free(result.err);
    assert_int_equal(script->call_count, 2);
    Api__JobSetRequest *request =
        asked(script, &arena, &api__job_set_request__descriptor);
    assert_true(request->watch);

    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUCCEEDED,
              &succeeded);
    check(ASK(script, "", "watch", "q", "s", "--exit-if-inactive", "--raw"),
          CLI_OK,
          "JobSubmittedEvent {\"jobId\":\"01a\"}\n"
          "JobSucceededEvent {\"jobId\":\"01a\"}\n"
          "JobSubmittedEvent {\"jobId\":\"01b\"}\n"
          "JobSucceededEvent {\"jobId\":\"01b\"}\n",
          "");
    assert_int_equal(script->call_count, 3);
}

/* The auxiliary members of a group that has succeeded are cancelled. */
static void watch_forgives_what_a_succeeded_group_cancels(void **state)
{
    struct script *script = *state;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobSucceededEvent succeeded = API__JOB_SUCCEEDED_EVENT__INIT;
    Api__JobCancelledEvent cancelled = API__JOB_CANCELLED_EVENT__INIT;
    char first[] = "01a", second[] = "01b";
    char why[] = "The group has succeeded", other[] = "enough";
    const char *raw = "JobSucceededEvent {\"jobId\":\"01a\"}\n"
                      "JobCancelledEvent {\"jobId\":\"01b\",\"reason\":"
                      "\"The group has succeeded\"}\n";

    succeeded.job_id = first;
    cancelled.job_id = second;
    cancelled.reason = why;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUCCEEDED,
              &succeeded);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_CANCELLED,
              &cancelled);
    check(ASK(script, "", "watch", "q", "s", "--exit-code", "--raw"), CLI_OK,
          raw, "");
    cancelled.job_id = first;
    cancelled.reason = other;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_CANCELLED,
              &cancelled);
    struct run_result result =
        ASK(script, "", "watch", "q", "s", "--exit-code", "--raw");
    assert_int_equal(result.code, CLI_JOB_FAILED);
    free(result.out);
    free(result.err);
}

/* The server takes a request for a mistyped id unseen and tells it. */
static void watch_counts_no_job_that_was_only_asked_about(void **state)
{
    struct script *script = *state;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobSubmittedEvent submitted = API__JOB_SUBMITTED_EVENT__INIT;
    Api__JobCancellingEvent cancelling = API__JOB_CANCELLING_EVENT__INIT;
    Api__JobPreemptingEvent preempting = API__JOB_PREEMPTING_EVENT__INIT;
    Api__JobReprioritizingEvent reprioritizing =
        API__JOB_REPRIORITIZING_EVENT__INIT;
    Api__JobSucceededEvent succeeded = API__JOB_SUCCEEDED_EVENT__INIT;
    char job[] = "01a", unknown[] = "01x";

    cancelling.job_id = preempting.job_id = reprioritizing.job_id = unknown;
    submitted.job_id = succeeded.job_id = job;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_CANCELLING,
              &cancelling);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUBMITTED,
              &submitted);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_PREEMPTING,
              &preempting);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_REPRIORITIZING,
              &reprioritizing);
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_SUCCEEDED,
              &succeeded);
    check(ASK(script, "", "watch", "q", "s", "--exit-if-inactive", "--raw"),
          CLI_OK,
          "JobCancellingEvent {\"jobId\":\"01x\"}\n"
          "JobSubmittedEvent {\"jobId\":\"01a\"}\n"
          "JobPreemptingEvent {\"jobId\":\"01x\"}\n"
          "JobReprioritizingEvent {\"jobId\":\"01x\"}\n"
          "JobSucceededEvent {\"jobId\":\"01a\"}\n",
          "");
    struct run_result result =
        ASK(script, "", "watch", "q", "s", "--exit-if-inactive", "-o", "json");
    assert_non_null(strstr(result.out,
                           "{\"type\":\"JobSubmittedEvent\",\"event\":{"
                           "\"jobId\":\"01a\"}}\n"));
    free(result.out);
    free(result.err);
}

static void jobs_are_listed_as_a_table(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Berth__Api__ListJobsResponse response =
        BERTH__API__LIST_JOBS_RESPONSE__INIT;
    Berth__Api__JobSummary job = BERTH__API__JOB_SUMMARY__INIT;
    Berth__Api__JobSummary waits = BERTH__API__JOB_SUMMARY__INIT;
    Berth__Api__JobSummary *jobs[] = {&job, &waits};
    Google__Protobuf__Timestamp submitted = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    char id[] = "01a", queue[] = "physics", set[] = "s", node[] = "n1";
    char other[] = "01b", limit[] = "queueLimit";

    job.job_id = id;
    job.queue = queue;
    job.job_set = set;
    job.node = node;
    job.state = API__JOB_STATE__RUNNING;
    job.priority = 7;
    response.jobs = jobs;
    response.n_jobs = 2;
    job.submitted = &submitted;
    submitted.seconds = 1700000000 - 3 * 60 - 20;
    waits.job_id = other;
    waits.state = API__JOB_STATE__QUEUED;
    waits.wait_reason = limit;
    waits.run_count = 2;
    answer(script, &response.base);
    check(
        ASK(script, "", "get", "jobs", "-q", "physics", "-s", "running,QUEUED"),
        CLI_OK,
        "JOB  QUEUE    JOBSET  STATE    PRIORITY  AGE    EXECUTOR  NODE  "
        "REASON\n"
        "01a  physics  s       running  7         3m20s            n1    \n"
        "01b                   queued   0                                "
        "queue limit, after 2 runs\n",
        "");

    Berth__Api__ListJobsRequest *request =
        asked(script, &arena, &berth__api__list_jobs_request__descriptor);
    assert_int_equal(request->n_states, 2);
    assert_int_equal(request->limit, 100);
}

/* However many pages there are, it is one list. */
static void pages_of_jobs_are_written_as_one_list(void **state)
{
    struct script *script = *state;
    Berth__Api__ListJobsResponse response =
        BERTH__API__LIST_JOBS_RESPONSE__INIT;
    Berth__Api__JobSummary job = BERTH__API__JOB_SUMMARY__INIT;
    Berth__Api__JobSummary *jobs[] = {&job};
    char a[] = "01a", b[] = "01bbbb", queue[] = "q";

    job.job_id = a;
    job.queue = queue;
    job.state = API__JOB_STATE__RUNNING;
    response.jobs = jobs;
    response.n_jobs = 1;
    response.next_job_id = a;
    answer(script, &response.base);
    job.job_id = b;
    response.next_job_id = queue + 1;
    wire_encode(&response.base, &script->more[0]);
    script->has_pages = true;
    static const struct {
        const char *format, *text;
    } cases[] = {
        {"text", "JOB  QUEUE  JOBSET  STATE    PRIORITY  AGE  EXECUTOR  NODE  "
                 "REASON\n"
                 "01a  q              running  0                              "
                 "\n"
                 "01bbbb  q              running  0                           "
                 "   \n"},
        {"name", "01a\n01bbbb\n"},
        {"json", "[\n  {\n    \"jobId\": \"01a\",\n    \"queue\": \"q\",\n"
                 "    \"state\": \"RUNNING\"\n  },\n"
                 "  {\n    \"jobId\": \"01bbbb\",\n    \"queue\": \"q\",\n"
                 "    \"state\": \"RUNNING\"\n  }\n]\n"},
        {"yaml", "- jobId: 01a\n  queue: q\n  state: RUNNING\n"
                 "- jobId: \"01bbbb\"\n  queue: q\n  state: RUNNING\n"},
        {"jsonpath={[*].jobId}", "01a 01bbbb\n"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        script->call_count = 0;
        check(ASK(script, "", "get", "jobs", "-n", "0", "-o", cases[i].format),
              CLI_OK, cases[i].text, "");
    }
    response.n_jobs = 0;
    script->has_pages = false;
    answer(script, &response.base);
    check(ASK(script, "", "get", "jobs", "-o", "json"), CLI_OK, "[]\n", "");
    check(ASK(script, "", "get", "jobs", "-o", "yaml"), CLI_OK, "[]\n", "");
}

/* Let a node be in a maintenance window. */
static void add_window(Berth__Api__NodeStatus *node)
{
    static char name[] = "w";
    static Google__Protobuf__Timestamp begin =
        GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    static Google__Protobuf__Timestamp end = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    static Berth__Api__NodeWindow window = BERTH__API__NODE_WINDOW__INIT;
    static Berth__Api__NodeWindow *windows[] = {&window};

    begin.seconds = 0;
    end.seconds = 9999999999;
    window.name = name;
    window.begin = &begin;
    window.end = &end;
    node->maintenance_windows = windows;
    node->n_maintenance_windows = 1;
}

static void get_nodes_prints_a_table(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Berth__Api__ListNodesResponse response =
        BERTH__API__LIST_NODES_RESPONSE__INIT;
    Berth__Api__NodeStatus node = BERTH__API__NODE_STATUS__INIT;
    Berth__Api__NodeStatus *nodes[] = {&node};
    Berth__Api__NodeStatus__CapacityEntry has =
        BERTH__API__NODE_STATUS__CAPACITY_ENTRY__INIT;
    Berth__Api__NodeStatus__CapacityEntry *capacity[] = {&has};
    char name[] = "n1", executor[] = "e", pool[] = "p", ready[] = "ready";
    char cpu[] = "cpu", eight[] = "8";

    has.key = cpu;
    has.value = eight;
    node.name = name;
    node.executor = executor;
    node.pool = pool;
    node.state = ready;
    node.n_capacity = 1;
    node.capacity = capacity;
    node.run_count = 2;
    response.nodes = nodes;
    response.n_nodes = 1;
    answer(script, &response.base);
    check(ASK(script, "", "get", "nodes", "--pool", "p"), CLI_OK,
          "NODE  EXECUTOR  POOL  STATE  JOBS  FREE     UNTIL  REASON\n"
          "n1    e         p     ready  2     cpu 0/8         \n",
          "");
    add_window(&node);
    answer(script, &response.base);
    check(ASK(script, "", "get", "nodes", "--pool", "p"), CLI_OK,
          "NODE  EXECUTOR  POOL  STATE  JOBS  FREE     UNTIL  REASON\n"
          "n1    e         p     ready  2     cpu 0/8         maintenance "
          "window w until 2286-11-20T17:46:39Z\n",
          "");

    Berth__Api__ListNodesRequest *request =
        asked(script, &arena, &berth__api__list_nodes_request__descriptor);
    assert_string_equal(request->pool, "p");
}

static void get_executors_prints_a_table(void **state)
{
    struct script *script = *state;
    Berth__Api__ListExecutorsResponse response =
        BERTH__API__LIST_EXECUTORS_RESPONSE__INIT;
    Berth__Api__ExecutorStatus first = BERTH__API__EXECUTOR_STATUS__INIT;
    Berth__Api__ExecutorStatus second = BERTH__API__EXECUTOR_STATUS__INIT;
    Berth__Api__ExecutorStatus *rows[] = {&first, &second};
    Berth__Api__ExecutorStatus__AvailableEntry has =
        BERTH__API__EXECUTOR_STATUS__AVAILABLE_ENTRY__INIT;
    Berth__Api__ExecutorStatus__AvailableEntry *available[] = {&has};
    Berth__Api__ExecutorStatus__FreeEntry left =
        BERTH__API__EXECUTOR_STATUS__FREE_ENTRY__INIT;
    Berth__Api__ExecutorStatus__FreeEntry *free_[] = {&left};
    char a[] = "a", b[] = "b", pool[] = "p", live[] = "live", lost[] = "lost";
    char cpu[] = "cpu", eight[] = "8", three[] = "3", why[] = "repair";

    has.key = left.key = cpu;
    has.value = eight;
    left.value = three;
    first.name = a;
    first.pool = second.pool = pool;
    first.state = live;
    first.node_count = 2;
    first.open_node_count = 1;
    first.run_count = 5;
    first.n_available = first.n_free = 1;
    first.available = available;
    first.free = free_;
    second.name = b;
    second.state = lost;
    second.silent_ms = 3600999;
    second.cordoned = true;
    second.cordon_reason = why;
    response.executors = rows;
    response.n_executors = 2;
    answer(script, &response.base);
    check(ASK(script, "", "get", "executors"), CLI_OK,
          "EXECUTOR  POOL  STATE                   SILENT  NODES  OPEN  JOBS  "
          "FREE\n"
          "a         p     live                    0s      2      1     5     "
          "cpu 3/8\n"
          "b         p     lost, cordoned: repair  3600s   0      0     0     "
          "\n",
          "");
}

static void explain_prints_text_or_data(void **state)
{
    struct script *script = *state;
    Berth__Api__ExplainJobResponse response =
        BERTH__API__EXPLAIN_JOB_RESPONSE__INIT;
    static const char id[] = "01f3j0g1md4qx7z5qb148qnh4r";
    char text[] = "It waits.", json[] = "{\"reason\": \"full\"}";

    response.text = text;
    response.json = json;
    answer(script, &response.base);
    check(ASK(script, "", "explain", id), CLI_OK, "It waits.\n", "");
    check(ASK(script, "", "explain", id, "-o", "yaml"), CLI_OK,
          "reason: full\n", "");
}

static void a_list_of_training_jobs_is_asked_for_page_by_page(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Berth__Api__ListTrainingJobsResponse response =
        BERTH__API__LIST_TRAINING_JOBS_RESPONSE__INIT;
    Berth__Api__TrainingJobStatus job = BERTH__API__TRAINING_JOB_STATUS__INIT;
    Berth__Api__TrainingJobStatus *jobs[] = {&job};
    char queue[] = "q", name[] = "a", second[] = "b";

    job.queue = queue;
    job.name = name;
    response.training_jobs = jobs;
    response.n_training_jobs = 1;
    response.has_more = true;
    answer(script, &response.base);
    job.name = second;
    response.has_more = false;
    wire_encode(&response.base, &script->more[0]);
    script->call_count = 0;
    check(ASK(script, "", "get", "trainingjobs", "-o", "yaml"), CLI_OK,
          "trainingJobs:\n- name: a\n  queue: q\n- name: b\n  queue: q\n", "");
    assert_int_equal(script->call_count, 2);
    Berth__Api__ListTrainingJobsRequest *request = asked(
        script, &arena, &berth__api__list_training_jobs_request__descriptor);
    assert_string_equal(request->after_queue, "q");
    assert_string_equal(request->after_name, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(watch_prints_a_summary_before_each_event),
        SERVED(watch_says_why_a_job_was_preempted),
        SERVED(watch_ends_with_the_last_job_that_there_is),
        SERVED(watch_forgives_what_a_succeeded_group_cancels),
        SERVED(watch_counts_no_job_that_was_only_asked_about),
        SERVED(jobs_are_listed_as_a_table),
        SERVED(pages_of_jobs_are_written_as_one_list),
        SERVED(get_nodes_prints_a_table),
        SERVED(get_executors_prints_a_table),
        SERVED(explain_prints_text_or_data),
        SERVED(a_list_of_training_jobs_is_asked_for_page_by_page),
    };
    return RUN_TESTS(tests);
}
