/* Which runs tell how long jobs run, and that a new leader knows it too. */
#include "control/state/state.h"
#include "leader_stage.h"
#include "unit.h"

enum { RUN_MS = 5000 };

/* A job that runs for RUN_MS, and is not over yet. */
static struct job_id run(struct stage *s)
{
    struct job_id job = stage_leased(s, (struct stage_job){.cpu_milli = 1000});

    stage_report(s, job, EVENT_RUN_RUNNING);
    stage_pass(s, RUN_MS);
    return job;
}

/* How long the next is thought to run; 0: nothing is known. */
static int64_t predicted_ms(struct stage *s, struct job_id job)
{
    struct run_time time;
    struct job_view view;

    jobs_get(s->control->jobs, jobs_find(s->control->jobs, job), &view);
    struct run_times_of of = {view.queue, view.user, view.class_key};
    return run_times_predict(s->control->run_times, &of, 0, 0, &time)
               ? time.p50_ms
               : 0;
}

static void test_runs_that_end_by_themselves_tell(void **state)
{
    struct stage *s = stage_begin(2);
    struct job_id witness = stage_leased(s, (struct stage_job){0});

    (void)state;
    assert_int_equal(predicted_ms(s, witness), 0);
    stage_report(s, run(s), EVENT_RUN_SUCCEEDED);
    assert_int_equal(predicted_ms(s, witness), RUN_MS);
    stage_settle(s);
    struct job_id longer = run(s);
    stage_pass(s, RUN_MS);
    stage_fail(s, longer);
    assert_int_equal(predicted_ms(s, witness), (RUN_MS + 2 * RUN_MS) / 2);
    stage_end(s);
}

static void fail_as(struct stage *s, struct job_id job,
                    struct event_error error)
{
    struct event event = {.type = EVENT_RUN_ERRORS, .created_ms = s->wall_ms};

    event.job = job;
    event.run = stage_run(s, job);
    event.error = error;
    event.error.kind = ERROR_POD;
    event.error.is_terminal = true;
    stage_event(s, "q", "set", "", &event);
}

static void test_runs_that_others_end_do_not(void **state)
{
    struct stage *s = stage_begin(2);
    struct job_id witness = stage_leased(s, (struct stage_job){0});

    (void)state;
    stage_cancel(s, run(s));
    fail_as(s, run(s), (struct event_error){.cause = CAUSE_EVICTED});
    fail_as(s, run(s), (struct event_error){.category = STR("internal")});
    stage_give_back(s, run(s), true);
    struct job_id pending = stage_leased(s, (struct stage_job){0});
    stage_fail(s, pending); /* it never ran */
    assert_int_equal(predicted_ms(s, witness), 0);
    stage_end(s);
}

static void restart(struct stage *s, bool has_checkpoint)
{
    auto_strbuf before = {0}, after = {0};

    control_encode_state(s->control, &before);
    if (has_checkpoint) {
        assert_int_equal(control_checkpoint(s->control, NULL), 0);
    }
    stage_crash(s);
    stage_start(s);
    control_encode_state(s->control, &after);
    assert_int_equal(before.byte_count, after.byte_count);
    assert_memory_equal(before.bytes, after.bytes, before.byte_count);
}

static void test_a_new_leader_knows_them(void **state)
{
    struct stage *s = stage_begin(2);
    struct job_id witness = stage_leased(s, (struct stage_job){0});

    (void)state;
    stage_report(s, run(s), EVENT_RUN_SUCCEEDED);
    for (int i = 0; i < 2; i++) {
        restart(s, i);
        assert_int_equal(predicted_ms(s, witness), RUN_MS);
    }
    stage_end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_that_end_by_themselves_tell),
        cmocka_unit_test(test_runs_that_others_end_do_not),
        cmocka_unit_test(test_a_new_leader_knows_them),
    };

    return RUN_TESTS(tests);
}
