/* The tree of a pool's nodes (topology.h). */
#include <stdio.h>

#include "sched/state/topology.h"
#include "world_fixture.h"

/* Labels in the order of their keys: agg, core, leaf. */
static const struct str levels[] = {{"leaf", 4}, {"agg", 3}, {"core", 4}};

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    for (size_t l = 0; l < ARRAY_COUNT(levels); l++) {
        world->policy.pools[0].topology[l] = levels[l];
    }
    world->policy.pools[0].level_count = ARRAY_COUNT(levels);
    world_restart(world);
    return 0;
}

/* A node of one slot in cluster `executor`; a label that is NULL is absent. */
static uint32_t add_node(struct world *w, const char *name,
                         const char *executor, const char *const path[3])
{
    static const int by_key[] = {1, 2, 0};
    struct label labels[3];
    uint32_t count = 0;

    for (size_t i = 0; i < ARRAY_COUNT(by_key); i++) {
        int l = by_key[i];
        if (path[l]) {
            labels[count++] = (struct label){levels[l], str_of(path[l])};
        }
    }
    return world_node(w, &(struct world_node){name, 1, .executor = executor,
                                              .labels = labels,
                                              .label_count = count});
}

static const struct topology *tree(struct world *w)
{
    assert_true(sched_is_consistent(w->sched)); /* brings it up to date */
    return topology_of(w->sched, pool_get(w->sched, STR("default")));
}

static void hops_are_twice_the_level_of_the_first_equal_value(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t b = add_node(w, "b", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t c = add_node(w, "c", "e", (const char *[]){"l2", "p1", "c"});
    uint32_t d = add_node(w, "d", "e", (const char *[]){"l3", "p2", "c"});
    uint32_t e = add_node(w, "e", "e", (const char *[]){"l4", "p3", "d"});
    const struct topology *t = tree(w);

    assert_int_equal(topology_hops(t, a, a), 0);
    assert_int_equal(topology_hops(t, a, b), 2);
    assert_int_equal(topology_hops(t, a, c), 4);
    assert_int_equal(topology_hops(t, d, a), 6);
    assert_true(topology_hops(t, a, e) == HOPS_ANY);
    assert_int_equal(t->split_count, 0);
    assert_int_equal(t->bare_count, 0);
}

static void clusters_are_never_near_each_other(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t b = add_node(w, "b", "f", (const char *[]){"l1", "p1", "c"});
    const struct topology *t = tree(w);

    assert_true(topology_hops(t, a, b) == HOPS_ANY);
    assert_int_equal(t->split_count, 0); /* each cluster has its own names */
}

/* The whole path counts: one value in two places is two domains. */
static void value_with_two_paths_names_two_domains(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t b = add_node(w, "b", "e", (const char *[]){"l1", "p2", "c"});
    uint32_t c = add_node(w, "c", "e", (const char *[]){"l1", "p3", "c"});
    const struct topology *t = tree(w);

    assert_int_equal(topology_hops(t, a, b), 6);
    assert_int_equal(topology_hops(t, b, c), 6);
    assert_int_equal(t->split_count, 1);
}

/* What stands for a cycle among labels is no more than such values. */
static void values_that_swap_levels_make_no_cycle(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"x", "y", "x"});
    uint32_t b = add_node(w, "b", "e", (const char *[]){"y", "x", "y"});
    uint32_t c = add_node(w, "c", "e", (const char *[]){"x", "y", "y"});
    const struct topology *t = tree(w);

    assert_true(topology_hops(t, a, b) == HOPS_ANY);
    assert_int_equal(topology_hops(t, b, c), 6);
    assert_true(topology_hops(t, a, c) == HOPS_ANY);
}

static void level_that_a_node_lacks_is_passed_over(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"l1", NULL, "c"});
    uint32_t b = add_node(w, "b", "e", (const char *[]){"l1", NULL, "c"});
    uint32_t c = add_node(w, "c", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t d = add_node(w, "d", "e", (const char *[]){NULL, "p1", "c"});
    uint32_t e = add_node(w, "e", "e", (const char *[]){NULL, NULL, NULL});
    uint32_t f = add_node(w, "f", "e", (const char *[]){NULL, NULL, NULL});
    const struct topology *t = tree(w);

    assert_int_equal(topology_hops(t, a, b), 2);
    assert_int_equal(topology_hops(t, a, c), 6);
    assert_int_equal(topology_hops(t, c, d), 4);
    assert_int_equal(topology_hops(t, e, e), 0);
    assert_true(topology_hops(t, e, f) == HOPS_ANY);
    assert_true(topology_hops(t, a, e) == HOPS_ANY);
    assert_int_equal(t->bare_count, 5);
}

static void tree_follows_the_nodes(void **state)
{
    struct world *w = *state;
    uint32_t a = add_node(w, "a", "e", (const char *[]){"l1", "p1", "c"});
    uint32_t b = add_node(w, "b", "e", (const char *[]){"l1", "p1", "c"});

    const struct topology *before = tree(w);
    assert_int_equal(topology_hops(before, a, b), 2);
    add_node(w, "b", "e", (const char *[]){"l1", "p1", "c"});
    assert_ptr_equal(tree(w), before); /* nothing is another */
    add_node(w, "b", "e", (const char *[]){"l2", "p1", "c"});
    assert_int_equal(topology_hops(tree(w), a, b), 4);
    sched_node_remove(w->sched, a);
    assert_int_equal(topology_lowest(tree(w), a), NONE);
    assert_int_equal(tree(w)->node_count, 1);
    w->policy.pools[0].level_count = 0;
    sched_policy_set(w->sched, &w->policy);
    assert_null(tree(w));
}

/* Domains hold their nodes side by side, and number with their level. */
static void domains_are_nested(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < 60; i++) {
        char name[16], path[3][16];
        (void)snprintf(name, sizeof(name), "n%02u", i * 37 % 60);
        (void)snprintf(path[0], sizeof(path[0]), "l%u", i % 12);
        (void)snprintf(path[1], sizeof(path[1]), "p%u", i % 4);
        (void)snprintf(path[2], sizeof(path[2]), "c%u", i % 2);
        add_node(w, name, i % 5 ? "e" : "f",
                 (const char *[]){i % 7 ? path[0] : NULL, path[1], path[2]});
    }
    const struct topology *t = tree(w);
    for (uint32_t d = 0; d < t->domain_count; d++) {
        const struct domain *domain = &t->domains[d];
        assert_true(domain->count > 0);
        if (domain->parent != NONE) {
            const struct domain *parent = &t->domains[domain->parent];
            assert_true(domain->parent > d && parent->level > domain->level);
            assert_true(parent->first <= domain->first);
            assert_true(parent->first + parent->count >=
                        domain->first + domain->count);
        }
    }
    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct domain *domain = &t->domains[t->lowest[i]];
        assert_true(i >= domain->first && i - domain->first < domain->count);
        assert_int_equal(t->place[t->nodes[i]], i);
    }
}

static void odd_caps_round_down(void **state)
{
    struct world *w = *state;

    add_node(w, "a", "e", (const char *[]){"l1", "p1", "c"});
    const struct topology *t = tree(w);
    assert_int_equal(topology_level_max(t, 0), 0);
    assert_int_equal(topology_level_max(t, 1), 0);
    assert_int_equal(topology_level_max(t, 3), 1);
    assert_int_equal(topology_level_max(t, 6), 3);
    assert_int_equal(topology_level_max(t, 16), 3); /* not beyond a cluster */
    assert_int_equal(topology_level_max(t, HOPS_ANY), 4);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(hops_are_twice_the_level_of_the_first_equal_value),
        SCENARIO(clusters_are_never_near_each_other),
        SCENARIO(value_with_two_paths_names_two_domains),
        SCENARIO(values_that_swap_levels_make_no_cycle),
        SCENARIO(level_that_a_node_lacks_is_passed_over),
        SCENARIO(tree_follows_the_nodes),
        SCENARIO(domains_are_nested),
        SCENARIO(odd_caps_round_down),
    };
    return RUN_TESTS(tests);
}
