/* Shares, flows and the limits on what is above a share, through the planner:
 * scenarios FL-01 to FL-16 and FL-19, UM-01 to UM-03 (model.md 8). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world_fixture.h"

enum { MINUTE = 60000 };

static struct pool_policy *pool_of(struct world *w)
{
    return &w->policy.pools[0];
}

/* The profile flow with a half-life, one core weighing 1, no window and no
 * limits; world_restart() is still to come. */
static void use_flow(struct world *w, int64_t half_minutes)
{
    struct pool_policy *pool = pool_of(w);

    pool_policy_apply(pool, PROFILE_FLOW);
    pool->cost_weights_ppm[CPU] = FRACTION_ONE_PPM;
    pool->half_time_ms = half_minutes * MINUTE;
    pool->admitted_window = pool->admitted_window_per_queue = 0;
    pool->over_share_ppm = POLICY_OFF;
    pool->excess_budget_minutes = POLICY_OFF;
}

/* A pool of so many cores, and queues A and B. */
static uint32_t make_pool(struct world *w, int64_t cores)
{
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    return world_node(w, &(struct world_node){"n", .cores = cores});
}

static uint32_t queue_index(const struct world *w, const char *name)
{
    uint32_t queue = 0;

    while (strcmp(w->queue_names[queue], name) != 0) {
        queue++;
    }
    return queue;
}

static struct sched_queue_stats stats_of(struct world *w, const char *queue)
{
    struct sched_queue_stats stats;

    sched_queue_stats(w->sched, queue_index(w, queue), 0, &stats);
    return stats;
}

/* In the pool's units. */
static double units_of(struct world *w)
{
    struct sched_pool_stats stats;

    sched_pool_stats(w->sched, 0, &stats);
    return stats.units;
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9) {
        fprintf(stderr, "%.12g is not %.12g\n", value, expected);
    }
    assert_true(fabs(value - expected) <= 1e-9);
}

static double flow_at(struct world *w, const char *queue, int64_t minute)
{
    sched_set_time(w->sched, minute * MINUTE);
    return stats_of(w, queue).flow * units_of(w);
}

/* A job of a queue runs from `now_ms` on. */
static uint32_t run_job(struct world *w, const char *queue, int64_t cores,
                        uint32_t node, int64_t now_ms)
{
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = queue, .cores = cores});

    world_lease(w, job, node, now_ms);
    return job;
}

/* A queue that uses `after` of which it used `before` just now. */
static void make_flow(struct world *w, const char *queue, uint32_t node,
                      int64_t before, int64_t after)
{
    uint32_t rest = run_job(w, queue, after ? after : before, node, 0);

    if (after == 0) {
        world_end(w, rest);
    } else if (before > after) {
        world_end(w, run_job(w, queue, before - after, node, 0));
    }
}

/* Queues of the jobs that the last plan started, in order. */
static const char *started(const struct world *w, char *text)
{
    size_t count = 0;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        if (decision->action == SCHED_LEASE) {
            text[count++] = w->records[decision->job].queue[0];
        }
    }
    text[count] = 0;
    return text;
}

static bool is_waiting(const struct world *w, uint32_t job)
{
    return w->node_of[job] == SCHED_NONE && !w->is_gone[job];
}

static void fl_01_usage_is_the_weighted_sum(void **state)
{
    struct world *w = *state;

    use_flow(w, 0);
    pool_of(w)->cost_weights_ppm[0] = 20 * FRACTION_ONE_PPM;
    pool_of(w)->cost_weights_ppm[MEMORY] = FRACTION_ONE_PPM / 4;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(
        w, &(struct world_node){"n", .cores = 64, .memory_gb = 128, .gpus = 8});
    uint32_t job = world_submit(
        w, &(struct world_job){"A", .cores = 4, .memory_gb = 16, .gpus = 1});
    world_lease(w, job, node, 0);
    assert_near(units_of(w), 64 + 128 / 4 + 8 * 20);
    assert_near(stats_of(w, "A").usage_share * units_of(w), 28);
}

static void fl_02_weights_are_by_scarcity(void **state)
{
    struct world *w = *state;

    use_flow(w, 0);
    pool_of(w)->cost_weights_ppm[CPU] = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(
        w, &(struct world_node){"n", .cores = 10, .memory_gb = 20, .gpus = 5});
    uint32_t job = world_submit(
        w, &(struct world_job){"A", .cores = 5, .memory_gb = 2, .gpus = 1});
    world_lease(w, job, node, 0);
    assert_near(units_of(w), 30);
    assert_near(stats_of(w, "A").usage_share * units_of(w), 8);
}

static void fl_03_flow_falls_to_usage_by_half_lives(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    make_flow(w, "A", make_pool(w, 100), 40, 10);
    assert_near(flow_at(w, "A", 0), 40);
    assert_near(flow_at(w, "A", 10), 25);
    assert_near(flow_at(w, "A", 20), 17.5);
    assert_near(flow_at(w, "A", 30), 13.75);
}

static void fl_04_steps_do_not_matter(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    uint32_t node = make_pool(w, 100);
    make_flow(w, "A", node, 40, 10);
    for (int minute = 1; minute <= 10; minute++) {
        /* Usage that comes and goes below the flow only advances it. */
        world_end(w, run_job(w, "A", 1, node, minute * MINUTE));
    }
    assert_near(flow_at(w, "A", 10), 25);
}

static void fl_05_flow_rises_at_once(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    uint32_t node = make_pool(w, 100);
    make_flow(w, "A", node, 12, 10);
    assert_near(flow_at(w, "A", 0), 12);
    run_job(w, "A", 20, node, 0);
    assert_near(flow_at(w, "A", 0), 30);
}

static void fl_06_usage_is_advanced_before_it_changes(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    uint32_t job = run_job(w, "A", 10, make_pool(w, 100), 0);
    sched_set_time(w->sched, 10 * MINUTE);
    world_end(w, job);
    assert_near(flow_at(w, "A", 20), 5);
}

/* Whether A's job goes before one of B, which has nothing. */
static bool is_a_first(struct world *w, int64_t a_cores, int64_t b_cores)
{
    char text[8];

    uint32_t node = make_pool(w, 1000);
    make_flow(w, "A", node, 40, 10);
    world_submit(w, &(struct world_job){.queue = "A", .cores = a_cores});
    world_submit(w, &(struct world_job){.queue = "B", .cores = b_cores});
    world_round(w, ROUND_BALANCE, 0);
    return started(w, text)[0] == 'A';
}

static void fl_07_flow_if_scheduled_is_the_larger_of_both(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    assert_true(is_a_first(w, 5, 41));
    assert_false(is_a_first(w, 5, 39));
    assert_true(is_a_first(w, 35, 46));
    assert_false(is_a_first(w, 35, 44));
}

static void fl_08_flow_is_divided_by_the_weight(void **state)
{
    struct world *w = *state;
    char text[8];

    use_flow(w, 10);
    world_restart(w);
    world_queue(w, "A", 2);
    world_queue(w, "B", 1); /* twice the weight */
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    run_job(w, "A", 4, node, 0);
    run_job(w, "B", 9, node, 0);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 2});
    world_submit(w, &(struct world_job){.queue = "B", .cores = 1});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(started(w, text), "BA");
}

static void fl_09_slots_go_by_weighted_flow(void **state)
{
    struct world *w = *state;
    char text[32];

    use_flow(w, 20);
    world_restart(w);
    world_queue(w, "A", 2);
    world_queue(w, "B", 2);
    world_queue(w, "C", 1);
    world_node(w, &(struct world_node){"n", .cores = 12});
    for (int i = 0; i < 12; i++) {
        world_submit(w, &(struct world_job){.queue = "A"});
        world_submit(w, &(struct world_job){.queue = "B"});
        world_submit(w, &(struct world_job){.queue = "C"});
    }
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(started(w, text), "CABCCABCCABC");
}

static void fl_10_ties_end_by_the_flow_itself(void **state)
{
    struct world *w = *state;
    char text[8];

    use_flow(w, 10);
    make_pool(w, 10);
    struct world_job job = {"A", .priority_class = "fixed", .cores = 10};
    world_submit_many(w, &job, 4);
    job.queue = "B";
    world_submit_many(w, &job, 4);
    for (int i = 0; i < 4; i++) {
        int64_t now_ms = (int64_t)i * 10 * MINUTE;
        sched_set_time(w->sched, now_ms);
        for (uint32_t j = 0; j < w->job_count; j++) {
            if (w->node_of[j] != SCHED_NONE) {
                world_end(w, j);
            }
        }
        if (i == 2) {
            assert_near(flow_at(w, "A", 20), 5);
            assert_near(flow_at(w, "B", 20), 10);
        }
        world_round(w, ROUND_BALANCE, now_ms);
        assert_string_equal(started(w, text), i % 2 ? "B" : "A");
    }
}

/* Three equal queues of 100 cores with an over-share limit of 0.2. */
static uint32_t make_limited(struct world *w)
{
    use_flow(w, 10);
    pool_of(w)->over_share_ppm = FRACTION_ONE_PPM / 5;
    uint32_t node = make_pool(w, 100);
    world_queue(w, "C", 1);
    run_job(w, "B", 1, node, 0);
    run_job(w, "C", 1, node, 0);
    return node;
}

static uint32_t submit_fixed(struct world *w, const char *queue, int64_t cores)
{
    return world_submit(w, &(struct world_job){queue, .priority_class = "fixed",
                                               .cores = cores});
}

static void fl_11_the_limit_itself_is_allowed(void **state)
{
    struct world *w = *state;

    uint32_t node = make_limited(w);
    world_lease(w, submit_fixed(w, "A", 36), node, 0);
    uint32_t over = submit_fixed(w, "A", 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, over));
    world_end(w, over);
    uint32_t exact = submit_fixed(w, "A", 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, exact));
}

/* A queue's own limit holds in pools that have none, from when it is set. */
static void a_queue_has_limits_of_its_own(void **state)
{
    struct world *w = *state;
    struct queue_record record = queue_record_plain(STR("A"));

    uint32_t node = make_pool(w, 90);
    run_job(w, "B", 1, node, 0);
    world_lease(w, submit_fixed(w, "A", 45), node, 0);
    assert_true(stats_of(w, "A").infinite_limit < 0);
    record.over_share_ppm = FRACTION_ONE_PPM / 5;
    sched_queue_set(w->sched, queue_index(w, "A"), &record);
    assert_near(stats_of(w, "A").infinite_limit, 0.6);
    assert_near(stats_of(w, "A").infinite_flow, 0.5);
    uint32_t over = submit_fixed(w, "A", 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, over));
    world_end(w, over);
    uint32_t exact = submit_fixed(w, "A", 9);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, exact));
    record.over_share_ppm = INT64_MAX;
    sched_queue_set(w->sched, queue_index(w, "A"), &record);
    uint32_t more = submit_fixed(w, "A", 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, more));
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
    assert_true(is_waiting(w, job));
    assert_near(stats_of(w, "A").infinite_flow * 100, 10 + 40 * pow(0.5, 0.4));
    int64_t when_ms = w->plan.next_wake_ms;
    assert_int_equal(when_ms, 249023); /* 10 log2(4/3) minutes */
    world_round(w, ROUND_BALANCE, when_ms - 1);
    assert_true(is_waiting(w, job));
    world_round(w, ROUND_BALANCE, when_ms);
    assert_false(is_waiting(w, job));
}

/* Share 40 of 100 for A, which uses `cores`, with a budget. */
static uint32_t fill_budget(struct world *w, int64_t cores, int64_t minutes)
{
    struct queue_record record = queue_record_plain(STR("A"));

    world_restart(w);
    uint32_t queue = world_queue(w, "A", 1);
    record.priority_factor_micro = 3 * PRIORITY_FACTOR_ONE_MICRO;
    record.excess_budget_milli = minutes * 1000;
    sched_queue_set(w->sched, queue, &record);
    world_queue(w, "B", 2);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    run_job(w, "B", 1, node, 0);
    for (int64_t left = cores; left > 0; left -= left < 16 ? left : 16) {
        run_job(w, "A", left < 16 ? left : 16, node, 0);
    }
    return node;
}

static uint32_t make_budget(struct world *w, int64_t cores, int64_t minutes)
{
    use_flow(w, 10);
    return fill_budget(w, cores, minutes);
}

static uint32_t submit_for(struct world *w, int64_t minutes, int64_t cores)
{
    return world_submit(w, &(struct world_job){"A", .lifetime_s = minutes * 60,
                                               .cores = cores});
}

static double budget_left(struct world *w)
{
    return stats_of(w, "A").budget_left_minutes;
}

static void fl_13_lifetimes_above_the_share_are_charged(void **state)
{
    struct world *w = *state;

    make_budget(w, 40, 600);
    assert_near(stats_of(w, "A").fair_share, 0.4);
    uint32_t first = submit_for(w, 30, 10);
    uint32_t second = submit_for(w, 60, 6);
    uint32_t third = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, first));
    assert_near(budget_left(w), 300);
    assert_true(is_waiting(w, second));
    assert_true(is_waiting(w, third)); /* behind it */
    world_end(w, second);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, third));
    assert_near(budget_left(w), 0);
    world_end(w, first);
    assert_near(budget_left(w), 300);
}

static void fl_14_work_of_no_lifetime_is_free(void **state)
{
    struct world *w = *state;

    make_budget(w, 39, 0);
    uint32_t job = world_submit(w, &(struct world_job){"A", .cores = 60});
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, job));
    assert_near(budget_left(w), 0);
}

static void fl_15_only_the_part_above_the_share_counts(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    uint32_t job = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(is_waiting(w, job));
    assert_near(budget_left(w), 420);
}

static void fl_16_what_was_charged_is_given_back(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    uint32_t job = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    assert_near(budget_left(w), 420);
    for (uint32_t i = 1; i < 3; i++) {
        world_end(w, i); /* 16 cores each */
    }
    assert_near(budget_left(w), 420);
    world_end(w, job);
    assert_true(budget_left(w) == 600);
}

/* Edge cases of model.md 2.16. */

static void a_deadline_before_the_lifetime_is_charged(void **state)
{
    struct world *w = *state;

    make_budget(w, 40, 600);
    world_submit(w, &(struct world_job){"A", .lifetime_s = 60 * 60,
                                        .deadline_s = 30 * 60, .cores = 10});
    world_round(w, ROUND_BALANCE, 0);
    assert_near(budget_left(w), 300);
}

static void charges_stay_when_shares_shrink(void **state)
{
    struct world *w = *state;

    make_budget(w, 36, 600);
    submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    world_queue(w, "C", 1);
    world_submit(w, &(struct world_job){"C", .cores = 100});
    assert_true(stats_of(w, "A").fair_share < 0.4);
    assert_near(budget_left(w), 420);
}

static void an_absurd_budget_is_a_large_one(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    pool_of(w)->excess_budget_minutes = 1000000000;
    make_pool(w, 100);
    assert_true(stats_of(w, "A").budget_left_minutes > 1e8);
}

static void an_idle_queue_is_remembered(void **state)
{
    struct world *w = *state;
    char text[8];

    use_flow(w, 10);
    make_flow(w, "A", make_pool(w, 100), 40, 0);
    assert_near(flow_at(w, "A", 10), 20);
    world_queue(w, "A", 1.5); /* flows have no weight in them */
    assert_near(flow_at(w, "A", 10), 20);
    world_queue(w, "A", 1);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "B", .cores = 15});
    world_round(w, ROUND_BALANCE, 10 * MINUTE);
    assert_string_equal(started(w, text), "BA");
}

static void a_time_that_goes_back_changes_nothing(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    uint32_t node = make_pool(w, 100);
    make_flow(w, "A", node, 40, 10);
    assert_near(flow_at(w, "A", 10), 25);
    assert_near(flow_at(w, "A", 5), 25);
    world_end(w, run_job(w, "A", 1, node, 5 * MINUTE));
    assert_near(flow_at(w, "A", 10), 25);
}

/* Shares are of what is open: else half a pool that is full would count as
 * half empty, and nobody who waits would get any of it. */
static void what_is_cordoned_is_no_part_of_the_pool(void **state)
{
    struct world *w = *state;
    struct world_node other = {"o", .cores = 50};

    use_flow(w, 10);
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 50});
    world_node(w, &other);
    for (int i = 0; i < 5; i++) {
        run_job(w, "A", 10, node, 0);
    }
    assert_near(stats_of(w, "A").usage_share, 0.5);
    other.is_unschedulable = true;
    world_node(w, &other);
    assert_near(stats_of(w, "A").usage_share, 1);
    assert_true(sched_is_consistent(w->sched));
    world_submit_many(w, &(struct world_job){"B", .cores = 10}, 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(world_running(w, "B"), 2);
    other.is_unschedulable = false;
    world_node(w, &other);
    assert_near(stats_of(w, "A").usage_share, 0.3);
    sched_policy_set(w->sched, &w->policy);
    assert_true(sched_is_consistent(w->sched));
}

static void an_empty_pool_lets_nothing_start(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    pool_of(w)->over_share_ppm = 0;
    pool_of(w)->excess_budget_minutes = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t job = submit_fixed(w, "A", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, job));
    assert_true(stats_of(w, "A").flow == 0);
}

static void fl_19_a_refused_head_stops_its_queue_alone(void **state)
{
    struct world *w = *state;

    uint32_t node = make_limited(w);
    world_queue(w, "D", 100);
    uint32_t head = submit_fixed(w, "D", 5);
    uint32_t behind = world_submit(w, &(struct world_job){.queue = "D"});
    run_job(w, "A", 10, node, 0);
    uint32_t other = submit_fixed(w, "A", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, head));
    assert_true(is_waiting(w, behind));
    assert_false(is_waiting(w, other));
}

/* A and B of equal weight in 100 cores with jobs of 10 that may be preempted
 * at once: A runs 6; flows in cores. */
static void make_contest(struct world *w, int64_t a_flow, int64_t b_flow)
{
    uint32_t node = make_pool(w, 100);

    for (int i = 0; i < 6; i++) {
        run_job(w, "A", 10, node, 0);
    }
    if (a_flow > 60) {
        world_end(w, run_job(w, "A", a_flow - 60, node, 0));
    }
    if (b_flow) {
        make_flow(w, "B", node, b_flow, 0);
    }
    world_submit_many(w, &(struct world_job){"B", .cores = 10}, 10);
    world_submit_many(w, &(struct world_job){"A", .cores = 10}, 4);
}

static void um_01_past_usage_costs_no_running_work(void **state)
{
    struct world *w = *state;

    use_flow(w, 20);
    make_contest(w, 100, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 1);
    for (int minute = 1; minute <= 5; minute++) {
        world_round(w, ROUND_BALANCE, minute * MINUTE);
        assert_int_equal(w->preempted_count, 0);
        assert_int_equal(world_running(w, "A"), 5);
        assert_int_equal(world_running(w, "B"), 5);
    }
}

static void um_02_a_flow_that_falls_wins_places_one_by_one(void **state)
{
    static const int minutes[] = {1, 4, 8, 14, 26};
    struct world *w = *state;
    uint32_t won = 0;

    use_flow(w, 20);
    make_contest(w, 60, 100);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 0);
    assert_int_equal(world_running(w, "A"), 10);
    for (int minute = 1; minute <= 40; minute++) {
        bool is_due = won < ARRAY_COUNT(minutes) && minutes[won] == minute;
        world_round(w, ROUND_BALANCE, minute * MINUTE);
        won += is_due;
        assert_int_equal(w->preempted_count, is_due);
        assert_int_equal(world_running(w, "A"), 10 - won);
        assert_int_equal(world_running(w, "B"), won);
        if (won < 5) {
            assert_true(w->plan.next_wake_ms <= (minute + 1) * MINUTE ||
                        w->plan.decision_count);
        }
    }
}

static void um_03_without_memory_shares_are_even_at_once(void **state)
{
    struct world *w = *state;

    use_flow(w, 0);
    make_contest(w, 60, 100);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running(w, "A"), 5);
    assert_int_equal(world_running(w, "B"), 5);
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

static void an_explanation_names_the_budget(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;

    make_budget(w, 40, 600);
    submit_for(w, 30, 10);
    uint32_t second = submit_for(w, 60, 6);
    uint32_t third = submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    sched_explain(w->sched, second, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_BUDGET);
    assert_near(why.asked, 360);
    assert_near(why.allowed, 300);
    assert_int_equal(why.behind, SCHED_NONE);
    sched_explain(w->sched, third, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_BUDGET);
    assert_int_equal(why.behind, second);
}

/* A uses its share of 40 with a budget; B, 51 and waits for 20 more, reserved
 * at 100 minutes.  A's job of 4 for 30 minutes. */
static uint32_t make_um_09(struct world *w, int64_t minutes)
{
    use_flow(w, 10);
    pool_of(w)->admitted_window = pool_of(w)->admitted_window_per_queue = 1;
    pool_of(w)->is_strict = false;
    uint32_t node = fill_budget(w, 40, minutes);
    uint32_t first =
        world_submit(w, &(struct world_job){"B", "fixed", .cores = 50,
                                            .deadline_s = 100 * 60});
    world_lease(w, first, node, 0);
    sched_job_age_from(w->sched, first, 0);
    uint32_t head = world_submit(w, &(struct world_job){"B", .cores = 20});
    world_round(w, ROUND_BALANCE, 0);
    struct sched_admission admission;
    assert_true(sched_job_admission(w->sched, head, &admission));
    assert_int_equal(admission.start_ms, 100 * MINUTE);
    uint32_t job = submit_for(w, 30, 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, head));
    return job;
}

static void um_09_a_budget_refuses_what_backfill_allows(void **state)
{
    struct world *w = *state;
    struct sched_admission ignored;

    uint32_t refused = make_um_09(w, 100);
    assert_true(is_waiting(w, refused));
    assert_false(sched_job_admission(w->sched, refused, &ignored));
    uint32_t allowed = make_um_09(w, 120);
    assert_false(is_waiting(w, allowed));
    assert_near(budget_left(w), 0);
}

/* What is admitted counts as used, and is charged, until it is given up. */
static void admitted_work_is_used_and_charged(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    pool_of(w)->admitted_window = pool_of(w)->admitted_window_per_queue = 1;
    fill_budget(w, 40, 600);
    uint32_t head = submit_for(w, 10, 59); /* 59 are free */
    run_job(w, "B", 9, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(is_waiting(w, head));
    assert_near(stats_of(w, "A").usage_share, 0.99);
    assert_near(stats_of(w, "A").actual_share, 0.4);
    assert_near(budget_left(w), 10);
    assert_near(stats_of(w, "A").flow, 0.99);
    world_end(w, w->job_count - 1);
    world_round(w, ROUND_BALANCE, MINUTE);
    assert_false(is_waiting(w, head));
    assert_near(budget_left(w), 10);
    assert_near(stats_of(w, "A").flow, 0.99);
    world_end(w, head);
    assert_true(budget_left(w) == 600);
}

/* Flows and charges survive a checkpoint, to the bit. */
static void flows_and_charges_are_packed(void **state)
{
    struct world *w = *state;
    auto_strbuf before = {0};
    auto_strbuf after = {0};

    make_budget(w, 36, 600);
    submit_for(w, 30, 10);
    world_round(w, ROUND_BALANCE, 0);
    sched_set_time(w->sched, 3 * MINUTE);
    world_end(w, 2);
    sched_set_time(w->sched, 5 * MINUTE);
    struct sched_queue_stats old = stats_of(w, "A");
    sched_history_pack(w->sched, &before);
    struct sched *saved = w->sched;
    w->sched = sched_create(&w->policy);
    world_forget_classes(w); /* they are the other state's */
    sched_set_time(w->sched, 5 * MINUTE);
    struct queue_record record = queue_record_plain(STR("A"));
    record.priority_factor_micro = 3 * PRIORITY_FACTOR_ONE_MICRO;
    record.excess_budget_milli = 600 * 1000;
    sched_queue_set(w->sched, 0, &record);
    world_queue(w, "B", 2);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    for (uint32_t i = 0; i < w->job_count; i++) {
        if (!w->is_gone[i]) {
            struct sched_job job = world_record(w, i);
            job.queue = queue_index(w, w->records[i].queue);
            sched_job_add(w->sched, i, &job);
            sched_job_lease(w->sched, i, node, 1000, 5 * MINUTE, false);
        }
    }
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)), 0);
    struct sched_queue_stats now = stats_of(w, "A");
    assert_true(now.flow == old.flow);
    assert_true(now.flow > now.usage_share);
    assert_true(now.budget_left_minutes == old.budget_left_minutes);
    sched_history_pack(w->sched, &after);
    assert_true(str_equal(strbuf_str(&after), strbuf_str(&before)));
    sched_destroy(saved);
}

/* A change of the policy forgets nothing that it does not concern. */
static void flows_survive_a_change_of_the_policy(void **state)
{
    struct world *w = *state;

    use_flow(w, 10);
    make_flow(w, "A", make_pool(w, 100), 40, 10);
    assert_near(flow_at(w, "A", 10), 25);
    struct policy *other = mem_alloc(sizeof(*other));
    *other = w->policy;
    other->pools[0].half_time_ms = 20 * MINUTE;
    sched_policy_set(w->sched, other);
    assert_near(flow_at(w, "A", 10), 25);
    assert_near(flow_at(w, "A", 30), 17.5);
    assert_true(sched_is_consistent(w->sched));
    sched_policy_set(w->sched, &w->policy);
    mem_free(other);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(fl_01_usage_is_the_weighted_sum),
        CASE(fl_02_weights_are_by_scarcity),
        CASE(fl_03_flow_falls_to_usage_by_half_lives),
        CASE(fl_04_steps_do_not_matter),
        CASE(fl_05_flow_rises_at_once),
        CASE(fl_06_usage_is_advanced_before_it_changes),
        CASE(fl_07_flow_if_scheduled_is_the_larger_of_both),
        CASE(fl_08_flow_is_divided_by_the_weight),
        CASE(fl_09_slots_go_by_weighted_flow),
        CASE(fl_10_ties_end_by_the_flow_itself),
        CASE(fl_11_the_limit_itself_is_allowed),
        CASE(a_queue_has_limits_of_its_own),
        CASE(fl_12_the_limit_is_on_the_flow),
        CASE(fl_13_lifetimes_above_the_share_are_charged),
        CASE(fl_14_work_of_no_lifetime_is_free),
        CASE(fl_15_only_the_part_above_the_share_counts),
        CASE(fl_16_what_was_charged_is_given_back),
        CASE(a_deadline_before_the_lifetime_is_charged),
        CASE(charges_stay_when_shares_shrink),
        CASE(an_absurd_budget_is_a_large_one),
        CASE(an_idle_queue_is_remembered),
        CASE(a_time_that_goes_back_changes_nothing),
        CASE(what_is_cordoned_is_no_part_of_the_pool),
        CASE(an_empty_pool_lets_nothing_start),
        CASE(fl_19_a_refused_head_stops_its_queue_alone),
        CASE(um_01_past_usage_costs_no_running_work),
        CASE(um_02_a_flow_that_falls_wins_places_one_by_one),
        CASE(um_03_without_memory_shares_are_even_at_once),
        CASE(an_explanation_names_the_limit),
        CASE(an_explanation_names_the_budget),
        CASE(um_09_a_budget_refuses_what_backfill_allows),
        CASE(admitted_work_is_used_and_charged),
        CASE(flows_and_charges_are_packed),
        CASE(flows_survive_a_change_of_the_policy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
