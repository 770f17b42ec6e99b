/* Readings of the rules about groups near together, and about their nodes, that
 * the oracle of tests/prop/sched and the planner once differed about. */
#include "sched/state/state.h"
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
        .has_exclusive_nodes = true,
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

enum { SECOND = 1000 };

/* Let what has no room be admitted, and reserved for. */
static void use_window(struct world *w)
{
    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].topology[0] = STR("rack");
    w->policy.pools[0].level_count = 1;
    world_restart(w);
}

/* A job of so many cores that runs there for so long. */
static void run_for(struct world *w, uint32_t node, int64_t cores,
                    int64_t deadline_s)
{
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "B",
                                            .priority_class = "fixed",
                                            .cores = cores,
                                            .deadline_s = deadline_s});

    world_lease(w, job, node, 0);
    sched_job_age_from(w->sched, job, 0);
}

static uint32_t submit_twos(struct world *w, const struct gang_terms *terms)
{
    return world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .cores = 2}, terms);
}

static void assert_promise(const struct world *w, uint32_t job, int64_t at_s)
{
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, job);
    assert_int_equal(w->plan.decisions[0].start_ms, at_s * SECOND);
}

/* A node in no rack is near to itself. */
static void room_on_a_node_of_no_rack_is_reserved(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
    };

    use_window(w);
    add_node(w, "a", 2, "r");
    run_for(w, add_node(w, "n", 4, NULL), 2, 100);
    uint32_t group = submit_twos(w, &terms);
    world_round(w, ROUND_FAST, 1);
    assert_promise(w, group + 1, 100);
}

/* The time is one at which all sub-groups have room within their caps. */
static void several_caps_are_kept_by_a_reservation(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("v"), 2, 2, .hops_max = 0},
                       {STR("w"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
    };

    use_window(w);
    run_for(w, add_node(w, "a", 4, NULL), 2, 100);
    run_for(w, add_node(w, "b", 4, NULL), 2, 200);
    run_for(w, add_node(w, "c", 4, NULL), 2, 200);
    /* Three have room now, but no two on one node. */
    uint32_t group = submit_twos(w, &terms);
    world_round(w, ROUND_FAST, 1);
    assert_promise(w, group + 2, 100);
}

/* It is where the gang would go: on the lowest level that has room then. */
static void what_is_reserved_is_as_near_as_can_be(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = 2}},
        .sub_group_count = 1,
    };

    use_window(w);
    run_for(w, add_node(w, "a1", 2, "r1"), 1, 100);
    run_for(w, add_node(w, "a2", 2, "r1"), 1, 100);
    run_for(w, add_node(w, "b", 4, "r2"), 3, 100);
    uint32_t group = submit_twos(w, &terms);
    world_round(w, ROUND_FAST, 1);
    assert_promise(w, group + 1, 100);
    uint32_t beside =
        world_submit_many(w, &(struct world_job){.queue = "B"}, 2);
    world_round(w, ROUND_FAST, 2);
    assert_string_equal(world_node_of(w, beside), "a1");
    assert_string_equal(world_node_of(w, beside + 1), "a2");
}

/* Its cap lets what comes be as far apart as what runs is, so it is not one
 * that could never start. */
static void what_runs_further_apart_is_reserved_for(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 4, 4, .hops_max = 0}},
        .sub_group_count = 1,
    };

    use_window(w);
    uint32_t a = add_node(w, "a", 2, NULL), b = add_node(w, "b", 2, NULL);
    uint32_t c = add_node(w, "c", 2, NULL), d = add_node(w, "d", 2, NULL);
    uint32_t group = submit_twos(w, &terms);

    world_lease(w, group, a, 0);
    world_lease(w, group + 1, b, 0);
    run_for(w, c, 1, 100);
    run_for(w, d, 1, 200);
    world_round(w, ROUND_FAST, 1);
    assert_promise(w, group + 3, 200);
}

/* Where one part could go in many ways and another has room at the end only,
 * each way is tried at each time, as long as that costs others little. */
static void what_is_reserved_for_costs_little(void **state)
{
    enum { NODES = 40, CORES = 80, LONG_S = 1000, BYTES_MAX = 64 << 20 };
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("v"), 2, 2, .hops_max = 0},
                       {STR("w"), 310, 310, .hops_max = 2}},
        .sub_group_count = 2,
    };
    char rack[] = "r0", name[] = "n00";

    use_window(w);
    for (int i = 0; i < NODES; i++) {
        rack[1] = (char)('0' + i / 4);
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        uint32_t node = add_node(w, name, CORES, rack);
        for (int k = 0; k < CORES; k++) {
            run_for(w, node, 1, LONG_S);
            sched_job_age_from(w->sched, (uint32_t)(i * CORES + k),
                               k * NODES + i);
        }
    }
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .deadline_s = 5},
        &terms);
    world_round(w, ROUND_FAST, 1);
    struct sched_admission admission;
    assert_true(sched_job_admission(w->sched, group, &admission));
    /* All but ten cores of the first rack are free then. */
    assert_true(admission.start_ms == LONG_S * 1000 + 77 * NODES + 1);
    print_message("%zu\n", w->sched->arena.byte_count);
    assert_true(w->sched->arena.byte_count < BYTES_MAX);
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
        add_node(w, name, 1, rack);
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
        run_low(w, world_node(w, &node), 1);
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

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(of_covers_that_cost_the_same_names_decide),
        SCENARIO(what_has_room_is_near_while_others_make_way),
        SCENARIO(what_is_best_for_one_part_is_not_kept_from_another),
        SCENARIO(exclusive_nodes_near_together_are_cleared),
        SCENARIO(a_member_comes_as_near_as_it_costs_no_more),
        SCENARIO(room_on_a_node_of_no_rack_is_reserved),
        SCENARIO(several_caps_are_kept_by_a_reservation),
        SCENARIO(what_is_reserved_is_as_near_as_can_be),
        SCENARIO(what_runs_further_apart_is_reserved_for),
        SCENARIO(what_is_reserved_for_costs_little),
        SCENARIO(growth_by_whole_nodes_costs_little),
        SCENARIO(values_that_could_not_hold_a_gang_cost_little),
        SCENARIO(a_value_far_down_is_found),
    };

    return RUN_TESTS(tests);
}
