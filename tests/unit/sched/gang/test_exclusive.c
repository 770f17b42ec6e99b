/* Groups that have their nodes whole: which nodes (BK-14), who makes room, what
 * is reserved (model.md 2.11), at the planner. */
#include "sched/data/cover.h"
#include "sched/state/state.h"
#include "world_fixture.h"

/* One kind of pod, on nodes of their own. */
static struct gang_terms exclusive_terms(uint32_t min, uint32_t max)
{
    return (struct gang_terms){
        .has_exclusive_nodes = true,
        .sub_groups = {{STR("pods"), min, max, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
}

/* Of a group with whole nodes all on a node goes, or nothing. */
static void surplus_leaves_a_whole_node(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 4);

    world_node(w, &(struct world_node){"n1", .cores = 2});
    world_node(w, &(struct world_node){"n2", .cores = 2});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 4), 4);
    world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 2);
    assert_int_equal(world_running_of(w, group, 2), 2);
    assert_int_equal(world_running(w, "B"), 1);
}

static void bk_14_the_cheapest_cover_is_not_pod_by_pod(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(3, 3);

    /* A GB counts a quarter of a core; there are 184 cores and 256 GB. */
    w->policy.pools[0].packing_weights_ppm[CPU] = 184 * 1000000;
    w->policy.pools[0].packing_weights_ppm[MEMORY] = 256 * 250000;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 56, .memory_gb = 64});
    world_node(w, &(struct world_node){"b", .cores = 72, .memory_gb = 128});
    world_node(w, &(struct world_node){"c", .cores = 56, .memory_gb = 64});
    uint32_t group = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .cores = 24, .memory_gb = 16},
        &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 3);
    for (uint32_t i = group; i < group + 3; i++) {
        assert_string_equal(world_node_of(w, i), "b");
    }
}

static void bk_14_the_cover_alone(void **state)
{
    /* Quarters of a core: 72 + 128 / 4 and 56 + 64 / 4. */
    struct cover_item items[] = {
        {72 * 4, 2, 0}, {104 * 4, 3, 1}, {72 * 4, 2, 2}};
    auto_arena arena = {0};
    bool chosen[3];

    (void)state;
    assert_true(cover_choose(items, 3, 3, &arena, chosen));
    assert_false(chosen[0]);
    assert_true(chosen[1]);
    assert_false(chosen[2]);
    assert_true(cover_choose(items, 3, 4, &arena, chosen));
    assert_true(chosen[0]);
    assert_false(chosen[1]);
    assert_true(chosen[2]);
    assert_false(cover_choose(items, 3, 8, &arena, chosen));
}

static void a_whole_node_serves_its_group_alone(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 2);
    struct sched_explanation e;

    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "B", .priority_class = "low"});
    world_round(w, ROUND_BALANCE, 0); /* both in one plan, the group first */
    assert_int_equal(w->leased_count, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, job, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_CAPACITY);
    assert_int_equal(e.nodes_excluded[SCHED_EXCLUDED_HELD], 1);
    world_end(w, group);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 0);
    world_end(w, group + 1);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, job), "n1");
}

static void a_group_with_whole_nodes_wants_them_empty(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 2);

    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t job = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, 0);
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, job);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(world_running_of(w, group, 2), 2);
}

static void one_that_is_replaced_comes_to_the_nodes_there_are(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 3);

    world_node(w, &(struct world_node){"n1", .cores = 1});
    world_node(w, &(struct world_node){"n2", .cores = 4});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, group), "n2");
    world_end(w, group);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, group + 2), "n2");
}

static void nodes_are_cleared_for_a_group_that_has_them_whole(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(4, 4);

    /* On n1 two would go, on n2 and n3 one each; n4 has no room for two. */
    world_node(w, &(struct world_node){"n1", .cores = 4});
    world_node(w, &(struct world_node){"n2", .cores = 2});
    world_node(w, &(struct world_node){"n3", .cores = 2});
    world_node(w, &(struct world_node){"n4", .cores = 1});
    for (uint32_t node = 0; node < 3; node++) {
        for (uint32_t i = 0; i < (node ? 1 : 3); i++) {
            uint32_t job = world_submit(
                w, &(struct world_job){.queue = "B", .priority_class = "low"});
            world_lease(w, job, node, 0);
        }
    }
    uint32_t group = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(world_running_of(w, group, 4), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_not_equal(w->node_of[group + i], 0);
    }
    assert_int_equal(world_running(w, "B"), 3);
}

/* What may not go keeps its node from being had whole. */
static void what_may_not_go_keeps_its_node(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 2);

    world_keep_fixed(w);
    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t fixed = world_submit(
        w, &(struct world_job){.queue = "B", .priority_class = "fixed"});
    uint32_t low = world_submit(
        w, &(struct world_job){.queue = "B", .priority_class = "low"});
    world_round(w, ROUND_BALANCE, 0);
    (void)world_submit_group(w,
                             &(struct world_job){.queue = "A",
                                                 .gang = "g",
                                                 .priority_class = "high"},
                             &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 0);
    world_end(w, fixed);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_int_equal(world_running_of(w, low, 1), 0);
    assert_int_equal(w->leased_count, 2);
}

static void use_reservations(struct world *w)
{
    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
}

static int64_t start_of(const struct world *w, uint32_t job)
{
    struct sched_admission admission;

    return sched_job_admission(w->sched, job, &admission) ? admission.start_ms
                                                          : -1;
}

static void a_group_that_waits_for_whole_nodes_has_them_reserved(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 2);
    const struct world_job fixed = {.queue = "B", .priority_class = "fixed"};

    use_reservations(w);
    world_node(w, &(struct world_node){"n1", .cores = 4});
    struct world_job job = fixed;
    job.deadline_s = 100;
    world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t group = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "fixed"},
        &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(start_of(w, group), 100000);
    /* Two cores would be left beside it, but the node is its own then. */
    uint32_t endless = world_submit(w, &fixed);
    job.deadline_s = 90;
    uint32_t shorter = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, endless), "");
    assert_string_equal(world_node_of(w, shorter), "n1");
    world_end(w, 0);
    world_end(w, shorter);
    world_round(w, ROUND_BALANCE, 100000);
    assert_int_equal(world_running_of(w, group, 2), 2);
}

/* As long as its minimum can be met it keeps its promise and counts as used;
 * then it does neither, and the next is admitted. */
static void an_admitted_group_that_breaks_up_leaves_the_list(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("pods"), 3, 4, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    struct world_job job = {
        .queue = "A", .gang = "g", .priority_class = "fixed"};

    use_reservations(w);
    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t first = world_submit_many(
        w,
        &(struct world_job){
            .queue = "B", .priority_class = "fixed", .deadline_s = 100},
        2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, first, 2), 2);
    uint32_t group = world_submit_group(w, &job, &terms);
    job.gang = "next";
    uint32_t next = world_submit_group(w, &job, &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(start_of(w, group), 100000);
    world_end(w, group); /* its optional member takes the place */
    assert_true(sched_is_consistent(w->sched));
    assert_int_equal(start_of(w, group + 1), 100000);
    world_end(w, group + 1);
    assert_true(sched_is_consistent(w->sched));
    assert_int_equal(start_of(w, group + 2), -1);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(start_of(w, next), 100000);
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(world_running_of(w, next, 4), 3);
    assert_int_equal(world_running_of(w, group, 4), 0);
}

static void a_node_that_a_group_has_whole_opens_when_it_ends(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 2);

    use_reservations(w);
    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t group = world_submit_group(w,
                                        &(struct world_job){
                                            .queue = "A",
                                            .gang = "g",
                                            .priority_class = "fixed",
                                            .deadline_s = 100,
                                        },
                                        &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 2), 2);
    uint32_t job = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "fixed", .cores = 2});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(start_of(w, job), 100000);
}

/* In its freezing window a group loses surplus only as long as its minimums
 * may go as well; what was found of its nodes before these have won their
 * places back no longer goes. */
static void frozen_surplus_stays_once_the_minimum_does(void **state)
{
    static const char *const nodes[] = {"n0", "n1", "n2", "n3",
                                        "n4", "n5", "n6", "n7"};
    struct world *w = *state;
    struct gang_terms terms = exclusive_terms(2, 12);

    terms.freezing_window_ms = 300000;
    w->sched->checks_victims = true;
    for (uint32_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        world_node(w, &(struct world_node){nodes[i], .cores = 8});
    }
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "g", .cores = 4}, &terms);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(world_running_of(w, group, 12), 12);
    sched_gang_scaled(w->sched, group, 6000);
    for (uint32_t i = 0; i < 30; i++) {
        (void)world_submit(w, &(struct world_job){.queue = "A", .cores = 2});
    }
    world_round(w, ROUND_BALANCE, 7000);
    assert_int_equal(world_running_of(w, group, 12), 8);
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

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(surplus_leaves_a_whole_node),
        SCENARIO(bk_14_the_cover_alone),
        SCENARIO(bk_14_the_cheapest_cover_is_not_pod_by_pod),
        SCENARIO(a_whole_node_serves_its_group_alone),
        SCENARIO(a_group_with_whole_nodes_wants_them_empty),
        SCENARIO(one_that_is_replaced_comes_to_the_nodes_there_are),
        SCENARIO(nodes_are_cleared_for_a_group_that_has_them_whole),
        SCENARIO(what_may_not_go_keeps_its_node),
        SCENARIO(a_group_that_waits_for_whole_nodes_has_them_reserved),
        SCENARIO(an_admitted_group_that_breaks_up_leaves_the_list),
        SCENARIO(a_node_that_a_group_has_whole_opens_when_it_ends),
        SCENARIO(frozen_surplus_stays_once_the_minimum_does),
        SCENARIO(nodes_are_cleared_beside_empty_ones),
        SCENARIO(a_node_opens_as_its_group_goes),
    };

    return RUN_TESTS(tests);
}
