/* What a queue by states keeps free for whom: scenarios SA-08 and UM-04. */
#include "order_fixture.h"

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

/* A node that says whether it has a GPU. */
static uint32_t gpu_node(struct world *w, const char *name, int64_t cores,
                         const char *says)
{
    return world_node(w, &(struct world_node){.name = name,
                                              .cores = cores,
                                              .label_key = "gpu",
                                              .label_value = says});
}

/* Another queue runs on a node until 60 s. */
static void keep_busy(struct world *w, uint32_t node, int64_t cores)
{
    uint32_t busy =
        world_submit(w, &(struct world_job){.queue = "other",
                                            .priority_class = "fixed",
                                            .cores = cores,
                                            .deadline_s = 60});

    world_lease(w, busy, node, 0);
}

static struct sa08 make_sa08(struct world *w, int64_t cpu_cores)
{
    struct sa08 sa;
    uint32_t gpu = gpu_node(w, "gpu", 10, "yes");

    if (cpu_cores) {
        world_node(w, &(struct world_node){"cpu", .cores = cpu_cores});
    }
    world_queue(w, "other", 1);
    keep_busy(w, gpu, 8);
    world_lease(w, ask_for(w, "App1", 1, false, 0), gpu, 0);
    uint32_t e1 = ask_for(w, "App1", 1, false, 1);
    world_lease(w, e1, gpu, 0);
    world_end(w, e1);
    assert_int_equal(order_state_of(w, "App1", 0), SCHED_APP_RUNNING);
    sa.executor = ask_for(w, "App1", 9, true, 0);
    sa.driver = ask_for(w, "App2", 1, false, 0);
    return sa;
}

static void play_sa08(struct world *w, const struct sa08 *sa, bool starts)
{
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(order_has_node(w, sa->executor));
    assert_int_equal(order_has_node(w, sa->driver), starts);
    assert_int_equal(order_state_of(w, "App2", 1),
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
    assert_false(order_has_node(w, sa.driver));
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
    assert_true(order_has_node(w, busy));
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
    assert_false(order_has_node(w, sa.executor));
    assert_string_equal(world_node_of(w, sa.driver), "gpu");
}

/* Of what has no room the first in the queue's order is kept room for, though
 * its application started when less urgent work had been passed over. */
static void the_most_urgent_is_waited_for(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .application = "App1",
        .cores = 1,
        .priority_class = "low",
        .selector_key = "gpu",
        .selector_value = "no",
    };

    hold_for_other(w);
    uint32_t gpu = gpu_node(w, "gpu", 10, "yes");
    uint32_t cpu = gpu_node(w, "cpu", 4, "no");
    keep_busy(w, gpu, 8);
    world_lease(w, world_submit(w, &job), cpu, 0);
    job.cores = 100;
    world_submit(w, &job); /* there never is room for it */
    job.cores = 1;
    uint32_t second = world_submit(w, &job); /* App1 is Running: App2 starts */
    job.application = "App2";
    job.priority_class = "mid";
    job.submitted_ms = 1;
    world_submit_many(w, &job, 2);
    uint32_t large = ask_for(w, "App2", 10, true, 0);
    job.application = "App3";
    job.submitted_ms = 1000;
    job.selector_value = "yes";
    uint32_t driver = world_submit(w, &job);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, second), "cpu");
    assert_int_equal(order_state_of(w, "App2", 1), SCHED_APP_RUNNING);
    assert_false(order_has_node(w, large));
    assert_false(order_has_node(w, driver));
}

/* Applications that were submitted at once take turns by their jobs (model.md
 * 6.7): what has had no turn yet keeps nothing from what has. */
static void what_has_its_turn_later_is_not_waited_for(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "Q",
        .application = "App1",
        .cores = 1,
        .priority_class = "fixed",
        .selector_key = "gpu",
        .selector_value = "yes",
    };

    hold_for_other(w);
    uint32_t gpu = gpu_node(w, "gpu", 10, "yes");
    keep_busy(w, gpu, 6);
    world_lease(w, world_submit(w, &job), gpu, 0);
    world_lease(w, world_submit(w, &job), gpu, 0);
    assert_int_equal(order_state_of(w, "App1", 0), SCHED_APP_RUNNING);
    job.cores = 8;
    job.submitted_ms = 2;
    uint32_t large = world_submit(w, &job);
    job.application = "App2";
    job.submitted_ms = 0;
    uint32_t like = world_submit(w, &job);
    job.cores = 1;
    job.submitted_ms = 1;
    uint32_t driver = world_submit(w, &job);
    world_round(w, ROUND_FAST, 1);
    assert_false(order_has_node(w, large));
    assert_false(order_has_node(w, like));
    assert_true(order_has_node(w, driver));
}

/* In a pool that reserves nothing the older one has its turn and no more. */
static void sa_08_reserves_nothing_where_the_pool_does_not(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_ARMADA);
    world_restart(w);
    world_queue_by(w, "Q", &ORDER_BY_STATE);
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
    world_queue_by(w, "Q", &ORDER_BY_STATE);
    order_node(w, 10);
    uint32_t d1 = ask_for(w, "App1", 1, false, 0);
    world_submit_many(
        w, &(struct world_job){.queue = "other", .priority_class = "fixed"},
        20);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(order_has_node(w, d1));
    assert_int_equal(world_running(w, "other"), 6);
    for (int e = 0; e < 3; e++) {
        ask_for(w, "App1", 1, false, 0);
    }
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running(w, "Q"), 4);
    assert_int_equal(world_running(w, "other"), 6);
    assert_int_equal(w->preempted_count, 0);
}

/* A queue that goes by applications, a pool that reserves, and work of B for
 * which it does so on node m. */
static void make_stages(struct world *w, bool is_class_ignored)
{
    struct queue_record queue = queue_record_plain(STR("A"));

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    queue.ordering = QUEUE_BY_STATEAWARE;
    queue.is_class_priority_ignored = is_class_ignored;
    world_queue_by(w, "A", &queue);
    uint32_t node =
        world_node(w, &(struct world_node){"m", .cores = 8, .label_key = "on",
                                           .label_value = "m"});
    struct world_job job = {"B", .priority_class = "fixed", .cores = 8,
                            .selector_key = "on", .selector_value = "m"};
    world_lease(w, world_submit(w, &job), node, 0);
    world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
}

/* What an application asked for in vain before it started is demand of a later
 * stage once it has (model.md 3.5), in the same plan too. */
static void what_an_application_lacks_is_kept_for_it(void **state)
{
    struct world *w = *state;
    struct world_job job = {"A", .priority_class = "fixed", .cores = 4,
                            .selector_key = "on", .selector_value = "n"};

    make_stages(w, false);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 5, .label_key = "on",
                                           .label_value = "n"});
    uint32_t other = world_submit(
        w, &(struct world_job){"C", .priority_class = "fixed", .cores = 2});
    world_lease(w, other, node, 1);
    job.application = "a0";
    world_submit(w, &job);
    job.cores = 1;
    job.submitted_ms = 1;
    uint32_t ours = world_submit_many(w, &job, 2);
    job.application = "a1";
    job.submitted_ms = 2;
    uint32_t next = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, ours, 2), 2);
    assert_string_equal(world_node_of(w, next), "");
}

/* A limit on starts that is reached stops what is smaller too, whichever queue
 * it is of, so that what is larger gets its turn (model.md 6.10b). */
static void a_limit_on_starts_stops_smaller_work_of_others(void **state)
{
    struct world *w = *state;

    w->policy.round_period_ms = 10000;
    w->policy.pools[0].start_limits[0] =
        (struct resource_fraction){STR("cpu"), 3 * FRACTION_ONE_PPM / 10};
    w->policy.pools[0].start_limit_count = 1;
    world_restart(w);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "S", .cores = 4}),
                n, 0);
    world_submit_many(w, &(struct world_job){.queue = "R", .cores = 2}, 2);
    uint32_t small = world_submit(w, &(struct world_job){.queue = "S"});
    world_round(w, ROUND_FAST, 100000); /* 2 of 3 start, and 2 do not */
    assert_int_equal(w->leased_count, 1);
    assert_string_equal(world_node_of(w, small), "");
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, order_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(sa_08_starts_beside_what_waits),
        SCENARIO(sa_08_does_not_take_what_is_waited_for),
        SCENARIO(sa_08_keeps_a_reservation_of_the_queue),
        SCENARIO(sa_08_passes_a_reservation_of_the_queue),
        SCENARIO(the_most_urgent_is_waited_for),
        SCENARIO(what_has_its_turn_later_is_not_waited_for),
        SCENARIO(sa_08_reserves_nothing_where_the_pool_does_not),
        SCENARIO(um_04_leaves_room_for_later_stages),
        cmocka_unit_test_setup_teardown(
            what_an_application_lacks_is_kept_for_it, world_setup,
            world_teardown),
        SCENARIO(a_limit_on_starts_stops_smaller_work_of_others),
    };

    return RUN_TESTS(tests);
}
