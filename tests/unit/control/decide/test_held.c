/*
 * Held jobs: they are not planned, explain says why, and the log tells the
 * same story again.
 */
#include <stdlib.h>

#include "leader_stage.h"
#include "unit.h"

static void assert_says(struct str text, const char *part)
{
    auto_mem char *copy = str_dup(text);

    if (!strstr(copy, part)) {
        fail_msg("no \"%s\" in \"%s\"", part, copy);
    }
}

static void hold(struct stage *s, struct job_id job, uint32_t set,
                 uint32_t cleared, int64_t begin_ms)
{
    struct event event = stage_event_make(EVENT_HOLD_CHANGED);

    event.job = job;
    event.hold.set = set;
    event.hold.cleared = cleared;
    event.hold.begin_ms = begin_ms;
    event.hold.user = STR("bert");
    stage_event(s, "q", "set", "bert", &event);
}

/* A job that waits for another, which takes all there is. */
static struct job_id make_waiting(struct stage *s, struct job_id *ret_running)
{
    struct stage_job like = {.cpu_milli = 10000};

    *ret_running = stage_leased(s, like);
    struct job_id waiting = stage_submit(s, "q", like);
    stage_settle(s);
    return waiting;
}

static void what_is_held_does_not_start(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id running;

    (void)state;
    struct job_id waiting = make_waiting(s, &running);
    hold(s, waiting, JOB_HOLD_BY_USER, 0, 0);
    assert_says(stage_explain(s, waiting)->explain.text, "it is held by bert");
    assert_says(stage_explain(s, waiting)->explain.json,
                "\"reason\":\"held\",\"heldBy\":\"bert\"");
    stage_report(s, running, EVENT_RUN_SUCCEEDED);
    stage_pass(s, 60000);
    control_assert_valid(s->control);
    assert_true(key128_is_none(stage_run(s, waiting).v));
    stage_crash(s); /* another leader knows it, too */
    stage_start(s);
    stage_exchange(s, "e", 1, NULL, 0);
    stage_pass(s, 60000);
    assert_true(key128_is_none(stage_run(s, waiting).v));
    hold(s, waiting, 0, JOB_HOLD_BY_USER, 0);
    stage_settle(s);
    assert_false(key128_is_none(stage_run(s, waiting).v));
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

static void a_time_that_comes_lets_a_job_go(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id running;

    (void)state;
    struct job_id waiting = make_waiting(s, &running);
    hold(s, waiting, JOB_HOLD_UNTIL, 0, s->wall_ms + 30000);
    stage_report(s, running, EVENT_RUN_SUCCEEDED);
    stage_pass(s, 29000);
    assert_true(key128_is_none(stage_run(s, waiting).v));
    assert_says(stage_explain(s, waiting)->explain.text,
                "it does not start before");
    stage_pass(s, 3000);
    assert_false(key128_is_none(stage_run(s, waiting).v));
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

static void a_held_job_is_cancelled_and_reprioritised_as_any(void **state)
{
    struct stage *s = stage_begin(1);
    struct event event = stage_event_make(EVENT_REPRIORITISE);
    struct job_id running;

    (void)state;
    struct job_id waiting = make_waiting(s, &running);
    hold(s, waiting, JOB_HOLD_BY_USER, 0, 0);
    event.job = waiting;
    event.reprioritise.priority = 7;
    stage_event(s, "q", "set", "anna", &event);
    stage_settle(s);
    stage_cancel(s, waiting);
    stage_settle(s);
    control_assert_valid(s->control);
    assert_int_equal(stage_count(s, EVENT_CANCELLED), 1);
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

static void only_some_of_a_group_are_planned(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job like = {
        .cpu_milli = 100, .turn_group = "g", .turn_limit = 2};
    struct job_id jobs[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        jobs[i] = stage_submit(s, "q", like);
    }
    stage_settle(s);
    assert_false(key128_is_none(stage_run(s, jobs[0]).v));
    assert_false(key128_is_none(stage_run(s, jobs[1]).v));
    assert_true(key128_is_none(stage_run(s, jobs[2]).v));
    assert_says(stage_explain(s, jobs[3])->explain.text,
                "its group g has as many jobs as may run at once (2)");
    assert_says(stage_explain(s, jobs[3])->explain.json,
                "\"concurrencyGroup\":\"g\",\"concurrencyLimit\":2");
    stage_crash(s); /* another leader knows it, too */
    stage_start(s);
    stage_exchange(s, "e", 1, NULL, 0);
    stage_pass(s, 60000);
    assert_true(key128_is_none(stage_run(s, jobs[2]).v));
    stage_report(s, jobs[1], EVENT_RUN_SUCCEEDED);
    stage_settle(s);
    assert_false(key128_is_none(stage_run(s, jobs[2]).v));
    assert_true(key128_is_none(stage_run(s, jobs[3]).v));
    control_assert_valid(s->control);
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

/* What its submission would say: a job that waits for another. */
static struct job_id submit_after(struct stage *s, struct job_id on,
                                  enum job_want want)
{
    struct job_wait wait = {on, want};

    return stage_submit(s, "q",
                        (struct stage_job){.cpu_milli = 1000, .wait = &wait});
}

static void jobs_wait_for_others_and_end_with_them(void **state)
{
    struct stage *s = stage_begin(1);
    struct stage_job like = {.cpu_milli = 1000};

    (void)state;
    struct job_id first = stage_leased(s, like);
    struct job_id good = submit_after(s, first, JOB_WANT_SUCCEEDED);
    struct job_id bad = submit_after(s, first, JOB_WANT_FAILED);
    struct job_id next = submit_after(s, bad, JOB_WANT_SUCCEEDED);
    stage_settle(s);
    assert_says(stage_explain(s, good)->explain.text, "it waits for job ");
    assert_true(key128_is_none(stage_run(s, good).v));
    stage_report(s, first, EVENT_RUN_SUCCEEDED);
    stage_settle(s);
    assert_false(key128_is_none(stage_run(s, good).v));
    auto_mem char *why = stage_failure(s, bad);
    assert_non_null(strstr(why, " failing, and that job succeeded"));
    auto_mem char *after = stage_failure(s, next);
    assert_non_null(strstr(after, " succeeding, and that job failed"));
    assert_true(stage_is_made_again(s, NULL));
    stage_end(s);
}

static void nobody_waits_for_what_is_not_there(void **state)
{
    struct stage *s = stage_begin(1);
    struct job_id nobody = {{1, 1}};
    struct job_wait wait = {nobody, JOB_WANT_ENDED};
    struct stage_job like = {.wait = &wait};

    (void)state;
    stage_do(s, stage_submit_command(s, "q", &like, 1));
    assert_int_equal(s->answer->result, COMMAND_INVALID);
    assert_says(s->answer->result_text, "there is no job ");
    struct job_id done = stage_leased(s, (struct stage_job){.cpu_milli = 1});
    stage_report(s, done, EVENT_RUN_SUCCEEDED);
    stage_settle(s);
    wait.on = done;
    like.is_wait_known = true; /* the store does not know its end yet */
    stage_do(s, stage_submit_command(s, "q", &like, 1));
    assert_int_equal(s->answer->result, COMMAND_OVERLOADED);
    assert_says(s->answer->result_text, "has just ended; try again");
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_held_does_not_start),
        TEST(a_time_that_comes_lets_a_job_go),
        TEST(a_held_job_is_cancelled_and_reprioritised_as_any),
        TEST(jobs_wait_for_others_and_end_with_them),
        TEST(only_some_of_a_group_are_planned),
        TEST(nobody_waits_for_what_is_not_there),
    };
    return RUN_TESTS(tests);
}
