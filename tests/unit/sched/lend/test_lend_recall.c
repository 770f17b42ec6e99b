/* Borrowers as victims: who is recalled for work at home, and in which order
 * (model.md 6.6 a). */
#include "lend_fixture.h"

static void po_06_own_work_is_reprieved_before_borrowers(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 8);
    uint32_t b1 = lend_borrowed(w, "p1000", 3);
    uint32_t b2 = lend_borrowed(w, "p0", 2);
    uint32_t s1 = lend_own(w, "p10", 2);
    world_lease(w, b1, n1, 0);
    world_lease(w, b2, n1, 0);
    world_lease(w, s1, n1, 0);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    assert_false(lend_runs(w, b1));
    assert_true(lend_runs(w, b2) && lend_runs(w, s1));
    lend_assert_recalls(w, 1);
}

static void po_14_borrowers_rank_below_all_own_work(void **state)
{
    struct world *w = *state;

    uint32_t y = lend_node(w, "a-y", 4);
    uint32_t x = lend_node(w, "b-x", 4);
    uint32_t z = lend_node(w, "c-z", 4);
    world_lease(w, lend_own(w, "p5", 2), y, 0);
    world_lease(w, lend_own(w, "p0", 2), y, 0);
    world_lease(w, lend_own(w, "p5", 4), x, 0);
    uint32_t borrower = lend_borrowed(w, "p1000", 4);
    world_lease(w, borrower, z, 0);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "c-z");
    lend_assert_recalls(w, 1);
    assert_false(lend_runs(w, borrower));
}

static void po_15_a_budget_counts_before_ranks(void **state)
{
    struct world *w = *state;

    uint32_t y = lend_node(w, "a-y", 4);
    uint32_t x = lend_node(w, "b-x", 4);
    uint32_t z = lend_node(w, "c-z", 4);
    uint32_t own_x = lend_own(w, "p5", 4),
             borrower = lend_borrowed(w, "p1000", 4);
    world_lease(w, lend_own(w, "p5", 2), y, 0);
    world_lease(w, lend_own(w, "p0", 2), y, 0);
    world_lease(w, own_x, x, 0);
    world_lease(w, borrower, z, 0);
    sched_job_protect(w->sched, borrower, true);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b-x");
    assert_false(lend_runs(w, own_x));
    assert_true(lend_runs(w, borrower));
    /* The budget allows a disruption again. */
    sched_job_protect(w->sched, borrower, false);
    preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, preemptor), "c-z");
    lend_assert_recalls(w, 1);
}

static void
po_15_on_a_node_what_a_budget_protects_is_reprieved_first(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 4);
    uint32_t low = lend_own(w, "p0", 2), high = lend_own(w, "p10", 2);
    world_lease(w, low, n1, 0);
    world_lease(w, high, n1, 0);
    sched_job_protect(w->sched, low, true);
    uint32_t preemptor = lend_own(w, "p100", 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor) && lend_runs(w, low));
    assert_false(lend_runs(w, high));
}

static void po_15_fewer_protected_go_before_more(void **state)
{
    struct world *w = *state;

    uint32_t two = lend_node(w, "a", 4), one = lend_node(w, "b", 4);
    uint32_t first = lend_own(w, "p0", 2), second = lend_own(w, "p0", 2);
    uint32_t only = lend_own(w, "p10", 4);
    world_lease(w, first, two, 0);
    world_lease(w, second, two, 0);
    world_lease(w, only, one, 0);
    sched_job_protect(w->sched, first, true);
    sched_job_protect(w->sched, second, true);
    sched_job_protect(w->sched, only, true);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    assert_false(lend_runs(w, only));
    /* What has ended is not protected any more; see world_teardown(). */
    world_end(w, first);
}

/* A gang goes whole, and each member that is protected counts. */
static void po_15_members_elsewhere_count_too(void **state)
{
    struct world *w = *state;

    uint32_t a = lend_node(w, "a", 4), b = lend_node(w, "b", 4),
             c = lend_node(w, "c", 1);
    uint32_t members[2];
    for (int i = 0; i < 2; i++) {
        members[i] =
            world_submit(w, &(struct world_job){.queue = "A",
                                                .priority_class = "p0",
                                                .cores = i == 0 ? 4 : 1,
                                                .gang = "g",
                                                .cardinality = 2});
    }
    uint32_t other = lend_own(w, "p10", 4);
    world_lease(w, members[0], a, 0);
    world_lease(w, members[1], c, 0);
    world_lease(w, other, b, 0);
    sched_job_protect(w->sched, members[1], true);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    assert_true(lend_runs(w, members[0]) && lend_runs(w, members[1]));
}

static void po_14_among_own_victims_the_smaller_sum_of_ranks_goes(void **state)
{
    struct world *w = *state;

    sched_preemption_set(w->sched, false);
    uint32_t y = lend_node(w, "a-y", 4), x = lend_node(w, "b-x", 4);
    world_lease(w, lend_own(w, "p5", 2), y, 0);
    world_lease(w, lend_own(w, "p0", 2), y, 0);
    world_lease(w, lend_own(w, "p5", 4), x, 0);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b-x");
}

static void po_14_fewer_borrowers_go_before_more(void **state)
{
    struct world *w = *state;

    uint32_t three = lend_node(w, "a", 3), one = lend_node(w, "b", 3);
    for (int i = 0; i < 3; i++) {
        world_lease(w, lend_borrowed(w, "p0", 1), three, 0);
    }
    world_lease(w, lend_borrowed(w, "p1000", 3), one, 0);
    uint32_t preemptor = lend_own(w, "p0", 3);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    lend_assert_recalls(w, 1);
}

static void po_19_one_node_is_cleared_of_borrowers(void **state)
{
    struct world *w = *state;
    uint32_t nodes[2] = {lend_node(w, "g1", 8), lend_node(w, "g2", 8)};

    for (uint32_t i = 0; i < 16; i++) {
        world_lease(w, lend_borrowed(w, "p0", 1), nodes[i / 8], 0);
    }
    uint32_t big = lend_own(w, "p0", 8);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, big));
    lend_assert_recalls(w, 8);
    assert_int_equal(world_running(w, "B"), 8);
}

static void um_05_borrowers_are_victims_before_any_home_work(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 8);
    uint32_t f1 = lend_borrowed(w, NULL, 1), f2 = lend_borrowed(w, NULL, 2);
    uint32_t h1 = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = NULL, .cores = 2});
    uint32_t h2 = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = NULL, .cores = 3});
    world_lease(w, f1, n1, 0);
    world_lease(w, f2, n1, 0);
    world_lease(w, h1, n1, 0);
    world_lease(w, h2, n1, 0);
    uint32_t first =
        world_submit_many(w,
                          &(struct world_job){.queue = "A",
                                              .priority_class = NULL,
                                              .cores = 1,
                                              .gang = "g",
                                              .cardinality = 3},
                          3);
    world_round(w, ROUND_BALANCE, 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(lend_runs(w, first + i));
    }
    lend_assert_recalls(w, 2);
    assert_true(!lend_runs(w, f1) && !lend_runs(w, f2) && lend_runs(w, h1) &&
                lend_runs(w, h2));
}

/* Two members of a gang that would do with one. */
static uint32_t elastic_pair(struct world *w, const struct world_job *member)
{
    static const struct gang_terms terms = {
        .kind = GANG_POD_GROUP,
        .sub_group_count = 1,
        .sub_groups = {{.name = {"w", 1},
                        .min_count = 1,
                        .max_count = 2,
                        .hops_max = HOPS_ANY}},
    };
    struct world_job job = *member;

    job.terms = &terms;
    job.cardinality = 2;
    job.minimum = 1;
    return world_submit_many(w, &job, 2);
}

static void um_05_surplus_borrowers_too(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 8), n2 = lend_node(w, "n2", 3);
    uint32_t f1 = elastic_pair(
        w, &(struct world_job){.queue = "B", .gang = "f", .is_borrowed = true});
    uint32_t f2 = lend_borrowed(w, NULL, 2);
    uint32_t h1 = elastic_pair(
        w, &(struct world_job){.queue = "C", .cores = 2, .gang = "h"});
    uint32_t h2 =
        world_submit(w, &(struct world_job){.queue = "C", .cores = 3});
    world_lease(w, f1, n2, 0);
    world_lease(w, h1, n2, 0);
    world_lease(w, f1 + 1, n1, 0);
    world_lease(w, f2, n1, 0);
    world_lease(w, h1 + 1, n1, 0);
    world_lease(w, h2, n1, 0);
    uint32_t preemptor = lend_own(w, NULL, 3);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    lend_assert_recalls(w, 2);
    assert_true(!lend_runs(w, f1 + 1) && !lend_runs(w, f2));
    assert_true(lend_runs(w, f1) && lend_runs(w, h1) && lend_runs(w, h1 + 1) &&
                lend_runs(w, h2));
}

static void
recalled_work_may_be_of_a_class_that_is_never_preempted(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 2);
    uint32_t borrower = lend_borrowed(w, "kept", 2);
    world_lease(w, borrower, n1, 0);
    uint32_t preemptor = lend_own(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    lend_assert_recalls(w, 1);
}

static void fast_rounds_recall_nothing(void **state)
{
    struct world *w = *state;

    world_lease(w, lend_borrowed(w, "p0", 1), lend_node(w, "n1", 1), 0);
    (void)lend_own(w, "p1000", 1);
    world_round(w, ROUND_FAST, 1);
    assert_int_equal(w->plan.decision_count, 0);
}

static void where_preemption_is_off_nobody_is_recalled(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 2);
    sched_preemption_set(w->sched, true);
    world_lease(w, lend_borrowed(w, "p0", 1), n1, 0);
    world_lease(w, lend_own(w, "p0", 1), n1, 0);
    (void)lend_own(w, "p1000", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    sched_preemption_set(w->sched, false);
    world_round(w, ROUND_BALANCE, 2);
    lend_assert_recalls(w, 1);
}

/* Borrowers and what else may go make room together. */
static void borrowers_and_less_urgent_work_go_together(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 4);
    uint32_t borrower = lend_borrowed(w, "p1000", 2),
             low = lend_own(w, "p0", 2);
    world_lease(w, borrower, n1, 0);
    world_lease(w, low, n1, 0);
    uint32_t preemptor = lend_own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    assert_int_equal(w->preempted_count, 2);
}

/* Likewise what is evicted for fairness. */
static void borrowers_and_work_over_its_share_go_together(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 8);
    uint32_t borrower = lend_borrowed(w, NULL, 2);
    world_lease(w, borrower, n1, 0);
    for (int i = 0; i < 6; i++) {
        world_lease(w, lend_own(w, NULL, 1), n1, 0);
    }
    uint32_t preemptor = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = NULL, .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    assert_false(lend_runs(w, borrower));
    assert_int_equal(w->preempted_count, 2);
}

static void a_gang_of_borrowers_goes_whole(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 1), n2 = lend_node(w, "n2", 1);
    uint32_t first =
        world_submit_many(w,
                          &(struct world_job){.queue = "B",
                                              .priority_class = NULL,
                                              .cores = 1,
                                              .gang = "g",
                                              .cardinality = 2,
                                              .is_borrowed = true},
                          2);
    world_lease(w, first, n1, 0);
    world_lease(w, first + 1, n2, 0);
    uint32_t preemptor = lend_own(w, NULL, 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, preemptor));
    assert_false(lend_runs(w, first) || lend_runs(w, first + 1));
}

static uint32_t run(struct world *w, uint32_t node, int64_t cores,
                    bool is_borrowed)
{
    uint32_t job = world_submit(
        w, &(struct world_job){
               .queue = "D", .cores = cores, .is_borrowed = is_borrowed});

    world_lease(w, job, node, 0);
    return job;
}

static void the_borrower_goes_where_least_is_lost(void **state)
{
    struct world *w = *state;
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 6});
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 5});

    /* One goes on either node; then a core is left on m, and two on n, which
     * is filled more while all borrowers are away. */
    sched_preemption_set(w->sched, false);
    uint32_t victim = run(w, m, 4, true);
    (void)run(w, m, 2, true);
    (void)run(w, n, 5, true);
    uint32_t own =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, own), "m");
}

static void urgent_surplus_of_borrowers_is_safe_without_preemption(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});

    sched_preemption_set(w->sched, true);
    uint32_t group =
        world_submit_group(w,
                           &(struct world_job){.queue = "A",
                                               .gang = "g",
                                               .priority_class = "high",
                                               .is_borrowed = true},
                           &terms);
    world_lease(w, group, node, 0);
    world_lease(w, group + 1, node, 0);
    world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
}

/* A borrower makes room at once, for the least urgent work of the pool's own
 * too: so what is reserved for that may count on it. */
static void a_reservation_counts_on_borrowers(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t borrower = run(w, node, 2, true);
    uint32_t head = world_submit(
        w, &(struct world_job){.queue = "A", .priority_class = "low"});
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].start_ms, 1000);
    world_round(w, ROUND_BALANCE, 2000);
    assert_true(w->is_gone[borrower]);
    assert_string_equal(world_node_of(w, head), "n");
}

/* What a borrower's class is at home is nothing here: one that yields uses up
 * nothing of what is left beside a reservation. */
static void an_urgent_borrower_that_yields_leaves_room_beside(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t busy =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "fixed",
                                            .cores = 7,
                                            .deadline_s = 100});
    world_lease(w, busy, node, 0);
    sched_job_age_from(w->sched, busy, 0);
    uint32_t head = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "fixed", .cores = 9});
    uint32_t urgent = world_submit(w, &(struct world_job){
                                          .queue = "B",
                                          .priority_class = "high",
                                          .cores = 2,
                                          .is_borrowed = true,
                                      });
    uint32_t lasting = world_submit(w, &(struct world_job){
                                           .queue = "B",
                                           .priority_class = "fixed",
                                           .is_borrowed = true,
                                       });
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->plan.decisions[0].start_ms, 100000);
    assert_int_equal(w->plan.decisions[1].job, urgent);
    assert_int_equal(w->plan.decisions[1].revocable_for, head);
    assert_string_equal(world_node_of(w, lasting), "n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEND_TEST(po_06_own_work_is_reprieved_before_borrowers),
        LEND_TEST(po_14_borrowers_rank_below_all_own_work),
        LEND_TEST(po_14_among_own_victims_the_smaller_sum_of_ranks_goes),
        LEND_TEST(po_15_a_budget_counts_before_ranks),
        LEND_TEST(po_15_on_a_node_what_a_budget_protects_is_reprieved_first),
        LEND_TEST(po_15_fewer_protected_go_before_more),
        LEND_TEST(po_15_members_elsewhere_count_too),
        LEND_TEST(po_14_fewer_borrowers_go_before_more),
        LEND_TEST(po_19_one_node_is_cleared_of_borrowers),
        LEND_TEST(um_05_borrowers_are_victims_before_any_home_work),
        LEND_TEST(um_05_surplus_borrowers_too),
        LEND_TEST(recalled_work_may_be_of_a_class_that_is_never_preempted),
        LEND_TEST(fast_rounds_recall_nothing),
        LEND_TEST(where_preemption_is_off_nobody_is_recalled),
        LEND_TEST(borrowers_and_less_urgent_work_go_together),
        LEND_TEST(borrowers_and_work_over_its_share_go_together),
        LEND_TEST(a_gang_of_borrowers_goes_whole),
        cmocka_unit_test_setup_teardown(the_borrower_goes_where_least_is_lost,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(
            urgent_surplus_of_borrowers_is_safe_without_preemption, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(a_reservation_counts_on_borrowers,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(
            an_urgent_borrower_that_yields_leaves_room_beside, world_setup,
            world_teardown),
    };

    return RUN_TESTS(tests);
}
