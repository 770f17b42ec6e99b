/* Gangs near together in free space, on whole nodes and by labels (model.md
 * 2.11): which nodes, and at what cost. */
#include "rack_fixture.h"
#include "sched/state/state.h"

/* Also where the nodes of racks stand apart from the others. */
static void of_covers_that_cost_the_same_names_decide(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    rack_add_node(w, "a", 1, "r");
    rack_add_node(w, "b", 1, NULL);
    rack_add_node(w, "c", 1, NULL);
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, group), "a");
    assert_string_equal(world_node_of(w, group + 1), "b");
}

/* A gang grows by one pod after the other, and nodes are counted once. */
static void growth_by_whole_nodes_costs_little(void **state)
{
    enum { NODES = 400, LOOKS_EACH_MAX = 8 };
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, NODES, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };
    char rack[] = "r00", name[] = "n000";

    for (int i = 0; i < NODES; i++) {
        rack[1] = (char)('0' + i / 40);
        rack[2] = (char)('0' + i / 4 % 10);
        name[1] = (char)('0' + i / 100);
        name[2] = (char)('0' + i / 10 % 10);
        name[3] = (char)('0' + i % 10);
        rack_add_node(w, name, 1, rack);
    }
    (void)world_submit_group(w, &(struct world_job){.queue = "A", .gang = "g"},
                             &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->leased_count, NODES);
    assert_true(w->plan.counters.nodes_examined <
                (uint64_t)NODES * LOOKS_EACH_MAX);
}

/* A label may have as many values as there are nodes. */
static void values_that_could_not_hold_a_gang_cost_little(void **state)
{
    enum { NODES = 600, BYTES_MAX = 4 << 20 };
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("s"), 4, 4, .hops_max = 2}},
        .sub_group_count = 1,
    };
    struct world_job member = {
        .queue = "A", .gang = "fits", .uniformity = "host"};
    char rack[] = "r000", name[] = "n000";

    for (int i = 0; i < NODES; i++) {
        struct label labels[] = {{STR("host"), str_of(name)},
                                 {STR("rack"), str_of(rack)}};
        struct world_node node = {name, .labels = labels, .label_count = 2};
        for (int k = 1; k < 4; k++) {
            static const int places[] = {0, 100, 10, 1};
            name[k] = (char)('0' + i / places[k] % 10);
            rack[k] = (char)('0' + i / 4 / places[k] % 10);
        }
        node.cores = i == NODES / 2 ? 4 : 3;
        (void)world_node(w, &node);
    }
    uint32_t fits = world_submit_group(w, &member, &terms);
    terms.sub_groups[0].min_count = terms.sub_groups[0].max_count = 5;
    member.gang = "waits";
    (void)world_submit_group(w, &member, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->leased_count, 4);
    assert_string_equal(world_node_of(w, fits), "n300");
    assert_true(w->sched->arena.byte_count < BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RACK_SCENARIO(of_covers_that_cost_the_same_names_decide),
        RACK_SCENARIO(growth_by_whole_nodes_costs_little),
        RACK_SCENARIO(values_that_could_not_hold_a_gang_cost_little),
    };

    return RUN_TESTS(tests);
}
