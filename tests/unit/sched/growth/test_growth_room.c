/* Units that make room for one another, and levels that change: scenarios
 * TJ-08, TJ-09, TJ-11, TJ-20 and TJ-21 of model.md section 8; and units at
 * random. */
#include <stdio.h>

#include "units_fixture.h"

static void reclass(struct world *w, uint32_t first,
                    const struct gang_terms *terms, const char *class_name)
{
    for (uint32_t i = first; i < first + terms->sub_groups[0].max_count; i++) {
        w->records[i].priority_class = class_name;
        sched_job_reclass(w->sched, i, world_class(w, &w->records[i]));
    }
}

static void tj_21_a_waiting_unit_starts_by_its_new_level(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 3);

    uint32_t a = units_submit_plain(w, "Q", "a", &terms);
    uint32_t b = units_submit_plain(w, "Q", "b", &terms);
    units_set_cores(w, "n1", 2);
    reclass(w, b, &terms, "high");
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, a, &terms), 0);
    assert_int_equal(units_count_of(w, b, &terms), 2);
    /* What runs is as urgent as its class is. */
    reclass(w, a, &terms, "high");
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    reclass(w, b, &terms, "mid");
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 2);
}

static void tj_21_a_running_unit_has_its_score_by_its_new_level(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 3);

    units_add_levels(w);
    units_set_cores(w, "n1", 4);
    uint32_t a = units_submit_plain(w, "Q", "a", &terms);
    uint32_t b = units_submit_plain(w, "Q", "b", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, b, &terms), 2);
    reclass(w, a, &terms, "w10");
    units_set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 2);
    assert_int_equal(units_count_of(w, b, &terms), 3);
}

static void make_cfs(struct world *w, const char *name)
{
    world_queue_by(w, name, &(struct queue_record){.ordering = QUEUE_BY_CFS});
}

/* u1 of five and u2 of four pods, at least two each; u1 weighs more, so u2 is
 * the rightmost.  They are on nodes of their own, and all is full. */
static void make_two_units(struct world *w, const struct gang_terms *one,
                           const struct gang_terms *two, uint32_t *ret_u1,
                           uint32_t *ret_u2)
{
    units_add_levels(w);
    make_cfs(w, "A");
    units_set_cores(w, "n1", 5);
    *ret_u1 = units_submit(w,
                           &(struct world_job){.queue = "A",
                                               .gang = "u1",
                                               .priority_class = "w10000"},
                           one);
    world_round(w, ROUND_BALANCE, 0);
    units_set_cores(w, "n2", 4);
    *ret_u2 = units_submit_plain(w, "A", "u2", two);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, *ret_u1, one), 5);
    assert_int_equal(units_count_of(w, *ret_u2, two), 4);
}

static void tj_08_the_rightmost_makes_room_for_a_minimum(void **state)
{
    struct world *w = *state;
    struct gang_terms one = units_trainers(2, 5), two = units_trainers(2, 4),
                      four = units_trainers(2, 2);
    uint32_t u1, u2;

    make_two_units(w, &one, &two, &u1, &u2);
    uint32_t u4 = units_submit_plain(w, "A", "u4", &four);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(units_count_of(w, u1, &one), 5);
    assert_int_equal(units_count_of(w, u2, &two), 2);
    assert_int_equal(units_count_of(w, u4, &four), 2);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        assert_int_equal(w->plan.decisions[i].group, 0);
    }
}

static void tj_09_one_after_the_other_makes_room_or_nobody(void **state)
{
    struct world *w = *state;
    struct gang_terms one = units_trainers(2, 5), two = units_trainers(2, 4),
                      four = units_trainers(4, 4), six = units_trainers(6, 6);
    uint32_t u1, u2;

    make_two_units(w, &one, &two, &u1, &u2);
    uint32_t u6 = units_submit_plain(w, "A", "u6", &six);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->preempted_count, 0);
    for (uint32_t i = 0; i < 6; i++) {
        world_end(w, u6 + i);
    }
    uint32_t u4 = units_submit_plain(w, "A", "u4", &four);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(units_count_of(w, u1, &one), 3);
    assert_int_equal(units_count_of(w, u2, &two), 2);
    assert_int_equal(units_count_of(w, u4, &four), 4);
}

static void tj_11_an_elastic_unit_gives_way_at_once(void **state)
{
    struct world *w = *state;
    struct gang_terms a = units_trainers(2, 60), b = units_trainers(2, 2);

    make_cfs(w, "A");
    units_set_cores(w, "n1", 10);
    uint32_t first = units_submit_plain(w, "A", "a", &a);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, first, &a), 10);
    uint32_t second = units_submit_plain(w, "A", "b", &b);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, first, &a), 8);
    assert_int_equal(units_count_of(w, second, &b), 2);
}

/* One slot, an Experiment unit that waits since 0, and a new unit each minute;
 * the minute in which the former starts, or `minutes`. */
static int64_t start_of_experiment(struct world *w, const char *class_name,
                                   int64_t minutes)
{
    struct gang_terms terms = units_trainers(1, 1);
    struct world_job job = {
        .queue = "A", .gang = "old", .priority_class = "w10"};

    units_add_levels(w);
    make_cfs(w, "A");
    units_set_cores(w, "n1", 1);
    uint32_t old = units_submit(w, &job, &terms);
    job.priority_class = class_name;
    for (int64_t minute = 0; minute < minutes; minute++) {
        char name[16];
        snprintf(name, sizeof(name), "u%d", (int)minute);
        job.gang = name;
        job.submitted_ms = minute * 60 * SECOND;
        uint32_t fresh = units_submit(w, &job, &terms);
        world_round(w, ROUND_BALANCE, job.submitted_ms);
        assert_int_equal(w->leased_count, 1);
        if (w->node_of[old] != SCHED_NONE) {
            return minute;
        }
        assert_true(w->node_of[fresh] != SCHED_NONE);
        world_end(w, fresh); /* it ran for its minute */
    }
    return minutes;
}

static void tj_20_experiment_starts_when_it_has_waited_long_enough(void **state)
{
    assert_int_equal(start_of_experiment(*state, "mid", 60), 30);
}

static void tj_20_it_waits_while_there_is_production(void **state)
{
    assert_int_equal(start_of_experiment(*state, "high", 60), 60);
}

/* Gangs that wait are in order whichever way the queue came to be cfs. */
static void a_queue_may_come_to_be_ordered_by_scores(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 1);
    struct world_job job = {
        .queue = "A", .gang = "light", .priority_class = "w10"};

    units_add_levels(w);
    world_queue(w, "A", 1);
    uint32_t light = units_submit(w, &job, &terms);
    uint32_t heavy = units_submit_plain(w, "A", "heavy", &terms);
    struct world_job single = {
        .queue = "A", .priority_class = "w100", .submitted_ms = SECOND};
    uint32_t middle = world_submit(w, &single);
    make_cfs(w, "A");
    for (int i = 0; i < 3; i++) {
        uint32_t next[] = {heavy, middle, light};
        units_set_cores(w, "n1", i + 1);
        world_round(w, ROUND_FAST, SECOND);
        assert_string_equal(world_node_of(w, next[i]), "n1");
    }
    world_queue(w, "A", 1);
    assert_true(sched_is_consistent(w->sched));
}

enum { UNITS = 12, CORES_MAX = 24, STEPS = 60 };

struct unit {
    struct gang_terms terms;
    uint32_t first;
    bool is_there;
    int64_t scaled_ms;
};

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static void note_scaling(const struct world *w, struct unit *units,
                         int64_t now_ms)
{
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *decision = &w->plan.decisions[i];
        for (uint32_t u = 0; decision->is_scaling && u < UNITS; u++) {
            uint32_t count = units[u].terms.sub_groups[0].max_count;
            if (units[u].is_there && decision->job >= units[u].first &&
                decision->job < units[u].first + count) {
                units[u].scaled_ms = now_ms;
            }
        }
    }
}

/* No unit is below its minimum, unless it is nowhere; and those that are would
 * not fit into what is free and what the others can spare. */
static void check_units(const struct world *w, const struct unit *units,
                        int64_t cores, int64_t now_ms)
{
    int64_t room = cores;
    uint32_t least = UINT32_MAX;

    for (uint32_t u = 0; u < UNITS; u++) {
        const struct sub_group *group = &units[u].terms.sub_groups[0];
        uint32_t count = 0;
        if (!units[u].is_there) {
            continue;
        }
        count = units_count_of(w, units[u].first, &units[u].terms);
        assert_true(count == 0 || count >= group->min_count);
        assert_true(count <= group->max_count);
        if (count == 0) {
            least = group->min_count < least ? group->min_count : least;
            continue;
        }
        bool is_frozen = now_ms - units[u].scaled_ms < WINDOW_MS;
        room -= is_frozen ? count : group->min_count;
    }
    assert_true(least == UINT32_MAX || room < (int64_t)least);
}

static void change_unit(struct world *w, struct unit *unit, uint32_t place,
                        uint64_t *seed)
{
    static const char *const ids[UNITS] = {"a", "b", "c", "d", "e", "f",
                                           "g", "h", "i", "j", "k", "l"};
    uint32_t min = 1 + draw(seed, 4);

    if (unit->is_there) {
        for (uint32_t i = 0; i < unit->terms.sub_groups[0].max_count; i++) {
            world_end(w, unit->first + i);
        }
        unit->is_there = false;
        return;
    }
    unit->terms = units_trainers(min, min + draw(seed, 6));
    unit->scaled_ms = -WINDOW_MS;
    unit->is_there = true;
    unit->first = units_submit_plain(w, "A", ids[place], &unit->terms);
}

/* Growth never delays a minimum, but for what is frozen; and a plan that is
 * made again at once has nothing to do. */
static void minimums_come_before_growth(void **state)
{
    struct world *w = *state;

    for (uint64_t round = 1; round <= 40; round++) {
        struct unit units[UNITS] = {0};
        uint64_t seed = round;
        world_restart(w);
        make_cfs(w, "A");
        for (int64_t step = 0; step < STEPS; step++) {
            int64_t now_ms = step * 40 * SECOND;
            uint32_t place = draw(&seed, UNITS);
            change_unit(w, &units[place], place, &seed);
            units_set_cores(w, "n1", CORES_MAX);
            world_round(w, ROUND_BALANCE, now_ms);
            note_scaling(w, units, now_ms);
            check_units(w, units, CORES_MAX, now_ms);
            world_round(w, ROUND_BALANCE, now_ms);
            assert_int_equal(w->leased_count, w->preempted_count);
            note_scaling(w, units, now_ms);
        }
        for (uint32_t u = 0; u < UNITS; u++) {
            if (units[u].is_there) {
                change_unit(w, &units[u], u, &seed);
            }
        }
    }
}

static void a_frozen_group_that_may_go_whole_may_lose_surplus(void **state)
{
    struct world *w = *state;

    /* Its base of two is elsewhere. */
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 2});
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .freezing_window_ms = 300 * SECOND,
    };
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_lease(w, group, m, 0);
    world_lease(w, group + 1, m, 0);
    world_lease(w, group + 2, n, 0);
    sched_gang_scaled(w->sched, group, 1);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->preempted_count, 1);
    assert_string_equal(world_node_of(w, other), "n");
    assert_int_equal(world_running_of(w, group, 2), 2);
}

static void what_is_shed_for_the_load_relieves_it(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 3});
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t single = world_submit(w, &(struct world_job){.queue = "B"});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    world_lease(w, single, m, 0);
    world_lease(w, group, m, 0);
    world_lease(w, group + 1, m, 0);
    world_lease(w, group + 2, n, 0);
    /* The node of the last one counts no more; the other shrank. */
    world_node(w,
               &(struct world_node){"n", .cores = 2, .is_unschedulable = true});
    world_node(w, &(struct world_node){"m", .cores = 2});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].job, group + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(tj_21_a_waiting_unit_starts_by_its_new_level),
        SCENARIO(tj_21_a_running_unit_has_its_score_by_its_new_level),
        SCENARIO(tj_08_the_rightmost_makes_room_for_a_minimum),
        SCENARIO(tj_09_one_after_the_other_makes_room_or_nobody),
        SCENARIO(tj_11_an_elastic_unit_gives_way_at_once),
        SCENARIO(tj_20_experiment_starts_when_it_has_waited_long_enough),
        SCENARIO(tj_20_it_waits_while_there_is_production),
        SCENARIO(a_queue_may_come_to_be_ordered_by_scores),
        SCENARIO(minimums_come_before_growth),
        cmocka_unit_test_setup_teardown(
            a_frozen_group_that_may_go_whole_may_lose_surplus, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(what_is_shed_for_the_load_relieves_it,
                                        world_setup, world_teardown),
    };
    return RUN_TESTS(tests);
}
