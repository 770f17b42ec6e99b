/*
 * cancel, preempt and reprioritize by ids alone and by options.
 */
#include "script.h"

#define ID_A "01h00000000000000000000000"

static void ids_need_no_queue_and_job_set(void **state)
{
    struct script *script = *state;
    Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;
    auto_arena arena = {0};

    answer(script, &result.base);
    set_job(script, ID_A, API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "cancel", "job", ID_A, ID_A), CLI_OK,
          "Requested cancellation for job " ID_A "\n", "");
    const Api__JobCancelRequest *cancel =
        asked(script, &arena, &api__job_cancel_request__descriptor);
    assert_int_equal(cancel->n_job_ids, 1);
    assert_string_equal(cancel->queue, "q");
    assert_string_equal(cancel->job_set_id, "s");
    check(ASK(script, "", "preempt", "job", ID_A, "--reason", "why"), CLI_OK,
          "Requested preemption for job " ID_A "\n", "");
    const Api__JobPreemptRequest *preempt =
        asked(script, &arena, &api__job_preempt_request__descriptor);
    assert_string_equal(preempt->reason, "why");
    check(ASK(script, "", "reprioritize", "job", ID_A, "3"), CLI_OK,
          "Reprioritized for job " ID_A "\n", "");
    const Api__JobReprioritizeRequest *change =
        asked(script, &arena, &api__job_reprioritize_request__descriptor);
    assert_true(change->new_priority == 3);
}

static void what_options_select_is_shown_before_it_is_done(void **state)
{
    struct script *script = *state;
    Api__CancellationResult result = API__CANCELLATION_RESULT__INIT;

    answer(script, &result.base);
    set_job(script, ID_A, API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "cancel", "job", "--name", "n"), CLI_USAGE, "",
          "1 job matches:\n  1 of queue q, job set s\n"
          "berthctl: nothing was done; add --yes to cancel them\n");
    assert_int_equal(script->call_count, 0);
    check(ASK(script, "", "cancel", "job", "--name", "n", "--yes"), CLI_OK,
          "Requested cancellation for job " ID_A "\n", "");
    assert_int_equal(script->call_count, 1);
}

static void what_is_not_there_or_has_ended_is_said(void **state)
{
    struct script *script = *state;
    Api__JobReprioritizeResponse result = API__JOB_REPRIORITIZE_RESPONSE__INIT;

    answer(script, &result.base);
    set_job(script, NULL, API__JOB_STATE__RUNNING, false);
    check(ASK(script, "", "cancel", "job", ID_A), CLI_NOT_FOUND, "",
          "berthctl: there is no job " ID_A
          "; get jobs lists the jobs that exist, and those that ended "
          "recently\n");
    set_job(script, ID_A, API__JOB_STATE__FAILED, false);
    check(ASK(script, "", "reprioritize", "job", ID_A, "1"), CLI_FAILED, "",
          "berthctl: job " ID_A
          " has ended (failed): its priority was not changed\n");
}

static void priorities_are_never_rounded(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "reprioritize", "job", ID_A, "0.5"), CLI_USAGE, "",
          "berthctl: a priority is a whole number, 0 or more, not 0.5\n");
    check(ASK(script, "", "reprioritize", "job-set", "q", "s", "-1"), CLI_USAGE,
          "",
          "berthctl: no such option: -1\ntry: berthctl reprioritize "
          "job-set --help\n");
    check(ASK(script,
              "{queue: q, jobSetId: s, jobs: [{priority: 0.5, podSpec: {}}]}",
              "submit", "-"),
          CLI_INVALID, "",
          "berthctl: jobs[0].priority: must be a whole number from 0 to "
          "4294967295, not 0.5\n");
    assert_int_equal(script->call_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(ids_need_no_queue_and_job_set),
        SERVED(what_options_select_is_shown_before_it_is_done),
        SERVED(what_is_not_there_or_has_ended_is_said),
        SERVED(priorities_are_never_rounded),
    };
    return RUN_TESTS(tests);
}
