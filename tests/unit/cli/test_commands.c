/*
 * commands: what each asks of a server, prints and exits with.  The server
 * here answers what the test says and remembers the last request.
 */
#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "script.h"
#include "unit.h"
#include "wire/json.h"
#include "wire/message.h"

static void submit_sends_the_jobs_and_prints_their_ids(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    Api__JobSubmitResponseItem good = API__JOB_SUBMIT_RESPONSE_ITEM__INIT;
    Api__JobSubmitResponseItem bad = API__JOB_SUBMIT_RESPONSE_ITEM__INIT;
    Api__JobSubmitResponseItem *items[] = {&good, &bad};
    char id[] = "01abc", error[] = "too large";

    good.job_id = id;
    bad.error = error;
    response.job_response_items = items;
    response.n_job_response_items = 2;
    answer(script, &response.base);
    check(ASK(script,
              "queue: q\njobSetId: s\njobs:\n"
              "- priority: 3\n  namespace: n\n  clientId: c\n"
              "  podSpecs: [{containers: [{name: m, image: i}]}]\n"
              "- podSpecs: [{restartPolicy: Never}]\n  unknownKey: 1\n",
              "submit", "-"),
          CLI_FAILED,
          "Submitted job with id 01abc to job set s\n"
          "Error submitting job: too large\n",
          "berthctl: jobs[1].unknownKey: unknown key, passed over\n");

    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_string_equal(request->queue, "q");
    assert_int_equal(request->n_job_request_items, 2);
    assert_string_equal(request->job_request_items[0]->client_id, "c");
    assert_true(request->job_request_items[0]->priority == 3);
    assert_string_equal(
        request->job_request_items[0]->pod_specs[0]->containers[0]->image, "i");
    assert_int_equal(request->job_request_items[1]->n_pod_specs, 1);
    /* An id of its own, so that a repeated request makes no second job. */
    assert_int_equal(strlen(request->job_request_items[1]->client_id), 26);
}

static void submit_reads_a_group_as_the_guide_writes_it(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    check(ASK(script,
              "queue: q\njobSetId: s\njobs:\n"
              "- podGroup:\n"
              "    replaceTimeoutSeconds: 300\n"
              "    subGroups:\n"
              "    - {name: w, min: 2, maxHops: 2, maxHopsWaitSeconds: 600,\n"
              "       template: {containers: [{name: m, unknown: 1}]}}\n",
              "submit", "-"),
          CLI_OK, "",
          "berthctl: jobs[0].podGroup.subGroups[0].template.containers[0]."
          "unknown: unknown key, passed over\n");
    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    Berth__Api__PodGroup *group = request->job_request_items[0]->pod_group;
    assert_int_equal(group->replace_timeout_seconds->value, 300);
    assert_null(group->freezing_window_seconds);
    assert_int_equal(group->sub_groups[0]->max_hops->value, 2);
    assert_int_equal(group->sub_groups[0]->max_hops_wait_seconds->value, 600);
    check(ASK(script,
              "queue: q\njobs:\n- podGroup: {subGroups: [{name: w, minn: "
              "2}]}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: jobs[0].podGroup.subGroups[0].minn: unknown key\n");
    check(ASK(script,
              "queue: q\njobs:\n- podGroup: {subGroups: [{maxHops: -1}]}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: jobs[0].podGroup.subGroups[0].maxHops: must be a whole "
          "number from 0 to 4294967295\n");
}

static void submit_says_what_a_file_lacks(void **state)
{
    struct script *script = *state;

    check(ASK(script, "jobs: [{podSpecs: []}]\n", "submit", "-"), CLI_INVALID,
          "", "berthctl: a queue is required, in the file or by --queue\n");
    check(ASK(script, "kind: Deployment\n", "submit", "-"), CLI_INVALID, "",
          "berthctl: a document of kind Deployment cannot be submitted, only a "
          "file of jobs, a Job or a TrainingJob\n");
}

static const char kubernetes_job[] =
    "apiVersion: batch/v1\nkind: Job\n"
    "metadata: {name: pi, namespace: math}\n"
    "spec:\n"
    "  completions: 3\n  parallelism: 2\n  activeDeadlineSeconds: 60\n"
    "  template:\n"
    "    metadata: {annotations: {resource.aibee.cn/pool: cpu-pool}}\n"
    "    spec: {containers: [{name: pi, image: perl}]}\n";

static void submit_takes_a_kubernetes_job_as_it_stands(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    check(ASK(script, kubernetes_job, "submit", "-", "--queue", "q"), CLI_OK,
          "", "");
    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_string_equal(request->queue, "q");
    assert_string_equal(request->job_set_id, "pi");
    assert_int_equal(request->n_job_request_items, 3);
    Api__JobSubmitRequestItem *item = request->job_request_items[2];
    assert_string_equal(item->namespace_, "math");
    assert_string_equal(item->annotations[0]->value, "cpu-pool");
    assert_string_equal(item->pod_specs[0]->containers[0]->image, "perl");
    assert_int_equal(item->pod_specs[0]->activedeadlineseconds, 60);
}

static void submit_says_what_is_wrong_with_a_kubernetes_job(void **state)
{
    struct script *script = *state;

    check(ASK(script,
              "apiVersion: batch/v1\nkind: Job\nspec: {completions: 0, "
              "template: {spec: {}}}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: spec.completions must be a whole number from 1 to "
          "100000\n");
    check(ASK(script, "apiVersion: batch/v1\nkind: Job\n", "submit", "-"),
          CLI_INVALID, "", "berthctl: spec.template.spec is missing\n");
}

static void long_submission_is_sent_in_requests_of_200(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    auto_strbuf file = {0};

    strbuf_add_text(&file, "queue: q\njobSetId: s\njobs:\n");
    for (int i = 0; i < 401; i++) {
        strbuf_add_text(&file, "- podSpec: {}\n");
    }
    answer(script, &response.base);
    script->call_count = 0;
    check(ASK(script, strbuf_text(&file), "submit", "-"), CLI_OK, "", "");

    assert_int_equal(script->call_count, 3);
    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_int_equal(request->n_job_request_items, 1);
}

/* The server's message is the rule's text alone; which job it was, as the file
 * has them and not the request, comes from beside it. */
static void a_refusal_says_which_job_of_the_file(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    script->code = RPC_INVALID_ARGUMENT;
    script->message = "why";
    script->field = "job_request_items[1]";
    check(ASK(script,
              "queue: q\njobSetId: s\njobs:\n"
              "- podSpec: {}\n- podSpec: {}\n",
              "submit", "-"),
          CLI_INVALID, "", "berthctl: INVALID_ARGUMENT: jobs[1]: why\n");
    check(ASK(script,
              "queue: q\njobSetId: s\njobs:\n"
              "- podSpec: {}\n- {clientId: mine, podSpec: {}}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: INVALID_ARGUMENT: jobs[1] (clientId mine): why\n");
    check(ASK(script, kubernetes_job, "submit", "-", "--queue", "q"),
          CLI_INVALID, "", "berthctl: INVALID_ARGUMENT: Job pi: why\n");
    script->field = "job_request_items[7]"; /* there is none */
    check(ASK(script, kubernetes_job, "submit", "-", "--queue", "q"),
          CLI_INVALID, "", "berthctl: INVALID_ARGUMENT: why\n");
    script->field = NULL;
    check(ASK(script,
              "kind: TrainingJob\napiVersion: paddlepaddle.org/v1\n"
              "metadata: {name: t}\n---\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: INVALID_ARGUMENT: document 1, TrainingJob t: why\n");
    script->message = NULL;
    script->code = RPC_OK;
}

static void cancelling_prints_what_armadactl_prints(void **state)
{
    struct script *script = *state;
    Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;
    char one[] = "01a", two[] = "01b";
    char *ids[] = {one, two};

    result.cancelled_ids = ids;
    result.n_cancelled_ids = 2;
    answer(script, &result.base);
    check(ASK(script, "", "cancel", "job", "q", "s", "01a"), CLI_OK,
          "Requesting cancellation of jobs matching queue: q, job set: s, and "
          "job ID: 01a\n"
          "Requested cancellation for jobs 01a, 01b\n",
          "");
    check(ASK(script, "", "cancel", "job-set", "q", "s"), CLI_OK,
          "Requested cancellation for job set s\n", "");
    check(ASK(script, "", "preempt", "job", "q", "s", "01a", "why"), CLI_OK,
          "Requested preemption for job 01a\n", "");
    check(ASK(script, "", "cancel", "job", "q", "s", "01a", "-o", "json"),
          CLI_OK,
          "{\n  \"cancelledIds\": [\n    \"01a\",\n    \"01b\"\n  ]\n}\n", "");
}

static void reprioritizing_lists_what_changed_and_what_failed(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobReprioritizeResponse response =
        API__JOB_REPRIORITIZE_RESPONSE__INIT;
    Api__JobReprioritizeResponse__ReprioritizationResultsEntry good =
        API__JOB_REPRIORITIZE_RESPONSE__REPRIORITIZATION_RESULTS_ENTRY__INIT;
    Api__JobReprioritizeResponse__ReprioritizationResultsEntry bad = good;
    Api__JobReprioritizeResponse__ReprioritizationResultsEntry *entries[] = {
        &good, &bad};
    char one[] = "01a", two[] = "01b", error[] = "no";

    good.key = one;
    bad.key = two;
    bad.value = error;
    response.reprioritization_results = entries;
    response.n_reprioritization_results = 2;
    answer(script, &response.base);
    set_job(script, "01a", API__JOB_STATE__QUEUED, false);
    check(ASK(script, "", "reprioritize", "job", "q", "s", "01a", "2.5"),
          CLI_OK,
          "Reprioritized jobs with ID:\n01a\nFailed to reprioritize:\n"
          "01b failed to reprioritize due to error no\n",
          "");

    Api__JobReprioritizeRequest *request =
        asked(script, &arena, &api__job_reprioritize_request__descriptor);
    assert_true(request->new_priority == 2.5);
    assert_int_equal(request->n_job_ids, 1);
}

static void queue_is_made_from_options_or_a_file(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    script->code = RPC_OK;
    strbuf_clear(&script->reply);
    check(ASK(script, "", "create", "queue", "q", "--priority-factor", "2.5",
              "--owners", "anna,bo", "-l", "team=x", "--cordon"),
          CLI_OK, "Created queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->priority_factor == 2.5);
    assert_int_equal(queue->n_user_owners, 2);
    assert_string_equal(queue->labels[0]->key, "team");
    assert_string_equal(queue->labels[0]->value, "x");
    assert_true(queue->cordoned);

    check(ASK(script,
              "apiVersion: armadaproject.io/v1beta1\nkind: Queue\nname: r\n"
              "priorityFactor: 3\npermissions: [{subjects: [{kind: Group, "
              "name: g}], verbs: [submit]}]\n",
              "create", "-f", "-"),
          CLI_OK, "Created queue r\n", "");
    queue = asked(script, &arena, &api__queue__descriptor);
    assert_true(queue->priority_factor == 3);
    assert_string_equal(queue->permissions[0]->subjects[0]->name, "g");

    check(ASK(script, "", "delete", "queue", "q"), CLI_OK,
          "Deleted queue q (or it did not exist)\n", "");
}

/* Counts of nodes are of each pool, those of jobs of all together. */
static void deleting_a_queue_says_which_jobs_it_leaves(void **state)
{
    struct script *script = *state;
    Berth__Api__GetQueueSharesResponse response =
        BERTH__API__GET_QUEUE_SHARES_RESPONSE__INIT;
    Berth__Api__QueueShare here = BERTH__API__QUEUE_SHARE__INIT, there = here;
    Berth__Api__QueueShare *shares[] = {&here, &there};

    here.job_count = there.job_count = 7;
    here.queued_count = there.queued_count = 4;
    here.leased_count = 1;
    there.running_count = 2;
    response.shares = shares;
    response.n_shares = 2;
    wire_encode(&response.base, &script->shares);
    check(ASK(script, "", "delete", "queue", "q"), CLI_OK,
          "Deleted queue q (or it did not exist)\n",
          "berthctl: 3 of its jobs have a node: they go on to their ends\n"
          "berthctl: 4 of its jobs wait: they start only when there is a queue "
          "q again; cancel job-set q JOBSET ends them\n");
    strbuf_clear(&script->shares);
}

/* A queue that has some of everything, in JSON. */
static const char full_queue[] =
    "{\"name\": \"q\", \"priorityFactor\": 3, \"permissions\": ["
    "{\"subjects\": [{\"kind\": \"User\", \"name\": \"anna\"},"
    " {\"kind\": \"Group\", \"name\": \"g\"}], \"verbs\": [\"submit\","
    " \"cancel\", \"preempt\", \"reprioritize\", \"watch\"]},"
    "{\"subjects\": [{\"kind\": \"User\", \"name\": \"bo\"}],"
    " \"verbs\": [\"watch\"]}],"
    "\"resourceLimitsByPriorityClassName\": {\"c\":"
    " {\"maximumResourceFraction\": {\"cpu\": 0.5}}},"
    "\"labels\": {\"team\": \"x\"}, \"retryPolicies\": [\"p\"],"
    "\"scheduling\": {\"ordering\": \"fifo\", \"maxRunningApps\": 4,"
    " \"classPriorityIgnored\": true, \"overShareFactor\": 0.5}}";

/* The server has the queue of this text. */
static Api__Queue *serve_queue(struct script *script, const char *text,
                               struct arena *arena)
{
    auto_json_t *json = json_loads(text, 0, NULL);
    ProtobufCMessage *message;
    struct err err = {""};

    assert_non_null(json);
    int rc =
        wire_json_read(&api__queue__descriptor, json, 0, arena, &message, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(rc, 0);
    answer(script, message);
    return (void *)message;
}

/* The last request was this queue, whole. */
static void check_queue_sent(const struct script *script,
                             const Api__Queue *queue)
{
    auto_strbuf bytes = {0};

    wire_encode(&queue->base, &bytes);
    assert_int_equal(bytes.byte_count, script->request.byte_count);
    assert_memory_equal(bytes.bytes, script->request.bytes, bytes.byte_count);
}

static void update_queue_changes_only_what_is_named(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__Queue *queue = serve_queue(script, full_queue, &arena);

    script->call_count = 0;
    check(ASK(script, "", "update", "queue", "q"), CLI_OK,
          "Unchanged queue q\n", "");
    assert_int_equal(script->call_count, 1);

    check(ASK(script, "", "update", "queue", "q", "--cordon",
              "--max-running-apps", "9"),
          CLI_OK, "Updated queue q\n", "");
    queue->cordoned = true;
    queue->scheduling->max_running_apps = 9;
    check_queue_sent(script, queue);

    answer(script, &queue->base);
    check(ASK(script, "", "update", "queue", "q", "--cordon=false",
              "--ignore-class-priority=false", "-l", "", "--priority-factor",
              "2"),
          CLI_OK, "Updated queue q\n", "");
    queue->cordoned = false;
    queue->scheduling->class_priority_ignored = false;
    queue->n_labels = 0;
    queue->priority_factor = 2;
    check_queue_sent(script, queue);
}

/* The server tells owners as the first of the permissions. */
static void update_queue_replaces_the_owners_named_only(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    (void)serve_queue(script, full_queue, &arena);
    check(ASK(script, "", "update", "queue", "q", "--owners", "carl,dora"),
          CLI_OK, "Updated queue q\n", "");
    Api__Queue *queue = asked(script, &arena, &api__queue__descriptor);
    assert_int_equal(queue->n_user_owners, 2);
    assert_string_equal(queue->user_owners[1], "dora");
    assert_int_equal(queue->n_group_owners, 1);
    assert_string_equal(queue->group_owners[0], "g");
    assert_int_equal(queue->n_permissions, 1);
    assert_string_equal(queue->permissions[0]->subjects[0]->name, "bo");
}

static void update_queue_makes_none(void **state)
{
    struct script *script = *state;

    script->code = RPC_NOT_FOUND;
    script->message = "why";
    script->call_count = 0;
    check(ASK(script, "", "update", "queue", "q", "--cordon"), CLI_NOT_FOUND,
          "",
          "berthctl: there is no queue q to update; create queue makes one\n");
    assert_int_equal(script->call_count, 1);
    check(ASK(script, "", "update", "queue", "q", "--cordon=maybe"), CLI_USAGE,
          "", "berthctl: --cordon is true or false, not \"maybe\"\n");
    assert_int_equal(script->call_count, 1);
}

static void queue_is_shown_as_a_file_that_makes_it(void **state)
{
    struct script *script = *state;
    Api__Queue queue = API__QUEUE__INIT;
    char name[] = "q";

    queue.name = name;
    queue.priority_factor = 2;
    answer(script, &queue.base);
    check(ASK(script, "", "get", "queue", "q"), CLI_OK,
          "apiVersion: armadaproject.io/v1beta1\nkind: Queue\n"
          "name: q\npriorityFactor: 2\n",
          "");
}

static void exit_codes_tell_failures_apart(void **state)
{
    struct script *script = *state;
    static const struct {
        enum rpc_code code;
        enum cli_exit exit;
        const char *err;
    } cases[] = {
        {RPC_NOT_FOUND, CLI_NOT_FOUND, "berthctl: NOT_FOUND: why\n"},
        {RPC_PERMISSION_DENIED, CLI_DENIED,
         "berthctl: PERMISSION_DENIED: why\n"},
        {RPC_UNAUTHENTICATED, CLI_DENIED,
         "berthctl: UNAUTHENTICATED: why\nbasicAuth in ~/.berthctl.yaml says "
         "who you are: see berthctl(1), FILES\n"},
        {RPC_UNAVAILABLE, CLI_UNAVAILABLE, "berthctl: UNAVAILABLE: why\n"},
        {RPC_INVALID_ARGUMENT, CLI_INVALID,
         "berthctl: INVALID_ARGUMENT: why\n"},
        {RPC_UNKNOWN, CLI_FAILED, "berthctl: UNKNOWN: why\n"},
    };

    static const char wrapped[] =
        "[x-request-id: \"1\"] could not find queue \"q\"";
    static const char no_queue[] =
        "berthctl: could not find queue \"q\" (create queue makes one, get "
        "queues shows those that there are)\n";

    strbuf_clear(&script->reply);
    script->code = RPC_UNKNOWN;
    script->message = wrapped;
    check(ASK(script, "", "cancel", "job-set", "q", "s"), CLI_NOT_FOUND, "",
          no_queue);
    script->message = "why";
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        script->code = cases[i].code;
        check(ASK(script, "", "get", "queue", "q"), cases[i].exit, "",
              cases[i].err);
    }
    /* Before any end message: the list is not complete. */
    script->code = RPC_OK;
    check(ASK(script, "", "get", "queues"), CLI_FAILED, "",
          "berthctl: the list of queues broke off\n");
    script->message = NULL;
}

static void watch_prints_a_summary_before_each_event(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__EventStreamMessage stream = API__EVENT_STREAM_MESSAGE__INIT;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobFailedEvent failed = API__JOB_FAILED_EVENT__INIT;
    Google__Protobuf__Timestamp created = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    char id[] = "5:0:0:1", job[] = "01a", reason[] = "exit code 3";

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
          "01a pod: 0\nJob failed: exit code 3\n",
          "");

    Api__JobSetRequest *request =
        asked(script, &arena, &api__job_set_request__descriptor);
    assert_true(request->watch);
    assert_true(request->errorifmissing);
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
    /* Who watches beyond the last job meets this end. */
    script->code = RPC_NOT_FOUND;
    script->message = "watched too long";
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
    Berth__Api__JobSummary *jobs[] = {&job};
    char id[] = "01a", queue[] = "physics", set[] = "s", node[] = "n1";

    job.job_id = id;
    job.queue = queue;
    job.job_set = set;
    job.node = node;
    job.state = API__JOB_STATE__RUNNING;
    job.priority = 7;
    response.jobs = jobs;
    response.n_jobs = 1;
    answer(script, &response.base);
    check(
        ASK(script, "", "get", "jobs", "-q", "physics", "-s", "running,QUEUED"),
        CLI_OK,
        "JOB  QUEUE    JOBSET  STATE    PRIORITY  SUBMITTED  EXECUTOR  NODE "
        " REASON\n"
        "01a  physics  s       running  7                              n1   "
        " \n",
        "");

    Berth__Api__ListJobsRequest *request =
        asked(script, &arena, &berth__api__list_jobs_request__descriptor);
    assert_int_equal(request->n_states, 2);
    assert_int_equal(request->limit, 100);
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
    second.cordoned = true;
    second.cordon_reason = why;
    response.executors = rows;
    response.n_executors = 2;
    answer(script, &response.base);
    check(ASK(script, "", "get", "executors"), CLI_OK,
          "EXECUTOR  POOL  STATE                   NODES  OPEN  JOBS  FREE\n"
          "a         p     live                    2      1     5     cpu 3/8\n"
          "b         p     lost, cordoned: repair  0      0     0     \n",
          "");
}

static void explain_prints_text_or_data(void **state)
{
    struct script *script = *state;
    Berth__Api__ExplainJobResponse response =
        BERTH__API__EXPLAIN_JOB_RESPONSE__INIT;
    char text[] = "It waits.", json[] = "{\"reason\": \"full\"}";

    response.text = text;
    response.json = json;
    answer(script, &response.base);
    check(ASK(script, "", "explain", "01a"), CLI_OK, "It waits.\n", "");
    check(ASK(script, "", "explain", "01a", "-o", "yaml"), CLI_OK,
          "reason: full\n", "");
}

static void create_pool_takes_options_or_a_file(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Google__Protobuf__Empty empty = GOOGLE__PROTOBUF__EMPTY__INIT;

    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    char cpu[] = "cpu";
    char *configured[] = {cpu};

    answer(script, &empty.base);
    script->has_pools = true;
    list.configured = configured;
    list.n_configured = 1;
    wire_encode(&list.base, &script->pools);
    check(ASK(script, "", "create", "pool", "gpu", "--selector",
              "gpu=true,zone!=b,ssd,!old", "--disable-sharing",
              "--disable-borrowing=false", "--borrowing-pools", "cpu"),
          CLI_OK, "Created pool gpu\n", "");
    Berth__Api__Pool *pool =
        asked(script, &arena, &berth__api__pool__descriptor);
    assert_string_equal(pool->name, "gpu");
    assert_int_equal(pool->node_selector->n_match_labels, 1);
    assert_string_equal(pool->node_selector->match_labels[0]->value, "true");
    assert_int_equal(pool->node_selector->n_match_expressions, 3);
    assert_string_equal(pool->node_selector->match_expressions[0]->operator_,
                        "NotIn");
    assert_string_equal(pool->node_selector->match_expressions[2]->key, "old");
    assert_true(pool->disable_sharing);
    assert_false(pool->disable_borrowing);
    assert_string_equal(pool->borrowing_pools[0], "cpu");

    check(ASK(script,
              "apiVersion: resource.aibee.cn/v1alpha1\nkind: Pool\n"
              "metadata: {name: a}\nspec: {disablePreemption: true, "
              "nodeSelector: {matchLabels: {k: v}}}\n---\n"
              "apiVersion: resource.aibee.cn/v1alpha1\nkind: Pool\n"
              "metadata: {name: b}\n",
              "create", "-f", "-"),
          CLI_OK, "Created pool a\nCreated pool b\n",
          "berthctl: pool b has no nodeSelector, and so no nodes: edit pool b "
          "--selector K=V gives it some\n");
    check(ASK(script, "", "create", "pool", "default"), CLI_INVALID, "",
          "berthctl: metadata.name: \"default\" is the default pool, which "
          "cannot be created, edited or deleted\n");
    check(ASK(script, "", "create", "pool"), CLI_USAGE, "",
          "berthctl: create pool wants NAME or -f FILE\n");
}

static void get_pools_shows_whose_jobs_are_in_them(void **state)
{
    struct script *script = *state;
    Berth__Api__Pool pool = BERTH__API__POOL__INIT;
    Berth__Api__PoolStatus status = BERTH__API__POOL_STATUS__INIT;
    Berth__Api__PoolStatus *statuses[] = {&status};
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    char name[] = "gpu";

    pool.name = name;
    pool.disable_preemption = true;
    status.pool = &pool;
    status.node_count = 2;
    status.running_foreign_count = 7;
    list.pools = statuses;
    list.n_pools = 1;
    answer(script, &list.base);
    check(ASK(script, "", "get", "pools"), CLI_OK,
          "POOL  FLAGS          NODES  RUNNING OWN  RUNNING LENT  "
          "WAITING OWN  WAITING LENT\n"
          "gpu   (p=x,b=√,s=√)  2      0            7             0            "
          "0\n",
          "");
    check(ASK(script, "", "get", "pool", "cpu"), CLI_NOT_FOUND, "",
          "berthctl: there is no pool cpu\n");
}

/* Those of the default pool are those of the configuration's pools; of objects
 * only the ones asked for. */
static void get_pools_shows_the_rules_of_each(void **state)
{
    struct script *script = *state;
    Berth__Api__Pool gpu = BERTH__API__POOL__INIT, rest = gpu;
    Berth__Api__PoolStatus one = BERTH__API__POOL_STATUS__INIT, other = one;
    Berth__Api__PoolStatus *statuses[] = {&one, &other};
    Berth__Api__PoolRules plain = BERTH__API__POOL_RULES__INIT, flow = plain;
    Berth__Api__PoolRules *rules[] = {&flow, &plain};
    Berth__Api__ListPoolsResponse list = BERTH__API__LIST_POOLS_RESPONSE__INIT;
    Google__Protobuf__DoubleValue factor = GOOGLE__PROTOBUF__DOUBLE_VALUE__INIT;
    char name[] = "gpu", whole[] = "default", cpu[] = "cpu", drf[] = "drf";
    char profile[] = "flow", berth[] = "berth", order[] = "inOrder";
    char off[] = "off", *configured[] = {cpu};

    gpu.name = name;
    rest.name = whole;
    one.pool = &rest;
    one.is_default = true;
    other.pool = &gpu;
    list.pools = statuses;
    list.n_pools = 2;
    list.configured = configured;
    list.n_configured = 1;
    flow.pool = cpu;
    flow.profile = profile;
    flow.cost = plain.cost = drf;
    flow.flow_half_time_seconds = 600;
    flow.admitted_window = 3;
    flow.admitted_window_per_queue = 1;
    flow.strict_order = true;
    flow.backfill = order;
    factor.value = 0.2;
    flow.over_share_factor = &factor;
    plain.pool = name;
    plain.profile = berth;
    plain.backfill = off;
    list.rules = rules;
    list.n_rules = 2;
    answer(script, &list.base);
    check(ASK(script, "", "get", "pools", "--rules"), CLI_OK,
          "POOL  PROFILE  COST  HALF TIME S  WINDOW  OF A QUEUE  STRICT  "
          "BACKFILL  OVER SHARE  BUDGET MIN  LEVELS\n"
          "cpu   flow     drf   600          3       1           on      "
          "inOrder   0.2         -           0\n"
          "gpu   berth    drf   -            0       0           off     "
          "off       -           -           0\n",
          "");
    check(ASK(script, "", "get", "pools", "gpu", "--rules"), CLI_OK,
          "POOL  PROFILE  COST  HALF TIME S  WINDOW  OF A QUEUE  STRICT  "
          "BACKFILL  OVER SHARE  BUDGET MIN  LEVELS\n"
          "gpu   berth    drf   -            0       0           off     "
          "off       -           -           0\n",
          "");
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

static void backup_writes_only_into_a_new_directory(void **state)
{
    struct script *script = *state;
    Berth__Api__BackupChunk chunk = BERTH__API__BACKUP_CHUNK__INIT;
    char folder[] = "/tmp/berth-test-XXXXXX", path[64], out[128], err[160];
    char name[] = "log.db", bad[] = "../log.db";
    uint8_t bytes[] = {1, 2, 3};

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/copy", folder);
    chunk.file = name;
    chunk.content.data = bytes;
    chunk.content.len = 3;
    answer(script, &chunk.base);
    (void)snprintf(out, sizeof(out), "Copied 1 files, 3 bytes, to %s\n", path);
    check(ASK(script, "", "backup", path), CLI_OK, out, "");
    (void)snprintf(err, sizeof(err), "berthctl: cannot make %s: File exists\n",
                   path);
    check(ASK(script, "", "backup", path), CLI_FAILED, "", err);

    chunk.file = bad;
    answer(script, &chunk.base);
    (void)snprintf(path, sizeof(path), "%s/other", folder);
    check(ASK(script, "", "backup", path), CLI_FAILED, "",
          "berthctl: the server sent the file name ../log.db\n");
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(submit_sends_the_jobs_and_prints_their_ids),
        SERVED(submit_reads_a_group_as_the_guide_writes_it),
        SERVED(submit_says_what_a_file_lacks),
        SERVED(submit_takes_a_kubernetes_job_as_it_stands),
        SERVED(submit_says_what_is_wrong_with_a_kubernetes_job),
        SERVED(long_submission_is_sent_in_requests_of_200),
        SERVED(a_refusal_says_which_job_of_the_file),
        SERVED(cancelling_prints_what_armadactl_prints),
        SERVED(reprioritizing_lists_what_changed_and_what_failed),
        SERVED(queue_is_made_from_options_or_a_file),
        SERVED(deleting_a_queue_says_which_jobs_it_leaves),
        SERVED(update_queue_changes_only_what_is_named),
        SERVED(update_queue_replaces_the_owners_named_only),
        SERVED(update_queue_makes_none),
        SERVED(queue_is_shown_as_a_file_that_makes_it),
        SERVED(exit_codes_tell_failures_apart),
        SERVED(watch_prints_a_summary_before_each_event),
        SERVED(watch_counts_no_job_that_was_only_asked_about),
        SERVED(jobs_are_listed_as_a_table),
        SERVED(get_nodes_prints_a_table),
        SERVED(get_executors_prints_a_table),
        SERVED(explain_prints_text_or_data),
        SERVED(create_pool_takes_options_or_a_file),
        SERVED(get_pools_shows_whose_jobs_are_in_them),
        SERVED(get_pools_shows_the_rules_of_each),
        SERVED(a_list_of_training_jobs_is_asked_for_page_by_page),
        SERVED(backup_writes_only_into_a_new_directory),
    };
    return RUN_TESTS(tests);
}
