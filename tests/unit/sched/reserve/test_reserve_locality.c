/* What is reserved for gangs near together (model.md 2.11): found by the oracle
 * of tests/prop/sched. */
#include "rack_fixture.h"
#include "sched/state/state.h"

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
    rack_add_node(w, "a", 2, "r");
    run_for(w, rack_add_node(w, "n", 4, NULL), 2, 100);
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
    run_for(w, rack_add_node(w, "a", 4, NULL), 2, 100);
    run_for(w, rack_add_node(w, "b", 4, NULL), 2, 200);
    run_for(w, rack_add_node(w, "c", 4, NULL), 2, 200);
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
    run_for(w, rack_add_node(w, "a1", 2, "r1"), 1, 100);
    run_for(w, rack_add_node(w, "a2", 2, "r1"), 1, 100);
    run_for(w, rack_add_node(w, "b", 4, "r2"), 3, 100);
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
    uint32_t a = rack_add_node(w, "a", 2, NULL),
             b = rack_add_node(w, "b", 2, NULL);
    uint32_t c = rack_add_node(w, "c", 2, NULL),
             d = rack_add_node(w, "d", 2, NULL);
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
        uint32_t node = rack_add_node(w, name, CORES, rack);
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
    assert_true(w->sched->arena.byte_count < BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RACK_SCENARIO(room_on_a_node_of_no_rack_is_reserved),
        RACK_SCENARIO(several_caps_are_kept_by_a_reservation),
        RACK_SCENARIO(what_is_reserved_is_as_near_as_can_be),
        RACK_SCENARIO(what_runs_further_apart_is_reserved_for),
        RACK_SCENARIO(what_is_reserved_for_costs_little),
    };

    return RUN_TESTS(tests);
}
