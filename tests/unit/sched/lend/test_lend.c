/* Work of other pools in one pool's scheduler: who starts, and how borrowers
 * come and go (model.md 5.4 to 5.6). */
#include <stdio.h>

#include "lend_fixture.h"

static void po_04_own_work_goes_before_borrowers_of_any_class(void **state)
{
    struct world *w = *state;

    lend_node(w, "n1", 3);
    uint32_t low = world_submit(w, &(struct world_job){.queue = "A",
                                                       .priority_class = "p0",
                                                       .cores = 1,
                                                       .submitted_ms = 9});
    uint32_t borrower =
        world_submit(w, &(struct world_job){.queue = "B",
                                            .priority_class = "p1000",
                                            .cores = 1,
                                            .submitted_ms = 1,
                                            .is_borrowed = true});
    uint32_t high = world_submit(w, &(struct world_job){.queue = "A",
                                                        .priority_class = "p5",
                                                        .cores = 1,
                                                        .submitted_ms = 10});
    world_round(w, ROUND_FAST, 20);
    assert_int_equal(w->plan.decision_count, 3);
    assert_int_equal(w->plan.decisions[0].job, high);
    assert_int_equal(w->plan.decisions[1].job, low);
    assert_int_equal(w->plan.decisions[2].job, borrower);
}

/* A share of half of 10 cores, of which a queue may have no more with work
 * that cannot be preempted. */
static void what_a_queue_borrows_is_not_held_against_its_share(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    lend_node(w, "n1", 10);
    (void)lend_own(w, "p0", 1);
    uint32_t borrower = lend_borrowed(w, "kept", 8);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(lend_runs(w, borrower));
    uint32_t job = world_submit(w, &(struct world_job){.queue = "B",
                                                       .priority_class = "kept",
                                                       .cores = 5});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, job));
    assert_false(lend_runs(w, borrower));
    uint32_t more = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "kept", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_false(lend_runs(w, more));
    assert_true(sched_is_consistent(w->sched));
}

static void borrowers_get_what_own_work_leaves(void **state)
{
    struct world *w = *state;

    lend_node(w, "n1", 2);
    uint32_t borrower = lend_borrowed(w, "p1000", 1);
    uint32_t first = lend_own(w, "p0", 1);
    uint32_t second = lend_own(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(lend_runs(w, first) && lend_runs(w, second));
    assert_false(lend_runs(w, borrower));
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, borrower));
}

/* What a question tried is not what a plan that has nothing new decides. */
static void what_was_asked_about_may_be_lent_as_well(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    struct sched_need need;
    uint32_t jobs[4];

    w->policy.classes[0].may_borrow = true;
    world_restart(w);
    world_lease(w, lend_own(w, "p0", 2), lend_node(w, "n1", 2), 0);
    uint32_t first = lend_own(w, "p0", 1);
    uint32_t second = lend_own(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 0);
    sched_explain_need(w->sched, second, 0, &why, &need);
    assert_true(need.is_exact);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(
        sched_lend_candidates(w->sched, 0, ARRAY_COUNT(jobs), jobs), 2);
    assert_int_equal(jobs[0], first);
    assert_int_equal(jobs[1], second);
}

static void borrowers_preempt_nobody(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 2);
    world_lease(w, lend_own(w, "p0", 1), n1, 0);
    world_lease(w, lend_borrowed(w, "p0", 1), n1, 0);
    uint32_t borrower = lend_borrowed(w, "p1000", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(lend_runs(w, borrower));
    assert_int_equal(w->plan.decision_count, 0);
}

static void a_lender_serves_its_own_whatever_a_borrower_has(void **state)
{
    struct sched_queue_stats stats;
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 4);
    world_lease(w, lend_own(w, NULL, 2), n1, 0);
    uint32_t borrower = lend_borrowed(w, "p1000", 1);
    uint32_t next = lend_own(w, NULL, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(lend_runs(w, next));
    assert_false(lend_runs(w, borrower));
    world_end(w, next);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, borrower));
    sched_queue_stats(w->sched, 1, 0, &stats);
    assert_int_equal(stats.allocated.v[CPU], 1000);
}

/* A limit that borrowers of the same queue fill does not keep its own work
 * from taking their place; it keeps further borrowers out. */
static void limits_count_borrowers_for_borrowers_alone(void **state)
{
    struct queue_limit limit = {
        .priority_class = STR("p0"),
        .resource = STR("cpu"),
        .fraction_ppm = FRACTION_ONE_PPM / 2,
    };
    struct queue_record record = queue_record_plain(STR("B"));
    struct world *w = *state;

    record.limits = &limit;
    record.limit_count = 1;
    (void)world_queue_by(w, "B", &record);
    lend_node(w, "n1", 4);
    uint32_t first = lend_borrowed(w, "p0", 1),
             second = lend_borrowed(w, "p0", 1);
    uint32_t third = lend_borrowed(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(lend_runs(w, first) && lend_runs(w, second) &&
                !lend_runs(w, third));
    uint32_t mine = world_submit(
        w,
        &(struct world_job){.queue = "B", .priority_class = "p0", .cores = 2});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, mine) && lend_runs(w, first));
    uint32_t more = world_submit(
        w,
        &(struct world_job){.queue = "B", .priority_class = "p0", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_false(lend_runs(w, more) || lend_runs(w, third));
}

static void a_gang_of_borrowers_starts_where_there_is_room(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "B",
                               .cores = 1,
                               .gang = "g",
                               .cardinality = 2,
                               .is_borrowed = true};

    lend_node(w, "n1", 2);
    uint32_t single = lend_own(w, NULL, 1);
    uint32_t first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, single));
    assert_false(lend_runs(w, first) || lend_runs(w, first + 1));
    world_end(w, single);
    world_round(w, ROUND_BALANCE, 2);
    assert_true(lend_runs(w, first) && lend_runs(w, first + 1));
}

static void
what_becomes_borrowed_keeps_running_until_it_is_recalled(void **state)
{
    struct world *w = *state;

    uint32_t job = lend_own(w, "kept", 1);
    world_lease(w, job, lend_node(w, "n1", 1), 0);
    uint32_t next = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = "p0", .cores = 1});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    sched_job_borrowed_set(w->sched, job, true);
    assert_true(sched_job_is_borrowed(w->sched, job));
    assert_true(lend_runs(w, job));
    world_round(w, ROUND_BALANCE, 2);
    lend_assert_recalls(w, 1);
    assert_true(lend_runs(w, next));
}

static void what_comes_home_is_as_any_other(void **state)
{
    struct world *w = *state;

    uint32_t n1 = lend_node(w, "n1", 1);
    uint32_t job = lend_borrowed(w, "kept", 1),
             waiting = lend_borrowed(w, "p1000", 1);
    world_lease(w, job, n1, 0);
    (void)lend_own(w, "p0", 1);
    sched_job_borrowed_set(w->sched, job, false);
    sched_job_borrowed_set(w->sched, waiting, false);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, job);
    world_round(w, ROUND_BALANCE, 2);
    assert_true(lend_runs(w, waiting));
}

/* A gang that may start with one: the first waits, and is a borrower or not;
 * the second runs on a node that it fills, and is none. */
static uint32_t begin_mixed(struct world *w, uint32_t count, bool is_borrowed)
{
    struct world_job member = {.queue = "B",
                               .cores = 1,
                               .gang = "g",
                               .cardinality = count,
                               .minimum = 1,
                               .is_borrowed = is_borrowed};

    uint32_t first = world_submit(w, &member);
    member.is_borrowed = false;
    for (uint32_t i = 1; i < count; i++) {
        (void)world_submit(w, &member);
    }
    world_lease(w, first + 1, lend_node(w, "n1", 1), 0);
    lend_node(w, "n2", 1);
    (void)lend_own(w, NULL, 5); /* nothing is lent while it waits in vain */
    return first;
}

static void a_gang_that_comes_home_is_no_borrower(void **state)
{
    struct world *w = *state;

    uint32_t first = begin_mixed(w, 2, true);
    sched_job_borrowed_set(w->sched, first, false);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, first));
}

/* Who waits and is to follow its gang elsewhere makes no borrower of what runs
 * of it here. */
static void who_is_to_leave_makes_no_borrower_of_its_gang(void **state)
{
    struct world *w = *state;

    uint32_t first = begin_mixed(w, 3, false);
    sched_job_borrowed_set(w->sched, first, true);
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(lend_runs(w, first + 2));
}

/* What is reserved for own admitted work is not lent, whatever the class, but
 * to what gives way in time. */
static void nothing_reserved_is_lent(void **state)
{
    struct world *w = *state;

    world_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n1 = lend_node(w, "n1", 4);
    world_lease(w, lend_own(w, "kept", 2), n1, 0);
    (void)lend_own(w, "p0", 4);
    uint32_t stays = lend_borrowed(w, "kept", 1),
             yields = lend_borrowed(w, "p5", 1);
    world_round(w, ROUND_BALANCE, 1);
    world_round(w, ROUND_BALANCE, 2);
    assert_false(lend_runs(w, stays));
    assert_true(lend_runs(w, yields));
}

/* Of work that is equally urgent the older goes first, whatever the planner
 * has seen before. */
static void what_waits_is_lent_in_its_order(void **state)
{
    struct world *w = *state;
    uint32_t jobs[4];

    w->policy.classes[0].may_borrow = true;
    world_restart(w);
    uint32_t gone = lend_own(w, "p0", 1);
    uint32_t first = lend_own(w, "p0", 2);
    world_end(w, gone);
    uint32_t second = lend_own(w, "p0", 1);
    assert_int_equal(sched_lend_candidates(w->sched, 0, 4, jobs), 2);
    assert_int_equal(jobs[0], first);
    assert_int_equal(jobs[1], second);
    assert_int_equal(sched_lend_candidates(w->sched, 1, 4, jobs), 1);
    assert_int_equal(jobs[0], second);
    assert_int_equal(sched_lend_candidates(w->sched, 2, 4, jobs), 0);
    assert_int_equal(sched_lend_candidates(w->sched, 0, 1, jobs), 1);
    assert_int_equal(jobs[0], first);
}

/* Where a turn begins is the order's own business: it is the same as if all had
 * been asked for, also when the last plan decides on some of them. */
static void what_is_passed_over_is_what_came_before(void **state)
{
    enum { JOBS = 1500, GANG = 5 };
    static const char *const classes[] = {"p0", "p5", "p1000"};
    static const char *const queues[] = {"A", "B"};
    struct world *w = *state;
    uint32_t all[JOBS], some[JOBS], random = 7;
    char name[16];

    for (size_t i = 0; i < w->policy.class_count; i++) {
        w->policy.classes[i].may_borrow = true;
    }
    world_restart(w);
    for (uint32_t i = 0; i < JOBS; i++) {
        bool is_member = i % 100 < 4 * GANG;
        if (!is_member || i % 100 % GANG == 0) {
            random = random * 1664525u + 1013904223u;
        }
        (void)snprintf(name, sizeof(name), "g%u", i / GANG);
        (void)world_submit(w, &(struct world_job){
                                  .queue = queues[random >> 30 & 1],
                                  .priority_class = classes[(random >> 20) % 3],
                                  .cores = 1 + (random >> 10 & 3) / 3,
                                  .priority = (random >> 8) % 3,
                                  .gang = is_member ? name : NULL,
                                  .cardinality = is_member ? GANG : 0,
                              });
    }
    static const char *const nodes[] = {"n0", "n1", "n2", "n3"};
    for (uint32_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        (void)lend_node(w, nodes[i], 40);
    }
    struct sched_plan plan;
    sched_plan(w->sched, 1, ROUND_BALANCE, SCHED_DECISIONS_MAX, &plan);
    assert_true(plan.decision_count > 100);
    uint32_t count = sched_lend_candidates(w->sched, 0, JOBS, all);
    assert_in_range(count, 1000, JOBS - 100);
    for (uint32_t skip = 0; skip < count + 3; skip += 1 + skip % 7) {
        uint32_t got = sched_lend_candidates(w->sched, skip, 50, some);
        uint32_t left = skip < count ? count - skip : 0;
        assert_int_equal(got, left < 50 ? left : 50);
        for (uint32_t i = 0; i < got; i++) {
            assert_int_equal(some[i], all[skip + i]);
        }
    }
    sched_plan_forget(w->sched);
}

/* It may be gone by the time that the plan is acted on. */
static void what_the_plan_started_may_be_gone(void **state)
{
    struct world *w = *state;
    struct sched_plan plan;
    uint32_t jobs[4];

    w->policy.classes[0].may_borrow = true;
    world_restart(w);
    (void)lend_node(w, "n", 1);
    uint32_t gone = lend_own(w, "p0", 1), first = lend_own(w, "p0", 1);
    uint32_t second = lend_own(w, "p0", 1);
    sched_plan(w->sched, 1, ROUND_BALANCE, SCHED_DECISIONS_MAX, &plan);
    assert_int_equal(plan.decision_count, 1);
    assert_int_equal(plan.decisions[0].job, gone);
    world_end(w, gone);
    assert_int_equal(sched_lend_candidates(w->sched, 0, 4, jobs), 2);
    assert_int_equal(jobs[0], first);
    assert_int_equal(sched_lend_candidates(w->sched, 1, 4, jobs), 1);
    assert_int_equal(jobs[0], second);
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

/* The first of a queue has no room; so had nothing of its like at home, or
 * there is none.  Either way its queue's turn is that of the first. */
static void turns_of_borrowers_hang_on_no_work_at_home(void **state)
{
    struct world *w = *state;

    for (int has_own = 0; has_own < 2; has_own++) {
        world_restart(w);
        world_node(w, &(struct world_node){"m", .cores = 1});
        uint32_t n = world_node(w, &(struct world_node){"n", .cores = 4});
        (void)run(w, n, 4, false);
        world_submit(w, &(struct world_job){
                            .queue = "A", .cores = 5, .is_borrowed = true});
        world_submit(w, &(struct world_job){.queue = "A", .is_borrowed = true});
        uint32_t b = world_submit(
            w, &(struct world_job){.queue = "B", .is_borrowed = true});
        if (has_own) {
            world_submit(w, &(struct world_job){.queue = "C", .cores = 5});
        }
        world_round(w, ROUND_FAST, 1);
        assert_string_equal(world_node_of(w, b), "m");
    }
}

/* Only growth keeps off; the gang's pods and the borrower ask for the same. */
static void gpus_that_growth_keeps_off_are_open_to_borrowers(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_node(w, &(struct world_node){"c", .cores = 1});
    world_node(w, &(struct world_node){"g", .cores = 1, .gpus = 1});
    uint32_t unit = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "u"}, &terms);
    world_submit(w, &(struct world_job){.queue = "A", .cores = 2, .gpus = 1});
    uint32_t borrower =
        world_submit(w, &(struct world_job){.queue = "B", .is_borrowed = true});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, unit), "c");
    assert_string_equal(world_node_of(w, unit + 1), "");
    assert_string_equal(world_node_of(w, borrower), "g");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LEND_TEST(po_04_own_work_goes_before_borrowers_of_any_class),
        LEND_TEST(what_a_queue_borrows_is_not_held_against_its_share),
        LEND_TEST(borrowers_get_what_own_work_leaves),
        LEND_TEST(borrowers_preempt_nobody),
        LEND_TEST(what_becomes_borrowed_keeps_running_until_it_is_recalled),
        LEND_TEST(a_lender_serves_its_own_whatever_a_borrower_has),
        LEND_TEST(limits_count_borrowers_for_borrowers_alone),
        LEND_TEST(a_gang_of_borrowers_starts_where_there_is_room),
        LEND_TEST(what_comes_home_is_as_any_other),
        LEND_TEST(a_gang_that_comes_home_is_no_borrower),
        LEND_TEST(who_is_to_leave_makes_no_borrower_of_its_gang),
        LEND_TEST(nothing_reserved_is_lent),
        LEND_TEST(what_waits_is_lent_in_its_order),
        LEND_TEST(what_was_asked_about_may_be_lent_as_well),
        LEND_TEST(what_is_passed_over_is_what_came_before),
        LEND_TEST(what_the_plan_started_may_be_gone),
        cmocka_unit_test_setup_teardown(
            turns_of_borrowers_hang_on_no_work_at_home, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            gpus_that_growth_keeps_off_are_open_to_borrowers, world_setup,
            world_teardown),
    };

    return RUN_TESTS(tests);
}
