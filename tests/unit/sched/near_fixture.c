#include "near_fixture.h"

const struct str NEAR_LEVELS[NEAR_LEVEL_COUNT] = {
    {"leaf", 4}, {"agg", 3}, {"core", 4}};

void near_name_levels(struct world *world)
{
    for (size_t l = 0; l < NEAR_LEVEL_COUNT; l++) {
        world->policy.pools[0].topology[l] = NEAR_LEVELS[l];
    }
    world->policy.pools[0].level_count = NEAR_LEVEL_COUNT;
    world_restart(world);
}

uint32_t near_add_node(struct world *w, const char *name, int64_t cores,
                       const char *leaf, const char *agg)
{
    struct label labels[] = {{NEAR_LEVELS[1], str_of(agg)},
                             {NEAR_LEVELS[2], STR("c")},
                             {NEAR_LEVELS[0], str_of(leaf)}};

    return world_node(w, &(struct world_node){name, cores, .labels = labels,
                                              .label_count = 3});
}

void near_add_tree(struct world *w)
{
    static const char *const nodes[][3] = {
        {"a1", "L1", "P1"}, {"a2", "L1", "P1"}, {"a3", "L1", "P1"},
        {"b1", "L2", "P1"}, {"b2", "L2", "P1"}, {"b3", "L2", "P1"},
        {"b4", "L2", "P1"}, {"c1", "L3", "P2"}, {"c2", "L3", "P2"},
        {"c3", "L3", "P2"}, {"c4", "L3", "P2"}, {"c5", "L3", "P2"},
        {"c6", "L3", "P2"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        near_add_node(w, nodes[i][0], 1, nodes[i][1], nodes[i][2]);
    }
}

struct gang_terms near_terms(uint32_t min, uint32_t max, uint32_t hops)
{
    return (struct gang_terms){
        .sub_groups = {{STR("w"), min, max, .hops_max = hops}},
        .sub_group_count = 1,
    };
}

uint32_t near_submit(struct world *w, const char *id, uint32_t count,
                     uint32_t hops)
{
    struct gang_terms terms = near_terms(count, count, hops);

    return world_submit_group(w, &(struct world_job){.queue = "A", .gang = id},
                              &terms);
}

uint32_t near_count_on(const struct world *w, uint32_t first, uint32_t count,
                       char leaf)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += world_node_of(w, i)[0] == leaf;
    }
    return found;
}

uint32_t near_hops(struct world *w, uint32_t first, uint32_t count)
{
    uint32_t most = 0;

    assert_true(sched_is_consistent(w->sched)); /* brings the tree up to date */
    const struct topology *t =
        topology_of(w->sched, pool_get(w->sched, STR("default")));
    for (uint32_t i = first; i < first + count; i++) {
        for (uint32_t k = first; k < i; k++) {
            uint32_t hops = topology_hops(t, w->node_of[i], w->node_of[k]);
            most = hops > most ? hops : most;
        }
    }
    return most;
}

int near_setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    near_name_levels(world);
    return 0;
}
