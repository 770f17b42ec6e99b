/* Work of other pools in one pool's scheduler (model.md 5.4 to 5.6, 6.6 a). */
#include <stdio.h>

#include "world_fixture.h"

static void add_class(struct world *w, const char *name, int32_t priority)
{
    w->policy.classes[w->policy.class_count++] = (struct priority_class){
        .name = str_of(name),
        .priority = priority,
        .is_preemptible = true,
    };
}

/* Classes p0, p5, p10, p100 and p1000 of those priorities; p0 is the default;
 * and `kept` of 1000, which is not preemptible. */
static int setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;

    w->policy.class_count = 0;
    add_class(w, "p0", 0);
    add_class(w, "p5", 5);
    add_class(w, "p10", 10);
    add_class(w, "p100", 100);
    add_class(w, "p1000", 1000);
    w->policy.classes[w->policy.class_count++] = (struct priority_class){
        .name = STR("kept"),
        .priority = 1000,
        .default_lifetime_ms = LIFETIME_INFINITE,
    };
    world_restart(w);
    return 0;
}

/* The like, and it is a pool object's. */
static int setup_object(void **state)
{
    (void)setup(state);
    sched_preemption_set(((struct world *)*state)->sched, false);
    return 0;
}

static uint32_t node(struct world *w, const char *name, int64_t cores)
{
    return world_node(w, &(struct world_node){name, .cores = cores});
}

static uint32_t own(struct world *w, const char *class, int64_t cores)
{
    return world_submit(w, &(struct world_job){.queue = "A",
                                               .priority_class = class,
                                               .cores = cores});
}

static uint32_t foreign(struct world *w, const char *class, int64_t cores)
{
    return world_submit(w, &(struct world_job){.queue = "B",
                                               .priority_class = class,
                                               .cores = cores,
                                               .is_foreign = true});
}

static bool runs(const struct world *w, uint32_t job)
{
    return w->node_of[job] != SCHED_NONE;
}

/* Every preemption of the last plan is a recall for home work. */
static void assert_recalls(const struct world *w, uint32_t count)
{
    uint32_t found = 0;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        if (decision->action == SCHED_PREEMPT) {
            assert_int_equal(decision->preemption, SCHED_PREEMPT_HOME);
            found++;
        }
    }
    assert_int_equal(found, count);
}

static void po_04_own_work_goes_before_borrowers_of_any_class(void **state)
{
    struct world *w = *state;

    node(w, "n1", 3);
    uint32_t low = world_submit(w, &(struct world_job){.queue = "A",
                                                       .priority_class = "p0",
                                                       .cores = 1,
                                                       .submitted_ms = 9});
    uint32_t borrower =
        world_submit(w, &(struct world_job){.queue = "B",
                                            .priority_class = "p1000",
                                            .cores = 1,
                                            .submitted_ms = 1,
                                            .is_foreign = true});
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
    node(w, "n1", 10);
    (void)own(w, "p0", 1);
    uint32_t borrower = foreign(w, "kept", 8);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, borrower));
    uint32_t job = world_submit(w, &(struct world_job){.queue = "B",
                                                       .priority_class = "kept",
                                                       .cores = 5});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, job));
    assert_false(runs(w, borrower));
    uint32_t more = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "kept", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_false(runs(w, more));
    assert_true(sched_is_consistent(w->sched));
}

static void borrowers_get_what_own_work_leaves(void **state)
{
    struct world *w = *state;

    node(w, "n1", 2);
    uint32_t borrower = foreign(w, "p1000", 1);
    uint32_t first = own(w, "p0", 1);
    uint32_t second = own(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, first) && runs(w, second));
    assert_false(runs(w, borrower));
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, borrower));
}

static void po_06_own_work_is_reprieved_before_borrowers(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 8);
    uint32_t b1 = foreign(w, "p1000", 3);
    uint32_t b2 = foreign(w, "p0", 2);
    uint32_t s1 = own(w, "p10", 2);
    world_lease(w, b1, n1, 0);
    world_lease(w, b2, n1, 0);
    world_lease(w, s1, n1, 0);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_false(runs(w, b1));
    assert_true(runs(w, b2) && runs(w, s1));
    assert_recalls(w, 1);
}

static void borrowers_preempt_nobody(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 2);
    world_lease(w, own(w, "p0", 1), n1, 0);
    world_lease(w, foreign(w, "p0", 1), n1, 0);
    uint32_t borrower = foreign(w, "p1000", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(runs(w, borrower));
    assert_int_equal(w->plan.decision_count, 0);
}

static void po_14_borrowers_rank_below_all_own_work(void **state)
{
    struct world *w = *state;

    uint32_t y = node(w, "a-y", 4);
    uint32_t x = node(w, "b-x", 4);
    uint32_t z = node(w, "c-z", 4);
    world_lease(w, own(w, "p5", 2), y, 0);
    world_lease(w, own(w, "p0", 2), y, 0);
    world_lease(w, own(w, "p5", 4), x, 0);
    uint32_t borrower = foreign(w, "p1000", 4);
    world_lease(w, borrower, z, 0);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "c-z");
    assert_recalls(w, 1);
    assert_false(runs(w, borrower));
}

static void po_15_a_budget_counts_before_ranks(void **state)
{
    struct world *w = *state;

    uint32_t y = node(w, "a-y", 4);
    uint32_t x = node(w, "b-x", 4);
    uint32_t z = node(w, "c-z", 4);
    uint32_t own_x = own(w, "p5", 4), borrower = foreign(w, "p1000", 4);
    world_lease(w, own(w, "p5", 2), y, 0);
    world_lease(w, own(w, "p0", 2), y, 0);
    world_lease(w, own_x, x, 0);
    world_lease(w, borrower, z, 0);
    sched_job_protect(w->sched, borrower, true);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b-x");
    assert_false(runs(w, own_x));
    assert_true(runs(w, borrower));
    /* The budget allows a disruption again. */
    sched_job_protect(w->sched, borrower, false);
    preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, preemptor), "c-z");
    assert_recalls(w, 1);
}

static void
po_15_on_a_node_what_a_budget_protects_is_reprieved_first(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 4);
    uint32_t low = own(w, "p0", 2), high = own(w, "p10", 2);
    world_lease(w, low, n1, 0);
    world_lease(w, high, n1, 0);
    sched_job_protect(w->sched, low, true);
    uint32_t preemptor = own(w, "p100", 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor) && runs(w, low));
    assert_false(runs(w, high));
}

static void po_15_fewer_protected_go_before_more(void **state)
{
    struct world *w = *state;

    uint32_t two = node(w, "a", 4), one = node(w, "b", 4);
    uint32_t first = own(w, "p0", 2), second = own(w, "p0", 2);
    uint32_t only = own(w, "p10", 4);
    world_lease(w, first, two, 0);
    world_lease(w, second, two, 0);
    world_lease(w, only, one, 0);
    sched_job_protect(w->sched, first, true);
    sched_job_protect(w->sched, second, true);
    sched_job_protect(w->sched, only, true);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    assert_false(runs(w, only));
    /* What has ended is not protected any more; see world_teardown(). */
    world_end(w, first);
}

/* A gang goes whole, and each member that is protected counts. */
static void po_15_members_elsewhere_count_too(void **state)
{
    struct world *w = *state;

    uint32_t a = node(w, "a", 4), b = node(w, "b", 4), c = node(w, "c", 1);
    uint32_t members[2];
    for (int i = 0; i < 2; i++) {
        members[i] =
            world_submit(w, &(struct world_job){.queue = "A",
                                                .priority_class = "p0",
                                                .cores = i == 0 ? 4 : 1,
                                                .gang = "g",
                                                .cardinality = 2});
    }
    uint32_t other = own(w, "p10", 4);
    world_lease(w, members[0], a, 0);
    world_lease(w, members[1], c, 0);
    world_lease(w, other, b, 0);
    sched_job_protect(w->sched, members[1], true);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    assert_true(runs(w, members[0]) && runs(w, members[1]));
}

static void po_14_among_own_victims_the_smaller_sum_of_ranks_goes(void **state)
{
    struct world *w = *state;

    sched_preemption_set(w->sched, false);
    uint32_t y = node(w, "a-y", 4), x = node(w, "b-x", 4);
    world_lease(w, own(w, "p5", 2), y, 0);
    world_lease(w, own(w, "p0", 2), y, 0);
    world_lease(w, own(w, "p5", 4), x, 0);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b-x");
}

static void po_14_fewer_borrowers_go_before_more(void **state)
{
    struct world *w = *state;

    uint32_t three = node(w, "a", 3), one = node(w, "b", 3);
    for (int i = 0; i < 3; i++) {
        world_lease(w, foreign(w, "p0", 1), three, 0);
    }
    world_lease(w, foreign(w, "p1000", 3), one, 0);
    uint32_t preemptor = own(w, "p0", 3);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, preemptor), "b");
    assert_recalls(w, 1);
}

static void po_19_one_node_is_cleared_of_borrowers(void **state)
{
    struct world *w = *state;
    uint32_t nodes[2] = {node(w, "g1", 8), node(w, "g2", 8)};

    for (uint32_t i = 0; i < 16; i++) {
        world_lease(w, foreign(w, "p0", 1), nodes[i / 8], 0);
    }
    uint32_t big = own(w, "p0", 8);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, big));
    assert_recalls(w, 8);
    assert_int_equal(world_running(w, "B"), 8);
}

static void um_05_borrowers_are_victims_before_any_home_work(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 8);
    uint32_t f1 = foreign(w, NULL, 1), f2 = foreign(w, NULL, 2);
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
        assert_true(runs(w, first + i));
    }
    assert_recalls(w, 2);
    assert_true(!runs(w, f1) && !runs(w, f2) && runs(w, h1) && runs(w, h2));
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

    uint32_t n1 = node(w, "n1", 8), n2 = node(w, "n2", 3);
    uint32_t f1 = elastic_pair(
        w, &(struct world_job){.queue = "B", .gang = "f", .is_foreign = true});
    uint32_t f2 = foreign(w, NULL, 2);
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
    uint32_t preemptor = own(w, NULL, 3);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_recalls(w, 2);
    assert_true(!runs(w, f1 + 1) && !runs(w, f2));
    assert_true(runs(w, f1) && runs(w, h1) && runs(w, h1 + 1) && runs(w, h2));
}

static void a_lender_serves_its_own_whatever_a_borrower_has(void **state)
{
    struct sched_queue_stats stats;
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 4);
    world_lease(w, own(w, NULL, 2), n1, 0);
    uint32_t borrower = foreign(w, "p1000", 1);
    uint32_t next = own(w, NULL, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, next));
    assert_false(runs(w, borrower));
    world_end(w, next);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, borrower));
    sched_queue_stats(w->sched, 1, 0, &stats);
    assert_int_equal(stats.allocated.v[CPU], 1000);
}

static void
recalled_work_may_be_of_a_class_that_is_never_preempted(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 2);
    uint32_t borrower = foreign(w, "kept", 2);
    world_lease(w, borrower, n1, 0);
    uint32_t preemptor = own(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_recalls(w, 1);
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
    node(w, "n1", 4);
    uint32_t first = foreign(w, "p0", 1), second = foreign(w, "p0", 1);
    uint32_t third = foreign(w, "p0", 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(runs(w, first) && runs(w, second) && !runs(w, third));
    uint32_t mine = world_submit(
        w,
        &(struct world_job){.queue = "B", .priority_class = "p0", .cores = 2});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, mine) && runs(w, first));
    uint32_t more = world_submit(
        w,
        &(struct world_job){.queue = "B", .priority_class = "p0", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_false(runs(w, more) || runs(w, third));
}

static void fast_rounds_recall_nothing(void **state)
{
    struct world *w = *state;

    world_lease(w, foreign(w, "p0", 1), node(w, "n1", 1), 0);
    (void)own(w, "p1000", 1);
    world_round(w, ROUND_FAST, 1);
    assert_int_equal(w->plan.decision_count, 0);
}

static void where_preemption_is_off_nobody_is_recalled(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 2);
    sched_preemption_set(w->sched, true);
    world_lease(w, foreign(w, "p0", 1), n1, 0);
    world_lease(w, own(w, "p0", 1), n1, 0);
    (void)own(w, "p1000", 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    sched_preemption_set(w->sched, false);
    world_round(w, ROUND_BALANCE, 2);
    assert_recalls(w, 1);
}

/* Borrowers and what else may go make room together. */
static void borrowers_and_less_urgent_work_go_together(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 4);
    uint32_t borrower = foreign(w, "p1000", 2), low = own(w, "p0", 2);
    world_lease(w, borrower, n1, 0);
    world_lease(w, low, n1, 0);
    uint32_t preemptor = own(w, "p100", 4);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_int_equal(w->preempted_count, 2);
}

/* Likewise what is evicted for fairness. */
static void borrowers_and_work_over_its_share_go_together(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 8);
    uint32_t borrower = foreign(w, NULL, 2);
    world_lease(w, borrower, n1, 0);
    for (int i = 0; i < 6; i++) {
        world_lease(w, own(w, NULL, 1), n1, 0);
    }
    uint32_t preemptor = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = NULL, .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_false(runs(w, borrower));
    assert_int_equal(w->preempted_count, 2);
}

static void a_gang_of_borrowers_goes_whole(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 1), n2 = node(w, "n2", 1);
    uint32_t first =
        world_submit_many(w,
                          &(struct world_job){.queue = "B",
                                              .priority_class = NULL,
                                              .cores = 1,
                                              .gang = "g",
                                              .cardinality = 2,
                                              .is_foreign = true},
                          2);
    world_lease(w, first, n1, 0);
    world_lease(w, first + 1, n2, 0);
    uint32_t preemptor = own(w, NULL, 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, preemptor));
    assert_false(runs(w, first) || runs(w, first + 1));
}

static void a_gang_of_borrowers_starts_where_there_is_room(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "B",
                               .cores = 1,
                               .gang = "g",
                               .cardinality = 2,
                               .is_foreign = true};

    node(w, "n1", 2);
    uint32_t single = own(w, NULL, 1);
    uint32_t first = world_submit_many(w, &member, 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_true(runs(w, single));
    assert_false(runs(w, first) || runs(w, first + 1));
    world_end(w, single);
    world_round(w, ROUND_BALANCE, 2);
    assert_true(runs(w, first) && runs(w, first + 1));
}

static void
what_becomes_foreign_keeps_running_until_it_is_recalled(void **state)
{
    struct world *w = *state;

    uint32_t job = own(w, "kept", 1);
    world_lease(w, job, node(w, "n1", 1), 0);
    uint32_t next = world_submit(
        w,
        &(struct world_job){.queue = "C", .priority_class = "p0", .cores = 1});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    sched_job_foreign_set(w->sched, job, true);
    assert_true(sched_job_is_foreign(w->sched, job));
    assert_true(runs(w, job));
    world_round(w, ROUND_BALANCE, 2);
    assert_recalls(w, 1);
    assert_true(runs(w, next));
}

static void what_comes_home_is_as_any_other(void **state)
{
    struct world *w = *state;

    uint32_t n1 = node(w, "n1", 1);
    uint32_t job = foreign(w, "kept", 1), waiting = foreign(w, "p1000", 1);
    world_lease(w, job, n1, 0);
    (void)own(w, "p0", 1);
    sched_job_foreign_set(w->sched, job, false);
    sched_job_foreign_set(w->sched, waiting, false);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, job);
    world_round(w, ROUND_BALANCE, 2);
    assert_true(runs(w, waiting));
}

/* What is reserved for own admitted work is not lent, whatever the class, but
 * to what gives way in time. */
static void nothing_reserved_is_lent(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n1 = node(w, "n1", 4);
    world_lease(w, own(w, "kept", 2), n1, 0);
    (void)own(w, "p0", 4);
    uint32_t stays = foreign(w, "kept", 1), yields = foreign(w, "p5", 1);
    world_round(w, ROUND_BALANCE, 1);
    world_round(w, ROUND_BALANCE, 2);
    assert_false(runs(w, stays));
    assert_true(runs(w, yields));
}

/* Of work that is equally urgent the older goes first, whatever the planner
 * has seen before. */
static void what_waits_is_lent_in_its_order(void **state)
{
    struct world *w = *state;
    uint32_t jobs[4];

    w->policy.classes[0].may_borrow = true;
    world_restart(w);
    uint32_t gone = own(w, "p0", 1);
    uint32_t first = own(w, "p0", 2);
    world_end(w, gone);
    uint32_t second = own(w, "p0", 1);
    assert_int_equal(sched_unplaced(w->sched, 0, 4, jobs), 2);
    assert_int_equal(jobs[0], first);
    assert_int_equal(jobs[1], second);
    assert_int_equal(sched_unplaced(w->sched, 1, 4, jobs), 1);
    assert_int_equal(jobs[0], second);
    assert_int_equal(sched_unplaced(w->sched, 2, 4, jobs), 0);
    assert_int_equal(sched_unplaced(w->sched, 0, 1, jobs), 1);
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
        (void)node(w, nodes[i], 40);
    }
    struct sched_plan plan;
    sched_plan(w->sched, 1, ROUND_BALANCE, SCHED_DECISIONS_MAX, &plan);
    assert_true(plan.decision_count > 100);
    uint32_t count = sched_unplaced(w->sched, 0, JOBS, all);
    assert_in_range(count, 1000, JOBS - 100);
    for (uint32_t skip = 0; skip < count + 3; skip += 1 + skip % 7) {
        uint32_t got = sched_unplaced(w->sched, skip, 50, some);
        uint32_t left = skip < count ? count - skip : 0;
        assert_int_equal(got, left < 50 ? left : 50);
        for (uint32_t i = 0; i < got; i++) {
            assert_int_equal(some[i], all[skip + i]);
        }
    }
    sched_plan_forget(w->sched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define STAGED(name)                                              \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown), \
        cmocka_unit_test_setup_teardown(name, setup_object, world_teardown)
        STAGED(po_04_own_work_goes_before_borrowers_of_any_class),
        STAGED(what_a_queue_borrows_is_not_held_against_its_share),
        STAGED(borrowers_get_what_own_work_leaves),
        STAGED(po_06_own_work_is_reprieved_before_borrowers),
        STAGED(borrowers_preempt_nobody),
        STAGED(po_14_borrowers_rank_below_all_own_work),
        STAGED(po_14_among_own_victims_the_smaller_sum_of_ranks_goes),
        STAGED(po_15_a_budget_counts_before_ranks),
        STAGED(po_15_on_a_node_what_a_budget_protects_is_reprieved_first),
        STAGED(po_15_fewer_protected_go_before_more),
        STAGED(po_15_members_elsewhere_count_too),
        STAGED(po_14_fewer_borrowers_go_before_more),
        STAGED(what_becomes_foreign_keeps_running_until_it_is_recalled),
        STAGED(po_19_one_node_is_cleared_of_borrowers),
        STAGED(um_05_borrowers_are_victims_before_any_home_work),
        STAGED(um_05_surplus_borrowers_too),
        STAGED(a_lender_serves_its_own_whatever_a_borrower_has),
        STAGED(recalled_work_may_be_of_a_class_that_is_never_preempted),
        STAGED(limits_count_borrowers_for_borrowers_alone),
        STAGED(fast_rounds_recall_nothing),
        STAGED(where_preemption_is_off_nobody_is_recalled),
        STAGED(borrowers_and_less_urgent_work_go_together),
        STAGED(borrowers_and_work_over_its_share_go_together),
        STAGED(a_gang_of_borrowers_goes_whole),
        STAGED(a_gang_of_borrowers_starts_where_there_is_room),
        STAGED(what_comes_home_is_as_any_other),
        STAGED(nothing_reserved_is_lent),
        STAGED(what_waits_is_lent_in_its_order),
        STAGED(what_is_passed_over_is_what_came_before),
    };

    return RUN_TESTS(tests);
}
