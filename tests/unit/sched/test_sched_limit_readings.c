/* Readings of the rules about limits beside gangs with terms that the oracle of
 * tests/prop/sched and the planner once differed about. */
#include "world_fixture.h"

/* A node that is to show that it no longer fails takes one job (model.md
 * 6.10b), be it of a gang that has its nodes whole. */
static void a_group_puts_one_pod_on_a_node_on_trial(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("a"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("b"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
        .is_whole_node = true,
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
        SCENARIO(a_group_puts_one_pod_on_a_node_on_trial),
    };

    return RUN_TESTS(tests);
}
