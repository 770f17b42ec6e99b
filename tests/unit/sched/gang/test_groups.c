/* Gangs with terms: sub-groups that have minimums and may grow (model.md
 * 2.11, PG-01 to PG-07), at the planner. */
#include "world_fixture.h"

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
    world_round(w, ROUND_FAST, 0);
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

/* Nodes of one slot, or one of all. */
static void make_slots(struct world *w, uint32_t count, bool is_one)
{
    static const char *const names[] = {"s01", "s02", "s03", "s04", "s05",
                                        "s06", "s07", "s08", "s09", "s10"};

    if (is_one) {
        world_node(w, &(struct world_node){"all", .cores = count});
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        world_node(w, &(struct world_node){names[i], .cores = 1});
    }
}

/* 1 + 6 of a group run on seven slots. */
static uint32_t run_group(struct world *w, const struct gang_terms *terms,
                          bool is_one)
{
    make_slots(w, 7, is_one);
    uint32_t group = submit_group(w, "A", "g", terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 7), 7);
    return group;
}

static uint32_t submit_gang(struct world *w, const char *queue, uint32_t count)
{
    return world_submit_many(w,
                             &(struct world_job){.queue = queue,
                                                 .gang = "other",
                                                 .cardinality = count},
                             count);
}

static void pg_02_a_group_grows_up_to_its_maximum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    make_slots(w, 7, false);
    uint32_t group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 6);
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 20});
    group = submit_group(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group + COORD, 1), 1);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 8);
}

static void pg_03_all_minimums_come_before_any_surplus(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    world_node(w, &(struct world_node){"n", .cores = 12});
    world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_BALANCE, 0); /* so that A has more */
    uint32_t first = submit_group(w, "A", "g", &terms);
    uint32_t second = submit_group(w, "B", "h", &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, first, MEMBERS), 5);
    assert_int_equal(world_running_of(w, second, MEMBERS), 6);
    for (uint32_t i = 0; i < 10; i++) {
        assert_false(w->plan.decisions[i].is_scaling);
        assert_int_equal(w->plan.decisions[i].group, i / 5);
    }
}

static void pg_07_a_group_grows_again(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    uint32_t group = run_group(w, &terms, false);
    uint32_t other = submit_gang(w, "B", 2);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, MEMBERS), 5);
    world_end(w, other);
    world_end(w, other + 1);
    world_round(w, ROUND_BALANCE, 5001);
    assert_int_equal(world_running_of(w, group + WORKERS, 8), 6);
}

static void pg_04_surplus_makes_room_for_a_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        uint32_t other = submit_gang(w, "B", 2);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(w->preempted_count, 2);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 2);
        assert_int_equal(world_running_of(w, other, 2), 2);
        assert_int_equal(world_running_of(w, group, 5), 5);
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->plan.decision_count, 0);
    }
}

static void surplus_makes_room_for_a_single_job(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        world_submit_many(w, &(struct world_job){.queue = "B"}, 2);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 2);
        assert_int_equal(world_running(w, "B"), 2);
        assert_int_equal(world_running_of(w, group, 5), 5);
        /* That of its own queue, too; but not for what is less urgent. */
        world_restart(w);
        group = run_group(w, &terms, is_one);
        world_submit(w, &(struct world_job){.queue = "A"});
        world_submit(
            w, &(struct world_job){.queue = "B", .priority_class = "low"});
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(world_count_preempted(w, SCHED_PREEMPT_SURPLUS), 1);
        assert_int_equal(world_running_of(w, group, 6), 6);
    }
}

static void pg_05_a_group_is_never_left_below_its_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_one = 0; is_one < 2; is_one++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, is_one);
        uint32_t other = submit_gang(w, "B", 3);
        world_round(w, ROUND_BALANCE, 1);
        assert_int_equal(w->preempted_count, 7);
        assert_int_equal(world_running_of(w, other, 3), 3);
        assert_int_equal(world_running_of(w, group, 9), 0);
        /* Four places are too few for what waits again; five are enough. */
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->plan.decision_count, 0);
        world_end(w, other);
        world_round(w, ROUND_BALANCE, 3);
        assert_int_equal(world_running_of(w, group, 9), 5);
    }
    world_restart(w);
    uint32_t group = run_group(w, &terms, true);
    world_submit(w, &(struct world_job){.queue = "B", .cores = 3});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->preempted_count, 7);
    assert_int_equal(world_running_of(w, group, 9), 0);
}

static void pg_06_a_victim_that_breaks_no_group_is_better(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    for (int is_gang = 0; is_gang < 2; is_gang++) {
        world_restart(w);
        uint32_t group = run_group(w, &terms, true);
        world_node(w, &(struct world_node){"z", .cores = 3});
        uint32_t single =
            world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
        world_round(w, ROUND_BALANCE, 1);
        assert_string_equal(world_node_of(w, single), "z");
        uint32_t other = is_gang
                             ? submit_gang(w, "B", 3)
                             : world_submit(w, &(struct world_job){.queue = "B",
                                                                   .cores = 3});
        world_round(w, ROUND_BALANCE, 2);
        assert_int_equal(w->preempted_count, 1);
        assert_int_equal(world_running_of(w, group, 7), 7);
        assert_int_equal(world_running_of(w, single, 1), 0);
        assert_int_equal(world_running_of(w, other, is_gang ? 3 : 1),
                         is_gang ? 3 : 1);
    }
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(pg_01_a_group_starts_with_its_minimum_or_not_at_all),
        SCENARIO(what_is_above_the_minimum_waits_and_is_not_failed),
        SCENARIO(a_group_asks_for_just_what_it_lost),
        SCENARIO(what_has_succeeded_counts_for_the_minimum),
        SCENARIO(pg_02_a_group_grows_up_to_its_maximum),
        SCENARIO(pg_03_all_minimums_come_before_any_surplus),
        SCENARIO(pg_07_a_group_grows_again),
        SCENARIO(pg_04_surplus_makes_room_for_a_minimum),
        SCENARIO(surplus_makes_room_for_a_single_job),
        SCENARIO(pg_05_a_group_is_never_left_below_its_minimum),
        SCENARIO(pg_06_a_victim_that_breaks_no_group_is_better),
    };

    return RUN_TESTS(tests);
}
