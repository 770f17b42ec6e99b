/* Limits on what is above a share: scenarios FL-11, FL-12 and FL-19 (model.md
 * 8). */
#include <math.h>

#include "flow_fixture.h"

/* Three equal queues of 100 cores with an over-share limit of 0.2. */
static uint32_t make_limited(struct world *w)
{
    flow_use(w, 10);
    flow_pool(w)->over_share_ppm = FRACTION_ONE_PPM / 5;
    uint32_t node = flow_make_pool(w, 100);
    world_queue(w, "C", 1);
    flow_run_job(w, "B", 1, node, 0);
    flow_run_job(w, "C", 1, node, 0);
    return node;
}

static uint32_t submit_fixed(struct world *w, const char *queue, int64_t cores)
{
    return world_submit(w, &(struct world_job){queue, .priority_class = "fixed",
                                               .cores = cores});
}

/* A job of so many cores starts, and none of one more. */
static void assert_starts_up_to(struct world *w, int64_t cores)
{
    uint32_t over = submit_fixed(w, "A", cores + 1);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(flow_is_waiting(w, over));
    world_end(w, over);
    uint32_t exact = submit_fixed(w, "A", cores);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, exact));
}

static void fl_11_the_limit_itself_is_allowed(void **state)
{
    struct world *w = *state;

    uint32_t node = make_limited(w);
    world_lease(w, submit_fixed(w, "A", 36), node, 0);
    assert_starts_up_to(w, 4);
}

/* A queue's own limit holds in pools that have none, from when it is set. */
static void a_queue_has_limits_of_its_own(void **state)
{
    struct world *w = *state;
    struct queue_record record = queue_record_plain(STR("A"));

    uint32_t node = flow_make_pool(w, 90);
    flow_run_job(w, "B", 1, node, 0);
    world_lease(w, submit_fixed(w, "A", 45), node, 0);
    assert_true(flow_stats(w, "A").infinite_limit < 0);
    record.over_share_ppm = FRACTION_ONE_PPM / 5;
    sched_queue_set(w->sched, flow_queue(w, "A"), &record);
    assert_near(flow_stats(w, "A").infinite_limit, 0.6);
    assert_near(flow_stats(w, "A").infinite_flow, 0.5);
    assert_starts_up_to(w, 9);
    record.over_share_ppm = INT64_MAX;
    sched_queue_set(w->sched, flow_queue(w, "A"), &record);
    uint32_t more = submit_fixed(w, "A", 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(flow_is_waiting(w, more));
    assert_true(sched_is_consistent(w->sched));
}

static void fl_12_the_limit_is_on_the_flow(void **state)
{
    struct world *w = *state;

    uint32_t node = make_limited(w);
    world_lease(w, submit_fixed(w, "A", 10), node, 0);
    uint32_t gone = submit_fixed(w, "A", 40);
    world_lease(w, gone, node, 0);
    world_end(w, gone);
    uint32_t job = submit_fixed(w, "A", 1);
    world_round(w, ROUND_BALANCE, 4 * MINUTE);
    assert_true(flow_is_waiting(w, job));
    assert_near(flow_stats(w, "A").infinite_flow * 100,
                10 + 40 * pow(0.5, 0.4));
    int64_t when_ms = w->plan.next_wake_ms;
    assert_int_equal(when_ms, 249023); /* 10 log2(4/3) minutes */
    world_round(w, ROUND_BALANCE, when_ms - 1);
    assert_true(flow_is_waiting(w, job));
    world_round(w, ROUND_BALANCE, when_ms);
    assert_false(flow_is_waiting(w, job));
}

static void an_empty_pool_lets_nothing_start(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    flow_pool(w)->over_share_ppm = 0;
    flow_pool(w)->excess_budget_minutes = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t job = submit_fixed(w, "A", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(flow_is_waiting(w, job));
    assert_true(flow_stats(w, "A").flow == 0);
}

static void fl_19_a_refused_head_stops_its_queue_alone(void **state)
{
    struct world *w = *state;

    uint32_t node = make_limited(w);
    world_queue(w, "D", 100);
    uint32_t head = submit_fixed(w, "D", 5);
    uint32_t behind = world_submit(w, &(struct world_job){.queue = "D"});
    flow_run_job(w, "A", 10, node, 0);
    uint32_t other = submit_fixed(w, "A", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(flow_is_waiting(w, head));
    assert_true(flow_is_waiting(w, behind));
    assert_false(flow_is_waiting(w, other));
}

/* What the limits say to somebody who asks, in numbers. */
static void an_explanation_names_the_limit(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    uint32_t node = make_limited(w);
    world_lease(w, submit_fixed(w, "A", 10), node, 0);
    uint32_t gone = submit_fixed(w, "A", 40);
    world_lease(w, gone, node, 0);
    world_end(w, gone);
    uint32_t job = submit_fixed(w, "A", 1);
    uint32_t behind = submit_fixed(w, "A", 60);
    sched_explain(w->sched, job, 4 * MINUTE, &why);
    assert_int_equal(why.wait, SCHED_WAIT_OVER_SHARE);
    assert_near(why.asked * 100, 10 + 40 * pow(0.5, 0.4));
    assert_near(why.allowed * 100, 40);
    assert_int_equal(why.until_ms, 249023);
    assert_int_equal(why.behind, SCHED_NONE);
    assert_true(str_equal(why.pool, STR("default")));
    sched_explain(w->sched, behind, 4 * MINUTE, &why);
    assert_near(why.asked * 100, 70);
    assert_int_equal(why.until_ms, 0); /* flow or not */
    assert_int_equal(why.behind, SCHED_NONE);
}

/* What is over the quota of its class is passed over, also when it would be
 * over the share: the queue goes on (model.md 6.5: quotas come first). */
static void a_quota_is_asked_before_the_share(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < w->policy.class_count; i++) {
        w->policy.classes[i].queue_limits[0] =
            (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM / 2};
        w->policy.classes[i].queue_limit_count = 1;
    }
    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    uint32_t big = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 6, .lifetime_s = INT64_MAX});
    uint32_t small =
        world_submit(w, &(struct world_job){.queue = "Q", .submitted_ms = 1});
    world_round(w, ROUND_FAST, 10);
    assert_string_equal(world_node_of(w, big), "");
    assert_string_equal(world_node_of(w, small), "n");
}

/* A queue whose head its share refuses is out for the round, also when the
 * round takes work from it later (model.md 6.5). */
static void what_a_share_refuses_waits_for_the_next_round(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .cores = 5,
                                            .memory_gb = 28,
                                            .lifetime_s = INT64_MAX});
    world_lease(w, victim, node, 0);
    uint32_t refused = world_submit(w, &(struct world_job){
                                           .queue = "Q",
                                           .memory_gb = 1,
                                           .priority_class = "high",
                                           .lifetime_s = INT64_MAX,
                                       });
    world_submit(w, &(struct world_job){.queue = "S",
                                        .cores = 8,
                                        .memory_gb = 4,
                                        .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, refused), "");
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, refused), "n");
}

/* A gang that the plan took members of starts none in it, so a limit on starts
 * that it would reach stops nobody behind it. */
static void a_gang_that_lost_members_asks_no_limit_on_starts(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "G",
                               .priority_class = "low",
                               .cores = 2,
                               .gang = "g",
                               .cardinality = 3,
                               .minimum = 1};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].admitted_window = 2;
    w->policy.rate_global = (struct rate_limit){1000, 2};
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t gang = world_submit_many(w, &member, 3);
    world_lease(w, gang, node, 0);
    uint32_t urgent =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 2});
    world_round(w, ROUND_FAST, 10000);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[1].action, SCHED_ADMIT);
    uint32_t small = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, 20000);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, small), "n");
}

/* What had no room is not tried again as long as nobody leaves any, so a limit
 * on starts that it would reach by now holds nobody back: gangs grow. */
static void what_has_no_room_reaches_no_limit_on_starts(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].admitted_window = 0;
    w->policy.pools[0].start_limits[0] =
        (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM};
    w->policy.pools[0].start_limit_count = 1;
    world_restart(w);
    uint32_t large = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t small = world_node(w, &(struct world_node){"m", .cores = 2});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "G", .gang = "g"}, &terms);
    world_lease(w, group, small, 0);
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "A", .priority_class = "low", .cores = 6});
    world_lease(w, low, large, 0);
    uint32_t high = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "high", .cores = 3});
    world_submit(w, &(struct world_job){.queue = "A", .cores = 7});
    uint32_t next =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    world_round(w, ROUND_BALANCE, 10000);
    assert_string_equal(world_node_of(w, high), "n");
    assert_string_equal(world_node_of(w, next), "n");
    assert_int_equal(world_running_of(w, group, 2), 2);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(fl_11_the_limit_itself_is_allowed),
        CASE(a_queue_has_limits_of_its_own),
        CASE(fl_12_the_limit_is_on_the_flow),
        CASE(an_empty_pool_lets_nothing_start),
        CASE(fl_19_a_refused_head_stops_its_queue_alone),
        CASE(an_explanation_names_the_limit),
        CASE(a_quota_is_asked_before_the_share),
        CASE(what_a_share_refuses_waits_for_the_next_round),
        CASE(a_gang_that_lost_members_asks_no_limit_on_starts),
        CASE(what_has_no_room_reaches_no_limit_on_starts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
