/* Pod groups where the network is short (model.md 2.11, TP-01 to TP-06), at the
 * planner. */
#include "locality_fixture.h"

static void tp_01_the_smallest_leaf_that_holds_it_is_taken(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = locality_submit(w, "g", 4, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, g, 4, 'b'), 4);
    assert_int_equal(locality_hops(w, g, 4), 2);
}

static void tp_02_five_go_to_the_leaf_of_six(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = locality_submit(w, "g", 5, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, g, 5, 'c'), 5);
}

static void tp_03_seven_go_two_levels_up(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = locality_submit(w, "g", 7, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, g, 7, 'c'), 0);
    assert_int_equal(w->leased_count, 7);
    assert_int_equal(locality_hops(w, g, 7), 4);
}

static void tp_04_eight_go_to_the_core(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = locality_submit(w, "g", 8, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 8);
    assert_int_equal(locality_hops(w, g, 8), 6);
}

static void tp_05_what_no_allowed_level_holds_waits_for_topology(void **state)
{
    struct world *w = *state;
    static const uint32_t caps[] = {2, 3};

    for (size_t i = 0; i < ARRAY_COUNT(caps); i++) {
        struct sched_explanation e;
        world_restart(w);
        locality_add_tree(w);
        uint32_t seven = locality_submit(w, "seven", 7, caps[i]);
        world_round(w, ROUND_BALANCE, 0);
        assert_int_equal(w->plan.decision_count, 0);
        sched_explain(w->sched, seven, 0, &e);
        assert_int_equal(e.wait, SCHED_WAIT_TOPOLOGY);
        assert_int_equal(e.present, 6);
        assert_int_equal(e.wanted, 7);
        assert_int_equal(e.hops, 2);
        assert_true(str_equal(e.domain, STR("L3")));
        uint32_t six = locality_submit(w, "six", 6, caps[i]);
        world_round(w, ROUND_BALANCE, 1000);
        assert_int_equal(locality_count_on(w, six, 6, 'c'), 6);
    }
}

/* min 4, max 6; those on L2 fill it. */
static void tp_06_growth_widens_only_within_the_cap(void **state)
{
    struct world *w = *state;

    for (uint32_t hops = 2; hops <= 4; hops += 2) {
        struct gang_terms terms = locality_terms(4, 6, hops);
        world_restart(w);
        locality_add_tree(w);
        uint32_t g = world_submit_group(
            w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
        world_round(w, ROUND_BALANCE, 0);
        world_round(w, ROUND_BALANCE, 10000);
        assert_int_equal(locality_count_on(w, g, 6, 'b'), 4);
        assert_int_equal(locality_count_on(w, g, 6, 'a'), hops == 2 ? 0 : 2);
        assert_int_equal(locality_count_on(w, g, 6, 'c'), 0);
        assert_true(locality_hops(w, g, 4) <= hops);
    }
}

static void growth_stays_in_the_domain_as_long_as_it_has_room(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = locality_terms(3, 7, 4);

    locality_add_tree(w);
    locality_add_node(w, "a0", 1, "L1",
                      "P1"); /* L1 and L2 are of equal size now */
    uint32_t first = world_submit(w, &(struct world_job){.queue = "B"});
    world_lease(w, first, sched_node_index(w->sched, STR("e"), STR("b1")), 0);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0); /* to L2, which has the least room */
    assert_int_equal(locality_count_on(w, g, 7, 'b'), 3);
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 10000);
    assert_int_equal(locality_count_on(w, g, 7, 'b'), 4);
    assert_int_equal(locality_count_on(w, g, 7, 'a'), 3);
}

static void tp_06_two_slots_on_one_node_are_no_hops_apart(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    locality_add_node(w, "d1", 2, "L1", "P1");
    uint32_t g = locality_submit(w, "g", 2, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, g), "d1");
    assert_string_equal(world_node_of(w, g + 1), "d1");
    assert_int_equal(locality_hops(w, g, 2), 0);
}

static void of_equal_leaves_the_one_with_least_free_is_taken(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A", .gang = "g", .cores = 2};
    struct gang_terms terms = locality_terms(2, 2, HOPS_ANY);

    locality_add_node(w, "a1", 3, "L1", "P1");
    locality_add_node(w, "a2", 3, "L1", "P1");
    locality_add_node(w, "b1", 2, "L2", "P1");
    locality_add_node(w, "b2", 2, "L2", "P1");
    uint32_t g = world_submit_group(w, &member, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, g, 2, 'b'), 2);
    member.gang = "h";
    uint32_t h = world_submit_group(w, &member, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, h, 2, 'a'), 2);
}

/* Each sub-group is placed by itself; the one with the tightest cap first. */
static void sub_groups_are_near_each_of_them_alone(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("loose"), 3, 3, .hops_max = HOPS_ANY},
                       {STR("tight"), 3, 3, .hops_max = 2},
                       {STR("big"), 6, 6, .hops_max = 2}},
        .sub_group_count = 3,
    };

    locality_add_tree(w);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 12);
    assert_int_equal(locality_count_on(w, g, 3, 'b'), 3);
    assert_int_equal(locality_count_on(w, g + 3, 3, 'a'), 3);
    assert_int_equal(locality_count_on(w, g + 6, 6, 'c'), 6);
}

/* What the first choice leaves to the next sub-group may be too little. */
static void a_choice_that_leaves_no_room_is_taken_back(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("x"), 2, 2, .hops_max = 2},
                       {STR("y"), 2, 2, .hops_max = 2}},
        .sub_group_count = 2,
    };
    struct label labels[] = {{LOCALITY_LEVELS[1], STR("P")},
                             {LOCALITY_LEVELS[2], STR("c")},
                             {LOCALITY_LEVELS[0], STR("L1")}};
    struct world_node node = {"a1", 1, .labels = labels, .label_count = 3,
                              .taint = "only-x"};

    /* y may go to b only, and b is the smaller leaf for x too. */
    world_node(w, &node);
    node.name = "a2";
    world_node(w, &node);
    node.name = "a3";
    world_node(w, &node);
    locality_add_node(w, "b1", 1, "L2", "P");
    locality_add_node(w, "b2", 1, "L2", "P");
    struct world_job member = {.queue = "A",
                               .gang = "g",
                               .terms = &terms,
                               .cardinality = 4,
                               .minimum = 4,
                               .tolerated = "only-x"};
    uint32_t x = world_submit_many(w, &member, 2);
    member.tolerated = NULL;
    member.sub_group = 1;
    uint32_t y = world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, x, 2, 'a'), 2);
    assert_int_equal(locality_count_on(w, y, 2, 'b'), 2);
}

static void a_cap_ends_after_its_wait(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = locality_terms(7, 7, 2);

    terms.sub_groups[0].hops_wait_ms = 60000;
    locality_add_tree(w);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .submitted_ms = 5000},
        &terms);
    world_round(w, ROUND_FAST, 5000);
    assert_int_equal(w->leased_count, 0);
    assert_true(w->plan.next_wake_ms == 65000);
    world_round(w, ROUND_FAST, 64999);
    assert_int_equal(w->leased_count, 0);
    world_round(w, ROUND_FAST, 65000);
    assert_int_equal(w->leased_count, 7);
    assert_int_equal(locality_hops(w, g, 7),
                     4); /* and no further than it must */
}

/* It waits anew when it lost its places, also for who reads a checkpoint. */
static void a_cap_holds_again_after_a_loss(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = locality_terms(7, 7, 2);
    auto_strbuf history = {0};

    terms.sub_groups[0].hops_wait_ms = 60000;
    locality_add_tree(w);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 60000);
    assert_int_equal(w->leased_count, 7);
    sched_set_time(w->sched, 100000);
    for (uint32_t i = 0; i < 7; i++) {
        sched_job_requeue(w->sched, g + i, SCHED_NONE);
        w->node_of[g + i] = SCHED_NONE;
    }
    sched_history_pack(w->sched, &history);
    world_round(w, ROUND_FAST, 100000);
    assert_int_equal(w->leased_count, 0);
    assert_true(w->plan.next_wake_ms == 160000);

    world_restart(w);
    locality_add_tree(w);
    world_submit_group(w, &(struct world_job){.queue = "A", .gang = "g"},
                       &terms);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    world_round(w, ROUND_FAST, 100000);
    assert_int_equal(w->leased_count, 0);
    assert_true(w->plan.next_wake_ms == 160000);
    world_round(w, ROUND_FAST, 160000);
    assert_int_equal(w->leased_count, 7);
}

/* A pod that is replaced goes near those that run, or waits. */
static void a_replacement_stays_within_the_cap_of_what_runs(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = locality_submit(w, "g", 4, 2);
    world_round(w, ROUND_FAST, 0);
    uint32_t node = w->node_of[g + 1];
    sched_job_requeue(w->sched, g + 1, SCHED_NONE);
    w->node_of[g + 1] = SCHED_NONE;
    uint32_t filler = world_submit(w, &(struct world_job){.queue = "B"});
    world_lease(w, filler, node, 0);
    world_round(w, ROUND_FAST, 1000);
    assert_int_equal(w->leased_count, 0);
    world_end(w, filler);
    world_round(w, ROUND_FAST, 2000);
    assert_int_equal(locality_count_on(w, g, 4, 'b'), 4);
}

/* Without levels only one node is near. */
static void a_cap_in_a_pool_without_levels_asks_for_one_node(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].level_count = 0;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w, &(struct world_node){"b", .cores = 3});
    uint32_t two = locality_submit(w, "two", 2, 4);
    uint32_t four = locality_submit(w, "four", 4, 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 2);
    assert_string_equal(world_node_of(w, two), "a");
    assert_string_equal(world_node_of(w, two + 1), "a");
    world_end(w, four);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
}

static void gangs_without_terms_go_where_they_always_went(void **state)
{
    struct world *w = *state;

    locality_add_tree(w);
    uint32_t g = world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = "g", .cardinality = 4}, 4);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 4);
    assert_int_equal(locality_count_on(w, g, 4, 'a'), 3); /* by name */
}

/* A gang is in one cluster, in the one where it is nearest. */
static void of_clusters_the_one_with_the_lower_level_is_taken(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < 8; i++) {
        static const char *const names[] = {"a1", "a2", "a3", "a4",
                                            "b1", "b2", "b3", "b4"};
        struct label labels[] = {
            {LOCALITY_LEVELS[1], STR("P")},
            {LOCALITY_LEVELS[2], STR("c")},
            {LOCALITY_LEVELS[0], i < 4 && i % 2 ? STR("L1") : STR("L2")}};
        world_node(w, &(struct world_node){names[i], 1,
                                           .executor = i < 4 ? "a" : "b",
                                           .labels = labels, .label_count = 3});
    }
    uint32_t g = locality_submit(w, "g", 4, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(locality_count_on(w, g, 4, 'b'), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(tp_01_the_smallest_leaf_that_holds_it_is_taken),
        SCENARIO(tp_02_five_go_to_the_leaf_of_six),
        SCENARIO(tp_03_seven_go_two_levels_up),
        SCENARIO(tp_04_eight_go_to_the_core),
        SCENARIO(tp_05_what_no_allowed_level_holds_waits_for_topology),
        SCENARIO(tp_06_growth_widens_only_within_the_cap),
        SCENARIO(growth_stays_in_the_domain_as_long_as_it_has_room),
        SCENARIO(tp_06_two_slots_on_one_node_are_no_hops_apart),
        SCENARIO(of_equal_leaves_the_one_with_least_free_is_taken),
        SCENARIO(sub_groups_are_near_each_of_them_alone),
        SCENARIO(a_choice_that_leaves_no_room_is_taken_back),
        SCENARIO(a_cap_ends_after_its_wait),
        SCENARIO(a_cap_holds_again_after_a_loss),
        SCENARIO(a_replacement_stays_within_the_cap_of_what_runs),
        SCENARIO(a_cap_in_a_pool_without_levels_asks_for_one_node),
        SCENARIO(gangs_without_terms_go_where_they_always_went),
        SCENARIO(of_clusters_the_one_with_the_lower_level_is_taken),
    };
    return RUN_TESTS(tests);
}
