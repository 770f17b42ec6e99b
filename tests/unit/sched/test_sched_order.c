/* The orderings of a queue: scenarios SA-01 to SA-15 of model.md section 8. */
#include <stdio.h>
#include <string.h>

#include "world_fixture.h"

enum {
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    HOUR = 60 * MINUTE,
    ONE_ROUND = 1 << 20,
};

static const struct queue_record BY_STATE = {.ordering = QUEUE_BY_STATEAWARE};

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
    world_restart(world);
    world_queue_by(world, "Q", &BY_STATE);
    return 0;
}

static void make_node(struct world *world, int64_t cores)
{
    world_node(world, &(struct world_node){"n", .cores = cores});
}

/* An application asks for one more core. */
static uint32_t ask(struct world *world, const char *application,
                    int64_t submitted_ms)
{
    sched_set_time(world->sched, submitted_ms);
    return world_submit(world, &(struct world_job){
                                   .queue = "Q",
                                   .application = application,
                                   .submitted_ms = submitted_ms,
                               });
}

/* One allocation; the job that got it, or SCHED_NONE. */
static uint32_t pass(struct world *world, int64_t now_ms)
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

static void round_at(struct world *world, int64_t now_ms)
{
    world_round(world, ROUND_FAST, now_ms);
}

/* What is known of an application of Q; its state NEW when it is unknown. */
static struct sched_application app_at(const struct world *world,
                                       const char *id, int64_t now_ms)
{
    auto_arena arena = {0};
    struct sched_application *list;
    struct sched_application answer = {.state = SCHED_APP_NEW};
    uint32_t count = sched_applications(world->sched, 0, now_ms, &arena, &list);

    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(list[i].id, str_of(id))) {
            answer = list[i];
        }
    }
    return answer;
}

static enum sched_app_state state_of(const struct world *world, const char *id,
                                     int64_t now_ms)
{
    return app_at(world, id, now_ms).state;
}

static bool has_node(const struct world *world, uint32_t job)
{
    return world->node_of[job] != SCHED_NONE;
}

/* The table of model.md 3.6, step by step. */
static void sa_01_starts_one_application_at_a_time(void **state)
{
    struct world *w = *state;
    uint32_t d1, d2, e11, e12, e21;

    make_node(w, 100);
    d1 = ask(w, "App1", 1);
    d2 = ask(w, "App2", 2);
    assert_int_equal(state_of(w, "App1", 2), SCHED_APP_ACCEPTED);
    assert_int_equal(state_of(w, "App2", 2), SCHED_APP_ACCEPTED);
    assert_int_equal(pass(w, 3), d1);
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_STARTING);
    assert_int_equal(state_of(w, "App2", 3), SCHED_APP_ACCEPTED);
    assert_int_equal(pass(w, 4), SCHED_NONE);
    e11 = ask(w, "App1", 5);
    e12 = ask(w, "App1", 6);
    assert_int_equal(pass(w, 7), e11);
    assert_int_equal(state_of(w, "App1", 7), SCHED_APP_RUNNING);
    assert_int_equal(pass(w, 8), e12);
    assert_int_equal(state_of(w, "App2", 8), SCHED_APP_ACCEPTED);
    assert_int_equal(pass(w, 9), d2);
    assert_int_equal(state_of(w, "App2", 9), SCHED_APP_STARTING);
    e21 = ask(w, "App2", 10);
    assert_int_equal(pass(w, 11), e21);
    assert_int_equal(state_of(w, "App2", 11), SCHED_APP_RUNNING);
    assert_int_equal(pass(w, 12), SCHED_NONE);
}

/* The same, whole plans instead of passes: a plan goes on in one round. */
static void sa_01_holds_for_whole_rounds(void **state)
{
    struct world *w = *state;

    make_node(w, 100);
    uint32_t d1 = ask(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    uint32_t d3 = ask(w, "App3", 2);
    round_at(w, 3);
    assert_true(has_node(w, d1) && !has_node(w, d2));
    ask(w, "App1", 5);
    ask(w, "App1", 6);
    round_at(w, 7);
    assert_int_equal(w->leased_count, 3);
    assert_int_equal(w->plan.decisions[2].job, d2);
    assert_int_equal(state_of(w, "App2", 7), SCHED_APP_STARTING);
    assert_false(has_node(w, d3));
    ask(w, "App2", 10);
    round_at(w, 11);
    assert_int_equal(w->leased_count, 2);
    assert_true(has_node(w, d3));
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

    make_node(w, 100);
    for (uint32_t i = 0; i < 4; i++) {
        job[i] = ask(w, IDS[i], i + 1);
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

    make_node(w, 100);
    for (uint32_t i = 0; i < 4; i++) {
        job[i] = ask(w, IDS[i], i + 1);
    }
    world_lease(w, job[0], 0, 5);
    assert_int_equal(state_of(w, "0", 5 + 5 * MINUTE), SCHED_APP_RUNNING);
    world_lease(w, job[3], 0, 5 + 5 * MINUTE);
    ask(w, "3", 6 + 5 * MINUTE);
    int64_t now_ms = 7 + 5 * MINUTE;
    /* The first pass: what follows would see app3 Running. */
    sched_plan(w->sched, now_ms, ROUND_FAST, 1, &w->plan);
    assert_int_equal(w->plan.decision_count, 1);
    assert_string_equal(w->records[w->plan.decisions[0].job].application, "3");
    /* e: app0 asks again, and goes first as the older one. */
    uint32_t again = ask(w, "0", now_ms);
    assert_int_equal(pass(w, now_ms), again);
    ask(w, "0", now_ms);
    /* f: app3 is Running by its second allocation, and the next may come. */
    expect_list(w, now_ms, "031");
}

/* d: app3 alone is in the list while it is Starting. */
static void sa_02_starting_application_blocks_accepted_ones(void **state)
{
    struct world *w = *state;
    uint32_t d0 = ask(w, "0", 1);
    uint32_t d3;

    make_node(w, 100);
    ask(w, "1", 2);
    ask(w, "2", 3);
    d3 = ask(w, "3", 4);
    world_lease(w, d0, 0, 5);
    world_lease(w, d3, 0, 5 + 5 * MINUTE);
    expect_list(w, 6 + 5 * MINUTE, "");
    assert_int_equal(state_of(w, "3", 6 + 5 * MINUTE), SCHED_APP_STARTING);
}

/* SA-03: Starting ends after five minutes, to the millisecond, and the plan
 * says when to ask again. */
static void sa_03_times_out_of_starting(void **state)
{
    struct world *w = *state;
    const int64_t noon = 12 * HOUR;

    make_node(w, 10);
    ask(w, "App1", noon - SECOND);
    uint32_t d2 = ask(w, "App2", noon - SECOND + 1);
    round_at(w, noon);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(w->plan.next_wake_ms, noon + 5 * MINUTE);
    round_at(w, noon + 4 * MINUTE + 59 * SECOND);
    assert_false(has_node(w, d2));
    assert_int_equal(w->plan.next_wake_ms, noon + 5 * MINUTE);
    assert_int_equal(state_of(w, "App1", noon + 5 * MINUTE - 1),
                     SCHED_APP_STARTING);
    assert_int_equal(state_of(w, "App1", noon + 5 * MINUTE), SCHED_APP_RUNNING);
    round_at(w, noon + 5 * MINUTE);
    assert_true(has_node(w, d2));
    assert_int_equal(app_at(w, "App1", noon + 5 * MINUTE).since_ms,
                     noon + 5 * MINUTE);
}

/* Plays four applications of one pod that runs `lasts_ms`; whenever a plan
 * asks to be asked, or a job ends, it is. */
static void play_four(struct world *w, int64_t lasts_ms, int64_t starts_ms[4])
{
    static const char *const IDS[] = {"1", "2", "3", "4"};
    int64_t now_ms = 0;

    make_node(w, 10);
    for (uint32_t i = 0; i < 4; i++) {
        ask(w, IDS[i], 0);
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
        round_at(w, now_ms);
        int64_t next_ms = w->plan.next_wake_ms;
        for (uint32_t i = 0; i < 4; i++) {
            if (starts_ms[i] < 0 && has_node(w, i)) {
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
    make_node(world, 10);
    for (uint32_t i = 0; i < 10; i++) {
        snprintf(ten->ids[i], sizeof(ten->ids[i]), "app%u", i + 1);
        ten->driver[i] = ask(world, ten->ids[i], i);
    }
    ten->now_ms = 100;
}

static uint32_t ten_running(const struct ten *ten, uint32_t i)
{
    uint32_t count = has_node(ten->world, ten->driver[i]);

    for (uint32_t e = 0; ten->has_asked[i] && e < 3; e++) {
        count += has_node(ten->world, ten->executor[i] + e);
    }
    return count;
}

/* Until nothing more happens. */
static void ten_settle(struct ten *ten)
{
    bool is_busy = true;

    while (is_busy) {
        round_at(ten->world, ++ten->now_ms);
        is_busy = ten->world->leased_count > 0;
        for (uint32_t i = 0; i < 10; i++) {
            if (has_node(ten->world, ten->driver[i]) && !ten->has_asked[i]) {
                ten->has_asked[i] = true;
                for (uint32_t e = 0; e < 3; e++) {
                    uint32_t job = ask(ten->world, ten->ids[i], ten->now_ms);
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
        assert_int_equal(state_of(w, ten.ids[i], ten.now_ms),
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

    make_node(w, 3);
    uint32_t d1 = ask(w, "App1", 1);
    world_lease(w, d1, 0, 2);
    uint32_t d2 = ask(w, "App2", 3);
    ask(w, "App1", 10 * MINUTE);
    ask(w, "App1", 10 * MINUTE);
    round_at(w, 10 * MINUTE);
    assert_int_equal(w->leased_count, 2);
    assert_false(has_node(w, d2));
    assert_int_equal(state_of(w, "App2", 10 * MINUTE), SCHED_APP_ACCEPTED);
}

/* Nodes `gpu`, which alone has the label, and `cpu`.  App1 is Running and asks
 * for what only `gpu` could hold, when what runs there has ended at 60 s; then
 * App2 asks for a driver that never ends. */
struct sa08 {
    uint32_t executor, driver;
};

static uint32_t ask_for(struct world *w, const char *app, int64_t cores,
                        bool is_gpu, int64_t deadline_s)
{
    return world_submit(w, &(struct world_job){
                               .queue = "Q",
                               .application = app,
                               .cores = cores,
                               .priority_class = "fixed",
                               .selector_key = is_gpu ? "gpu" : NULL,
                               .selector_value = is_gpu ? "yes" : NULL,
                               .deadline_s = deadline_s,
                               .submitted_ms = w->job_count,
                           });
}

static struct sa08 make_sa08(struct world *w, int64_t cpu_cores)
{
    struct sa08 sa;
    uint32_t gpu = world_node(w, &(struct world_node){.name = "gpu",
                                                      .cores = 10,
                                                      .label_key = "gpu",
                                                      .label_value = "yes"});

    if (cpu_cores) {
        world_node(w, &(struct world_node){"cpu", .cores = cpu_cores});
    }
    world_queue(w, "other", 1);
    uint32_t busy =
        world_submit(w, &(struct world_job){.queue = "other",
                                            .priority_class = "fixed",
                                            .cores = 8,
                                            .deadline_s = 60});
    world_lease(w, busy, gpu, 0);
    world_lease(w, ask_for(w, "App1", 1, false, 0), gpu, 0);
    uint32_t e1 = ask_for(w, "App1", 1, false, 1);
    world_lease(w, e1, gpu, 0);
    world_end(w, e1);
    assert_int_equal(state_of(w, "App1", 0), SCHED_APP_RUNNING);
    sa.executor = ask_for(w, "App1", 9, true, 0);
    sa.driver = ask_for(w, "App2", 1, false, 0);
    return sa;
}

static void play_sa08(struct world *w, const struct sa08 *sa, bool starts)
{
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(has_node(w, sa->executor));
    assert_int_equal(has_node(w, sa->driver), starts);
    assert_int_equal(state_of(w, "App2", 1),
                     starts ? SCHED_APP_STARTING : SCHED_APP_ACCEPTED);
}

static void sa_08_starts_beside_what_waits(void **state)
{
    struct sa08 sa = make_sa08(*state, 4);

    play_sa08(*state, &sa, true);
}

static void sa_08_does_not_take_what_is_waited_for(void **state)
{
    struct world *w = *state;
    struct sa08 sa = make_sa08(w, 0);

    play_sa08(w, &sa, false);
    world_end(w, 0);
    world_round(w, ROUND_BALANCE, 60 * SECOND);
    assert_string_equal(world_node_of(w, sa.executor), "gpu");
    assert_false(has_node(w, sa.driver));
}

/* A gang of another queue has the pool's reservation, on another node. */
static void hold_for_other(struct world *w)
{
    world_node(w, &(struct world_node){.name = "big",
                                       .cores = 20,
                                       .label_key = "big",
                                       .label_value = "yes"});
    uint32_t busy =
        world_submit(w, &(struct world_job){.queue = "other",
                                            .priority_class = "fixed",
                                            .cores = 20,
                                            .selector_key = "big",
                                            .selector_value = "yes",
                                            .deadline_s = 90});
    world_round(w, ROUND_BALANCE, 0);
    assert_true(has_node(w, busy));
    world_submit(w, &(struct world_job){.queue = "other",
                                        .priority_class = "fixed",
                                        .cores = 18,
                                        .selector_key = "big",
                                        .selector_value = "yes"});
    world_round(w, ROUND_BALANCE, 0);
}

static void sa_08_keeps_a_reservation_of_the_queue(void **state)
{
    struct world *w = *state;

    hold_for_other(w);
    struct sa08 sa = make_sa08(w, 0);
    play_sa08(w, &sa, false);
    struct sched_explanation why;
    sched_explain(w->sched, sa.driver, 1, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_NEED);
    assert_true(str_equal(why.application, STR("App1")));
    struct sched_need need; /* what is tried to explain changes nothing */
    sched_explain_need(w->sched, sa.executor, 1, &why, &need);
    sched_explain(w->sched, sa.driver, 1, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_NEED);
    /* It binds nobody but those of the queue that would start. */
    uint32_t free_rider = world_submit(
        w, &(struct world_job){.queue = "other", .priority_class = "fixed"});
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, free_rider), "gpu");
}

static void sa_08_passes_a_reservation_of_the_queue(void **state)
{
    struct world *w = *state;

    hold_for_other(w);
    struct sa08 sa = make_sa08(w, 0);
    /* What ends in time may take the room. */
    world_end(w, sa.driver);
    sa.driver = ask_for(w, "App3", 1, false, 50);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(has_node(w, sa.executor));
    assert_string_equal(world_node_of(w, sa.driver), "gpu");
}

/* In a pool that reserves nothing the older one has its turn and no more. */
static void sa_08_reserves_nothing_where_the_pool_does_not(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_ARMADA);
    world_restart(w);
    world_queue_by(w, "Q", &BY_STATE);
    struct sa08 sa = make_sa08(w, 0);
    play_sa08(w, &sa, true);
}

/* UM-04: a pool of 10; Q has an application of 1 + 3, and `other` work that
 * cannot be taken back, at most a fifth over its share. */
static void um_04_leaves_room_for_later_stages(void **state)
{
    struct world *w = *state;
    struct pool_policy *pool = &w->policy.pools[0];

    pool->over_share_ppm = FRACTION_ONE_PPM / 5;
    pool->cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    pool->cost = COST_WEIGHTED_SUM;
    world_restart(w);
    world_queue_by(w, "Q", &BY_STATE);
    make_node(w, 10);
    uint32_t d1 = ask_for(w, "App1", 1, false, 0);
    world_submit_many(
        w, &(struct world_job){.queue = "other", .priority_class = "fixed"},
        20);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(has_node(w, d1));
    assert_int_equal(world_running(w, "other"), 6);
    for (int e = 0; e < 3; e++) {
        ask_for(w, "App1", 1, false, 0);
    }
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running(w, "Q"), 4);
    assert_int_equal(world_running(w, "other"), 6);
    assert_int_equal(w->preempted_count, 0);
}

static uint32_t ask_opted_out(struct world *w, const char *app, int64_t at_ms)
{
    sched_set_time(w->sched, at_ms);
    return world_submit(w, &(struct world_job){
                               .queue = "Q",
                               .application = app,
                               .submitted_ms = at_ms,
                               .has_stateaware_off = true,
                           });
}

static void sa_09_opts_out_where_the_queue_allows_it(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q",
                   &(struct queue_record){.ordering = QUEUE_BY_STATEAWARE,
                                          .allows_stateaware_off = true});
    make_node(w, 10);
    ask_opted_out(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    round_at(w, 3);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_RUNNING);
    assert_int_equal(w->plan.next_wake_ms, 3);
    round_at(w, 3);
    assert_true(has_node(w, d2));
    assert_int_equal(state_of(w, "App2", 3), SCHED_APP_STARTING);
}

static void sa_09_opts_out_nowhere_else(void **state)
{
    struct world *w = *state;

    make_node(w, 10);
    ask_opted_out(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    round_at(w, 3);
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_STARTING);
    round_at(w, 4);
    assert_false(has_node(w, d2));
}

static void sa_10_orders_each_queue_by_itself(void **state)
{
    struct world *w = *state;
    static const char *const IDS[] = {"1", "2", "3", "4", "5"};

    world_queue_by(w, "F", &(struct queue_record){.ordering = QUEUE_BY_FIFO});
    make_node(w, 100);
    for (uint32_t i = 0; i < 5; i++) {
        ask(w, IDS[i], i);
        world_submit(w, &(struct world_job){.queue = "F",
                                            .application = IDS[i],
                                            .submitted_ms = i});
    }
    round_at(w, 10);
    assert_int_equal(world_running(w, "Q"), 1);
    assert_int_equal(world_running(w, "F"), 5);
}

static void sa_11_counts_the_members_of_a_gang(void **state)
{
    struct world *w = *state;

    make_node(w, 100);
    world_submit_many(w,
                      &(struct world_job){.queue = "Q",
                                          .application = "App1",
                                          .gang = "g",
                                          .cardinality = 4,
                                          .submitted_ms = 1},
                      4);
    uint32_t d2 = ask(w, "App2", 2);
    round_at(w, 3);
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_RUNNING);
    assert_true(has_node(w, d2));
}

static void sa_12_comes_back_while_completing(void **state)
{
    struct world *w = *state;

    make_node(w, 10);
    uint32_t d1 = ask(w, "App1", 0);
    round_at(w, 0);
    sched_set_time(w->sched, SECOND);
    world_end(w, d1);
    assert_int_equal(state_of(w, "App1", SECOND), SCHED_APP_COMPLETING);
    ask(w, "App1", SECOND + 29 * SECOND);
    assert_int_equal(state_of(w, "App1", 30 * SECOND), SCHED_APP_RUNNING);
    round_at(w, 31 * SECOND);
    assert_int_equal(w->leased_count, 1);
}

static void sa_12_completes_and_expires(void **state)
{
    struct world *w = *state;

    make_node(w, 10);
    uint32_t d1 = ask(w, "App1", 0);
    round_at(w, 0);
    world_end(w, d1);
    assert_int_equal(state_of(w, "App1", 30 * SECOND - 1),
                     SCHED_APP_COMPLETING);
    assert_int_equal(state_of(w, "App1", 30 * SECOND), SCHED_APP_COMPLETED);
    int64_t end_ms = 30 * SECOND + 72 * HOUR;
    assert_int_equal(state_of(w, "App1", end_ms - 1), SCHED_APP_COMPLETED);
    assert_int_equal(state_of(w, "App1", end_ms), SCHED_APP_NEW);
    sched_set_time(w->sched, end_ms - 1);
    assert_int_equal(state_of(w, "App1", end_ms - 1), SCHED_APP_COMPLETED);
    sched_set_time(w->sched, end_ms);
    assert_int_equal(state_of(w, "App1", end_ms - 1), SCHED_APP_NEW);
}

static void sa_13_passes_over_a_withdrawn_application(void **state)
{
    struct world *w = *state;

    make_node(w, 10);
    uint32_t d1 = ask(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    sched_set_time(w->sched, 3);
    world_end(w, d1);
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_COMPLETING);
    round_at(w, 4);
    assert_true(has_node(w, d2));
}

static void sa_14_separates_applications_of_a_job_set(void **state)
{
    struct world *w = *state;

    make_node(w, 10);
    uint32_t a = ask(w, "a", 1);
    uint32_t b = ask(w, "b", 1);
    round_at(w, 2);
    assert_true(has_node(w, a));
    assert_false(has_node(w, b));
    assert_int_equal(state_of(w, "a", 2), SCHED_APP_STARTING);
    assert_int_equal(state_of(w, "b", 2), SCHED_APP_ACCEPTED);
}

static void sa_15_fair_gives_to_the_smallest_share(void **state)
{
    struct world *w = *state;
    static const char EXPECTED[] = "YYYXYXYX";

    world_queue_by(w, "Q", &(struct queue_record){.ordering = QUEUE_BY_FAIR});
    make_node(w, 25);
    for (uint32_t i = 0; i < 5; i++) {
        world_lease(w, ask(w, i < 4 ? "X" : "Y", i), 0, i);
    }
    for (uint32_t i = 0; i < 10; i++) {
        ask(w, "X", 10 + i);
        ask(w, "Y", 10 + i);
    }
    sched_plan(w->sched, 100, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; EXPECTED[i]; i++) {
        uint32_t job = w->plan.decisions[i].job;
        assert_int_equal(w->records[job].application[0], EXPECTED[i]);
    }
    assert_int_equal(w->plan.decision_count, 20);
}

/* fifo: class, application's submission, then the job's own. */
static void fifo_orders_by_application(void **state)
{
    struct world *w = *state;
    struct queue_record by = {.ordering = QUEUE_BY_FIFO};

    world_queue_by(w, "Q", &by);
    make_node(w, 100);
    uint32_t old = ask(w, "old", 1);
    uint32_t high =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .application = "young",
                                            .submitted_ms = 2,
                                            .priority_class = "high"});
    uint32_t young = world_submit(w, &(struct world_job){.queue = "Q",
                                                         .application = "young",
                                                         .submitted_ms = 2});
    uint32_t late = ask(w, "old", 9);
    const uint32_t expected[] = {high, old, late, young};
    sched_plan(w->sched, 10, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w->plan.decisions[i].job, expected[i]);
    }
    by.is_class_priority_ignored = true;
    world_queue_by(w, "Q", &by);
    const uint32_t ignored[] = {old, late, high, young};
    sched_plan(w->sched, 10, ROUND_FAST, ONE_ROUND, &w->plan);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(w->plan.decisions[i].job, ignored[i]);
    }
}

/* Starting and Running count; what is over the limit is passed over. */
static void limits_applications_that_run(void **state)
{
    struct world *w = *state;

    world_queue_by(w, "Q",
                   &(struct queue_record){.ordering = QUEUE_BY_FIFO,
                                          .running_apps_max = 2});
    make_node(w, 100);
    uint32_t d1 = ask(w, "1", 1);
    ask(w, "2", 2);
    uint32_t d3 = ask(w, "3", 3);
    uint32_t e1 = ask(w, "1", 4);
    round_at(w, 5);
    assert_int_equal(w->leased_count, 3);
    assert_false(has_node(w, d3));
    struct sched_explanation why;
    sched_explain(w->sched, d3, 6, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_LIMIT);
    assert_int_equal(why.limit, 2);
    assert_int_equal(why.used, 2);
    world_end(w, d1);
    world_end(w, e1);
    round_at(w, 7);
    assert_true(has_node(w, d3));
}

static void explains_what_the_ordering_keeps_back(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    make_node(w, 10);
    uint32_t d1 = ask(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    sched_explain(w->sched, d2, 3, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_TURN);
    assert_true(str_equal(why.application, STR("App1")));
    assert_int_equal(why.ahead, 1);
    sched_explain(w->sched, d1, 3, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
    round_at(w, 4);
    sched_explain(w->sched, d2, 5, &why);
    assert_int_equal(why.wait, SCHED_WAIT_APP_STARTING);
    assert_true(str_equal(why.application, STR("App1")));
    assert_int_equal(why.since_ms, 4);
    assert_int_equal(why.until_ms, 4 + 5 * MINUTE);
    struct sched_need need;
    sched_explain_need(w->sched, d2, 5, &why, &need);
    assert_int_equal(need.kind, SCHED_NEED_TIME);
    assert_int_equal(need.until_ms, 4 + 5 * MINUTE);
    assert_true(need.is_exact);
    sched_explain(w->sched, d2, 4 + 5 * MINUTE, &why);
    assert_int_equal(why.wait, SCHED_WAIT_TURN);
}

/* A queue that goes by applications from now on takes up what it has. */
static void switches_with_jobs(void **state)
{
    struct world *w = *state;
    struct queue_record plain = {0};

    world_queue_by(w, "Q", &plain);
    assert_false(sched_queue_has_applications(w->sched, 0));
    make_node(w, 10);
    uint32_t d1 = ask(w, "App1", 1);
    uint32_t d2 = ask(w, "App2", 2);
    world_lease(w, d1, 0, 3);
    world_queue_by(w, "Q", &BY_STATE);
    assert_true(sched_queue_has_applications(w->sched, 0));
    sched_job_application(w->sched, d1, STR("App1"), false);
    sched_job_application(w->sched, d2, STR("App2"), false);
    assert_true(sched_is_consistent(w->sched));
    assert_int_equal(state_of(w, "App1", 3), SCHED_APP_STARTING);
    assert_int_equal(state_of(w, "App2", 3), SCHED_APP_ACCEPTED);
    assert_int_equal(state_of(w, "", 3), SCHED_APP_NEW);
    round_at(w, 4);
    assert_false(has_node(w, d2));
    world_queue_by(w, "Q", &plain);
    assert_true(sched_is_consistent(w->sched));
    round_at(w, 5);
    assert_true(has_node(w, d2));
    assert_int_equal(state_of(w, "App1", 5), SCHED_APP_NEW);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
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
        SCENARIO(sa_08_starts_beside_what_waits),
        SCENARIO(sa_08_does_not_take_what_is_waited_for),
        SCENARIO(sa_08_keeps_a_reservation_of_the_queue),
        SCENARIO(sa_08_passes_a_reservation_of_the_queue),
        SCENARIO(sa_08_reserves_nothing_where_the_pool_does_not),
        SCENARIO(um_04_leaves_room_for_later_stages),
        SCENARIO(sa_09_opts_out_where_the_queue_allows_it),
        SCENARIO(sa_09_opts_out_nowhere_else),
        SCENARIO(sa_10_orders_each_queue_by_itself),
        SCENARIO(sa_11_counts_the_members_of_a_gang),
        SCENARIO(sa_12_comes_back_while_completing),
        SCENARIO(sa_12_completes_and_expires),
        SCENARIO(sa_13_passes_over_a_withdrawn_application),
        SCENARIO(sa_14_separates_applications_of_a_job_set),
        SCENARIO(sa_15_fair_gives_to_the_smallest_share),
        SCENARIO(fifo_orders_by_application),
        SCENARIO(limits_applications_that_run),
        SCENARIO(explains_what_the_ordering_keeps_back),
        SCENARIO(switches_with_jobs),
    };

    return RUN_TESTS(tests);
}
