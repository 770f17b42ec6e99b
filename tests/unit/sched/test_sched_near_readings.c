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

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(of_covers_that_cost_the_same_names_decide),
    };

    return RUN_TESTS(tests);
}
