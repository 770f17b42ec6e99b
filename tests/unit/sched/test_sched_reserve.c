/* Admitted work, its reservation, and who may pass it: the scenarios BK of
 * model.md section 8.  A minute of theirs is a second here. */
#include "unit.h"
#include "world.h"

enum { S = 1000 };

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    pool_policy_apply(&world->policy.pools[0], PROFILE_BERTH);
    world_restart(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    world_fini(*state);
    mem_free(*state);
    return 0;
}

/* A job that cannot be preempted, or not before its lifetime. */
static uint32_t submit(struct world *w, const char *queue, int64_t cores,
                       int64_t deadline_s, int64_t lifetime_s)
{
    return world_submit(w, &(struct world_job){.queue = queue,
                                               .priority_class = "fixed",
                                               .cores = cores,
                                               .deadline_s = deadline_s,
                                               .lifetime_s = lifetime_s,
                                               .submitted_ms = w->job_count});
}

static bool runs(const struct world *w, uint32_t job)
{
    return !w->is_gone[job] && w->node_of[job] != SCHED_NONE;
}

static int64_t promise_of(const struct world *w, uint32_t job)
{
    struct sched_admission admission;

    assert_true(sched_job_admission(w->sched, job, &admission));
    return admission.start_ms;
}

/* BK-03's cluster: a node of 10 on which A uses 6 until 100; H needs 8. */
struct bk03 {
    uint32_t a, head;
};

static struct bk03 make_bk03(struct world *w, int64_t deadline_s)
{
    struct bk03 bk;

    world_node(w, &(struct world_node){"n", .cores = 10});
    world_queue(w, "A", 1);
    world_queue(w, "H", 1);
    world_queue(w, "Z", 1);
    bk.a = submit(w, "A", 6, deadline_s, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, bk.a));
    bk.head = submit(w, "H", 8, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(runs(w, bk.head));
    return bk;
}

static bool passes(struct world *w, int64_t cores, int64_t deadline_s,
                   int64_t lifetime_s)
{
    uint32_t job = submit(w, "Z", cores, deadline_s, lifetime_s);

    world_round(w, ROUND_BALANCE, 0);
    bool is_running = runs(w, job);
    world_end(w, job);
    return is_running;
}

static void bk_03_lets_pass_what_does_not_delay_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    assert_int_equal(promise_of(w, bk.head), 100 * S);
    assert_true(passes(w, 4, 90, 0));
    assert_false(passes(w, 4, 110, 0));
    assert_true(passes(w, 4, 0, -1));
    assert_true(passes(w, 4, 0, 100));
    uint32_t beside = submit(w, "Z", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, beside));
    assert_false(passes(w, 1, 0, 0)); /* extra is 0 now */
    assert_false(passes(w, 3, 0, 0));
    assert_true(sched_is_consistent(w->sched));
}

static void bk_04_starts_the_head_as_soon_as_there_is_room(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b1 = submit(w, "Z", 2, 90, 0), b2 = submit(w, "Z", 2, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, b1) && runs(w, b2));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_false(runs(w, bk.head));
    world_end(w, b1);
    world_round(w, ROUND_FAST, 90 * S);
    assert_true(runs(w, bk.head));
}

static void bk_05_preempts_what_yields_to_the_head(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b = submit(w, "Z", 4, 0, 100);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, b));
    world_round(w, ROUND_BALANCE, 99 * S);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 100 * S);
    assert_true(runs(w, bk.head));
    assert_true(w->is_gone[b]);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_YIELD);
    assert_int_equal(w->plan.decisions[0].for_job, bk.head);
}

static void bk_05_yields_before_its_bound_only_when_asked(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    uint32_t b = submit(w, "Z", 4, 0, 50);

    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 70 * S); /* its going would not help */
    assert_true(runs(w, b));
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 80 * S);
    assert_true(runs(w, bk.head));
}

static void bk_06_reserves_without_a_bound(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 0);

    assert_int_equal(promise_of(w, bk.head), SCHED_START_UNKNOWN);
    assert_false(passes(w, 4, 0, 30));
    assert_true(passes(w, 4, 0, -1));
    world_node(w, &(struct world_node){"m", .cores = 5});
    assert_true(passes(w, 4, 0, 30));
    assert_true(passes(w, 4, 0, -1));
}

static void bk_01_leases_in_the_order_of_admission(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].admitted_window = 4;
    world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t a = submit(w, "A", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j1 = submit(w, "B", 5, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t j2 = submit(w, "C", 4, 0, 0); /* its queue would have less */
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
    uint32_t j2 = submit(w, "B", 2, 0, 0), j3 = submit(w, "B", 2, 0, 0);
    uint32_t j4 = submit(w, "B", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_false(runs(w, j1));
    assert_int_equal(promise_of(w, j1), 50 * S);
    assert_string_equal(world_node_of(w, j2), "cpu");
    assert_string_equal(world_node_of(w, j3), "cpu");
    assert_false(runs(w, j4)); /* the gpu node has 1 free beside j1 */
}

static void bk_07_protects_only_the_first(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    w->policy.pools[0].admitted_window = 8;
    w->policy.pools[0].admitted_window_per_queue = 8;
    sched_policy_set(w->sched, &w->policy);
    uint32_t second = submit(w, "Z", 10, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, second), SCHED_START_UNKNOWN);
    assert_true(passes(w, 2, 0, 0)); /* it would delay the second */
    assert_false(runs(w, bk.head));
}

static void bk_08_only_lowers_what_it_promised(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);

    w->policy.pools[0].admitted_window = 32;
    w->policy.pools[0].admitted_window_per_queue = 32;
    sched_policy_set(w->sched, &w->policy);
    for (int i = 0; i < 20; i++) {
        submit(w, i % 2 ? "Z" : "A", 9, 1000 + i, 0);
        world_round(w, ROUND_BALANCE, i * S);
        assert_true(promise_of(w, bk.head) <= 100 * S);
    }
    world_end(w, bk.a);
    world_round(w, ROUND_BALANCE, 60 * S);
    assert_true(runs(w, bk.head));
}

static void admits_the_first_without_room_alone(void **state)
{
    struct world *w = *state;
    struct bk03 bk = make_bk03(w, 100);
    struct sched_admission ignored;
    uint32_t second = submit(w, "Z", 9, 0, 0);

    world_round(w, ROUND_BALANCE, 0);
    assert_true(sched_job_admission(w->sched, bk.head, &ignored));
    assert_false(sched_job_admission(w->sched, second, &ignored));
    world_end(w, bk.head); /* cancelled: the next becomes it at once */
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(promise_of(w, second), 100 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bk_01_leases_in_the_order_of_admission,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            bk_02_keeps_its_node_while_others_start_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(
            bk_03_lets_pass_what_does_not_delay_the_head, setup, teardown),
        cmocka_unit_test_setup_teardown(
            bk_04_starts_the_head_as_soon_as_there_is_room, setup, teardown),
        cmocka_unit_test_setup_teardown(bk_05_preempts_what_yields_to_the_head,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            bk_05_yields_before_its_bound_only_when_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(bk_06_reserves_without_a_bound, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(bk_07_protects_only_the_first, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(bk_08_only_lowers_what_it_promised,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(admits_the_first_without_room_alone,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
