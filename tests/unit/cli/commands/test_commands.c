/*
 * commands about jobs, and of the server as a whole: what each asks, prints and
 * exits with.  The server here answers what the test says and remembers the
 * last request.
 */
#include <stdlib.h>

#include "armada/services.pb-c.h"
#include "berth/api.pb-c.h"
#include "script.h"
#include "unit.h"

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
    check(ASK(script, "", "reprioritize", "job", "q", "s", "01a", "2"), CLI_OK,
          "Reprioritized jobs with ID:\n01a\nFailed to reprioritize:\n"
          "01b failed to reprioritize due to error no\n",
          "");

    Api__JobReprioritizeRequest *request =
        asked(script, &arena, &api__job_reprioritize_request__descriptor);
    assert_true(request->new_priority == 2);
    assert_int_equal(request->n_job_ids, 1);
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
         "berthctl: UNAUTHENTICATED: why\nset your user and password under "
         "basicAuth in ~/.berthctl.yaml: see berthctl(1), FILES\n"},
        {RPC_UNAVAILABLE, CLI_UNAVAILABLE, "berthctl: UNAVAILABLE: why\n"},
        {RPC_INVALID_ARGUMENT, CLI_INVALID,
         "berthctl: INVALID_ARGUMENT: why\n"},
        {RPC_UNKNOWN, CLI_FAILED, "berthctl: UNKNOWN: why\n"},
    };

    static const char wrapped[] =
        "[x-request-id: \"1\"] could not find queue \"q\"";
    static const char no_queue[] =
        "berthctl: could not find queue \"q\" (create queue creates one, get "
        "queues lists those that exist)\n";

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
          "berthctl: the server ended the list of queues too early\n");
    script->message = NULL;
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
    (void)snprintf(out, sizeof(out), "Copied 1 file, 3 bytes, to %s\n", path);
    check(ASK(script, "", "backup", path), CLI_OK, out, "");
    (void)snprintf(err, sizeof(err), "berthctl: cannot make %s: File exists\n",
                   path);
    check(ASK(script, "", "backup", path), CLI_FAILED, "", err);

    chunk.file = bad;
    answer(script, &chunk.base);
    (void)snprintf(path, sizeof(path), "%s/other", folder);
    check(ASK(script, "", "backup", path), CLI_FAILED, "",
          "berthctl: the server sent the file name ../log.db, which is not "
          "allowed\n");
    (void)snprintf(path, sizeof(path), "rm -r %s", folder);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(cancelling_prints_what_armadactl_prints),
        SERVED(reprioritizing_lists_what_changed_and_what_failed),
        SERVED(exit_codes_tell_failures_apart),
        SERVED(backup_writes_only_into_a_new_directory),
    };
    return RUN_TESTS(tests);
}
