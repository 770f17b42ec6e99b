/* Admitted work, its reservation, and who may pass it: the scenarios BK of
 * model.md section 8. */
#include "reserve_fixture.h"

static void bk_03_lets_pass_what_does_not_delay_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);

    assert_int_equal(reserve_promise(w, bk.head), 100 * S);
    assert_true(reserve_passes(w, 4, 90, 0));
    assert_false(reserve_passes(w, 4, 110, 0));
    assert_true(reserve_passes(w, 4, 0, -1));
    assert_true(reserve_passes(w, 4, 0, 100));
    uint32_t beside = reserve_submit(w, "Z", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, beside));
    assert_false(reserve_passes(w, 1, 0, 0)); /* extra is 0 now */
    assert_false(reserve_passes(w, 3, 0, 0));
    assert_true(sched_is_consistent(w->sched));
}

static void bk_04_starts_the_head_as_soon_as_there_is_room(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    uint32_t b1 = reserve_submit(w, "Z", 2, 90, 0),
             b2 = reserve_submit(w, "Z", 2, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, b1) && reserve_runs(w, b2));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_false(reserve_runs(w, bk.head));
    world_end(w, b1);
    world_round(w, ROUND_FAST, 90 * S);
    assert_true(reserve_runs(w, bk.head));
}

static void bk_05_preempts_what_yields_to_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    uint32_t b = reserve_submit(w, "Z", 4, 0, 100);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_runs(w, b));
    world_round(w, ROUND_BALANCE, 99 * S);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(reserve_runs(w, bk.head));
    assert_true(w->is_gone[b]);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_YIELD);
    assert_int_equal(w->plan.decisions[0].for_job, bk.head);
}

static void bk_05_yields_before_its_bound_only_when_asked(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    uint32_t b = reserve_submit(w, "Z", 4, 0, 50);

    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 70 * S); /* its going would not help */
    assert_true(reserve_runs(w, b));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 80 * S);
    assert_true(reserve_runs(w, bk.head));
}

static void bk_06_reserves_without_a_bound(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 0);

    assert_int_equal(reserve_promise(w, bk.head), SCHED_START_UNKNOWN);
    assert_false(reserve_passes(w, 4, 0, 30));
    assert_true(reserve_passes(w, 4, 0, -1));
    world_node(w, &(struct world_node){"m", .cores = 5});
    assert_true(reserve_passes(w, 4, 0, 30));
    assert_true(reserve_passes(w, 4, 0, -1));
}

static void what_is_known_of_nodes_follows_their_runs(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 0);
    struct world_job mid = {.queue = "Z", .cores = 2};

    assert_int_equal(reserve_promise(w, bk.head), SCHED_START_UNKNOWN);
    uint32_t first = world_submit(w, &mid), second = world_submit(w, &mid);
    world_round(w, ROUND_BALANCE, 1 * S);
    assert_true(reserve_runs(w, first) && reserve_runs(w, second));
    world_round(w, ROUND_BALANCE, 2 * S); /* knows who yields now */
    assert_true(sched_is_consistent(w->sched));
    world_end(w, first);
    assert_true(sched_is_consistent(w->sched));
    world_round(w, ROUND_BALANCE, 3 * S);
    mid.queue = "A";
    uint32_t third = world_submit(w, &mid);
    world_round(w, ROUND_BALANCE, 4 * S);
    assert_true(reserve_runs(w, third));
    assert_true(sched_is_consistent(w->sched));
    world_end(w, second);
    world_end(w, third);
    assert_true(sched_is_consistent(w->sched));
}

/* Where the pool's reservation is. */
static uint32_t reserved_node(const struct world *w)
{
    const struct kept_reservation *kept = &w->sched->pools.items[0].memory.kept;

    assert_int_equal(kept->nodes.count, 1);
    return kept->nodes.items[0].node;
}

static void a_node_with_room_grows_when_a_lifetime_there_is_over(void **state)
{
    struct world *w = *state;
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 10});
    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    uint32_t on_n = reserve_submit(w, "A", 8, 50, 0);
    uint32_t on_m = reserve_submit(w, "A", 7, 50, 0);
    uint32_t aging = reserve_submit(w, "A", 3, 0, 100);
    world_lease(w, on_n, n, 0);
    world_lease(w, reserve_submit(w, "A", 2, 0, 0), n, 0);
    world_lease(w, on_m, m, 0);
    world_lease(w, aging, m, 0);
    (void)sched_job_started(w->sched, on_n);
    (void)sched_job_started(w->sched, on_m);
    (void)sched_job_started(w->sched, aging);
    reserve_submit(w, "H", 4, 0, 0);
    world_round(w, ROUND_FAST, 1 * S);
    assert_int_equal(reserved_node(w), m); /* 7 cores there then, 8 on n */
    world_round(w, ROUND_FAST, 200 * S);
    assert_int_equal(reserved_node(w), n); /* 10 on m now */
}

/* What is over its share does not make room where it must keep some of it:
 * then no start is promised that rests on that. */
static void promises_nothing_that_fairness_does_not_give(void **state)
{
    struct world *w = *state;
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t jobs[2];

    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    for (int i = 0; i < 2; i++) {
        jobs[i] = reserve_submit(w, "A", 5, 300, 10);
        world_lease(w, jobs[i], n, 0);
        (void)sched_job_started(w->sched, jobs[i]);
    }
    uint32_t head = reserve_submit(w, "H", 8, 0, 0);
    world_round(w, ROUND_BALANCE, 100 * S);
    /* 8 of 10 for H are more than A's share leaves: neither goes. */
    assert_true(reserve_runs(w, jobs[0]) && reserve_runs(w, jobs[1]));
    assert_int_equal(reserve_promise(w, head), 300 * S);
}

static void bk_01_leases_in_the_order_of_admission(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].admitted_window = 4;
    world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t a = reserve_submit(w, "A", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j1 = reserve_submit(w, "B", 5, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j2 =
        reserve_submit(w, "C", 4, 0, 0); /* its queue would have less */
    world_round(w, ROUND_BALANCE, 0);
    world_end(w, a);
    sched_plan(w->sched, 1, ROUND_FAST, 100, &w->plan);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].job, j1);
    assert_int_equal(w->plan.decisions[1].job, j2);
}

static void bk_02_keeps_its_node_while_others_start_elsewhere(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"gpu", .cores = 4, .label_key = "k",
                                       .label_value = "gpu"});
    world_node(w, &(struct world_node){"cpu", .cores = 4, .label_key = "k",
                                       .label_value = "cpu"});
    struct world_job gpu = {.queue = "A",
                            .priority_class = "fixed",
                            .cores = 3,
                            .selector_key = "k",
                            .selector_value = "gpu",
                            .deadline_s = 50};
    world_submit(w, &gpu);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j1 = world_submit(w, &gpu);
    uint32_t j2 = reserve_submit(w, "B", 2, 0, 0),
             j3 = reserve_submit(w, "B", 2, 0, 0);
    uint32_t j4 = reserve_submit(w, "B", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(reserve_runs(w, j1));
    assert_int_equal(reserve_promise(w, j1), 50 * S);
    assert_string_equal(world_node_of(w, j2), "cpu");
    assert_string_equal(world_node_of(w, j3), "cpu");
    assert_false(reserve_runs(w, j4)); /* the gpu node has 1 free beside j1 */
}

static void bk_07_protects_only_the_first(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);

    w->policy.pools[0].admitted_window = 8;
    w->policy.pools[0].admitted_window_per_queue = 8;
    sched_policy_set(w->sched, &w->policy);
    uint32_t second = reserve_submit(w, "Z", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, second), SCHED_START_UNKNOWN);
    assert_true(reserve_passes(w, 2, 0, 0)); /* it would delay the second */
    assert_false(reserve_runs(w, bk.head));
}

static void bk_08_only_lowers_what_it_promised(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);

    w->policy.pools[0].admitted_window = 32;
    w->policy.pools[0].admitted_window_per_queue = 32;
    sched_policy_set(w->sched, &w->policy);
    for (int i = 0; i < 20; i++) {
        reserve_submit(w, i % 2 ? "Z" : "A", 9, 1000 + i, 0);
        world_round(w, ROUND_BALANCE, i * S);
        assert_true(reserve_promise(w, bk.head) <= 100 * S);
    }
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_true(reserve_runs(w, bk.head));
}

static void admits_the_first_without_room_alone(void **state)
{
    struct world *w = *state;
    struct bk03 bk = reserve_bk03(w, 100);
    struct sched_admission ignored;
    uint32_t second = reserve_submit(w, "Z", 9, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(sched_job_admission(w->sched, bk.head, &ignored));
    assert_false(sched_job_admission(w->sched, second, &ignored));
    world_end(w, bk.head); /* cancelled: the next becomes it at once */
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, second), 100 * S);
}

enum { SECOND = 1000 };

/* What a gang grew by beside a reservation yields, and goes alone: of what is
 * above a minimum it does not matter which pods go, and others may not while
 * the gang is frozen. */
static void what_yields_is_what_is_spare(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .freezing_window_ms = 1000 * SECOND,
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t head = world_submit(w, &(struct world_job){"A", .cores = 2});
    uint32_t unit = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_lease(w, unit + 1, n, 0);
    world_lease(w, unit, n, 5 * SECOND);
    sched_gang_scaled(w->sched, unit, 5 * SECOND);
    sched_job_admit(w->sched, head, STR("default"), SCHED_START_UNKNOWN, 0);
    sched_job_yield(w->sched, unit, head, true, 0);
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_string_equal(world_node_of(w, head), "n");
    assert_string_equal(world_node_of(w, unit + 1), "n");
    assert_int_equal(w->preempted_count, 1);
}

/* Of a node that shrank under its runs no more is there than it has, however
 * much they leave. */
static void a_node_that_shrank_is_reserved_as_it_is(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 3, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 1});
    uint32_t first =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "fixed",
                                            .deadline_s = 100,
                                            .cores = 4});
    world_lease(w, first, n, 0);
    sched_job_age_from(w->sched, first, 0);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "A",
                                                    .priority_class = "fixed"}),
                m, 0);
    world_node(w, &(struct world_node){"n", .cores = 2});
    world_submit_group(w, &(struct world_job){.queue = "B", .gang = "g"},
                       &terms);
    world_round(w, ROUND_FAST, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].start_ms, SCHED_START_UNKNOWN);
}

/* A more urgent job may go beside what is reserved, but what it takes is gone
 * for those that come after: it yields to nobody less urgent (model.md 2.9). */
static void a_more_urgent_job_uses_up_what_is_left_beside(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    world_queue(w, "Q", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t running =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .cores = 6,
                                            .priority_class = "fixed",
                                            .deadline_s = 100});
    world_lease(w, running, node, 0);
    world_submit(w, &(struct world_job){.queue = "Q", .cores = 8});
    world_round(w, ROUND_FAST, 0); /* admitted; 2 are left beside it */
    uint32_t urgent = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 2, .priority_class = "high"});
    uint32_t late = world_submit(w, &(struct world_job){.queue = "Q",
                                                        .cores = 2,
                                                        .lifetime_s = INT64_MAX,
                                                        .submitted_ms = 1});
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, late), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(bk_01_leases_in_the_order_of_admission),
        SCENARIO(bk_02_keeps_its_node_while_others_start_elsewhere),
        SCENARIO(bk_03_lets_pass_what_does_not_delay_the_head),
        SCENARIO(bk_04_starts_the_head_as_soon_as_there_is_room),
        SCENARIO(bk_05_preempts_what_yields_to_the_head),
        SCENARIO(bk_05_yields_before_its_bound_only_when_asked),
        SCENARIO(bk_06_reserves_without_a_bound),
        SCENARIO(what_is_known_of_nodes_follows_their_runs),
        SCENARIO(a_node_with_room_grows_when_a_lifetime_there_is_over),
        SCENARIO(promises_nothing_that_fairness_does_not_give),
        SCENARIO(bk_07_protects_only_the_first),
        SCENARIO(bk_08_only_lowers_what_it_promised),
        SCENARIO(admits_the_first_without_room_alone),
        cmocka_unit_test_setup_teardown(what_yields_is_what_is_spare,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_node_that_shrank_is_reserved_as_it_is,
                                        world_setup, world_teardown),
        SCENARIO(a_more_urgent_job_uses_up_what_is_left_beside),
    };

    return RUN_TESTS(tests);
}
