/* Readings of the rules about gangs with terms that the oracle of
 * tests/prop/sched and the planner once differed about. */
#include "world_fixture.h"

enum { SECOND = 1000 };

/* A gang of A with a minimum of two, of which two more run, on one node. */
static uint32_t run_grown(struct world *w, int64_t lifetime_s)
{
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 4, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t group = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .lifetime_s = lifetime_s},
        &terms);

    for (uint32_t i = 0; i < 4; i++) {
        int64_t at_ms = i < 2 ? 0 : 50 * SECOND;
        world_lease(w, group + i, node, at_ms);
        sched_job_age_from(w->sched, group + i, at_ms);
    }
    return group;
}

static void growing_gains_a_gang_no_lifetime(void **state)
{
    struct world *w = *state;
    uint32_t group = run_grown(w, 60);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 3});

    world_round(w, ROUND_BALANCE, 59 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    /* The pods that came last are ten seconds old. */
    world_round(w, ROUND_BALANCE, 60 * SECOND);
    assert_int_equal(world_running_of(w, group, 4), 0);
    assert_string_equal(world_node_of(w, other), "n");
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

static void a_frozen_group_that_may_go_whole_may_lose_surplus(void **state)
{
    struct world *w = *state;

    /* Its base of two is elsewhere. */
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 2});
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .freezing_window_ms = 300 * SECOND,
    };
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_lease(w, group, m, 0);
    world_lease(w, group + 1, m, 0);
    world_lease(w, group + 2, n, 0);
    sched_gang_scaled(w->sched, group, 1);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, other), "n");
    assert_int_equal(world_running_of(w, group, 2), 2);
}

static void what_is_shed_for_the_load_relieves_it(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 3});
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t single = world_submit(w, &(struct world_job){.queue = "B"});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    world_lease(w, single, m, 0);
    world_lease(w, group, m, 0);
    world_lease(w, group + 1, m, 0);
    world_lease(w, group + 2, n, 0);
    /* The node of the last one counts no more; the other shrank. */
    world_node(w,
               &(struct world_node){"n", .cores = 2, .is_unschedulable = true});
    world_node(w, &(struct world_node){"m", .cores = 2});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].job, group + 1);
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

/* A node "a" that is empty, and "b" with a job of B; a waiting gang of high
 * class with two pods of three cores, which has its nodes whole. */
static uint32_t submit_whole(struct world *w)
{
    const struct gang_terms terms = {
        .has_exclusive_nodes = true,
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    world_node(w, &(struct world_node){"a", .cores = 3});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 3});
    uint32_t single = world_submit(w, &(struct world_job){.queue = "B"});
    world_lease(w, single, b, 0);
    return world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high", .cores = 3},
        &terms);
}

static void nodes_are_cleared_beside_empty_ones(void **state)
{
    struct world *w = *state;
    uint32_t group = submit_whole(w);

    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, 2), 2);
    assert_int_equal(w->preempted_count, 1);
}

static void a_node_opens_as_its_group_goes(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .has_exclusive_nodes = true,
        .sub_groups = {{STR("s"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 6});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    world_lease(w, group, node, 0);
    /* What was free there was nobody's; now it is for both. */
    uint32_t high = world_submit_many(
        w,
        &(struct world_job){.queue = "A", .priority_class = "high", .cores = 2},
        2);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, high, 2), 2);
}

/* A gang of which a plan takes all that ran does not wait any more, though a
 * member that asks for a GPU did: it keeps no GPUs from those that grow. */
static void a_gang_that_is_taken_keeps_no_gpus(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world_job member = {
        .queue = "B", .gang = "b", .cardinality = 2, .minimum = 1};
    uint32_t small =
        world_node(w, &(struct world_node){"n", .cores = 1, .label_key = "on",
                                           .label_value = "n"});
    uint32_t large =
        world_node(w, &(struct world_node){"g", .cores = 4, .gpus = 1});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    uint32_t user = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "fixed", .gpus = 1});

    world_lease(w, group, large, 0);
    world_lease(w, user, large, 0);
    world_lease(w, world_submit(w, &member), small, 0);
    member.gpus = 1;
    world_submit(w, &member);
    /* Its other member waits for a GPU, as long as the gang is there. */
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, 2), 1);
    world_submit(w, &(struct world_job){.queue = "A",
                                        .priority_class = "high",
                                        .selector_key = "on",
                                        .selector_value = "n"});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running_of(w, group, 2), 2);
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

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(growing_gains_a_gang_no_lifetime),
        SCENARIO(what_goes_with_its_group_makes_room_too),
        SCENARIO(a_frozen_group_that_may_go_whole_may_lose_surplus),
        SCENARIO(what_is_shed_for_the_load_relieves_it),
        SCENARIO(what_is_left_of_a_group_starts_anew),
        SCENARIO(nodes_are_cleared_beside_empty_ones),
        SCENARIO(a_node_opens_as_its_group_goes),
        SCENARIO(a_gang_that_is_taken_keeps_no_gpus),
        SCENARIO(a_queue_with_nothing_but_spare_pods_is_active),
        SCENARIO(the_order_of_nodes_chooses_no_surplus),
        SCENARIO(the_queue_that_has_most_gives_its_surplus_first),
    };

    return RUN_TESTS(tests);
}
