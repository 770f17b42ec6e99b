/* Admitted gangs, and what is reserved for them. */
#include <stdio.h>

#include "reserve_fixture.h"

static uint32_t submit_gang(struct world *w, const char *queue,
                            const char *gang, uint32_t members, int64_t cores,
                            int64_t deadline_s)
{
    return world_submit_many(w,
                             &(struct world_job){.queue = queue,
                                                 .priority_class = "fixed",
                                                 .gang = gang,
                                                 .cardinality = members,
                                                 .cores = cores,
                                                 .deadline_s = deadline_s,
                                                 .submitted_ms = w->job_count},
                             members);
}

/* Nodes of 4: 40, 50 and 60 s are how long they are full; the fourth is half
 * free for ever. */
static uint32_t make_gang_world(struct world *w, const char *label)
{
    static const char *const NAMES[] = {"n0", "n1", "n2", "n3"};
    static const char *const VALUES[] = {"x", "y", "x", "y"};

    for (uint32_t i = 0; i < 4; i++) {
        world_node(
            w, &(struct world_node){NAMES[i], .cores = 4, .label_key = label,
                                    .label_value = label ? VALUES[i] : NULL});
        uint32_t job = reserve_submit(w, "A", i == 3 ? 2 : 4,
                                      i == 3 ? 0 : 40 + 10 * (int64_t)i, 0);
        world_lease(w, job, i, 0);
        (void)sched_job_started(w->sched, job);
    }
    return 4;
}

static void reserves_for_all_of_a_gang(void **state)
{
    struct world *w = *state;

    make_gang_world(w, NULL);
    uint32_t gang = submit_gang(w, "H", "g", 3, 3, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, gang), 60 * S);
    /* On n3 there is room beside the gang, which does not use it. */
    uint32_t beside = reserve_submit(w, "Z", 2, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, beside), "n3");
    world_end(w, 0);
    world_round(w, ROUND_BALANCE, 10 * S);
    assert_true(reserve_passes(w, 1, 0, 0)); /* 4 - 3 are left on n0 */
    assert_false(reserve_passes(w, 2, 0, 0));
    world_end(w, 1);
    world_end(w, 2);
    world_round(w, ROUND_BALANCE, 20 * S);
    assert_true(reserve_runs(w, gang) && reserve_runs(w, gang + 1) &&
                reserve_runs(w, gang + 2));
    assert_true(sched_is_consistent(w->sched));
}

static void reserves_within_one_value_of_the_gangs_label(void **state)
{
    struct world *w = *state;

    make_gang_world(w, "rack");
    uint32_t gang =
        world_submit_many(w,
                          &(struct world_job){.queue = "H",
                                              .priority_class = "fixed",
                                              .gang = "g",
                                              .cardinality = 2,
                                              .cores = 3,
                                              .uniformity = "rack"},
                          2);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, gang), 60 * S); /* n0 and n2 */
    world_end(w, 1);
    assert_true(reserve_passes(w, 4, 0, 0)); /* n1 is not reserved */
    assert_false(reserve_runs(w, gang));
}

/* A gang of `count` members, each a class of its own. */
static uint32_t submit_motley_gang(struct world *w, uint32_t count)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = world_submit(w, &(struct world_job){
                                           .queue = "H",
                                           .priority_class = "fixed",
                                           .gang = "g",
                                           .cardinality = count,
                                           .cores = 3,
                                           .memory_gb = 1 + (int64_t)i,
                                       });
        first = i == 0 ? job : first;
    }
    return first;
}

static void reserves_for_a_gang_of_unlike_members(void **state)
{
    struct world *w = *state;

    make_gang_world(w, NULL);
    uint32_t gang = submit_motley_gang(w, 3);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, gang), 60 * S);
    world_end(w, 0);
    world_end(w, 1);
    world_end(w, 2);
    world_round(w, ROUND_BALANCE, 20 * S);
    assert_true(reserve_runs(w, gang) && reserve_runs(w, gang + 1) &&
                reserve_runs(w, gang + 2));
}

/* To look at every node for every kind of member would hold all others up. */
static void a_gang_of_too_many_kinds_gets_no_reservation(void **state)
{
    enum { NODES = 1400, KINDS = 400 };
    static char names[NODES][8];
    struct world *w = *state;

    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "m%u", i);
        uint32_t node =
            world_node(w, &(struct world_node){
                              .name = names[i], .cores = 4, .memory_gb = 1000});
        uint32_t job = reserve_submit(w, "A", 4, 60, 0);
        world_lease(w, job, node, 0);
    }
    uint32_t gang = submit_motley_gang(w, KINDS);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(w->plan.decision_count == 0);
    assert_false(reserve_runs(w, gang));
    struct sched_admission admission;
    assert_false(sched_job_admission(w->sched, gang, &admission));
}

static void a_gang_that_breaks_up_leaves_the_list(void **state)
{
    struct world *w = *state;
    struct sched_admission ignored;

    make_gang_world(w, NULL);
    uint32_t gang = submit_gang(w, "H", "g", 3, 3, 0);
    uint32_t next = reserve_submit(w, "H", 3, 0, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(sched_job_admission(w->sched, gang, &ignored));
    world_end(w, gang + 1);
    assert_false(sched_job_admission(w->sched, gang, &ignored));
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(reserve_promise(w, next), 40 * S);
}

/* Where the queue's rate holds an admitted gang back, it holds back what stands
 * behind it too, though a single job could start. */
static void a_gang_waits_for_its_queues_rate(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "A",
                               .priority_class = "fixed",
                               .cores = 3,
                               .deadline_s = 100,
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2};

    w->policy.rate_per_queue =
        (struct rate_limit){.rate_milli_per_s = 100, .burst = 3};
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 6});
    world_node(w, &(struct world_node){"s", .cores = 1});
    reserve_submit(w, "A", 2, 100, 0);
    world_round(w, ROUND_BALANCE, 0);
    uint32_t gang = world_submit_many(w, &member, 2);
    uint32_t small = reserve_submit(w, "A", 1, 10, 0);
    world_round(w, ROUND_BALANCE, 0);
    assert_true(reserve_promise(w, gang) > 0);
    assert_true(reserve_runs(w, small));
    uint32_t last = reserve_submit(w, "A", 1, 10, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_false(reserve_runs(w, last));
    assert_true(reserve_promise(w, gang) > 0);
}

/* Memory is short where the cores would be, though the gang asks for none: it
 * has no room there now, but may have when the other ends. */
static void a_node_that_shrank_keeps_no_gang_from_its_reservation(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 4, .memory_gb = 4});
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "fixed", .memory_gb = 4});
    world_lease(w, other, node, 0);
    world_node(w, &(struct world_node){"n", .cores = 4, .memory_gb = 1});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .cores = 3}, &terms);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, group);
}

enum { SECOND = 1000 };

/* As long as it has a node whole nobody else may come there, so one pod more of
 * it is nothing that goes beside who waits for the node. */
static void a_group_keeps_no_node_beyond_who_waits_for_it(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };
    const struct world_job member = {.queue = "A",
                                     .gang = "g",
                                     .priority_class = "fixed",
                                     .cores = 2,
                                     .deadline_s = 100};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 7});
    uint32_t group = world_submit_group(w, &member, &terms);
    world_lease(w, group, node, 0);
    sched_job_age_from(w->sched, group, 0);
    uint32_t head = world_submit(
        w, &(struct world_job){
               .queue = "B", .priority_class = "fixed", .cores = 3});
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, head);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    world_end(w, group);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_string_equal(world_node_of(w, head), "n");
}

/* A reservation is where a gang would go (model.md 2.9): by the cover, not to
 * the smallest nodes one after the other. */
static void exclusive_nodes_are_reserved_by_the_cover(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t large = world_node(w, &(struct world_node){"large", .cores = 4});
    world_node(w, &(struct world_node){"small", .cores = 3});
    uint32_t first =
        world_submit(w, &(struct world_job){.queue = "A", .deadline_s = 100});
    world_lease(w, first, large, 0);
    sched_job_age_from(w->sched, first, 0);
    /* Both pods go to the large node; one on each would cost seven cores. */
    world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "g", .cores = 2}, &terms);
    world_round(w, ROUND_FAST, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    uint32_t beside = world_submit(w, &(struct world_job){.queue = "A"});
    world_round(w, ROUND_FAST, 20 * SECOND);
    assert_string_equal(world_node_of(w, beside), "small");
}

/* What is more urgent than who waits for a node may have it whole. */
static void an_urgent_group_has_a_reserved_node_whole(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
        .has_exclusive_nodes = true,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 2});
    world_node(w, &(struct world_node){"m", .cores = 2});
    uint32_t first =
        world_submit(w, &(struct world_job){.queue = "A",
                                            .priority_class = "fixed",
                                            .deadline_s = 100,
                                            .cores = 2});
    world_lease(w, first, n, 0);
    sched_job_age_from(w->sched, first, 0);
    /* It waits for both nodes. */
    world_submit_many(w,
                      &(struct world_job){.queue = "B",
                                          .gang = "b",
                                          .cardinality = 2,
                                          .minimum = 2,
                                          .cores = 2},
                      2);
    world_round(w, ROUND_FAST, 10 * SECOND);
    assert_int_equal(w->plan.decisions[0].start_ms, 100 * SECOND);
    uint32_t urgent = world_submit_group(
        w,
        &(struct world_job){
            .queue = "C", .gang = "g", .priority_class = "high"},
        &terms);
    world_round(w, ROUND_FAST, 20 * SECOND);
    assert_string_equal(world_node_of(w, urgent), "m");
}

/* What is admitted counts in its queue also after a try for it was undone
 * (model.md 6.2: u_all). */
static void an_admitted_gang_counts_after_a_try(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t a = world_node(w, &(struct world_node){"a", .cores = 4});
    uint32_t b = world_node(w, &(struct world_node){"b", .cores = 4});
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 4, .priority_class = "low"});
    uint32_t fixed = world_submit(
        w, &(struct world_job){
               .queue = "R", .cores = 4, .priority_class = "fixed"});
    world_lease(w, low, a, 0);
    world_lease(w, fixed, b, 0);
    world_submit_many(w,
                      &(struct world_job){.queue = "Q",
                                          .cores = 4,
                                          .gang = "g",
                                          .cardinality = 2,
                                          .minimum = 2},
                      2);
    world_round(w, ROUND_FAST, 0); /* the gang is admitted */
    world_node(w, &(struct world_node){"c", .cores = 1});
    world_submit(w, &(struct world_job){.queue = "Q", .submitted_ms = 1});
    uint32_t hungry =
        world_submit(w, &(struct world_job){.queue = "R", .submitted_ms = 1});
    world_round(w, ROUND_BALANCE, 1);
    assert_string_equal(world_node_of(w, hungry), "c");
}

/* The promise of a gang of two unlike members, where so many runs end at 30 on
 * the node on which another ends at 60; from 90 on there is room anyway. */
static int64_t promise_where_parts_end_at_30(struct world *w, int part_count)
{
    struct sched_admission admission;
    struct world_job run = {
        .queue = "Q", .priority_class = "fixed", .deadline_s = 30};
    struct world_job member = {.queue = "Q",
                               .gang = "g",
                               .cardinality = 2,
                               .minimum = 2,
                               .memory_gb = 1};

    world_queue(w, "Q", 1);
    uint32_t a =
        world_node(w, &(struct world_node){"a", .cores = 6, .memory_gb = 8});
    uint32_t b =
        world_node(w, &(struct world_node){"b", .cores = 4, .memory_gb = 4});
    for (int i = 0; i < part_count; i++) {
        run.cores = 2 / part_count;
        world_lease(w, world_submit(w, &run), a, 0);
    }
    run = (struct world_job){
        .queue = "Q", .priority_class = "fixed", .cores = 2, .deadline_s = 60};
    world_lease(w, world_submit(w, &run), a, 0);
    run.deadline_s = 90;
    run.memory_gb = 1;
    world_lease(w, world_submit(w, &run), b, 0);
    run.deadline_s = 0;
    run.memory_gb = 6;
    world_lease(w, world_submit(w, &run), a, 0);
    (void)world_submit(w, &member);
    member.memory_gb = 3;
    member.submitted_ms = 1;
    uint32_t last = world_submit(w, &member);
    world_round(w, ROUND_FAST, 0);
    assert_true(sched_job_admission(w->sched, last, &admission));
    return admission.start_ms;
}

/* Unlike members may have room at one moment and none at a later one: the first
 * such moment is promised, however many things end then (model.md 2.9). */
static void an_unlike_gang_is_promised_the_first_moment(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    assert_int_equal(promise_where_parts_end_at_30(w, 1), 30000);
    world_restart(w);
    assert_int_equal(promise_where_parts_end_at_30(w, 2), 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(reserves_for_all_of_a_gang),
        SCENARIO(reserves_within_one_value_of_the_gangs_label),
        SCENARIO(reserves_for_a_gang_of_unlike_members),
        SCENARIO(a_gang_of_too_many_kinds_gets_no_reservation),
        SCENARIO(a_gang_that_breaks_up_leaves_the_list),
        SCENARIO(a_gang_waits_for_its_queues_rate),
        cmocka_unit_test_setup_teardown(
            a_node_that_shrank_keeps_no_gang_from_its_reservation, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            a_group_keeps_no_node_beyond_who_waits_for_it, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            exclusive_nodes_are_reserved_by_the_cover, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            an_urgent_group_has_a_reserved_node_whole, world_setup,
            world_teardown),
        SCENARIO(an_admitted_gang_counts_after_a_try),
        SCENARIO(an_unlike_gang_is_promised_the_first_moment),
    };

    return RUN_TESTS(tests);
}
