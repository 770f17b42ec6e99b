/*
 * array: jobs that differ only in an index, and what the server gets.
 */
#include "script.h"

/* What was submitted last. */
static const Api__JobSubmitRequest *submitted(struct script *script,
                                              struct arena *arena)
{
    return asked(script, arena, &api__job_submit_request__descriptor);
}

static const char *variable(const Api__JobSubmitRequestItem *item, size_t at)
{
    return item->pod_specs[0]->containers[0]->env[at]->value;
}

static void members_know_their_index(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    auto_arena arena = {0};

    answer(script, &response.base);
    check(ASK(script,
              "{queue: q, jobSetId: s, jobs: [{clientId: a, array: '1,4-5', "
              "podSpecs: [{containers: [{name: c, env: [{name: X, value: "
              "x}]}]}]},"
              "{podSpecs: [{containers: [{name: c}]}]}]}",
              "submit", "-"),
          CLI_OK, "", "berthctl: Array 01hf7yat00040g2081040g2081: 3 jobs\n");
    const Api__JobSubmitRequest *request = submitted(script, &arena);
    assert_int_equal(request->n_job_request_items, 4);
    assert_string_equal(request->job_request_items[0]->client_id, "a-1");
    assert_string_equal(request->job_request_items[2]->client_id, "a-5");
    assert_string_equal(variable(request->job_request_items[1], 0), "x");
    assert_string_equal(variable(request->job_request_items[1], 1), "4");
    assert_string_equal(request->job_request_items[1]->labels[0]->key,
                        "berth.dev/arrayIndex");
    assert_int_equal(
        request->job_request_items[3]->pod_specs[0]->containers[0]->n_env, 0);
}

/* Whether the first job has such an annotation. */
static void assert_annotated(const Api__JobSubmitRequest *request,
                             const char *key, const char *value)
{
    const Api__JobSubmitRequestItem *item = request->job_request_items[0];

    for (size_t i = 0; i < item->n_annotations; i++) {
        if (strcmp(item->annotations[i]->key, key) == 0) {
            assert_string_equal(item->annotations[i]->value, value);
            return;
        }
    }
    fail_msg("no annotation %s", key);
}

static void an_array_that_the_server_refuses_is_not_announced(void **state)
{
    struct script *script = *state;

    script->code = RPC_PERMISSION_DENIED;
    script->message = "no";
    check(ASK(script, "", "run", "-q", "q", "--array", "0-9", "x"), CLI_DENIED,
          "", "berthctl: PERMISSION_DENIED: no\n");
}

static void only_some_members_run_at_once(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    auto_arena arena = {0};

    answer(script, &response.base);
    check(ASK(script, "", "run", "-q", "q", "--array", "0-9%3", "x"), CLI_OK,
          "", "berthctl: Array 01hf7yat00040g2081040g2081: 10 jobs\n");
    const Api__JobSubmitRequest *request = submitted(script, &arena);
    assert_int_equal(request->n_job_request_items, 10);
    assert_annotated(request, "berth.dev/concurrencyLimit", "3");
    assert_annotated(request, "berth.dev/concurrencyGroup",
                     "01hf7yat00040g2081040g2081");
    /* Kubernetes' own word for it. */
    answer(script, &response.base);
    check(ASK(script,
              "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {"
              "completions: 3, parallelism: 2, template: {spec: {"
              "containers: [{name: c}]}}}}",
              "submit", "-", "-q", "q"),
          CLI_OK, "", "");
    auto_arena other = {0};
    assert_annotated(submitted(script, &other), "berth.dev/concurrencyLimit",
                     "2");
}

static void indexed_jobs_of_kubernetes_are_taken(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    auto_arena arena = {0};

    answer(script, &response.base);
    check(ASK(script,
              "{apiVersion: batch/v1, kind: Job, metadata: {name: j}, spec: {"
              "completions: 3, completionMode: Indexed, template: {spec: {"
              "containers: [{name: c}]}}}}",
              "submit", "-", "-q", "q"),
          CLI_OK, "", "");
    const Api__JobSubmitRequest *request = submitted(script, &arena);
    assert_int_equal(request->n_job_request_items, 3);
    assert_string_equal(variable(request->job_request_items[2], 1), "2");
}

#define NO_INDEXES                                                         \
    "must be indexes such as 0-99 or 1,4,7-9, with %N behind them for at " \
    "most N at once, not "

static void what_is_no_index_is_refused(void **state)
{
    static const struct {
        const char *text, *said;
    } rows[] = {
        {"x", NO_INDEXES "\"x\""},
        {"3-1", NO_INDEXES "\"3-1\""},
        {"1,", NO_INDEXES "\"1,\""},
        {"0-9%0", NO_INDEXES "\"0-9%0\""},
        {"0-9%x", NO_INDEXES "\"0-9%x\""},
        {"%3", NO_INDEXES "\"%3\""},
        {"0-10000", "more than 10000 members"},
    };
    struct script *script = *state;

    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char said[256];
        (void)snprintf(said, sizeof(said), "berthctl: --array: %s\n",
                       rows[i].said);
        check(ASK(script, "", "run", "-q", "q", "--array", rows[i].text, "x"),
              CLI_INVALID, "", said);
    }
    assert_int_equal(script->call_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(members_know_their_index),
        SERVED(an_array_that_the_server_refuses_is_not_announced),
        SERVED(only_some_members_run_at_once),
        SERVED(indexed_jobs_of_kubernetes_are_taken),
        SERVED(what_is_no_index_is_refused),
    };
    return RUN_TESTS(tests);
}
