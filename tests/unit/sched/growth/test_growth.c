/* Who grows first, when, and what growth gives way to: scenarios PG-02, PG-03,
 * TJ-07, TJ-10, TJ-12, TJ-13, TJ-22, UM-06 and UM-10 of model.md section 8. */
#include "units_fixture.h"

/* PodGroups: coord 1..1, workers 4..8. */
static struct gang_terms group_terms(void)
{
    return (struct gang_terms){
        .sub_groups = {{STR("coord"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("workers"), 4, 8, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
    };
}

static void pg_02_a_group_grows_into_what_is_free(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    units_set_cores(w, "n1", 7);
    uint32_t group = units_submit_plain(w, "A", "g", &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(world_running_of(w, group, 1), 1);
    assert_int_equal(world_running_of(w, group + 1, 8), 6);
    assert_int_equal(world_running_of(w, group + 1, 6), 6);
    units_set_cores(w, "n1", 20);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, group + 1, 8), 8);
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    assert_int_equal(w->plan.next_wake_ms, INT64_MAX);
}

static void pg_03_minimums_first_then_the_queue_of_the_lower_flow(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = group_terms();

    units_set_cores(w, "n1", 14);
    w->policy.pools[0].half_time_ms = 600 * SECOND;
    world_restart(w);
    units_set_cores(w, "n1", 14);
    /* A's flow stays above B's for a while. */
    uint32_t past = world_submit_many(w, &(struct world_job){.queue = "A"}, 14);
    world_round(w, ROUND_BALANCE, 0);
    for (uint32_t i = 0; i < 14; i++) {
        world_end(w, past + i);
    }
    units_set_cores(w, "n1", 11);
    uint32_t a = units_submit_plain(w, "A", "a", &terms);
    uint32_t b = units_submit_plain(w, "B", "b", &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(world_running_of(w, a, 9), 5);
    assert_int_equal(world_running_of(w, b, 9), 6);
    for (uint32_t i = 0; i < 10; i++) {
        assert_true(w->plan.decisions[i].group < 2);
    }
}

/* Within a queue: round and round, from the left; all of one unit stands
 * together in the plan. */
static void tj_07_growth_goes_round_from_the_left(void **state)
{
    struct world *w = *state;
    struct gang_terms one = units_trainers(2, 5), two = units_trainers(2, 3),
                      three = units_trainers(3, 4);

    units_add_levels(w);
    units_set_cores(w, "n1", 4);
    uint32_t u1 = units_submit(w,
                               &(struct world_job){.queue = "A",
                                                   .gang = "u1",
                                                   .priority_class = "w10000"},
                               &one);
    uint32_t u2 = units_submit_plain(w, "A", "u2", &two);
    world_round(w, ROUND_BALANCE, 0);
    units_set_cores(w, "n1", 10);
    uint32_t u3 = units_submit_plain(w, "A", "u3", &three);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->leased_count, 6);
    assert_int_equal(units_count_of(w, u3, &three), 4);
    assert_int_equal(units_count_of(w, u1, &one), 3);
    assert_int_equal(units_count_of(w, u2, &two), 3);
}

/* What is left of two units of different weights gets what is free. */
static void tj_22_offline_grows_before_experiment(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 4);

    units_add_levels(w);
    units_set_cores(w, "n1", 4);
    struct world_job job = {.queue = "A", .gang = "x", .priority_class = "w10"};
    uint32_t experiment = units_submit(w, &job, &terms);
    job.gang = "o";
    job.priority_class = "w100";
    uint32_t offline = units_submit(w, &job, &terms);
    world_round(w, ROUND_BALANCE, 0);
    units_set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(units_count_of(w, experiment, &terms), 2);
    assert_int_equal(units_count_of(w, offline, &terms), 3);
}

/* Two units; one has run ten times as long as the other, per weight. */
static void tj_10_one_pod_moves_then_both_are_frozen(void **state)
{
    struct world *w = *state;
    struct gang_terms left = units_trainers(2, 5), right = units_trainers(2, 4);

    units_add_levels(w);
    units_set_cores(w, "n1", 4);
    uint32_t u2 = units_submit_plain(w, "A", "u2", &right);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, u2, &right), 4);
    units_set_cores(w, "n1", 6);
    uint32_t u1 = units_submit(w,
                               &(struct world_job){.queue = "A",
                                                   .gang = "u1",
                                                   .priority_class = "w10000"},
                               &left);
    world_round(w, ROUND_BALANCE, 10 * SECOND);
    /* In one group: the lease goes where the pod was. */
    assert_int_equal(units_count_of(w, u1, &left), 2);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].action, SCHED_PREEMPT);
    assert_int_equal(w->plan.decisions[0].preemption, SCHED_PREEMPT_SCALED);
    assert_int_equal(w->plan.decisions[0].for_job, u1 + 2);
    assert_int_equal(w->plan.decisions[0].group, w->plan.decisions[1].group);
    assert_true(w->plan.decisions[0].is_scaling);
    assert_true(w->plan.decisions[1].is_scaling);
    assert_int_equal(units_count_of(w, u1, &left), 3);
    assert_int_equal(units_count_of(w, u2, &right), 3);
    for (int64_t s = 105; s < 400; s += 5) {
        world_round(w, ROUND_BALANCE, s * SECOND);
        assert_int_equal(w->plan.decision_count, 0);
    }
    world_round(w, ROUND_BALANCE, 400 * SECOND);
    assert_int_equal(units_count_of(w, u1, &left), 4);
    assert_int_equal(units_count_of(w, u2, &right), 2);
}

static void tj_12_a_unit_is_frozen_for_a_window_after_scaling(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 8);
    auto_strbuf history = {0};

    /* That of the policy is as long. */
    terms.freezing_window_ms = FREEZING_BY_POLICY;
    units_set_cores(w, "n1", 3);
    uint32_t unit = units_submit_plain(w, "A", "u", &terms);
    /* What comes with its start is no scaling. */
    world_round(w, ROUND_BALANCE, -10 * SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 3);
    units_set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 4);
    units_set_cores(w, "n1", 5);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 4);
    /* A checkpoint carries it. */
    sched_history_pack(w->sched, &history);
    sched_gang_scaled(w->sched, unit, -WINDOW_MS);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    world_round(w, ROUND_BALANCE, WINDOW_MS - 1);
    assert_int_equal(units_count_of(w, unit, &terms), 4);
    assert_int_equal(w->plan.next_wake_ms, WINDOW_MS);
    world_round(w, ROUND_BALANCE, WINDOW_MS);
    assert_int_equal(units_count_of(w, unit, &terms), 5);
    /* Starts and ends are not delayed: another takes its place at once. */
    for (uint32_t i = 0; i < 8; i++) {
        world_end(w, unit + i);
    }
    uint32_t other = units_submit_plain(w, "A", "v", &terms);
    world_round(w, ROUND_BALANCE, WINDOW_MS + 1);
    assert_int_equal(units_count_of(w, other, &terms), 5);
}

/* A plan that is made at once starts the minimum, and a later one gives the
 * rest: all of that is its start, and it gives way as before (TJ-11). */
static void what_comes_soon_after_the_start_is_no_scaling(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 60), two = units_trainers(2, 2);
    auto_strbuf history = {0};

    terms.freezing_window_ms = FREEZING_BY_POLICY;
    world_queue_by(w, "A", &(struct queue_record){.ordering = QUEUE_BY_CFS});
    units_set_cores(w, "n1", 10);
    uint32_t a = units_submit_plain(w, "A", "a", &terms);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(units_count_of(w, a, &terms), 2);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 10);
    uint32_t b = units_submit_plain(w, "A", "b", &two);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 8);
    assert_int_equal(units_count_of(w, b, &two), 2);
    /* An elastic period later it is scaled, though its new pods are young, and
     * that of a checkpoint counts whatever has become of the oldest. */
    units_set_cores(w, "n1", 11);
    world_round(w, ROUND_BALANCE, 5 * SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 9);
    sched_history_pack(w->sched, &history);
    world_end(w, a);
    world_end(w, a + 1);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&history)), 0);
    units_set_cores(w, "n1", 20);
    world_round(w, ROUND_BALANCE, 6 * SECOND);
    assert_int_equal(units_count_of(w, a, &terms), 7);
}

/* A window that is over may yet count: the policy's may grow. */
static void
a_checkpoint_carries_a_window_that_a_longer_one_prolongs(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 8);
    auto_strbuf history = {0};

    terms.freezing_window_ms = FREEZING_BY_POLICY;
    units_set_cores(w, "n1", 3);
    uint32_t unit = units_submit_plain(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, -10 * SECOND);
    units_set_cores(w, "n1", 4);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 4);
    sched_set_time(w->sched, 2 * WINDOW_MS);
    sched_history_pack(w->sched, &history);
    w->policy.elastic.freezing_window_ms = 3 * WINDOW_MS;
    units_set_cores(w, "n1", 5);
    for (int is_rebuilt = 0; is_rebuilt < 2; is_rebuilt++) {
        if (is_rebuilt) {
            sched_gang_scaled(w->sched, unit, -3 * WINDOW_MS);
            assert_int_equal(
                sched_history_unpack(w->sched, strbuf_str(&history)), 0);
        }
        sched_policy_set(w->sched, &w->policy);
        world_round(w, ROUND_BALANCE, 2 * WINDOW_MS);
        assert_int_equal(units_count_of(w, unit, &terms), 4);
    }
    world_round(w, ROUND_BALANCE, 3 * WINDOW_MS);
    assert_int_equal(units_count_of(w, unit, &terms), 5);
}

static void tj_13_steps_are_due_every_five_seconds(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 8);

    units_set_cores(w, "n1", 2);
    (void)units_submit_plain(w, "A", "u", &terms);
    world_round(w, ROUND_BALANCE, 0);
    world_round(w, ROUND_BALANCE, 0);
    for (int64_t s = 0; s <= 10; s += 5) {
        world_round(w, ROUND_BALANCE, s * SECOND);
        assert_int_equal(w->plan.decision_count, 0);
        assert_int_equal(w->plan.next_wake_ms, (s + 5) * SECOND);
    }
}

static void um_06_growth_does_not_borrow(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(1, 4);

    w->policy.pools[1] = w->policy.pools[0];
    w->policy.pools[1].name = STR("other");
    w->policy.pool_count = 2;
    world_restart(w);
    units_set_cores(w, "n1", 2);
    world_node(w, &(struct world_node){"m1", .cores = 8, .pool = "other"});
    uint32_t unit = units_submit(
        w, &(struct world_job){.queue = "A", .gang = "u", .pool = "default"},
        &terms);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(units_count_of(w, unit, &terms), 2);
    assert_int_equal(units_count_on(w, unit, 4, "m1"), 0);
    /* One that may be anywhere stays in the pool where it is; less urgent, it
     * takes no surplus of the other. */
    uint32_t any = units_submit(
        w,
        &(struct world_job){.queue = "A", .gang = "v", .priority_class = "low"},
        &terms);
    world_round(w, ROUND_BALANCE, SECOND);
    assert_int_equal(units_count_on(w, any, 4, "m1"), 4);
    units_set_cores(w, "n1", 3);
    world_round(w, ROUND_BALANCE, 2 * SECOND);
    assert_int_equal(units_count_of(w, unit, &terms), 3);
}

/* As BK-03, with a unit that may grow by 4: by pods of such a lifetime, which
 * is no matter. */
static void check_growth_makes_way(struct world *w, int64_t lifetime_s)
{
    struct gang_terms terms = units_trainers(1, 5);

    pool_policy_apply(&w->policy.pools[0], PROFILE_FLOW);
    world_restart(w);
    units_set_cores(w, "n1", 11);
    uint32_t unit =
        units_submit(w,
                     &(struct world_job){
                         .queue = "E", .gang = "u", .lifetime_s = lifetime_s},
                     &terms);
    uint32_t a = world_submit(w, &(struct world_job){.queue = "A",
                                                     .cores = 6,
                                                     .lifetime_s = INT64_MAX,
                                                     .deadline_s = 100});
    uint32_t head = world_submit(
        w,
        &(struct world_job){.queue = "H", .cores = 8, .submitted_ms = SECOND});
    world_round(w, ROUND_BALANCE, 0);
    assert_string_equal(world_node_of(w, a), "n1");
    assert_int_equal(units_count_of(w, unit, &terms), 5);
    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        const struct sched_decision *d = &w->plan.decisions[i];
        bool is_growth = d->job > unit && d->job < unit + 5;
        assert_true(!is_growth || d->revocable_for == head);
        assert_true(d->yields_at_once == is_growth);
    }
    world_end(w, a);
    world_round(w, ROUND_BALANCE, 100 * SECOND);
    assert_string_equal(world_node_of(w, head), "n1");
    assert_int_equal(w->preempted_count, 2);
    assert_int_equal(units_count_of(w, unit, &terms), 3);
}

static void um_10_growth_passes_admitted_work_and_makes_way(void **state)
{
    check_growth_makes_way(*state, 0);
}

static void um_10_growth_of_a_lifetime_makes_way_at_once(void **state)
{
    check_growth_makes_way(*state, 3600);
}

static void um_10_endless_growth_makes_way_at_once(void **state)
{
    check_growth_makes_way(*state, INT64_MAX);
}

static void a_second_step_without_change_does_nothing(void **state)
{
    struct world *w = *state;
    struct gang_terms terms = units_trainers(2, 9);

    units_set_cores(w, "n1", 10);
    units_set_cores(w, "n2", 7);
    for (int i = 0; i < 3; i++) {
        static const char *const ids[] = {"a", "b", "c"};
        (void)units_submit_plain(w, i == 1 ? "B" : "A", ids[i], &terms);
    }
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, 17);
    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->plan.decision_count, 0);
}

/* A gang of A with a minimum of two, of which two more run, on one node. */
static uint32_t run_grown(struct world *w, int64_t lifetime_s)
{
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 2, 4, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t group = world_submit_group(
        w,
        &(struct world_job){
            .queue = "A", .gang = "g", .lifetime_s = lifetime_s},
        &terms);

    for (uint32_t i = 0; i < 4; i++) {
        int64_t at_ms = i < 2 ? 0 : 50 * SECOND;
        world_lease(w, group + i, node, at_ms);
        sched_job_age_from(w->sched, group + i, at_ms);
    }
    return group;
}

static void growing_gains_a_gang_no_lifetime(void **state)
{
    struct world *w = *state;
    uint32_t group = run_grown(w, 60);
    uint32_t other =
        world_submit(w, &(struct world_job){.queue = "B", .cores = 3});

    world_round(w, ROUND_BALANCE, 59 * SECOND);
    assert_int_equal(w->plan.decision_count, 0);
    /* The pods that came last are ten seconds old. */
    world_round(w, ROUND_BALANCE, 60 * SECOND);
    assert_int_equal(world_running_of(w, group, 4), 0);
    assert_string_equal(world_node_of(w, other), "n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(pg_02_a_group_grows_into_what_is_free),
        SCENARIO(pg_03_minimums_first_then_the_queue_of_the_lower_flow),
        SCENARIO(tj_07_growth_goes_round_from_the_left),
        SCENARIO(tj_22_offline_grows_before_experiment),
        SCENARIO(tj_10_one_pod_moves_then_both_are_frozen),
        SCENARIO(tj_12_a_unit_is_frozen_for_a_window_after_scaling),
        SCENARIO(what_comes_soon_after_the_start_is_no_scaling),
        SCENARIO(a_checkpoint_carries_a_window_that_a_longer_one_prolongs),
        SCENARIO(tj_13_steps_are_due_every_five_seconds),
        SCENARIO(um_06_growth_does_not_borrow),
        SCENARIO(um_10_growth_passes_admitted_work_and_makes_way),
        SCENARIO(um_10_growth_of_a_lifetime_makes_way_at_once),
        SCENARIO(um_10_endless_growth_makes_way_at_once),
        SCENARIO(a_second_step_without_change_does_nothing),
        cmocka_unit_test_setup_teardown(growing_gains_a_gang_no_lifetime,
                                        world_setup, world_teardown),
    };
    return RUN_TESTS(tests);
}
