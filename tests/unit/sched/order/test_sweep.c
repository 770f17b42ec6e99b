/* Plans that are bounded in their work go on behind where they stopped
 * (sweep.h). */
#include <stdio.h>

#include "world_fixture.h"

enum { STEP_WORK = 32, STEPS = 20 };

/* So many decisions a plan, about. */
static int setup(void **state)
{
    (void)world_setup(state);
    struct world *world = *state;

    world->policy.round_work_max = STEPS * STEP_WORK;
    world_restart(world);
    return 0;
}

/* Jobs that are each a class of its own, and fit nowhere now. */
static uint32_t submit_misfits(struct world *w, uint32_t count)
{
    struct world_job job = {.queue = "A", .cores = 9};
    uint32_t first = w->job_count;

    for (uint32_t i = 0; i < count; i++) {
        job.memory_gb = 1 + i;
        world_submit(w, &job);
    }
    return first;
}

/* Plan until a plan says that there is no more; how often. */
static uint32_t sweep(struct world *w, enum round_kind kind, int64_t now_ms)
{
    uint32_t count = 0;

    do {
        world_round(w, kind, now_ms);
        count++;
        assert_true(count < 1000);
    } while (w->plan.is_truncated);
    return count;
}

/* However much stands before it that finds no place. */
static void what_stands_behind_is_looked_at(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 8, .memory_gb = 500});
    submit_misfits(w, 200);
    uint32_t behind = world_submit(
        w, &(struct world_job){.queue = "A", .priority = 1, .cores = 1});
    world_round(w, ROUND_BALANCE, 0);
    assert_true(w->plan.is_spent && w->plan.is_truncated);
    assert_string_equal(world_node_of(w, behind), "");
    struct sched_explanation why;
    sched_explain(w->sched, behind, 0, &why);
    assert_int_equal(why.wait, SCHED_WAIT_ROUND);
    uint32_t count = 1;
    while (world_node_of(w, behind)[0] == '\0' && count < 100) {
        world_round(w, ROUND_BALANCE, 0);
        count++;
    }
    assert_true(count >= 200 / STEPS);
    assert_true(count <= 200 / STEPS + 2);
}

/* Without news plans come to an end. */
static void sweeps_end(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 8, .memory_gb = 500});
    submit_misfits(w, 100);
    assert_true(sweep(w, ROUND_FAST, 0) > 1);
    world_round(w, ROUND_FAST, 0);
    assert_false(w->plan.is_truncated);
    assert_int_equal(w->plan.counters.steps, 0);
    assert_true(sweep(w, ROUND_BALANCE, 0) > 1);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.counters.steps, 0);
}

/* What has become possible meanwhile is done after the sweep. */
static void room_that_appears_meanwhile_is_used(void **state)
{
    struct world *w = *state;

    world_node(w, &(struct world_node){"n", .cores = 8, .memory_gb = 500});
    uint32_t first = submit_misfits(w, 100);
    world_round(w, ROUND_FAST, 0);
    assert_true(w->plan.is_spent);
    world_node(w, &(struct world_node){"big", .cores = 9, .memory_gb = 1});
    sweep(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, first), "big");
}

/* A pool that takes all the work does not keep others from their turn. */
static void later_pools_have_their_turn(void **state)
{
    struct world *w = *state;
    struct world_job misfit = {.queue = "A", .cores = 9, .pool = "default"};

    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("second");
    w->policy.pool_count = 2;
    world_restart(w);
    world_node(w, &(struct world_node){"n", .cores = 8, .memory_gb = 500});
    world_node(w, &(struct world_node){"m", .cores = 8, .pool = "second"});
    for (uint32_t i = 0; i < 100; i++) {
        misfit.memory_gb = 1 + i;
        world_submit(w, &misfit);
    }
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "B", .pool = "second"});
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, job), "");
    sweep(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, job), "m");
}

/* Gangs without room are passed over, too. */
static void gangs_are_passed_over(void **state)
{
    struct world *w = *state;
    char names[60][3];

    world_node(w, &(struct world_node){"n", .cores = 8});
    for (uint32_t i = 0; i < 60; i++) {
        names[i][0] = (char)('a' + i / 26);
        names[i][1] = (char)('a' + i % 26);
        names[i][2] = '\0';
        world_submit_many(w,
                          &(struct world_job){
                              .queue = "A",
                              .gang = names[i],
                              .cardinality = 9,
                          },
                          9);
    }
    uint32_t behind =
        world_submit(w, &(struct world_job){.queue = "A", .priority = 1});
    assert_true(sweep(w, ROUND_FAST, 0) > 2);
    assert_string_equal(world_node_of(w, behind), "n");
}

/* With jobs of one size the queues end up with what they would without a
 * bound. */
static void sweep_fills_the_pool(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < 8; i++) {
        char name[] = {'n', (char)('0' + i), '\0'};
        world_node(w, &(struct world_node){name, .cores = 8});
    }
    world_submit_many(w, &(struct world_job){.queue = "A", .cores = 2}, 40);
    submit_misfits(w, 60);
    world_submit_many(w, &(struct world_job){.queue = "B", .cores = 2}, 40);
    sweep(w, ROUND_FAST, 0);
    world_round(w, ROUND_BALANCE, 1000);
    sweep(w, ROUND_BALANCE, 1000);
    assert_int_equal(world_running(w, "A"), 16);
    assert_int_equal(world_running(w, "B"), 16);
}

/* A gang of 64 members that are each a class of its own is one decision: a
 * plan does no more beyond its bound than to look at all nodes for each. */
static void one_gang_is_the_most_beyond_the_bound(void **state)
{
    enum { NODES = 100, MEMBERS = 64 };
    struct world *w = *state;
    struct world_job member = {
        .queue = "A", .gang = "g", .cardinality = MEMBERS, .cores = 2};
    char names[NODES][4];

    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        world_node(w, &(struct world_node){names[i],
                                           .cores = i < NODES / 2 ? 2 : 1,
                                           .memory_gb = 200});
    }
    for (uint32_t i = 0; i < MEMBERS; i++) {
        member.memory_gb = 1 + i;
        world_submit(w, &member);
    }
    uint32_t behind =
        world_submit(w, &(struct world_job){.queue = "A", .priority = 1});
    world_round(w, ROUND_FAST, 0);
    assert_true(w->plan.counters.nodes_examined <= NODES * MEMBERS);
    sweep(w, ROUND_FAST, 0);
    assert_string_not_equal(world_node_of(w, behind), "");
}

/* It is left in mid-try once, and then has the time that it needs. */
static void a_gang_that_costs_much_ends_its_plan(void **state)
{
    enum { NODES = 100, MEMBERS = 64 };
    struct world *w = *state;
    struct world_job member = {.queue = "A",
                               .gang = "g",
                               .cardinality = MEMBERS,
                               .uniformity = "rack",
                               .cores = 1,
                               .priority = 1};
    char names[NODES][4];

    world_queue(w, "A", 1);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        world_node(w, &(struct world_node){.name = names[i],
                                           .cores = 2,
                                           .memory_gb = 200,
                                           .label_key = "rack",
                                           .label_value = "r"});
    }
    uint32_t before = world_submit(w, &(struct world_job){.queue = "A"});
    uint32_t gang = w->job_count;
    for (uint32_t i = 0; i < MEMBERS; i++) {
        member.memory_gb = 1 + i;
        world_submit(w, &member);
    }
    world_round(w, ROUND_FAST, 0);
    assert_string_not_equal(world_node_of(w, before), "");
    assert_string_equal(world_node_of(w, gang), "");
    assert_true(w->plan.is_spent);
    assert_true(w->plan.counters.nodes_examined <=
                STEPS * STEP_WORK + 2 * NODES);
    world_round(w, ROUND_FAST, 0);
    assert_string_not_equal(world_node_of(w, gang), "");
}

/* What is admitted is tried first, and yet does not use up plan after plan. */
static void admitted_work_is_tried_once_a_sweep(void **state)
{
    enum { HEADS = 2 * STEPS };
    struct world *w = *state;
    struct world_job head = {
        .queue = "A", .priority_class = "fixed", .cores = 9};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].admitted_window = HEADS;
    w->policy.pools[0].admitted_window_per_queue = HEADS;
    w->policy.round_work_max = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    world_queue(w, "B", 1);
    world_node(w, &(struct world_node){"n", .cores = 10, .memory_gb = 100});
    uint32_t running =
        world_submit(w, &(struct world_job){.queue = "B",
                                            .priority_class = "fixed",
                                            .cores = 6,
                                            .deadline_s = 1000});
    sweep(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, running), "n");
    world_submit_many(w, &head, HEADS);
    sweep(w, ROUND_FAST, 1);
    w->policy.round_work_max = STEPS * STEP_WORK;
    sched_policy_set(w->sched, &w->policy);
    uint32_t behind =
        world_submit(w, &(struct world_job){.queue = "B",
                                            .priority_class = "fixed",
                                            .cores = 1,
                                            .deadline_s = 10});
    world_round(w, ROUND_FAST, 2);
    assert_true(w->plan.is_spent);
    sweep(w, ROUND_FAST, 2);
    assert_string_equal(world_node_of(w, behind), "n");
}

/* What is reserved for one that waits is looked for on all nodes, in each plan,
 * and counts like other looks. */
static void reservations_count_as_work(void **state)
{
    enum { NODES = 100 };
    struct world *w = *state;
    char names[NODES][4];

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.round_work_max = 0;
    world_restart(w);
    world_queue(w, "A", 1);
    for (uint32_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        world_node(w, &(struct world_node){names[i], .cores = 2});
    }
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A", .priority_class = "fixed", .cores = 1},
                      NODES);
    sweep(w, ROUND_FAST, 0);
    uint64_t before = w->plan.counters.nodes_examined;
    world_submit_many(w,
                      &(struct world_job){
                          .queue = "A", .priority_class = "fixed", .cores = 1},
                      NODES);
    world_submit(w, &(struct world_job){
                        .queue = "A", .priority_class = "fixed", .cores = 2});
    world_round(w, ROUND_FAST, 1);
    assert_int_equal(w->plan.decisions[w->plan.decision_count - 1].action,
                     SCHED_ADMIT);
    assert_true(w->plan.counters.nodes_examined >= before + NODES);
}

/* A checkpoint in the middle of a sweep goes on where the sweep stood. */
static void an_open_sweep_is_history(void **state)
{
    struct world *w = *state;
    auto_strbuf before = {0}, after = {0};

    world_queue(w, "A", 1);
    world_node(w, &(struct world_node){"n", .cores = 8, .memory_gb = 100});
    submit_misfits(w, STEPS + STEPS / 2);
    uint32_t behind = world_submit(
        w, &(struct world_job){.queue = "A", .cores = 1, .priority = 9});
    world_round(w, ROUND_FAST, 0);
    assert_true(w->plan.is_spent);
    sched_history_pack(w->sched, &before);
    sched_sweep_reset(w->sched);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)), 0);
    sched_history_pack(w->sched, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
    world_round(w, ROUND_FAST, 0);
    assert_string_equal(world_node_of(w, behind), "n");
}

/* What nobody has is asked for, in amounts that add up to more than a number
 * holds: it waits, and others run. */
static void absurd_requests_stop_nobody(void **state)
{
    struct world *w = *state;
    struct world_job absurd = {.queue = "A", .cores = INT64_MAX / 1000};
    struct sched_gang_miss miss;
    uint32_t look_count = 0;

    world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t job = world_submit_many(w, &absurd, 100);
    absurd.gang = "g";
    absurd.cardinality = 100;
    uint32_t gang = world_submit_many(w, &absurd, 100);
    uint32_t behind =
        world_submit(w, &(struct world_job){.queue = "B", .priority = 1});
    sweep(w, ROUND_FAST, 0);
    world_round(w, ROUND_BALANCE, 0);
    sweep(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, behind), "n");
    assert_int_equal(world_running(w, "A"), 0);
    assert_false(sched_has_place(w->sched, job, &look_count));
    assert_false(sched_gang_may_fit(w->sched, gang, 0, &look_count, &miss));
}

int main(void)
{
#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        SCENARIO(what_stands_behind_is_looked_at),
        SCENARIO(sweeps_end),
        SCENARIO(room_that_appears_meanwhile_is_used),
        SCENARIO(later_pools_have_their_turn),
        SCENARIO(gangs_are_passed_over),
        SCENARIO(sweep_fills_the_pool),
        SCENARIO(one_gang_is_the_most_beyond_the_bound),
        SCENARIO(a_gang_that_costs_much_ends_its_plan),
        SCENARIO(admitted_work_is_tried_once_a_sweep),
        SCENARIO(reservations_count_as_work),
        SCENARIO(an_open_sweep_is_history),
        SCENARIO(absurd_requests_stop_nobody),
    };

    return RUN_TESTS(tests);
}
