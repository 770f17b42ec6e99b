/* Gangs near together for which others make way (model.md 2.11, 6.6): found by
 * the oracle of tests/prop/sched. */
#include "rack_fixture.h"

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

    rack_add_node(w, "a1", 2, "r1");
    rack_add_node(w, "b1", 1, "r2");
    rack_add_node(w, "b2", 1, "r2");
    rack_add_node(w, "b3", 1, "r2");
    rack_run_low(w, rack_add_node(w, "c", 3, NULL), 3);
    uint32_t group = rack_submit_high(w, &terms);
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

    rack_run_low(w, rack_add_node(w, "a", 4, "r1"), 4);
    uint32_t b = rack_add_node(w, "b", 3, "r2");
    for (int i = 0; i < 3; i++) {
        rack_run_low(w, b, 1);
    }
    uint32_t group = rack_submit_high(w, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 4);
    for (uint32_t i = 0; i < 7; i++) {
        assert_string_equal(world_node_of(w, group + i), i < 3 ? "b" : "a");
    }
}

/* Others make way for whole nodes near together as for any. */
static void exclusive_nodes_near_together_are_cleared(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };
    static const char *const names[] = {"b1", "b2", "c1", "c2", "c3", "a1"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        /* Those that are in no rack are too small for two. */
        const char *rack = names[i][0] == 'a' ? "r1" : "r2";
        bool is_small = names[i][0] == 'c';
        uint32_t node = rack_add_node(w, names[i], is_small ? 1 : 2,
                                      is_small ? NULL : rack);
        rack_run_low(w, node, names[i][0] == 'b' ? 2 : 1);
    }
    uint32_t group = rack_submit_high(w, &terms);
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
    uint32_t far = rack_add_node(w, "a0", 1, "r1");
    uint32_t near = rack_add_node(w, "a1", 2, "r1");
    uint32_t group = rack_submit_high(w, &terms);

    world_lease(w, group, near, 0);
    rack_run_low(w, far, 1);
    rack_run_low(w, near, 1);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, group + 1), "a1");
}

/* Only so many ways are tried, of those that the label allows. */
static void a_value_far_down_is_found(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 4, 4, .hops_max = 2}},
        .sub_group_count = 1,
    };
    char rack[] = "r0", name[] = "n0";

    for (int i = 0; i < 32; i++) {
        struct label labels[] = {{STR("host"), str_of(name)},
                                 {STR("rack"), str_of(rack)}};
        struct world_node node = {name, .labels = labels, .label_count = 2};
        name[1] = (char)('0' + i);
        rack[1] = (char)('0' + i / 4);
        node.cores = i == 16 ? 4 : 3;
        rack_run_low(w, world_node(w, &node), 1);
    }
    uint32_t group = world_submit_group(w,
                                        &(struct world_job){
                                            .queue = "A",
                                            .gang = "g",
                                            .uniformity = "host",
                                            .priority_class = "high",
                                        },
                                        &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->leased_count, 4);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, group), "n@");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RACK_SCENARIO(what_has_room_is_near_while_others_make_way),
        RACK_SCENARIO(what_is_best_for_one_part_is_not_kept_from_another),
        RACK_SCENARIO(exclusive_nodes_near_together_are_cleared),
        RACK_SCENARIO(a_member_comes_as_near_as_it_costs_no_more),
        RACK_SCENARIO(a_value_far_down_is_found),
    };

    return RUN_TESTS(tests);
}
