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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
