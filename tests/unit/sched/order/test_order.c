/* The states of applications: scenarios SA-01 to SA-07 of model.md section 8.
 */
#include <stdio.h>

#include "order_fixture.h"

/* One allocation; the job that got it, or SCHED_NONE. */
static uint32_t order_pass(struct world *world, int64_t now_ms)
{
    sched_set_time(world->sched, now_ms);
    sched_plan(world->sched, now_ms, ROUND_FAST, 1, &world->plan);
    if (world->plan.decision_count == 0) {
        return SCHED_NONE;
    }
    assert_int_equal(world->plan.decision_count, 1);
    struct sched_decision decision = world->plan.decisions[0];
    world_lease(world, decision.job, decision.node, now_ms);
    return decision.job;
}

/* The table of model.md 3.6, step by step. */
static void sa_01_starts_one_application_at_a_time(void **state)
{
    struct world *w = *state;
    uint32_t d1, d2, e11, e12, e21;

    order_node(w, 100);
    d1 = order_ask(w, "App1", 1);
    d2 = order_ask(w, "App2", 2);
    assert_int_equal(order_state_of(w, "App1", 2), SCHED_APP_ACCEPTED);
    assert_int_equal(order_state_of(w, "App2", 2), SCHED_APP_ACCEPTED);
    assert_int_equal(order_pass(w, 3), d1);
    assert_int_equal(order_state_of(w, "App1", 3), SCHED_APP_STARTING);
    assert_int_equal(order_state_of(w, "App2", 3), SCHED_APP_ACCEPTED);
    assert_int_equal(order_pass(w, 4), SCHED_NONE);
    e11 = order_ask(w, "App1", 5);
    e12 = order_ask(w, "App1", 6);
    assert_int_equal(order_pass(w, 7), e11);
    assert_int_equal(order_state_of(w, "App1", 7), SCHED_APP_RUNNING);
    assert_int_equal(order_pass(w, 8), e12);
    assert_int_equal(order_state_of(w, "App2", 8), SCHED_APP_ACCEPTED);
    assert_int_equal(order_pass(w, 9), d2);
    assert_int_equal(order_state_of(w, "App2", 9), SCHED_APP_STARTING);
    e21 = order_ask(w, "App2", 10);
    assert_int_equal(order_pass(w, 11), e21);
    assert_int_equal(order_state_of(w, "App2", 11), SCHED_APP_RUNNING);
    assert_int_equal(order_pass(w, 12), SCHED_NONE);
}

/* The same, whole plans instead of passes: a plan goes on in one round. */
static void sa_01_holds_for_whole_rounds(void **state)
{
    struct world *w = *state;

    order_node(w, 100);
    uint32_t d1 = order_ask(w, "App1", 1);
    uint32_t d2 = order_ask(w, "App2", 2);
    uint32_t d3 = order_ask(w, "App3", 2);
    order_round(w, 3);
    assert_true(order_has_node(w, d1) && !order_has_node(w, d2));
    order_ask(w, "App1", 5);
    order_ask(w, "App1", 6);
    order_round(w, 7);
    assert_int_equal(w->leased_count, 3);
    assert_int_equal(w->plan.decisions[2].job, d2);
    assert_int_equal(order_state_of(w, "App2", 7), SCHED_APP_STARTING);
    assert_false(order_has_node(w, d3));
    order_ask(w, "App2", 10);
    order_round(w, 11);
    assert_int_equal(w->leased_count, 2);
    assert_true(order_has_node(w, d3));
}

/* The applications that may be allocated something, in order: each time the
 * first of them gets all that it asks for in mind, and nothing is kept. */
static void expect_list(struct world *w, int64_t now_ms, const char *expected)
{
    char text[64] = "";
    const char *last = NULL;

    sched_set_time(w->sched, now_ms);
    sched_plan(w->sched, now_ms, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const char *app = w->records[w->plan.decisions[i].job].application;
        if (app != last) {
            strncat(text, app, sizeof(text) - strlen(text) - 1);
        }
        last = app;
    }
    assert_string_equal(text, expected);
}

/* The table of model.md 3.7, step by step.  An application asks for one core
 * here, so that what a plan leases is the list. */
static void sa_02_filters_applications(void **state)
{
    struct world *w = *state;
    static const char *const IDS[] = {"0", "1", "2", "3"};
    uint32_t job[4];

    order_node(w, 100);
    for (uint32_t i = 0; i < 4; i++) {
        job[i] = order_ask(w, IDS[i], i + 1);
    }
    expect_list(w, 10, "0"); /* a */
    sched_job_lease(w->sched, job[0], w->plan.decisions[0].node, 1000, 10,
                    true);
    expect_list(w, 11, ""); /* c: app0 is Starting, without asks */
    sched_job_requeue(w->sched, job[0], SCHED_NONE);
    expect_list(w, 12, "0"); /* a again: it lost its place and asks */
    world_end(w, job[0]);
    expect_list(w, 13, "1"); /* b: app0 asks for nothing */
}

/* The rest of that table: app0 Running without asks, app3 Starting. */
static void sa_02_sorts_by_submission(void **state)
{
    struct world *w = *state;
    static const char *const IDS[] = {"0", "1", "2", "3"};
    uint32_t job[4];

    order_node(w, 100);
    for (uint32_t i = 0; i < 4; i++) {
        job[i] = order_ask(w, IDS[i], i + 1);
    }
    world_lease(w, job[0], 0, 5);
    assert_int_equal(order_state_of(w, "0", 5 + 5 * MINUTE), SCHED_APP_RUNNING);
    world_lease(w, job[3], 0, 5 + 5 * MINUTE);
    order_ask(w, "3", 6 + 5 * MINUTE);
    int64_t now_ms = 7 + 5 * MINUTE;
    /* The first pass: what follows would see app3 Running. */
    sched_plan(w->sched, now_ms, ROUND_FAST, 1, &w->plan);
    assert_int_equal(w->plan.decision_count, 1);
    assert_string_equal(w->records[w->plan.decisions[0].job].application, "3");
    /* e: app0 asks again, and goes first as the older one. */
    uint32_t again = order_ask(w, "0", now_ms);
    assert_int_equal(order_pass(w, now_ms), again);
    order_ask(w, "0", now_ms);
    /* f: app3 is Running by its second allocation, and the next may come. */
    expect_list(w, now_ms, "031");
}

/* d: app3 alone is in the list while it is Starting. */
static void sa_02_starting_application_blocks_accepted_ones(void **state)
{
    struct world *w = *state;
    uint32_t d0 = order_ask(w, "0", 1);
    uint32_t d3;

    order_node(w, 100);
    order_ask(w, "1", 2);
    order_ask(w, "2", 3);
    d3 = order_ask(w, "3", 4);
    world_lease(w, d0, 0, 5);
    world_lease(w, d3, 0, 5 + 5 * MINUTE);
    expect_list(w, 6 + 5 * MINUTE, "");
    assert_int_equal(order_state_of(w, "3", 6 + 5 * MINUTE),
                     SCHED_APP_STARTING);
}

/* SA-03: Starting ends after five minutes, to the millisecond, and the plan
 * says when to ask again. */
static void sa_03_times_out_of_starting(void **state)
{
    struct world *w = *state;
    const int64_t noon = 12 * HOUR;

    order_node(w, 10);
    order_ask(w, "App1", noon - SECOND);
    uint32_t d2 = order_ask(w, "App2", noon - SECOND + 1);
    order_round(w, noon);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(w->plan.next_wake_ms, noon + 5 * MINUTE);
    order_round(w, noon + 4 * MINUTE + 59 * SECOND);
    assert_false(order_has_node(w, d2));
    assert_int_equal(w->plan.next_wake_ms, noon + 5 * MINUTE);
    assert_int_equal(order_state_of(w, "App1", noon + 5 * MINUTE - 1),
                     SCHED_APP_STARTING);
    assert_int_equal(order_state_of(w, "App1", noon + 5 * MINUTE),
                     SCHED_APP_RUNNING);
    order_round(w, noon + 5 * MINUTE);
    assert_true(order_has_node(w, d2));
    assert_int_equal(order_app(w, "App1", noon + 5 * MINUTE).since_ms,
                     noon + 5 * MINUTE);
}

/* Plays four applications of one pod that runs `lasts_ms`; whenever a plan
 * asks to be asked, or a job ends, it is. */
static void play_four(struct world *w, int64_t lasts_ms, int64_t starts_ms[4])
{
    static const char *const IDS[] = {"1", "2", "3", "4"};
    int64_t now_ms = 0;

    order_node(w, 10);
    for (uint32_t i = 0; i < 4; i++) {
        order_ask(w, IDS[i], 0);
        starts_ms[i] = -1;
    }
    while (now_ms != INT64_MAX) {
        for (uint32_t i = 0; i < 4; i++) {
            if (starts_ms[i] >= 0 && !w->is_gone[i] &&
                now_ms >= starts_ms[i] + lasts_ms) {
                sched_set_time(w->sched, now_ms);
                world_end(w, i);
            }
        }
        order_round(w, now_ms);
        int64_t next_ms = w->plan.next_wake_ms;
        for (uint32_t i = 0; i < 4; i++) {
            if (starts_ms[i] < 0 && order_has_node(w, i)) {
                starts_ms[i] = now_ms;
            }
            if (starts_ms[i] >= 0 && !w->is_gone[i] &&
                starts_ms[i] + lasts_ms < next_ms) {
                next_ms = starts_ms[i] + lasts_ms;
            }
        }
        now_ms = next_ms;
    }
}

static void sa_04_drips_long_jobs_by_the_timer(void **state)
{
    int64_t starts_ms[4];

    play_four(*state, 10 * MINUTE, starts_ms);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(starts_ms[i], i * 5 * MINUTE);
    }
}

static void sa_05_release_ends_starting_at_once(void **state)
{
    int64_t starts_ms[4];

    play_four(*state, 2 * MINUTE, starts_ms);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(starts_ms[i], i * 2 * MINUTE);
    }
}

/* Ten applications of a driver, and of three executors that it asks for once
 * it runs, on ten cores. */
struct ten {
    struct world *world;
    char ids[10][8];
    uint32_t driver[10];
    uint32_t executor[10]; /* the first of three */
    bool has_asked[10];
    int64_t now_ms;
};

static void ten_begin(struct ten *ten, struct world *world)
{
    *ten = (struct ten){.world = world};
    order_node(world, 10);
    for (uint32_t i = 0; i < 10; i++) {
        snprintf(ten->ids[i], sizeof(ten->ids[i]), "app%u", i + 1);
        ten->driver[i] = order_ask(world, ten->ids[i], i);
    }
    ten->now_ms = 100;
}

static uint32_t ten_running(const struct ten *ten, uint32_t i)
{
    uint32_t count = order_has_node(ten->world, ten->driver[i]);

    for (uint32_t e = 0; ten->has_asked[i] && e < 3; e++) {
        count += order_has_node(ten->world, ten->executor[i] + e);
    }
    return count;
}

/* Until nothing more happens. */
static void ten_settle(struct ten *ten)
{
    bool is_busy = true;

    while (is_busy) {
        order_round(ten->world, ++ten->now_ms);
        is_busy = ten->world->leased_count > 0;
        for (uint32_t i = 0; i < 10; i++) {
            if (order_has_node(ten->world, ten->driver[i]) &&
                !ten->has_asked[i]) {
                ten->has_asked[i] = true;
                for (uint32_t e = 0; e < 3; e++) {
                    uint32_t job =
                        order_ask(ten->world, ten->ids[i], ten->now_ms);
                    ten->executor[i] = e == 0 ? job : ten->executor[i];
                }
                is_busy = true;
            }
        }
    }
}

static void sa_06_completes_where_fifo_deadlocks(void **state)
{
    struct world *w = *state;
    struct ten ten;

    ten_begin(&ten, w);
    ten_settle(&ten);
    assert_int_equal(ten_running(&ten, 0), 4);
    assert_int_equal(ten_running(&ten, 1), 4);
    assert_int_equal(ten_running(&ten, 2), 2);
    for (uint32_t i = 3; i < 10; i++) {
        assert_int_equal(ten_running(&ten, i), 0);
        assert_int_equal(order_state_of(w, ten.ids[i], ten.now_ms),
                         SCHED_APP_ACCEPTED);
    }
    world_end(w, ten.driver[0]);
    for (uint32_t e = 0; e < 3; e++) {
        world_end(w, ten.executor[0] + e);
    }
    ten_settle(&ten);
    assert_int_equal(ten_running(&ten, 2), 4);
    assert_int_equal(ten_running(&ten, 3), 2);
}

static void sa_06_fifo_fills_the_queue_with_drivers(void **state)
{
    struct world *w = *state;
    struct ten ten;

    world_queue_by(w, "Q", &(struct queue_record){.ordering = QUEUE_BY_FIFO});
    ten_begin(&ten, w);
    ten_settle(&ten);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(ten_running(&ten, i), 1);
    }
}

static void sa_07_serves_later_stages_first(void **state)
{
    struct world *w = *state;

    order_node(w, 3);
    uint32_t d1 = order_ask(w, "App1", 1);
    world_lease(w, d1, 0, 2);
    uint32_t d2 = order_ask(w, "App2", 3);
    order_ask(w, "App1", 10 * MINUTE);
    order_ask(w, "App1", 10 * MINUTE);
    order_round(w, 10 * MINUTE);
    assert_int_equal(w->leased_count, 2);
    assert_false(order_has_node(w, d2));
    assert_int_equal(order_state_of(w, "App2", 10 * MINUTE),
                     SCHED_APP_ACCEPTED);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, order_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(sa_01_starts_one_application_at_a_time),
        SCENARIO(sa_01_holds_for_whole_rounds),
        SCENARIO(sa_02_filters_applications),
        SCENARIO(sa_02_sorts_by_submission),
        SCENARIO(sa_02_starting_application_blocks_accepted_ones),
        SCENARIO(sa_03_times_out_of_starting),
        SCENARIO(sa_04_drips_long_jobs_by_the_timer),
        SCENARIO(sa_05_release_ends_starting_at_once),
        SCENARIO(sa_06_completes_where_fifo_deadlocks),
        SCENARIO(sa_06_fifo_fills_the_queue_with_drivers),
        SCENARIO(sa_07_serves_later_stages_first),
    };

    return RUN_TESTS(tests);
}
