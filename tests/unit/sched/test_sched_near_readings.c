/* Readings of the rules about groups near together, and about their nodes, that
 * the oracle of tests/prop/sched and the planner once differed about. */
#include "world_fixture.h"

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    world->policy.pools[0].topology[0] = STR("rack");
    world->policy.pools[0].level_count = 1;
    world_restart(world);
    return 0;
}

/* A node of so many cores in a rack, or in none (NULL). */
static uint32_t add_node(struct world *w, const char *name, int64_t cores,
                         const char *rack)
{
    return world_node(w, &(struct world_node){name, cores,
                                              .label_key = rack ? "rack" : NULL,
                                              .label_value = rack});
}

/* Also where the nodes of racks stand apart from the others. */
static void of_covers_that_cost_the_same_names_decide(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .is_whole_node = true,
    };

    add_node(w, "a", 1, "r");
    add_node(w, "b", 1, NULL);
    add_node(w, "c", 1, NULL);
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, group), "a");
    assert_string_equal(world_node_of(w, group + 1), "b");
}

/* A job of class low of so many cores that runs there. */
static uint32_t run_low(struct world *w, uint32_t node, int64_t cores)
{
    uint32_t job = world_submit(w, &(struct world_job){.queue = "B",
                                                       .priority_class = "low",
                                                       .cores = cores});

    world_lease(w, job, node, 0);
    return job;
}

static uint32_t submit_high(struct world *w, const struct gang_terms *terms)
{
    return world_submit_group(w,
                              &(struct world_job){.queue = "A",
                                                  .gang = "g",
                                                  .priority_class = "high"},
                              terms);
}

/* Nobody losing a place is best, and then the lowest level is, also while
 * others make way for another part of the gang. */
static void what_has_room_is_near_while_others_make_way(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("v"), 3, 3, .hops_max = 0},
                       {STR("w"), 2, 2, .hops_max = 2}},
        .sub_group_count = 2,
    };

    add_node(w, "a1", 2, "r1");
    add_node(w, "b1", 1, "r2");
    add_node(w, "b2", 1, "r2");
    add_node(w, "b3", 1, "r2");
    run_low(w, add_node(w, "c", 3, NULL), 3);
    uint32_t group = submit_high(w, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    for (uint32_t i = 0; i < 5; i++) {
        assert_string_equal(world_node_of(w, group + i), i < 3 ? "c" : "a1");
    }
}

/* A gang can start as soon as all of it can at once (model.md 2.11), not only
 * where what is best for its first part leaves room for the others. */
static void what_is_best_for_one_part_is_not_kept_from_another(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("v"), 3, 3, .hops_max = 0},
                       {STR("w"), 4, 4, .hops_max = 2}},
        .sub_group_count = 2,
    };

    run_low(w, add_node(w, "a", 4, "r1"), 4);
    uint32_t b = add_node(w, "b", 3, "r2");
    for (int i = 0; i < 3; i++) {
        run_low(w, b, 1);
    }
    uint32_t group = submit_high(w, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 4);
    for (uint32_t i = 0; i < 7; i++) {
        assert_string_equal(world_node_of(w, group + i), i < 3 ? "b" : "a");
    }
}

/* Others make way for whole nodes near together as for any. */
static void whole_nodes_near_together_are_cleared(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
        .is_whole_node = true,
    };
    static const char *const names[] = {"b1", "b2", "c1", "c2", "c3", "a1"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        /* Those that are in no rack are too small for two. */
        const char *rack = names[i][0] == 'a' ? "r1" : "r2";
        bool is_small = names[i][0] == 'c';
        uint32_t node =
            add_node(w, names[i], is_small ? 1 : 2, is_small ? NULL : rack);
        run_low(w, node, names[i][0] == 'b' ? 2 : 1);
    }
    uint32_t group = submit_high(w, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, group), "a1");
    assert_string_equal(world_node_of(w, group + 1), "a1");
}

/* Of places around what runs that cost others the same it is the lower level,
 * too. */
static void a_member_comes_as_near_as_it_costs_no_more(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
    };
    uint32_t far = add_node(w, "a0", 1, "r1");
    uint32_t near = add_node(w, "a1", 2, "r1");
    uint32_t group = submit_high(w, &terms);

    world_lease(w, group, near, 0);
    run_low(w, far, 1);
    run_low(w, near, 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, group + 1), "a1");
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(of_covers_that_cost_the_same_names_decide),
        SCENARIO(what_has_room_is_near_while_others_make_way),
        SCENARIO(what_is_best_for_one_part_is_not_kept_from_another),
        SCENARIO(whole_nodes_near_together_are_cleared),
        SCENARIO(a_member_comes_as_near_as_it_costs_no_more),
    };

    return RUN_TESTS(tests);
}
