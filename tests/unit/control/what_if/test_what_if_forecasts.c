/* When waiting jobs start, by predicted run times. */
#include "control/state/state.h"
#include "control/what_if/what_if.h"
#include "leader_stage.h"
#include "unit.h"

enum { CORES = 10000, SHORT_MS = 20000, LONG_MS = 50000, LIMIT_MS = 600000 };

struct given {
    struct command *command;
    char *bytes;
    size_t byte_count;
    int64_t now_ms;
};

static void take(void *ctx, struct command *command, char *bytes,
                 size_t byte_count, int64_t now_ms)
{
    *(struct given *)ctx = (struct given){command, bytes, byte_count, now_ms};
}

struct scene {
    struct stage stage;
    struct given given;
};

/* A leader with one node for one job at a time. */
static struct scene *begin(void)
{
    struct scene *scene = mem_alloc(sizeof(*scene));

    stage_init(&scene->stage);
    scene->stage.hooks =
        (struct control_hooks){.ctx = &scene->given, .what_if = take};
    stage_start(&scene->stage);
    stage_queue(&scene->stage, "q");
    stage_exchange(&scene->stage, "e", 1, NULL, 0);
    return scene;
}

static void forget(struct scene *scene)
{
    command_destroy(scene->given.command);
    mem_free(scene->given.bytes);
    scene->given = (struct given){0};
}

static void end(struct scene *scene)
{
    forget(scene);
    stage_settle(&scene->stage);
    stage_fini(&scene->stage);
    mem_free(scene);
}

static struct job_id begin_run(struct scene *scene, int64_t limit_ms)
{
    struct job_id job = stage_leased(
        &scene->stage,
        (struct stage_job){.cpu_milli = CORES, .deadline_ms = limit_ms});

    stage_report(&scene->stage, job, EVENT_RUN_RUNNING);
    return job;
}

static void run(struct scene *scene, int64_t ms, int64_t limit_ms)
{
    struct job_id job = begin_run(scene, limit_ms);

    stage_pass(&scene->stage, ms);
    stage_report(&scene->stage, job, EVENT_RUN_SUCCEEDED);
    stage_settle(&scene->stage);
}

static struct what_if *play(struct scene *scene, enum what_if_run_times by)
{
    struct what_if_state state = {
        str_make(scene->given.bytes, scene->given.byte_count),
        scene->given.now_ms, by};
    struct what_if_bounds bounds = {.clock = NULL};
    struct what_if *what_if;
    struct err err;

    assert_int_equal(what_if_create(&state, NULL, &bounds, &what_if, &err), 0);
    assert_int_equal(what_if_play_waiting(what_if, WHAT_IF_SPAN_MS_MAX, &err),
                     0);
    return what_if;
}

static struct command *forecast_command(void)
{
    struct command *command = command_create(COMMAND_WHAT_IF);

    command->what_if.is_forecast = true;
    return command;
}

/* The forecasts of this moment; `*ret_count` of them. */
static struct forecast *forecasts(struct scene *scene, uint32_t *ret_count)
{
    forget(scene);
    stage_post(&scene->stage, forecast_command());
    while (!scene->given.command) {
        stage_step(&scene->stage);
        assert_true(scene->stage.step_rc >= 0);
    }
    struct what_if *by_p50 = play(scene, WHAT_IF_P50);
    struct what_if *by_p90 = play(scene, WHAT_IF_P90);
    struct forecast *list = what_if_forecasts(by_p50, by_p90, ret_count);
    what_if_destroy(by_p50);
    what_if_destroy(by_p90);
    return list;
}

static int64_t p50_in(const struct scene *scene,
                      const struct forecast *forecast)
{
    return forecast->p50_ms - scene->given.now_ms;
}

static int64_t p90_in(const struct scene *scene,
                      const struct forecast *forecast)
{
    return forecast->p90_ms - scene->given.now_ms;
}

static void test_jobs_start_when_those_before_them_have_ended(void **state)
{
    struct scene *scene = begin();
    uint32_t count;

    (void)state;
    for (int i = 0; i < RUN_TIMES_MANY; i++) {
        run(scene, i == 0 ? LONG_MS : SHORT_MS, LIMIT_MS);
    }
    (void)begin_run(scene, LIMIT_MS);
    struct job_id first = stage_submit(
        &scene->stage, "q",
        (struct stage_job){.cpu_milli = CORES, .deadline_ms = LIMIT_MS});
    struct job_id second = stage_submit(
        &scene->stage, "q",
        (struct stage_job){.cpu_milli = CORES, .deadline_ms = LIMIT_MS});
    struct forecast *list = forecasts(scene, &count);
    assert_int_equal(count, 2);
    assert_int_equal(key128_compare(list[0].job.v, first.v), 0);
    assert_int_equal(key128_compare(list[1].job.v, second.v), 0);
    assert_int_equal(list[0].made_ms, scene->given.now_ms);
    /* The first waits for one job, the second for two. */
    assert_in_range(p50_in(scene, &list[0]), SHORT_MS - 5000, SHORT_MS + 5000);
    assert_in_range(p90_in(scene, &list[0]), LONG_MS - 5000, LONG_MS + 5000);
    assert_in_range(p50_in(scene, &list[1]), 2 * SHORT_MS - 9000,
                    2 * SHORT_MS + 9000);
    assert_in_range(p90_in(scene, &list[1]), 2 * LONG_MS - 9000,
                    2 * LONG_MS + 9000);
    mem_free(list);
    end(scene);
}

static void test_without_a_history_limits_count(void **state)
{
    struct scene *scene = begin();
    uint32_t count;

    (void)state;
    (void)begin_run(scene, LIMIT_MS);
    (void)stage_submit(&scene->stage, "q",
                       (struct stage_job){.cpu_milli = CORES});
    struct forecast *list = forecasts(scene, &count);
    assert_int_equal(count, 1);
    assert_in_range(p50_in(scene, &list[0]), LIMIT_MS - 9000, LIMIT_MS + 9000);
    assert_int_equal(list[0].p50_ms, list[0].p90_ms);
    mem_free(list);
    end(scene);
}

static void test_who_waits_for_nobody_knows_how_long_has_none(void **state)
{
    struct scene *scene = begin();
    uint32_t count;

    (void)state;
    (void)begin_run(scene, 0);
    (void)stage_submit(&scene->stage, "q",
                       (struct stage_job){.cpu_milli = CORES});
    struct forecast *list = forecasts(scene, &count);
    assert_int_equal(count, 0);
    mem_free(list);
    end(scene);
}

static void on_done(struct command *command, void *ctx)
{
    *(enum command_result *)ctx = command->result;
    command_destroy(command);
}

static struct command *asked(struct command *command,
                             enum command_result *ret_result)
{
    command->done = on_done;
    command->ctx = ret_result;
    *ret_result = COMMAND_INVALID; /* not answered yet */
    return command;
}

static void test_none_is_made_while_nobody_waits(void **state)
{
    struct scene *scene = begin();
    enum command_result result;

    (void)state;
    (void)begin_run(scene, 0);
    assert_int_equal(
        inbox_post(scene->stage.inbox, asked(forecast_command(), &result)), 0);
    stage_settle(&scene->stage);
    assert_null(scene->given.command);
    assert_int_equal(result, COMMAND_NOT_FOUND);
    end(scene);
}

static void test_a_what_if_of_somebody_goes_first(void **state)
{
    struct scene *scene = begin();
    enum command_result first, second, third;

    (void)state;
    (void)stage_submit(&scene->stage, "q",
                       (struct stage_job){.cpu_milli = 2 * CORES});
    struct command *question = asked(command_create(COMMAND_WHAT_IF), &second);
    assert_int_equal(
        inbox_post(scene->stage.inbox, asked(forecast_command(), &first)), 0);
    assert_int_equal(inbox_post(scene->stage.inbox, question), 0);
    assert_int_equal(
        inbox_post(scene->stage.inbox, asked(forecast_command(), &third)), 0);
    while (!scene->given.command) {
        stage_step(&scene->stage);
        assert_true(scene->stage.step_rc >= 0);
    }
    assert_ptr_equal(scene->given.command, question);
    assert_int_equal(first, COMMAND_UNAVAILABLE);
    assert_int_equal(third, COMMAND_OVERLOADED);
    end(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_start_when_those_before_them_have_ended),
        cmocka_unit_test(test_without_a_history_limits_count),
        cmocka_unit_test(test_who_waits_for_nobody_knows_how_long_has_none),
        cmocka_unit_test(test_none_is_made_while_nobody_waits),
        cmocka_unit_test(test_a_what_if_of_somebody_goes_first),
    };

    return RUN_TESTS(tests);
}
