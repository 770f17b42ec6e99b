/* Gangs with terms: sub-groups that have minimums and may grow (model.md
 * 2.11, PG-01 to PG-07), at the planner. */
#include "world_fixture.h"

enum { COORD = 0, WORKERS = 1, MEMBERS = 9 }; /* handles within a group */

/* coord 1..1, workers 4..8. */
static struct gang_terms group_terms(void)
{
    return (struct gang_terms){
        .sub_groups =
            {
                {STR("coord"), 1, 1, .hops_max = HOPS_ANY},
                {STR("workers"), 4, 8, .hops_max = HOPS_ANY},
            },
        .sub_group_count = 2,
    };
}

static uint32_t submit_group(struct world *w, const char *queue, const char *id,
                             const struct gang_terms *terms)
{
    return world_submit_group(
        w, &(struct world_job){.queue = queue, .gang = id}, terms);
}

static void pg_01_a_group_starts_with_its_minimum_or_not_at_all(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    world_node(w, &(struct world_node){"n1", .cores = 5});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 5);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 4), 4);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(w->plan.decisions[i].group, 0);
    }
}

static void what_is_above_the_minimum_waits_and_is_not_failed(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();
    struct sched_explanation e;
    struct sched_queue_stats stats;

    world_node(w, &(struct world_node){"n1", .cores = 5});
    uint32_t group = submit_group(w, "A", "g", &terms);
    sched_queue_stats(w->sched, 0, 0, &stats);
    assert_int_equal(stats.demand.v[CPU], 5000);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, group + MEMBERS - 1, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_GROWTH);
    assert_int_equal(e.present, 5);
    assert_int_equal(e.wanted, 9);
    sched_queue_stats(w->sched, 0, 0, &stats);
    assert_int_equal(stats.demand.v[CPU], 5000);
}

static void a_group_asks_for_just_what_it_lost(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n1", .cores = 5});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    world_end(w, group + WORKERS + 2);
    world_node(w, &(struct world_node){"n1", .cores = 9});
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(world_running_of(w, group + WORKERS + 4, 1), 1);
}

static void what_has_succeeded_counts_for_the_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();
    auto_strbuf history = {0};

    world_node(w, &(struct world_node){"n1", .cores = 9});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    sched_job_succeeded(w->sched, group + WORKERS);
    world_end(w, group + WORKERS);
    sched_history_pack(w->sched, &history);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decision_count, 0);
}

/* Nodes of one slot, or one of all. */
static void make_slots(struct world *w, uint32_t count, bool is_one)
{
    static const char *const names[] = {"s01", "s02", "s03", "s04", "s05",
                                        "s06", "s07", "s08", "s09", "s10"};

    if (is_one) {
        world_node(w, &(struct world_node){"all", .cores = count});
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        world_node(w, &(struct world_node){names[i], .cores = 1});
    }
}

/* 1 + 6 of a group run on seven slots. */
static uint32_t run_group(struct world *w, const struct gang_terms *terms,
                          bool is_one)
{
    make_slots(w, 7, is_one);
    uint32_t group = submit_group(w, "A", "g", terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 7), 7);
    return group;
}

static uint32_t submit_gang(struct world *w, const char *queue, uint32_t count)
{
    return world_submit_many(w,
                             &(struct world_job){.queue = queue,
                                                 .gang = "other",
                                                 .cardinality = count},
                             count);
}

static void pg_02_a_group_grows_up_to_its_maximum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    make_slots(w, 7, false);
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 6);
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 20});
    group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 8);
}

static void pg_03_all_minimums_come_before_any_surplus(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n", .cores = 12});
    world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 0); /* so that A has more */
    uint32_t first = submit_group(w, "A", "g", &terms);
    uint32_t second = submit_group(w, "B", "h", &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, first, MEMBERS), 5);
    assert_int_equal(world_running_of(w, second, MEMBERS), 6);
    for (uint32_t i = 0; i < 10; i++) {
        assert_false(w->plan.decisions[i].is_scaling);
        assert_int_equal(w->plan.decisions[i].group, i / 5);
    }
}

static void pg_07_a_group_grows_again(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    uint32_t group = run_group(w, &terms, false);
    uint32_t other = submit_gang(w, "B", 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, MEMBERS), 5);
    world_end(w, other);
    world_end(w, other + 1);
    world_round(w, ROUND_BALANCE, 5001);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 6);
}

static void pg_04_surplus_makes_room_for_a_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        uint32_t other = submit_gang(w, "B", 2);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(w->preempted_count, 2);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 2);
        assert_int_equal(world_running_of(w, other, 2), 2);
        assert_int_equal(world_running_of(w, group, 5), 5);
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->plan.decision_count, 0);
    }
}

static void surplus_makes_room_for_a_single_job(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        world_submit_many(w, &(struct world_job){.queue = "B"}, 2);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 2);
        assert_int_equal(world_running(w, "B"), 2);
        assert_int_equal(world_running_of(w, group, 5), 5);
        /* That of its own queue, too; but not for what is less urgent. */
        world_restart(w);
        group = run_group(w, &terms, is_one);
        world_submit(w, &(struct world_job){.queue = "A"});
        world_submit(
            w, &(struct world_job){.queue = "B", .priority_class = "low"});
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 1);
        assert_int_equal(world_running_of(w, group, 6), 6);
    }
}

static void pg_05_a_group_is_never_left_below_its_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        uint32_t other = submit_gang(w, "B", 3);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(w->preempted_count, 7);
        assert_int_equal(world_running_of(w, other, 3), 3);
        assert_int_equal(world_running_of(w, group, 9), 0);
        /* Four places are too few for what waits again; five are enough. */
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->plan.decision_count, 0);
        world_end(w, other);
        world_round(w, ROUND_BALANCE, 3);
        assert_int_equal(world_running_of(w, group, 9), 5);
    }
    world_restart(w);
    uint32_t group = run_group(w, &terms, true);
    world_submit(w, &(struct world_job){.queue = "B", .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 7);
    assert_int_equal(world_running_of(w, group, 9), 0);
}

static void pg_06_a_victim_that_breaks_no_group_is_better(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_gang = 0; is_gang < 2; is_gang++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, true);
        world_node(w, &(struct world_node){"z", .cores = 3});
        uint32_t single =
            world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
        world_round(w, ROUND_BALANCE, 1);
        assert_string_equal(world_node_of(w, single), "z");
        uint32_t other = is_gang
                             ? submit_gang(w, "B", 3)
                             : world_submit(w, &(struct world_job){.queue = "B",
                                                                   .cores = 3});
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->preempted_count, 1);
        assert_int_equal(world_running_of(w, group, 7), 7);
        assert_int_equal(world_running_of(w, single, 1), 0);
        assert_int_equal(world_running_of(w, other, is_gang ? 3 : 1),
                         is_gang ? 3 : 1);
    }
}

static void what_goes_with_its_group_makes_room_too(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .cores = 2}, &terms);
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "A", .priority_class = "low", .cores = 2});

    for (uint32_t job = group; job <= low; job++) {
        world_lease(w, job, node, 0);
    }
    /* Five cores cannot be had without the group, whose six are enough. */
    uint32_t high = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "high", .cores = 5});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, high), "n");
    assert_int_equal(world_running_of(w, group, 3), 0);
    assert_string_equal(world_node_of(w, low), "n");
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_FAIR_SHARE);
    assert_int_equal(w->plan.decisions[1].preemption, SCHED_PREEMPT_GANG);
    assert_int_equal(w->plan.decisions[2].preemption, SCHED_PREEMPT_GANG);
}

static void what_is_left_of_a_group_starts_anew(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {{STR("s"), 2, 4, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    /* Both that run fail; the others have not run yet, and are enough. */
    world_lease(w, group, node, 0);
    world_lease(w, group + 1, node, 0);
    world_end(w, group);
    world_end(w, group + 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group + 2, 2), 2);
}

/* A queue of which nothing waits but what its gangs would grow by has queued
 * work (model.md 2.4), so it counts among those that share the pool; what it
 * does not ask for is still divided among the others. */
static void a_queue_with_nothing_but_spare_pods_is_active(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 0, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    w->policy.pools[0].protected_fraction_ppm = 650000;
    world_restart(w);
    uint32_t full = world_node(w, &(struct world_node){"n", .cores = 3});
    world_node(w, &(struct world_node){"m", .cores = 7, .taint = "t"});
    for (int i = 0; i < 3; i++) {
        world_lease(w, world_submit(w, &(struct world_job){.queue = "A"}), full,
                    0);
    }
    world_submit(w, &(struct world_job){.queue = "B"});
    /* Of two queues 0.3 is within 0.65 of a half. */
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 0);
    world_submit_group(
        w, &(struct world_job){.queue = "C", .gang = "g", .cores = 8}, &terms);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
}

/* Two grown groups of a queue that goes by scores, and a job of it, have a node
 * each; these are added in an order of `ways`.  Who makes room for a job of B:
 * the first group, the second, or the job. */
static uint32_t who_goes(const uint32_t ways[3])
{
    static const char *const names[3] = {"n0", "n1", "n2"};
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world *w = mem_alloc(sizeof(*w));
    uint32_t nodes[3], firsts[3];

    world_init(w);
    world_queue_by(w, "A", &(struct queue_record){.ordering = QUEUE_BY_CFS});
    uint32_t far = world_node(w, &(struct world_node){"far", .cores = 2});
    for (uint32_t i = 0; i < 3; i++) {
        nodes[ways[i]] = world_node(w, &(struct world_node){
                                           .name = names[ways[i]],
                                           .cores = 1,
                                           .label_key = "on",
                                           .label_value = "near",
                                       });
    }
    firsts[0] = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g0"}, &terms);
    firsts[1] = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g1"}, &terms);
    firsts[2] = world_submit(w, &(struct world_job){.queue = "A"});
    /* The job's turn comes between those of the groups, of which the second
     * is the rightmost. */
    world_lease(w, firsts[1], nodes[1], 10);
    world_lease(w, firsts[2], nodes[2], 20);
    world_lease(w, firsts[0], nodes[0], 30);
    world_lease(w, firsts[0] + 1, far, 40);
    world_lease(w, firsts[1] + 1, far, 40);
    uint32_t job = world_submit(w, &(struct world_job){
                                       .queue = "B",
                                       .selector_key = "on",
                                       .selector_value = "near",
                                   });
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 1);
    uint32_t where = (uint32_t)(world_node_of(w, job)[1] - '0');
    assert_true(sched_is_consistent(w->sched));
    world_fini(w);
    mem_free(w);
    return where;
}

static void the_order_of_nodes_chooses_no_surplus(void **state)
{
    static const uint32_t ways[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        assert_int_equal(who_goes(ways[i]), 1);
    }
}

static void the_queue_that_has_most_gives_its_surplus_first(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 5});
    uint32_t less = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "a"}, &terms);
    uint32_t more = world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "b"}, &terms);
    uint32_t plain = world_submit(w, &(struct world_job){.queue = "B"});

    /* That of A is younger, and would go first within one queue. */
    world_lease(w, more, n, 0);
    world_lease(w, more + 1, n, 0);
    world_lease(w, plain, n, 0);
    world_lease(w, less, n, 0);
    world_lease(w, less + 1, n, 50);
    (void)world_submit(w, &(struct world_job){.queue = "C"});
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running_of(w, less, 2), 2);
    assert_int_equal(world_running_of(w, more, 2), 1);
}

/* A node that is to show that it no longer fails takes one job (model.md
 * 6.10b), be it of a gang that has its nodes whole. */
static void a_group_puts_one_pod_on_a_node_on_trial(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("a"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("b"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
        .has_exclusive_nodes = true,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    sched_health_set(w->sched, node,
                     &(struct sched_health){.health = NODE_TRIAL});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, 2), 0);
    world_node(w, &(struct world_node){"m", .cores = 4});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, group, 2), 2);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(pg_01_a_group_starts_with_its_minimum_or_not_at_all),
        SCENARIO(what_is_above_the_minimum_waits_and_is_not_failed),
        SCENARIO(a_group_asks_for_just_what_it_lost),
        SCENARIO(what_has_succeeded_counts_for_the_minimum),
        SCENARIO(pg_02_a_group_grows_up_to_its_maximum),
        SCENARIO(pg_03_all_minimums_come_before_any_surplus),
        SCENARIO(pg_07_a_group_grows_again),
        SCENARIO(pg_04_surplus_makes_room_for_a_minimum),
        SCENARIO(surplus_makes_room_for_a_single_job),
        SCENARIO(pg_05_a_group_is_never_left_below_its_minimum),
        SCENARIO(pg_06_a_victim_that_breaks_no_group_is_better),
        SCENARIO(what_goes_with_its_group_makes_room_too),
        SCENARIO(what_is_left_of_a_group_starts_anew),
        SCENARIO(a_queue_with_nothing_but_spare_pods_is_active),
        SCENARIO(the_order_of_nodes_chooses_no_surplus),
        SCENARIO(the_queue_that_has_most_gives_its_surplus_first),
        SCENARIO(a_group_puts_one_pod_on_a_node_on_trial),
    };

    return RUN_TESTS(tests);
}
