/* Readings of the rules about gangs with terms and what is reserved for them
 * that the oracle of tests/prop/sched and the planner once differed about. */
#include "world_fixture.h"

enum { SECOND = 1000 };

/* Memory is short where the cores would be, though the gang asks for none: it
 * has no room there now, but may have when the other ends. */
static void a_node_that_shrank_keeps_no_gang_from_its_reservation(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 4, .memory_gb = 4});
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "fixed", .memory_gb = 4});
    world_lease(w, other, node, 0);
    world_node(w, &(struct world_node){"n", .cores = 4, .memory_gb = 1});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .cores = 3}, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, group);
}

/* As long as it has a node whole nobody else may come there, so one pod more of
 * it is nothing that goes beside who waits for the node. */
static void a_group_keeps_no_node_beyond_who_waits_for_it(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };
    const struct world_job member = {.queue = "A",
                                     .gang = "g",
                                     .priority_class = "fixed",
                                     .cores = 2,
                                     .deadline_s = 100};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 7});
    uint32_t group = world_submit_group(w, &member, &terms);
    world_lease(w, group, node, 0);
    sched_job_age_from(w->sched, group, 0);
    uint32_t head = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "fixed", .cores = 3});
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, head);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    world_end(w, group);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_string_equal(world_node_of(w, head), "n");
}

/* A reservation is where a gang would go (model.md 2.9): by the cover, not to
 * the smallest nodes one after the other. */
static void exclusive_nodes_are_reserved_by_the_cover(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t large = world_node(w, &(struct world_node){"large", .cores = 4});
    world_node(w, &(struct world_node){"small", .cores = 3});
    uint32_t first =
        world_submit(w, &(struct world_job){.queue = "A", .deadline_s = 100});
    world_lease(w, first, large, 0);
    sched_job_age_from(w->sched, first, 0);
    /* Both pods go to the large node; one on each would cost seven cores. */
    world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "g", .cores = 2}, &terms);
    world_round(w, ROUND_FAST, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    uint32_t beside = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_FAST, 20 * SECOND);
    assert_string_equal(world_node_of(w, beside), "small");
}

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

/* Nor is the like of what was just admitted tried, when no more may be: its
 * queue's turn is that of what comes behind. */
static void the_like_of_the_admitted_holds_up_nobody(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .freezing_window_ms = 1000 * SECOND,
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t g = world_node(w, &(struct world_node){"g", .cores = 8});
    world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t unit = world_submit_group(
        w,
        &(struct world_job){
            .queue = "D", .gang = "g", .priority_class = "fixed", .cores = 4},
        &terms);
    world_lease(w, unit, g, 0); /* it has surplus, which it keeps for now */
    world_lease(w, unit + 1, g, 0);
    sched_gang_scaled(w->sched, unit, 5 * SECOND);
    uint32_t large =
        world_submit_many(w, &(struct world_job){.queue = "B", .cores = 4}, 2);
    uint32_t small =
        world_submit(w, &(struct world_job){.queue = "B", .submitted_ms = 1});
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "C", .cores = 1});
    world_queue(w, "C", 6); /* it goes between four cores of B and five */
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, large);
    assert_string_equal(world_node_of(w, small), "n");
    assert_string_equal(world_node_of(w, other), "");
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

/* What is more urgent than who waits for a node may have it whole. */
static void an_urgent_group_has_a_reserved_node_whole(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 2});
    world_node(w, &(struct world_node){"m", .cores = 2});
    uint32_t first =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "fixed",
                                            .deadline_s = 100,
                                            .cores = 2});
    world_lease(w, first, n, 0);
    sched_job_age_from(w->sched, first, 0);
    /* It waits for both nodes. */
    world_submit_many(w,
                      &(struct world_job){.queue = "B",
                                          .gang = "b",
                                          .cardinality = 2,
                                          .minimum = 2,
                                          .cores = 2},
                      2);
    world_round(w, ROUND_FAST, 10 * SECOND);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    uint32_t urgent = world_submit_group(
        w,
        &(struct world_job){
            .queue = "C", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_FAST, 20 * SECOND);
    assert_string_equal(world_node_of(w, urgent), "m");
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(what_yields_is_what_is_spare),
        SCENARIO(the_like_of_the_admitted_holds_up_nobody),
        SCENARIO(a_node_that_shrank_keeps_no_gang_from_its_reservation),
        SCENARIO(a_group_keeps_no_node_beyond_who_waits_for_it),
        SCENARIO(exclusive_nodes_are_reserved_by_the_cover),
        SCENARIO(a_node_that_shrank_is_reserved_as_it_is),
        SCENARIO(an_urgent_group_has_a_reserved_node_whole),
    };

    return RUN_TESTS(tests);
}
