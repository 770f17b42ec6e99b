/*
 * wait and run: what they ask of the server, and what they exit with.
 */
#include "script.h"

#define ID_A "01h00000000000000000000000"
#define WHY                                                             \
    "it broke after so many words that a table on a terminal would be " \
    "cut:\nno disk"
#define WHY_SHOWN                                                       \
    "it broke after so many words that a table on a terminal would be " \
    "cut: no disk"
#define ID_B "01h00000000000000000000001"

/* Let the server have two jobs of one job set in these states, the first of
 * them for a reason. */
static void set_reasoned_jobs(struct script *script, Api__JobState a,
                              Api__JobState b, char *reason)
{
    Berth__Api__ListJobsResponse response =
        BERTH__API__LIST_JOBS_RESPONSE__INIT;
    Berth__Api__JobSummary jobs[2];
    Berth__Api__JobSummary *items[] = {&jobs[0], &jobs[1]};
    char ids[2][27] = {ID_A, ID_B}, queue[] = "q", job_set[] = "s";
    char event_id[] = "0:7:0:1";

    for (int i = 0; i < 2; i++) {
        berth__api__job_summary__init(&jobs[i]);
        jobs[i].job_id = ids[i];
        jobs[i].queue = queue;
        jobs[i].job_set = job_set;
    }
    jobs[0].state = a;
    jobs[0].reason = reason;
    jobs[1].state = b;
    response.jobs = items;
    response.n_jobs = 2;
    response.event_id = event_id;
    script->has_jobs = true;
    strbuf_clear(&script->jobs);
    wire_encode(&response.base, &script->jobs);
}

static void set_jobs(struct script *script, Api__JobState a, Api__JobState b)
{
    char none[] = "";

    set_reasoned_jobs(script, a, b, none);
}

static void add_end(struct script *script, const char *id, bool has_succeeded)
{
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobSucceededEvent good = API__JOB_SUCCEEDED_EVENT__INIT;
    Api__JobFailedEvent bad = API__JOB_FAILED_EVENT__INIT;
    char text[27], why[] = WHY "\n";

    memcpy(text, id, sizeof(text));
    good.job_id = bad.job_id = text;
    bad.reason = why;
    add_event(script, &message,
              has_succeeded ? API__EVENT_MESSAGE__EVENTS_SUCCEEDED
                            : API__EVENT_MESSAGE__EVENTS_FAILED,
              has_succeeded ? (void *)&good : (void *)&bad);
}

static void ends_when_the_events_say_so(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    set_jobs(script, API__JOB_STATE__SUCCEEDED, API__JOB_STATE__RUNNING);
    add_end(script, ID_B, true);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_OK,
          "2 succeeded, 0 failed, 0 have not ended\n", "");
    /* From the moment of the list on: what was before is in it. */
    const Api__JobSetRequest *request =
        asked(script, &arena, &api__job_set_request__descriptor);
    assert_string_equal(request->from_message_id, "0:7:0:1");
    assert_true(request->watch);
}

static void a_failure_is_told_and_has_a_code_of_its_own(void **state)
{
    struct script *script = *state;

    set_jobs(script, API__JOB_STATE__RUNNING, API__JOB_STATE__RUNNING);
    add_end(script, ID_A, false);
    check(ASK(script, "", "wait", ID_A, ID_B, "--for", "succeeded"),
          CLI_JOB_FAILED, "0 succeeded, 1 failed, 1 has not ended\n",
          "berthctl: job " ID_A " did not succeed: " WHY_SHOWN "\n");
    check(ASK(script, "", "wait", "-q", "q", "--for", "any", "-o", "json"),
          CLI_JOB_FAILED,
          "{\n  \"succeeded\": [],\n  \"failed\": [\n    \"" ID_A
          "\"\n  ],\n  \"waiting\": [\n    \"" ID_B "\"\n  ]\n}\n",
          "berthctl: job " ID_A " did not succeed: " WHY_SHOWN "\n");
}

static void
what_is_cancelled_since_its_group_succeeded_is_no_failure(void **state)
{
    struct script *script = *state;
    Api__EventMessage message = API__EVENT_MESSAGE__INIT;
    Api__JobCancelledEvent cancelled = API__JOB_CANCELLED_EVENT__INIT;
    char id[] = ID_A, why[] = "The group has succeeded", other[] = "enough";

    set_jobs(script, API__JOB_STATE__RUNNING, API__JOB_STATE__SUCCEEDED);
    cancelled.job_id = id;
    cancelled.reason = why;
    add_event(script, &message, API__EVENT_MESSAGE__EVENTS_CANCELLED,
              &cancelled);
    check(ASK(script, "", "wait", ID_A, ID_B, "--for", "succeeded"), CLI_OK,
          "2 succeeded, 0 failed, 0 have not ended\n", "");
    /* It was there at the start, by its summary. */
    set_reasoned_jobs(script, API__JOB_STATE__CANCELLED,
                      API__JOB_STATE__SUCCEEDED, why);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_OK,
          "2 succeeded, 0 failed, 0 have not ended\n", "");
    set_reasoned_jobs(script, API__JOB_STATE__CANCELLED,
                      API__JOB_STATE__SUCCEEDED, other);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_JOB_FAILED,
          "1 succeeded, 1 failed, 0 have not ended\n",
          "berthctl: job " ID_A " did not succeed: enough\n");
    /* Nobody needs to give a reason. */
    set_jobs(script, API__JOB_STATE__CANCELLED, API__JOB_STATE__SUCCEEDED);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_JOB_FAILED,
          "1 succeeded, 1 failed, 0 have not ended\n",
          "berthctl: job " ID_A " did not succeed: it was cancelled\n");
    set_jobs(script, API__JOB_STATE__PREEMPTED, API__JOB_STATE__SUCCEEDED);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_JOB_FAILED,
          "1 succeeded, 1 failed, 0 have not ended\n",
          "berthctl: job " ID_A " did not succeed: it was preempted\n");
    set_jobs(script, API__JOB_STATE__FAILED, API__JOB_STATE__SUCCEEDED);
    check(ASK(script, "", "wait", ID_A, ID_B), CLI_JOB_FAILED,
          "1 succeeded, 1 failed, 0 have not ended\n",
          "berthctl: job " ID_A " did not succeed\n");
}

static void time_that_passes_has_a_code_of_its_own(void **state)
{
    struct script *script = *state;

    set_jobs(script, API__JOB_STATE__RUNNING, API__JOB_STATE__SUCCEEDED);
    check(ASK(script, "", "wait", "--me", "--timeout", "0s"), CLI_TIMEOUT,
          "1 succeeded, 0 failed, 1 has not ended\n",
          "berthctl: the time given with --timeout has passed\n");
}

static void a_selection_must_say_which_jobs(void **state)
{
    struct script *script = *state;

    check(
        ASK(script, "", "wait"), CLI_USAGE, "",
        "berthctl: no jobs selected: give ids, or --name, -l, --me, -q, -j\n");
    check(ASK(script, "", "wait", ID_A, "--me"), CLI_USAGE, "",
          "berthctl: give ids or options that select jobs, not both\n");
    check(ASK(script, "", "wait", "x"), CLI_NOT_FOUND, "",
          "berthctl: \"x\" is not a job's id; --name selects by name\n");
    check(ASK(script, "", "wait", "-l", "k"), CLI_USAGE, "",
          "berthctl: -l takes KEY=VALUE, not \"k\"\n");
    check(ASK(script, "", "wait", "--me", "--for", "ever"), CLI_USAGE, "",
          "berthctl: --for takes succeeded, ended or any, not \"ever\"\n");
    check(ASK(script, "", "wait", "--me", "--timeout", "soon"), CLI_USAGE, "",
          "berthctl: --timeout takes a time such as 90s or 1h30m, not "
          "\"soon\"\n");
    set_job(script, NULL, API__JOB_STATE__QUEUED, false);
    check(ASK(script, "", "wait", "--name", "n"), CLI_NOT_FOUND, "",
          "berthctl: no job matches\n");
    check(ASK(script, "", "wait", ID_A), CLI_NOT_FOUND, "",
          "berthctl: there is no job " ID_A
          "; get jobs lists the jobs that exist, and those that ended "
          "recently\n");
}

/* What run asked the server to submit. */
static const Api__JobSubmitRequestItem *submitted(struct script *script,
                                                  struct arena *arena)
{
    const Api__JobSubmitRequest *request =
        asked(script, arena, &api__job_submit_request__descriptor);

    assert_int_equal(request->n_job_request_items, 1);
    return request->job_request_items[0];
}

static void accept_job(struct script *script)
{
    Api__JobSubmitResponse response = API__JOB_SUBMIT_RESPONSE__INIT;
    Api__JobSubmitResponseItem item = API__JOB_SUBMIT_RESPONSE_ITEM__INIT;
    Api__JobSubmitResponseItem *items[] = {&item};
    char id[] = ID_A;

    item.job_id = id;
    response.job_response_items = items;
    response.n_job_response_items = 1;
    answer(script, &response.base);
}

static void a_command_runs_as_a_job(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    accept_job(script);
    check(ASK(script, "", "run", "-q", "q", "--name", "n", "--gpu", "2", "echo",
              "-n", "--cpu", "3"),
          CLI_OK, "Submitted job with id " ID_A " to job set n\n", "");
    const Api__JobSubmitRequestItem *item = submitted(script, &arena);
    const K8s__Io__Api__Core__V1__Container *container =
        item->pod_specs[0]->containers[0];
    assert_int_equal(container->n_command, 4);
    assert_string_equal(container->command[3], "3");
    assert_int_equal(container->resources->n_limits, 4);
    assert_string_equal(item->labels[0]->key, "berth.dev/name");
    assert_string_equal(item->labels[0]->value, "n");
}

static void a_script_travels_with_its_job(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    accept_job(script);
    check(ASK(script, "#!/usr/bin/env  python3\nprint(1)\n", "run", "-q", "q",
              "--script", "-", "--", "--lr", "0.1"),
          CLI_OK, "Submitted job with id " ID_A " to job set run\n", "");
    const K8s__Io__Api__Core__V1__Container *container =
        submitted(script, &arena)->pod_specs[0]->containers[0];
    assert_int_equal(container->n_command, 10);
    assert_string_equal(container->command[4], "/usr/bin/env");
    assert_string_equal(container->command[5], "python3");
    assert_string_equal(container->command[6], "--");
    assert_string_equal(container->command[7],
                        "#!/usr/bin/env  python3\nprint(1)\n");
    assert_string_equal(container->command[9], "0.1");
}

static void a_priority_is_a_number(void **state)
{
    struct script *script = *state;
    auto_arena arena = {0};

    accept_job(script);
    check(ASK(script, "", "run", "-q", "q", "--priority", "4", "x"), CLI_OK,
          "Submitted job with id " ID_A " to job set run\n", "");
    assert_true(submitted(script, &arena)->priority == 4);
    check(ASK(script, "", "run", "-q", "q", "--priority=-4", "x"), CLI_INVALID,
          "",
          "berthctl: --priority takes a whole number from 0 to 4294967295, not "
          "\"-4\"\n");
}

/* A reason of several lines is one line, without their indent. */
static void reasons_are_one_line(void **state)
{
    struct script *script = *state;

    char why[] = "It does not fit.\n  1 of 1 node is full\n";

    set_reasoned_jobs(script, API__JOB_STATE__REJECTED,
                      API__JOB_STATE__SUCCEEDED, why);
    check(ASK(script, "", "wait", "--me"), CLI_JOB_FAILED,
          "1 succeeded, 1 failed, 0 have not ended\n",
          "berthctl: job " ID_A
          " did not succeed: It does not fit. 1 of 1 node "
          "is full\n");
}

static void run_says_what_it_needs(void **state)
{
    struct script *script = *state;

    check(ASK(script, "", "run", "echo"), CLI_USAGE, "",
          "berthctl: --queue is required (get queues lists the queues)\n");
    check(ASK(script, "", "run", "-q", "q"), CLI_USAGE, "",
          "berthctl: no command given: write it after --, or use --script "
          "FILE\n");
    check(ASK(script, "", "run", "-q", "q", "-e", "A", "x"), CLI_USAGE, "",
          "berthctl: --env takes KEY=VALUE, not \"A\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SERVED(reasons_are_one_line),
        SERVED(ends_when_the_events_say_so),
        SERVED(a_failure_is_told_and_has_a_code_of_its_own),
        SERVED(what_is_cancelled_since_its_group_succeeded_is_no_failure),
        SERVED(time_that_passes_has_a_code_of_its_own),
        SERVED(a_selection_must_say_which_jobs),
        SERVED(a_command_runs_as_a_job),
        SERVED(a_script_travels_with_its_job),
        SERVED(a_priority_is_a_number),
        SERVED(run_says_what_it_needs),
    };
    return RUN_TESTS(tests);
}
