/* Pod groups where the network is short (model.md 2.11, TP-01 to TP-06), at the
 * planner. */
#include "sched/topology.h"
#include "world_fixture.h"

/* Leaves L1 (3 slots), L2 (4), L3 (6); P1 = {L1, L2}, P2 = {L3}; one core. */
static const struct str levels[] = {{"leaf", 4}, {"agg", 3}, {"core", 4}};

static void name_levels(struct world *world)
{
    for (size_t l = 0; l < ARRAY_COUNT(levels); l++) {
        world->policy.pools[0].topology[l] = levels[l];
    }
    world->policy.pools[0].level_count = ARRAY_COUNT(levels);
    world_restart(world);
}

static uint32_t add_node(struct world *w, const char *name, int64_t cores,
                         const char *leaf, const char *agg)
{
    struct label labels[] = {{levels[1], str_of(agg)},
                             {levels[2], STR("c")},
                             {levels[0], str_of(leaf)}};

    return world_node(w, &(struct world_node){name, cores, .labels = labels,
                                              .label_count = 3});
}

static void add_tree(struct world *w)
{
    static const char *const nodes[][3] = {
        {"a1", "L1", "P1"}, {"a2", "L1", "P1"}, {"a3", "L1", "P1"},
        {"b1", "L2", "P1"}, {"b2", "L2", "P1"}, {"b3", "L2", "P1"},
        {"b4", "L2", "P1"}, {"c1", "L3", "P2"}, {"c2", "L3", "P2"},
        {"c3", "L3", "P2"}, {"c4", "L3", "P2"}, {"c5", "L3", "P2"},
        {"c6", "L3", "P2"},
    };

    for (size_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        add_node(w, nodes[i][0], 1, nodes[i][1], nodes[i][2]);
    }
}

static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    name_levels(world);
    return 0;
}

static struct gang_terms terms_of(uint32_t min, uint32_t max, uint32_t hops)
{
    return (struct gang_terms){
        .sub_groups = {{STR("w"), min, max, .hops_max = hops}},
        .sub_group_count = 1,
    };
}

static uint32_t submit(struct world *w, const char *id, uint32_t count,
                       uint32_t hops)
{
    struct gang_terms terms = terms_of(count, count, hops);

    return world_submit_group(w, &(struct world_job){.queue = "A", .gang = id},
                              &terms);
}

/* How many of `count` jobs run on nodes whose name begins so. */
static uint32_t count_on(const struct world *w, uint32_t first, uint32_t count,
                         char leaf)
{
    uint32_t found = 0;

    for (uint32_t i = first; i < first + count; i++) {
        found += world_node_of(w, i)[0] == leaf;
    }
    return found;
}

/* The most hops between any two of them. */
static uint32_t hops_of(struct world *w, uint32_t first, uint32_t count)
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

static void tp_01_the_smallest_leaf_that_holds_it_is_taken(void **state)
{
    struct world *w = *state;

    add_tree(w);
    uint32_t g = submit(w, "g", 4, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, g, 4, 'b'), 4);
    assert_int_equal(hops_of(w, g, 4), 2);
}

static void tp_02_five_go_to_the_leaf_of_six(void **state)
{
    struct world *w = *state;

    add_tree(w);
    uint32_t g = submit(w, "g", 5, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, g, 5, 'c'), 5);
}

static void tp_03_seven_go_two_levels_up(void **state)
{
    struct world *w = *state;

    add_tree(w);
    uint32_t g = submit(w, "g", 7, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, g, 7, 'c'), 0);
    assert_int_equal(w->leased_count, 7);
    assert_int_equal(hops_of(w, g, 7), 4);
}

static void tp_04_eight_go_to_the_core(void **state)
{
    struct world *w = *state;

    add_tree(w);
    uint32_t g = submit(w, "g", 8, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 8);
    assert_int_equal(hops_of(w, g, 8), 6);
}

static void tp_05_what_no_allowed_level_holds_waits_for_topology(void **state)
{
    struct world *w = *state;
    static const uint32_t caps[] = {2, 3};

    for (size_t i = 0; i < ARRAY_COUNT(caps); i++) {
        struct sched_explanation e;
        world_restart(w);
        add_tree(w);
        uint32_t seven = submit(w, "seven", 7, caps[i]);
        world_round(w, ROUND_BALANCE, 0);
        assert_int_equal(w->plan.decision_count, 0);
        sched_explain(w->sched, seven, 0, &e);
        assert_int_equal(e.wait, SCHED_WAIT_TOPOLOGY);
        assert_int_equal(e.present, 6);
        assert_int_equal(e.wanted, 7);
        assert_int_equal(e.hops, 2);
        assert_true(str_equal(e.domain, STR("L3")));
        uint32_t six = submit(w, "six", 6, caps[i]);
        world_round(w, ROUND_BALANCE, 1000);
        assert_int_equal(count_on(w, six, 6, 'c'), 6);
    }
}

/* min 4, max 6; those on L2 fill it. */
static void tp_06_growth_widens_only_within_the_cap(void **state)
{
    struct world *w = *state;

    for (uint32_t hops = 2; hops <= 4; hops += 2) {
        struct gang_terms terms = terms_of(4, 6, hops);
        world_restart(w);
        add_tree(w);
        uint32_t g = world_submit_group(
            w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
        world_round(w, ROUND_BALANCE, 0);
        world_round(w, ROUND_BALANCE, 10000);
        assert_int_equal(count_on(w, g, 6, 'b'), 4);
        assert_int_equal(count_on(w, g, 6, 'a'), hops == 2 ? 0 : 2);
        assert_int_equal(count_on(w, g, 6, 'c'), 0);
        assert_true(hops_of(w, g, 4) <= hops);
    }
}

static void growth_stays_in_the_domain_as_long_as_it_has_room(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(3, 7, 4);

    add_tree(w);
    add_node(w, "a0", 1, "L1", "P1"); /* L1 and L2 are of equal size now */
    uint32_t first = world_submit(w, &(struct world_job){.queue = "B"});
    world_lease(w, first, sched_node_index(w->sched, STR("e"), STR("b1")), 0);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0); /* to L2, which has the least room */
    assert_int_equal(count_on(w, g, 7, 'b'), 3);
    world_end(w, first);
    world_round(w, ROUND_BALANCE, 10000);
    assert_int_equal(count_on(w, g, 7, 'b'), 4);
    assert_int_equal(count_on(w, g, 7, 'a'), 3);
}

static void tp_06_two_slots_on_one_node_are_no_hops_apart(void **state)
{
    struct world *w = *state;

    add_tree(w);
    add_node(w, "d1", 2, "L1", "P1");
    uint32_t g = submit(w, "g", 2, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, g), "d1");
    assert_string_equal(world_node_of(w, g + 1), "d1");
    assert_int_equal(hops_of(w, g, 2), 0);
}

static void of_equal_leaves_the_one_with_least_free_is_taken(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A", .gang = "g", .cores = 2};
    struct gang_terms terms = terms_of(2, 2, HOPS_ANY);

    add_node(w, "a1", 3, "L1", "P1");
    add_node(w, "a2", 3, "L1", "P1");
    add_node(w, "b1", 2, "L2", "P1");
    add_node(w, "b2", 2, "L2", "P1");
    uint32_t g = world_submit_group(w, &member, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, g, 2, 'b'), 2);
    member.gang = "h";
    uint32_t h = world_submit_group(w, &member, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, h, 2, 'a'), 2);
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

    add_tree(w);
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 12);
    assert_int_equal(count_on(w, g, 3, 'b'), 3);
    assert_int_equal(count_on(w, g + 3, 3, 'a'), 3);
    assert_int_equal(count_on(w, g + 6, 6, 'c'), 6);
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
    struct label labels[] = {
        {levels[1], STR("P")}, {levels[2], STR("c")}, {levels[0], STR("L1")}};
    struct world_node node = {"a1", 1, .labels = labels, .label_count = 3,
                              .taint = "only-x"};

    /* y may go to b only, and b is the smaller leaf for x too. */
    world_node(w, &node);
    node.name = "a2";
    world_node(w, &node);
    node.name = "a3";
    world_node(w, &node);
    add_node(w, "b1", 1, "L2", "P");
    add_node(w, "b2", 1, "L2", "P");
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
    assert_int_equal(count_on(w, x, 2, 'a'), 2);
    assert_int_equal(count_on(w, y, 2, 'b'), 2);
}

static void a_cap_ends_after_its_wait(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(7, 7, 2);

    terms.sub_groups[0].hops_wait_ms = 60000;
    add_tree(w);
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
    assert_int_equal(hops_of(w, g, 7), 4); /* and no further than it must */
}

/* It waits anew when it lost its places, also for who reads a checkpoint. */
static void a_cap_holds_again_after_a_loss(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(7, 7, 2);
    auto_strbuf history = {0};

    terms.sub_groups[0].hops_wait_ms = 60000;
    add_tree(w);
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
    add_tree(w);
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

    add_tree(w);
    uint32_t g = submit(w, "g", 4, 2);
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
    assert_int_equal(count_on(w, g, 4, 'b'), 4);
}

/* Victims are looked for in one domain, and in the one that costs fewest. */
static void room_is_made_within_one_domain(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(4, 4, 2);

    add_tree(w);
    world_queue(w, "low", 1);
    uint32_t low = world_submit_many(
        w, &(struct world_job){.queue = "low", .priority_class = "low"}, 13);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 13);
    for (uint32_t i = low; i < low + 13; i++) {
        if (strcmp(world_node_of(w, i), "c2") == 0 ||
            strcmp(world_node_of(w, i), "a1") == 0 ||
            strcmp(world_node_of(w, i), "a2") == 0 ||
            strcmp(world_node_of(w, i), "a3") == 0) {
            world_end(w, i);
        }
    }
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(count_on(w, g, 4, 'c'), 4);
}

/* Who loses what goes before how many do: one of class mid is dearer than two
 * of class low. */
static void room_is_made_where_the_least_urgent_go(void **state)
{
    struct world *w = *state;
    uint32_t a1 = add_node(w, "a1", 1, "L1", "P1");
    uint32_t b1 = add_node(w, "b1", 1, "L2", "P1");
    uint32_t b2 = add_node(w, "b2", 1, "L2", "P1");

    (void)add_node(w, "a2", 1, "L1", "P1");
    world_lease(w, world_submit(w, &(struct world_job){.queue = "B"}), a1, 0);
    uint32_t low = world_submit_many(
        w, &(struct world_job){.queue = "B", .priority_class = "low"}, 2);
    world_lease(w, low, b1, 0);
    world_lease(w, low + 1, b2, 0);
    struct gang_terms terms = terms_of(2, 2, 2);
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(count_on(w, g, 2, 'b'), 2);
}

/* Of domains that cost others the same the lower level is taken, though the
 * cap allows the higher one, where members would be spread. */
static void room_is_made_as_near_as_it_costs_no_more(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"b1", "b2", "b3", "c1", "c2"};

    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        uint32_t node =
            add_node(w, names[i], 1, names[i][0] == 'c' ? "L1" : "L2", "P1");
        uint32_t job = world_submit(
            w, &(struct world_job){.queue = "B", .priority_class = "low"});
        world_lease(w, job, node, 0);
    }
    struct gang_terms terms = terms_of(3, 3, 4);
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_BALANCE, 1000);
    assert_int_equal(w->preempted_count, 3);
    assert_int_equal(count_on(w, g, 3, 'b'), 3);
    assert_int_equal(hops_of(w, g, 3), 2);
}

/* Surplus whose class protects it is no room that could be counted
 * beforehand. */
static void room_is_made_where_protected_surplus_goes(void **state)
{
    struct world *w = *state;
    struct gang_terms grown = terms_of(1, 3, HOPS_ANY);
    uint32_t b1 = add_node(w, "b1", 1, "L2", "P1");
    uint32_t b2 = add_node(w, "b2", 1, "L2", "P1");
    uint32_t c1 = add_node(w, "c1", 1, "L3", "P2");
    uint32_t other = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "o", .priority_class = "fixed"},
        &grown);

    world_lease(w, other, c1, 0);
    world_lease(w, other + 1, b1, 0);
    world_lease(w, other + 2, b2, 0);
    struct gang_terms terms = terms_of(2, 2, 2);
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "p", .priority_class = "fixed"},
        &terms);
    world_round(w, ROUND_BALANCE, 1000000);
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(count_on(w, g, 2, 'b'), 2);
}

/* Pods on one node are no hops apart, whatever it is near to. */
static void room_is_made_on_a_node_without_labels(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(2, 2, 2);
    uint32_t u = world_node(w, &(struct world_node){"u", .cores = 2});

    add_tree(w);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "B", .cores = 2}),
                u, 0);
    world_submit_many(
        w, &(struct world_job){.queue = "B", .priority_class = "high"}, 13);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 13);
    uint32_t g = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, g), "u");
    assert_string_equal(world_node_of(w, g + 1), "u");
}

/* Without levels only one node is near. */
static void a_cap_in_a_pool_without_levels_asks_for_one_node(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].level_count = 0;
    world_restart(w);
    world_node(w, &(struct world_node){"a", .cores = 2});
    world_node(w, &(struct world_node){"b", .cores = 3});
    uint32_t two = submit(w, "two", 2, 4);
    uint32_t four = submit(w, "four", 4, 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 2);
    assert_string_equal(world_node_of(w, two), "a");
    assert_string_equal(world_node_of(w, two + 1), "a");
    world_end(w, four);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 0);
}

/* What ends first in one leaf counts, not what ends first anywhere. */
static void a_place_is_reserved_within_one_domain(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(4, 4, 2);
    struct sched_admission admission;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    add_tree(w);
    for (uint32_t i = 0; i < 13; i++) {
        static const char *const names[] = {"a1", "a2", "a3", "b1", "b2",
                                            "b3", "b4", "c1", "c2", "c3",
                                            "c4", "c5", "c6"};
        uint32_t job = world_submit(
            w, &(struct world_job){.queue = "B",
                                   .priority_class = "fixed",
                                   .deadline_s = 10 + 10 * (int64_t)(i % 7)});
        world_lease(w, job,
                    sched_node_index(w->sched, STR("e"), str_of(names[i])), 0);
        (void)sched_job_started(w->sched, job);
    }
    uint32_t g = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .deadline_s = 5},
        &terms);
    world_round(w, ROUND_BALANCE, 1000);
    /* Four of L3 have ended by 40 s; of all nodes four have by 20 s. */
    assert_true(sched_job_admission(w->sched, g, &admission));
    assert_true(admission.start_ms == 40000);
}

static void what_could_never_be_near_enough_is_not_admitted(void **state)
{
    struct world *w = *state;
    struct sched_explanation e;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    add_tree(w);
    uint32_t seven = submit(w, "seven", 7, 2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, seven, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_TOPOLOGY);
    assert_int_equal(e.empty, 6);
}

static void gangs_without_terms_go_where_they_always_went(void **state)
{
    struct world *w = *state;

    add_tree(w);
    uint32_t g = world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = "g", .cardinality = 4}, 4);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 4);
    assert_int_equal(count_on(w, g, 4, 'a'), 3); /* by name */
}

/* A gang is in one cluster, in the one where it is nearest. */
static void of_clusters_the_one_with_the_lower_level_is_taken(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < 8; i++) {
        static const char *const names[] = {"a1", "a2", "a3", "a4",
                                            "b1", "b2", "b3", "b4"};
        struct label labels[] = {
            {levels[1], STR("P")},
            {levels[2], STR("c")},
            {levels[0], i < 4 && i % 2 ? STR("L1") : STR("L2")}};
        world_node(w, &(struct world_node){names[i], 1,
                                           .executor = i < 4 ? "a" : "b",
                                           .labels = labels, .label_count = 3});
    }
    uint32_t g = submit(w, "g", 4, HOPS_ANY);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(count_on(w, g, 4, 'b'), 4);
}

/* What no domain could hold even when empty is told, with the nearest. */

static bool may_fit(struct world *w, uint32_t job, struct sched_gang_miss *miss)
{
    uint32_t look_count = 0;

    *miss = (struct sched_gang_miss){0};
    return sched_gang_may_fit(w->sched, job, &look_count, miss);
}

static void a_cap_that_no_domain_could_meet_is_known(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = terms_of(7, 7, 2);
    struct sched_gang_miss miss;

    add_tree(w);
    submit(w, "all", 13, HOPS_ANY);
    world_round(w, ROUND_FAST, 0); /* all is full, which does not matter */
    assert_true(may_fit(w, submit(w, "six", 6, 2), &miss));
    assert_true(may_fit(w, submit(w, "wide", 7, 4), &miss));
    assert_false(may_fit(w, submit(w, "seven", 7, 3), &miss));
    assert_true(miss.is_too_far);
    assert_int_equal(miss.needed, 7);
    assert_int_equal(miss.count, 6);
    assert_int_equal(miss.hops, 2);
    assert_int_equal(miss.alike, 1);
    assert_true(str_equal(miss.domain, STR("L3")));
    assert_true(str_equal(miss.sub_group, STR("w")));
    assert_false(may_fit(w, submit(w, "pair", 2, 0), &miss));
    assert_true(str_equal(miss.domain, STR("a1"))); /* one node */
    assert_int_equal(miss.hops, 0);
    terms.sub_groups[0].hops_wait_ms = 1000; /* a cap that ends */
    assert_true(may_fit(
        w,
        world_submit_group(w, &(struct world_job){.queue = "A", .gang = "end"},
                           &terms),
        &miss));
    assert_false(may_fit(w, submit(w, "many", 14, 2), &miss));
    assert_false(miss.is_too_far); /* there is no room at all */
    assert_int_equal(miss.count, 13);
}

/* Each has a domain, but not both of them at once. */
static void caps_that_no_domains_meet_together_are_known(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .sub_groups = {{STR("one"), 3, 3, .hops_max = HOPS_ANY},
                       {STR("x"), 5, 5, .hops_max = 2},
                       {STR("y"), 5, 5, .hops_max = 2}},
        .sub_group_count = 3,
    };
    struct world_job job = {.queue = "A", .gang = "g"};
    struct sched_gang_miss miss;

    add_tree(w);
    assert_false(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    assert_true(miss.is_too_far);
    assert_int_equal(miss.needed, 5);
    assert_int_equal(miss.alike, 2);
    assert_int_equal(miss.alike_fit, 1);
    job.gang = "h";
    terms.sub_groups[2].min_count = terms.sub_groups[2].max_count = 4;
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    job.gang = "i"; /* larger than what a half of a domain holds */
    terms.sub_groups[0].min_count = terms.sub_groups[0].max_count = 2;
    terms.sub_groups[1].hops_max = 4;
    terms.sub_groups[2].min_count = terms.sub_groups[2].max_count = 6;
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
}

/* A node serves all sub-groups of one gang, so these need no more of them. */
static void whole_nodes_are_judged_by_what_they_hold(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = {
        .is_whole_node = true,
        .sub_groups = {{STR("x"), 2, 2, .hops_max = HOPS_ANY},
                       {STR("y"), 2, 2, .hops_max = 2}},
        .sub_group_count = 2,
    };
    struct world_job job = {.queue = "A", .gang = "g"};
    struct sched_gang_miss miss;

    add_node(w, "a1", 2, "L1", "P1");
    add_node(w, "a2", 2, "L1", "P1");
    assert_true(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    job.gang = "h";
    job.cores = 2;
    assert_false(may_fit(w, world_submit_group(w, &job, &terms), &miss));
    assert_false(miss.is_too_far);
    assert_int_equal(miss.needed, 4);
    assert_int_equal(miss.count, 2);
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(tp_01_the_smallest_leaf_that_holds_it_is_taken),
        SCENARIO(tp_02_five_go_to_the_leaf_of_six),
        SCENARIO(tp_03_seven_go_two_levels_up),
        SCENARIO(tp_04_eight_go_to_the_core),
        SCENARIO(tp_05_what_no_allowed_level_holds_waits_for_topology),
        SCENARIO(tp_06_growth_widens_only_within_the_cap),
        SCENARIO(growth_stays_in_the_domain_as_long_as_it_has_room),
        SCENARIO(a_place_is_reserved_within_one_domain),
        SCENARIO(what_could_never_be_near_enough_is_not_admitted),
        SCENARIO(tp_06_two_slots_on_one_node_are_no_hops_apart),
        SCENARIO(of_equal_leaves_the_one_with_least_free_is_taken),
        SCENARIO(sub_groups_are_near_each_of_them_alone),
        SCENARIO(a_choice_that_leaves_no_room_is_taken_back),
        SCENARIO(a_cap_ends_after_its_wait),
        SCENARIO(a_cap_holds_again_after_a_loss),
        SCENARIO(a_replacement_stays_within_the_cap_of_what_runs),
        SCENARIO(room_is_made_within_one_domain),
        SCENARIO(room_is_made_where_the_least_urgent_go),
        SCENARIO(room_is_made_as_near_as_it_costs_no_more),
        SCENARIO(room_is_made_where_protected_surplus_goes),
        SCENARIO(room_is_made_on_a_node_without_labels),
        SCENARIO(a_cap_in_a_pool_without_levels_asks_for_one_node),
        SCENARIO(gangs_without_terms_go_where_they_always_went),
        SCENARIO(of_clusters_the_one_with_the_lower_level_is_taken),
        SCENARIO(a_cap_that_no_domain_could_meet_is_known),
        SCENARIO(caps_that_no_domains_meet_together_are_known),
        SCENARIO(whole_nodes_are_judged_by_what_they_hold),
    };
    return RUN_TESTS(tests);
}
