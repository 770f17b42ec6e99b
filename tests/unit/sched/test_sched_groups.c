/* Gangs with terms: sub-groups that have minimums and may grow (model.md
 * 2.11, PG-01 to PG-07), at the planner. */
#include "unit.h"
#include "world.h"

static int setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    *state = world;
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;

    assert_true(sched_is_consistent(world->sched));
    world_fini(world);
    mem_free(world);
    return 0;
}

enum { COORD = 0, WORKERS = 1, MEMBERS = 9 }; /* handles within a group */

/* coord 1..1, workers 4..8. */
static struct gang_terms group_terms(void)
{
    return (struct gang_terms){
        .sub_groups =
            {
                {STR("coord"), 1, 1, .hops_max = HOPS_ANY},
                {STR("workers"), 4, 8, .hops_max = HOPS_ANY},
            },
        .sub_group_count = 2,
    };
}

static uint32_t submit_group(struct world *w, const char *queue, const char *id,
                             const struct gang_terms *terms)
{
    return world_submit_group(
        w, &(struct world_job){.queue = queue, .gang = id}, terms);
}

static void pg_01_a_group_starts_with_its_minimum_or_not_at_all(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n1", .cores = 4});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    world_node(w, &(struct world_node){"n1", .cores = 5});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 5);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 4), 4);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(w->plan.decisions[i].group, 0);
    }
}

static void what_is_above_the_minimum_waits_and_is_not_failed(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();
    struct sched_explanation e;
    struct sched_queue_stats stats;

    world_node(w, &(struct world_node){"n1", .cores = 5});
    uint32_t group = submit_group(w, "A", "g", &terms);
    sched_queue_stats(w->sched, 0, 0, &stats);
    assert_int_equal(stats.demand.v[CPU], 5000);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
    sched_explain(w->sched, group + MEMBERS - 1, 0, &e);
    assert_int_equal(e.wait, SCHED_WAIT_GROWTH);
    assert_int_equal(e.present, 5);
    assert_int_equal(e.wanted, 9);
    sched_queue_stats(w->sched, 0, 0, &stats);
    assert_int_equal(stats.demand.v[CPU], 5000);
}

static void a_group_asks_for_just_what_it_lost(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n1", .cores = 5});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    world_end(w, group + WORKERS + 2);
    world_node(w, &(struct world_node){"n1", .cores = 9});
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 1);
    assert_int_equal(world_running_of(w, group + WORKERS + 4, 1), 1);
}

static void what_has_succeeded_counts_for_the_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();
    auto_strbuf history = {0};

    world_node(w, &(struct world_node){"n1", .cores = 9});
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    sched_job_succeeded(w->sched, group + WORKERS);
    world_end(w, group + WORKERS);
    sched_history_pack(w->sched, &history);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->plan.decision_count, 0);
}

#define SCENARIO(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(pg_01_a_group_starts_with_its_minimum_or_not_at_all),
        SCENARIO(what_is_above_the_minimum_waits_and_is_not_failed),
        SCENARIO(a_group_asks_for_just_what_it_lost),
        SCENARIO(what_has_succeeded_counts_for_the_minimum),
    };

    return RUN_TESTS(tests);
}
