/* Shares and flows, and the order that they make: scenarios FL-01 to FL-10 and
 * UM-01 to UM-03 (model.md 8). */
#include "flow_fixture.h"

/* In the pool's units. */
static double flow_units(struct world *w)
{
    struct sched_pool_stats stats;

    sched_pool_stats(w->sched, 0, &stats);
    return stats.units;
}

static double flow_at(struct world *w, const char *queue, int64_t minute)
{
    sched_set_time(w->sched, minute * MINUTE);
    return flow_stats(w, queue).flow * flow_units(w);
}

/* A queue that uses `after` of which it used `before` just now. */
static void flow_make(struct world *w, const char *queue, uint32_t node,
                      int64_t before, int64_t after)
{
    uint32_t rest = flow_run_job(w, queue, after ? after : before, node, 0);

    if (after == 0) {
        world_end(w, rest);
    } else if (before > after) {
        world_end(w, flow_run_job(w, queue, before - after, node, 0));
    }
}

/* Queues of the jobs that the last plan started, in order. */
static const char *flow_started(const struct world *w, char *text)
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

static void fl_01_usage_is_the_weighted_sum(void **state)
{
    struct world *w = *state;

    flow_use(w, 0);
    flow_pool(w)->cost_weights_ppm[0] = 20 * FRACTION_ONE_PPM;
    flow_pool(w)->cost_weights_ppm[MEMORY] = FRACTION_ONE_PPM / 4;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(
        w, &(struct world_node){"n", .cores = 64, .memory_gb = 128, .gpus = 8});
    uint32_t job = world_submit(
        w, &(struct world_job){"A", .cores = 4, .memory_gb = 16, .gpus = 1});
    world_lease(w, job, node, 0);
    assert_near(flow_units(w), 64 + 128 / 4 + 8 * 20);
    assert_near(flow_stats(w, "A").usage_share * flow_units(w), 28);
}

static void fl_02_weights_are_by_scarcity(void **state)
{
    struct world *w = *state;

    flow_use(w, 0);
    flow_pool(w)->cost_weights_ppm[CPU] = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(
        w, &(struct world_node){"n", .cores = 10, .memory_gb = 20, .gpus = 5});
    uint32_t job = world_submit(
        w, &(struct world_job){"A", .cores = 5, .memory_gb = 2, .gpus = 1});
    world_lease(w, job, node, 0);
    assert_near(flow_units(w), 30);
    assert_near(flow_stats(w, "A").usage_share * flow_units(w), 8);
}

static void fl_03_flow_falls_to_usage_by_half_lives(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    flow_make(w, "A", flow_make_pool(w, 100), 40, 10);
    assert_near(flow_at(w, "A", 0), 40);
    assert_near(flow_at(w, "A", 10), 25);
    assert_near(flow_at(w, "A", 20), 17.5);
    assert_near(flow_at(w, "A", 30), 13.75);
}

static void fl_04_steps_do_not_matter(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    uint32_t node = flow_make_pool(w, 100);
    flow_make(w, "A", node, 40, 10);
    for (int minute = 1; minute <= 10; minute++) {
        /* Usage that comes and goes below the flow only advances it. */
        world_end(w, flow_run_job(w, "A", 1, node, minute * MINUTE));
    }
    assert_near(flow_at(w, "A", 10), 25);
}

static void fl_05_flow_rises_at_once(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    uint32_t node = flow_make_pool(w, 100);
    flow_make(w, "A", node, 12, 10);
    assert_near(flow_at(w, "A", 0), 12);
    flow_run_job(w, "A", 20, node, 0);
    assert_near(flow_at(w, "A", 0), 30);
}

static void fl_06_usage_is_advanced_before_it_changes(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    uint32_t job = flow_run_job(w, "A", 10, flow_make_pool(w, 100), 0);
    sched_set_time(w->sched, 10 * MINUTE);
    world_end(w, job);
    assert_near(flow_at(w, "A", 20), 5);
}

/* Whether A's job goes before one of B, which has nothing. */
static bool is_a_first(struct world *w, int64_t a_cores, int64_t b_cores)
{
    char text[8];

    uint32_t node = flow_make_pool(w, 1000);
    flow_make(w, "A", node, 40, 10);
    world_submit(w, &(struct world_job){.queue = "A", .cores = a_cores});
    world_submit(w, &(struct world_job){.queue = "B", .cores = b_cores});
    world_round(w, ROUND_BALANCE, 0);
    return flow_started(w, text)[0] == 'A';
}

static void fl_07_flow_if_scheduled_is_the_larger_of_both(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    assert_true(is_a_first(w, 5, 41));
    assert_false(is_a_first(w, 5, 39));
    assert_true(is_a_first(w, 35, 46));
    assert_false(is_a_first(w, 35, 44));
}

static void fl_08_flow_is_divided_by_the_weight(void **state)
{
    struct world *w = *state;
    char text[8];

    flow_use(w, 10);
    world_restart(w);
    world_queue(w, "A", 2);
    world_queue(w, "B", 1); /* twice the weight */
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 100});
    flow_run_job(w, "A", 4, node, 0);
    flow_run_job(w, "B", 9, node, 0);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 2});
    world_submit(w, &(struct world_job){.queue = "B", .cores = 1});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(flow_started(w, text), "BA");
}

static void fl_09_slots_go_by_weighted_flow(void **state)
{
    struct world *w = *state;
    char text[32];

    flow_use(w, 20);
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
    assert_string_equal(flow_started(w, text), "CABCCABCCABC");
}

static void fl_10_ties_end_by_the_flow_itself(void **state)
{
    struct world *w = *state;
    char text[8];

    flow_use(w, 10);
    flow_make_pool(w, 10);
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
        assert_string_equal(flow_started(w, text), i % 2 ? "B" : "A");
    }
}

static void an_idle_queue_is_remembered(void **state)
{
    struct world *w = *state;
    char text[8];

    flow_use(w, 10);
    flow_make(w, "A", flow_make_pool(w, 100), 40, 0);
    assert_near(flow_at(w, "A", 10), 20);
    world_queue(w, "A", 1.5); /* flows have no weight in them */
    assert_near(flow_at(w, "A", 10), 20);
    world_queue(w, "A", 1);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "B", .cores = 15});
    world_round(w, ROUND_BALANCE, 10 * MINUTE);
    assert_string_equal(flow_started(w, text), "BA");
}

static void a_time_that_goes_back_changes_nothing(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    uint32_t node = flow_make_pool(w, 100);
    flow_make(w, "A", node, 40, 10);
    assert_near(flow_at(w, "A", 10), 25);
    assert_near(flow_at(w, "A", 5), 25);
    world_end(w, flow_run_job(w, "A", 1, node, 5 * MINUTE));
    assert_near(flow_at(w, "A", 10), 25);
}

/* Shares are of what is open: else half a pool that is full would count as
 * half empty, and nobody who waits would get any of it. */
static void what_is_cordoned_is_no_part_of_the_pool(void **state)
{
    struct world *w = *state;
    struct world_node other = {"o", .cores = 50};

    flow_use(w, 10);
    world_restart(w);
    world_queue(w, "A", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 50});
    world_node(w, &other);
    for (int i = 0; i < 5; i++) {
        flow_run_job(w, "A", 10, node, 0);
    }
    assert_near(flow_stats(w, "A").usage_share, 0.5);
    other.is_unschedulable = true;
    world_node(w, &other);
    assert_near(flow_stats(w, "A").usage_share, 1);
    assert_true(sched_is_consistent(w->sched));
    world_submit_many(w, &(struct world_job){"B", .cores = 10}, 5);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(world_running(w, "B"), 2);
    other.is_unschedulable = false;
    world_node(w, &other);
    assert_near(flow_stats(w, "A").usage_share, 0.3);
    sched_policy_set(w->sched, &w->policy);
    assert_true(sched_is_consistent(w->sched));
}

/* A and B of equal weight in 100 cores with jobs of 10 that may be preempted
 * at once: A runs 6; flows in cores. */
static void make_contest(struct world *w, int64_t a_flow, int64_t b_flow)
{
    uint32_t node = flow_make_pool(w, 100);

    for (int i = 0; i < 6; i++) {
        flow_run_job(w, "A", 10, node, 0);
    }
    if (a_flow > 60) {
        world_end(w, flow_run_job(w, "A", a_flow - 60, node, 0));
    }
    if (b_flow) {
        flow_make(w, "B", node, b_flow, 0);
    }
    world_submit_many(w, &(struct world_job){"B", .cores = 10}, 10);
    world_submit_many(w, &(struct world_job){"A", .cores = 10}, 4);
}

static void um_01_past_usage_costs_no_running_work(void **state)
{
    struct world *w = *state;

    flow_use(w, 20);
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

    flow_use(w, 20);
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

    flow_use(w, 0);
    make_contest(w, 60, 100);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running(w, "A"), 5);
    assert_int_equal(world_running(w, "B"), 5);
}

/* A change of the policy forgets nothing that it does not concern. */
static void flows_survive_a_change_of_the_policy(void **state)
{
    struct world *w = *state;

    flow_use(w, 10);
    flow_make(w, "A", flow_make_pool(w, 100), 40, 10);
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

/* A pool of two nodes, of which both are full, gives one away. */
static void move_a_node(struct world *w, bool is_held)
{
    flow_use(w, 10);
    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("other");
    w->policy.pool_count = 2;
    world_restart(w);
    (void)world_queue(w, "A", 1);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t node =
            world_node(w, &(struct world_node){i ? "n" : "m", .cores = 4});
        (void)flow_run_job(w, "A", 4, node, 0);
    }
    sched_set_time(w->sched, MINUTE);
    if (is_held) {
        sched_flows_hold(w->sched);
    }
    (void)world_node(w, &(struct world_node){"m", .cores = 4, .pool = "other"});
    sched_flows_keep(w->sched); /* nothing where none is held */
}

static void a_node_takes_its_work_along_without_a_flow(void **state)
{
    struct world *w = *state;

    move_a_node(w, true);
    assert_near(flow_stats(w, "A").usage_share, 1);
    assert_near(flow_stats(w, "A").flow, 1);
}

/* Else what went counts on, of a pool that is smaller by it. */
static void what_goes_bit_by_bit_seems_more_than_the_pool(void **state)
{
    struct world *w = *state;

    move_a_node(w, false);
    assert_true(flow_stats(w, "A").flow > 1.2);
}

/* Pools change: one job is a borrower from now on, another one goes. */
static void lend_and_remove(struct world *w, bool is_lent_first,
                            struct strbuf *buf)
{
    uint32_t jobs[2];

    flow_use(w, 10);
    world_restart(w);
    (void)world_queue(w, "A", 1);
    uint32_t node = world_node(w, &(struct world_node){"m", .cores = 8});
    for (uint32_t i = 0; i < 2; i++) {
        jobs[i] = world_submit(w, &(struct world_job){.queue = "A",
                                                      .cores = 2,
                                                      .lifetime_s = INT64_MAX});
        world_lease(w, jobs[i], node, 0);
    }
    sched_set_time(w->sched, MINUTE);
    sched_flows_hold(w->sched);
    if (is_lent_first) {
        sched_job_borrowed_set(w->sched, jobs[0], true);
    }
    sched_job_remove(w->sched, jobs[1]);
    if (!is_lent_first) {
        sched_job_borrowed_set(w->sched, jobs[0], true);
    }
    sched_flows_keep(w->sched);
    sched_history_pack(w->sched, buf);
}

static void what_happens_at_once_happens_in_no_order(void **state)
{
    struct world *w = *state;
    auto_strbuf a = {0}, b = {0};

    lend_and_remove(w, true, &a);
    lend_and_remove(w, false, &b);
    assert_true(str_equal(strbuf_str(&a), strbuf_str(&b)));
}

/* Within a plan the flow of endless work is what it was or what is used now,
 * whichever is more, and not both together (model.md 2.5, 2.7). */
static void a_flow_and_what_a_plan_starts_do_not_add_up(void **state)
{
    struct world *w = *state;
    struct world_job endless = {
        .queue = "Q", .cores = 3, .memory_gb = 1, .lifetime_s = INT64_MAX};

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.pools[0].over_share_ppm = FRACTION_ONE_PPM / 5;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    endless.cores = 4;
    uint32_t before = world_submit(w, &endless);
    world_lease(w, before, node, 0);
    world_end(w, before); /* its flow is .4 from now on; .6 may be */
    endless.cores = 3;
    world_submit_many(w, &endless, 2);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 2);
}

/* What a plan preempts does not make its queue hungry at once: the flow falls
 * only with time (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_plan_preempts(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.is_fair_share_preemption_off = true;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 6});
    uint32_t kept =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q", .cores = 4});
    world_lease(w, kept, node, 0);
    world_lease(w, victim, node, 1);
    uint32_t hungry = world_submit(w, &(struct world_job){.queue = "R"});
    uint32_t sated = world_submit(w, &(struct world_job){.queue = "Q"});
    world_submit(w, &(struct world_job){
                        .queue = "S", .cores = 3, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, hungry), "n");
    assert_string_equal(world_node_of(w, sated), "");
}

/* Nor does it fall at once with the members that an admitted gang starts
 * without (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_gang_goes_without(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "Q", .gang = "g", .cores = 5, .cardinality = 2, .minimum = 1};
    struct world_job last = {.queue = "Q", .cores = 3, .submitted_ms = 2};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].half_time_ms = 600000;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 9});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 6});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    run.queue = "R";
    world_lease(w, world_submit(w, &run), m, 0);
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0); /* admitted: Q uses 10, R 6 */
    world_end(w, first);
    uint32_t of_q = world_submit(w, &last);
    last.queue = "R";
    uint32_t of_r = world_submit(w, &last);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 4 are left */
    assert_string_equal(world_node_of(w, of_q), "");
    assert_string_equal(world_node_of(w, of_r), "n");
}

/* The flow of A is what it had a moment ago, and what B would have: they are
 * equal, and B's own flow is the smaller one (FL-10).  Rounding has no say. */
static void a_flow_ties_with_what_another_would_have(void **state)
{
    struct world *w = *state;

    for (uint32_t most = 3; most < 30; most++) {
        struct pool_policy *pool = &w->policy.pools[0];
        pool_policy_apply(pool, PROFILE_FLOW);
        pool->half_time_ms = 600000;
        pool->over_share_ppm = pool->excess_budget_minutes = POLICY_OFF;
        world_restart(w);
        w->job_count = 0;
        uint32_t node = world_node(
            w, &(struct world_node){"n", .cores = 2 * (int64_t)most - 2});
        uint32_t ours =
            world_submit_many(w, &(struct world_job){.queue = "A"}, most + 1);
        uint32_t theirs =
            world_submit_many(w, &(struct world_job){.queue = "B"}, most);
        for (uint32_t i = 0; i < most; i++) {
            world_lease(w, ours + i, node, 0);
        }
        world_end(w, ours);
        world_end(w, ours + 1);
        for (uint32_t i = 0; i + 1 < most; i++) {
            world_lease(w, theirs + i, node, 0);
        }
        world_round(w, ROUND_FAST, 0);
        assert_int_equal(w->leased_count, 1);
        assert_string_equal(world_node_of(w, theirs + most - 1), "n");
    }
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
        CASE(an_idle_queue_is_remembered),
        CASE(a_time_that_goes_back_changes_nothing),
        CASE(what_is_cordoned_is_no_part_of_the_pool),
        CASE(um_01_past_usage_costs_no_running_work),
        CASE(um_02_a_flow_that_falls_wins_places_one_by_one),
        CASE(um_03_without_memory_shares_are_even_at_once),
        CASE(flows_survive_a_change_of_the_policy),
        CASE(a_node_takes_its_work_along_without_a_flow),
        CASE(what_goes_bit_by_bit_seems_more_than_the_pool),
        CASE(what_happens_at_once_happens_in_no_order),
        CASE(a_flow_and_what_a_plan_starts_do_not_add_up),
        CASE(a_flow_does_not_fall_with_what_a_plan_preempts),
        CASE(a_flow_does_not_fall_with_what_a_gang_goes_without),
        CASE(a_flow_ties_with_what_another_would_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
