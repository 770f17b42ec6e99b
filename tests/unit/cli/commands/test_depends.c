/*
 * depends: the key dependsOn of a file of jobs, and what the server gets.
 */
#include "script.h"

#define ID_A "01h00000000000000000000000"

static void jobs_come_after_what_they_wait_for(void **state)
{
    struct script *script = *state;
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    auto_arena arena = {0};

    answer(script, &response.base);
    check(ASK(script,
              "{queue: q, jobSetId: s, jobs: ["
              "{clientId: last, dependsOn: ['mid:ended', '" ID_A "'],"
              " podSpec: {}},"
              "{clientId: first, podSpec: {}},"
              "{clientId: mid, dependsOn: [first], podSpec: {}}]}",
              "submit", "-"),
          CLI_OK, "", "");
    const Api__JobSubmitRequest *request =
        asked(script, &arena, &api__job_submit_request__descriptor);
    assert_int_equal(request->n_job_request_items, 3);
    assert_string_equal(request->job_request_items[0]->client_id, "first");
    assert_string_equal(request->job_request_items[1]->client_id, "mid");
    const Api__JobSubmitRequestItem *last = request->job_request_items[2];
    assert_string_equal(last->client_id, "last");
    assert_string_equal(last->annotations[0]->key, "berth.dev/dependsOn");
    assert_string_equal(last->annotations[0]->value, "client/mid:ended," ID_A);
}

static void circles_and_nonsense_are_refused(void **state)
{
    struct script *script = *state;

    check(ASK(script,
              "{queue: q, jobSetId: s, jobs: ["
              "{clientId: z, dependsOn: [a]},"
              "{clientId: a, dependsOn: [b]},"
              "{clientId: b, dependsOn: [c]},"
              "{clientId: c, dependsOn: [a]}]}",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: jobs depend on one another in a cycle: a -> b -> c -> "
          "a\n");
    check(ASK(script, "{queue: q, jobs: [{dependsOn: a}]}", "submit", "-"),
          CLI_INVALID, "", "berthctl: jobs[0].dependsOn: must be a list\n");
    check(ASK(script, "{queue: q, jobs: [{dependsOn: [1]}]}", "submit", "-"),
          CLI_INVALID, "",
          "berthctl: jobs[0].dependsOn[0]: must be a job's id or clientId, and "
          "may end in :succeeded, :ended or :failed\n");
    assert_int_equal(script->call_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(jobs_come_after_what_they_wait_for),
        SERVED(circles_and_nonsense_are_refused),
    };
    return RUN_TESTS(tests);
}
