/*
 * submit: what it reads, sends, prints and exits with.  The server here answers
 * what the test says and remembers the last request.
 */
#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "script.h"
#include "unit.h"

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
              "- podSpecs: [{restartPolicy: Never}]\n  outputPath: /r\n"
              "  inputFiles: {a/b: hi}\n"
              "  unknownKey: 1\n",
              "submit", "-"),
          CLI_FAILED,
          "Submitted job with id 01abc to job set s\n"
          "Error submitting job: too large\n",
          "berthctl: jobs[1].unknownKey: unknown key, ignored\n");

    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_string_equal(request->queue, "q");
    assert_int_equal(request->n_job_request_items, 2);
    assert_string_equal(request->job_request_items[0]->client_id, "c");
    assert_true(request->job_request_items[0]->priority == 3);
    assert_string_equal(
        request->job_request_items[0]->pod_specs[0]->containers[0]->image, "i");
    assert_int_equal(request->job_request_items[1]->n_pod_specs, 1);
    assert_int_equal(request->job_request_items[1]->n_annotations, 2);
    assert_string_equal(request->job_request_items[1]->annotations[0]->key,
                        "berth.dev/outputPath");
    assert_string_equal(request->job_request_items[1]->annotations[0]->value,
                        "/r");
    assert_string_equal(request->job_request_items[1]->annotations[1]->value,
                        "a/b:aGk=\n");
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
          "unknown: unknown key, ignored\n");
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
          "number from 0 to 4294967295, not -1\n");
}

static void submit_says_what_a_file_lacks(void **state)
{
    struct script *script = *state;

    check(ASK(script, "jobs: [{podSpecs: []}]\n", "submit", "-"), CLI_INVALID,
          "", "berthctl: a queue is required, in the file or by --queue\n");
    check(ASK(script, "kind: Deployment\n", "submit", "-"), CLI_INVALID, "",
          "berthctl: a document of kind Deployment cannot be submitted, only a "
          "file of jobs, a Job or a TrainingJob; create -f takes queues, pools "
          "and retry policies\n");
}

/* Two requests for the jobs of two documents. */
static void submit_sends_every_document(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    script->call_count = 0;
    check(ASK(script,
              "queue: q\njobSetId: s\njobs: [{podSpec: {}}]\n---\n"
              "queue: q\njobSetId: t\njobs: [{podSpec: {}}]\n---\n",
              "submit", "-"),
          CLI_OK, "", "");
    assert_int_equal(script->call_count, 2);
    Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_string_equal(request->job_set_id, "t");
}

static void submit_sends_no_document_when_one_is_wrong(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    script->call_count = 0;
    check(ASK(script,
              "queue: q\njobSetId: s\njobs: [{podSpec: {}}]\n---\n"
              "jobs: [{podSpec: {}}]\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: document 2 of 2: a queue is required, in the file or by "
          "--queue\n");
    check(ASK(script,
              "queue: q\njobs: [{podSpec: {}}]\n---\n"
              "apiVersion: paddlepaddle.org/v1\nkind: TrainingJob\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: document 2 of 2: a TrainingJob and jobs cannot be in the "
          "same file; submit the TrainingJob from its own file\n");
    assert_int_equal(script->call_count, 0);
}

/* Each kind once, however many jobs ask. */
static void submit_remarks_on_what_is_not_done(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;

    answer(script, &response.base);
    check(ASK(script,
              "queue: q\njobSetId: s\njobs:\n"
              "- podSpec: {restartPolicy: Never}\n"
              "- podSpec:\n"
              "    restartPolicy: OnFailure\n"
              "    priority: 7\n"
              "    affinity: {podAntiAffinity: {"
              "preferredDuringSchedulingIgnoredDuringExecution: [{}]}}\n"
              "    topologySpreadConstraints:\n"
              "    - {whenUnsatisfiable: DoNotSchedule}\n"
              "    - {whenUnsatisfiable: ScheduleAnyway}\n"
              "    initContainers: [{volumeMounts: [{mountPath: /data}, "
              "{mountPath: data}]}]\n"
              "- podSpec: {restartPolicy: Always}\n",
              "submit", "-"),
          CLI_OK, "",
          "berthctl: jobs[1].podSpec.restartPolicy: ignored, a failed pod is "
          "not started again\n"
          "berthctl: jobs[1].podSpec.priority: ignored, priorityClassName "
          "decides\n"
          "berthctl: jobs[1].podSpec.affinity.podAntiAffinity."
          "preferredDuringSchedulingIgnoredDuringExecution: ignored, "
          "preferences are not supported\n"
          "berthctl: jobs[1].podSpec.topologySpreadConstraints[1]: ignored, "
          "preferences are not supported\n"
          "berthctl: jobs[1].podSpec.initContainers[0].volumeMounts[1]."
          "mountPath: not absolute, and refused where jobs run as processes "
          "(runtime process)\n");
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
    check(ASK(script,
              "apiVersion: batch/v1\nkind: Job\nspec: {suspend: true, "
              "template: {spec: {}}}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: spec.suspend: a suspended Job cannot be submitted\n");
    check(ASK(script,
              "apiVersion: batch/v1\nkind: Job\nspec: {completionMode: "
              "Sorted, suspend: false, template: {spec: {}}}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: spec.completionMode: must be NonIndexed or Indexed, not "
          "\"Sorted\"\n");
    check(ASK(script,
              "apiVersion: batch/v1\nkind: Job\nspec: {completion: 5, "
              "template: {spec: {}}}\n",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: spec.completion: unknown key, ignored\n"
          "berthctl: a queue is required, in the file or by --queue\n");
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

static void what_has_failed_at_once_is_not_said_to_be_submitted(void **state)
{
    struct script *script = *state;
    Berth__Api__SubmitTrainingJobResponse response =
        BERTH__API__SUBMIT_TRAINING_JOB_RESPONSE__INIT;
    char name[] = "t", queue[] = "q", reason[] = "why";
    static const char file[] = "kind: TrainingJob\n"
                               "apiVersion: paddlepaddle.org/v1\n"
                               "metadata: {name: t}\n";

    response.name = response.job_set = name;
    response.queue = queue;
    answer(script, &response.base);
    check(ASK(script, file, "submit", "-"), CLI_OK,
          "Submitted training job t to queue q, job set t\n", "");
    response.reason = reason;
    answer(script, &response.base);
    check(ASK(script, file, "submit", "-"), CLI_FAILED, "",
          "berthctl: training job t of queue q failed on submission, and none "
          "of it runs: why\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(submit_sends_the_jobs_and_prints_their_ids),
        SERVED(submit_reads_a_group_as_the_guide_writes_it),
        SERVED(submit_says_what_a_file_lacks),
        SERVED(submit_sends_every_document),
        SERVED(submit_sends_no_document_when_one_is_wrong),
        SERVED(submit_remarks_on_what_is_not_done),
        SERVED(submit_takes_a_kubernetes_job_as_it_stands),
        SERVED(submit_says_what_is_wrong_with_a_kubernetes_job),
        SERVED(long_submission_is_sent_in_requests_of_200),
        SERVED(a_refusal_says_which_job_of_the_file),
        SERVED(what_has_failed_at_once_is_not_said_to_be_submitted),
    };

    return RUN_TESTS(tests);
}
