/* Bounded loss: a claim preempts for fairness what it has waited for, and what
 * a job has lost protects it. */
#include "world_fixture.h"

enum { HOUR = 3600 * 1000, PRICE_MILLI = 500, CORES = 4 };

/* A price of 0.5, and no protection; A fills the node at time 0. */
static int setup(void **state)
{
    (void)world_setup(state);
    struct world *w = *state;

    w->policy.pools[0].preemption_price_milli = PRICE_MILLI;
    world_restart(w);
    w->requeues = true;
    world_node(w, &(struct world_node){"n", .cores = CORES});
    return 0;
}

static uint32_t fill(struct world *w)
{
    uint32_t first =
        world_submit_many(w, &(struct world_job){.queue = "A"}, CORES);

    world_round(w, ROUND_BALANCE, 0);
    assert_int_equal(w->leased_count, CORES);
    return first;
}

/* Preemptions of a round. */
static uint32_t preempted_at(struct world *w, int64_t now_ms)
{
    world_round(w, ROUND_BALANCE, now_ms);
    return w->preempted_count;
}

/* Plans follow each other as they ask to be made; when the first preempts. */
static int64_t first_preemption(struct world *w, int64_t now_ms)
{
    for (int i = 0; i < 100; i++) {
        if (preempted_at(w, now_ms)) {
            return now_ms;
        }
        assert_true(w->plan.next_wake_ms > now_ms);
        assert_true(w->plan.next_wake_ms < INT64_MAX);
        now_ms = w->plan.next_wake_ms;
    }
    return INT64_MAX;
}

/* What came after two hours has waited two hours when its budget, at half the
 * price, covers the four that a run has been there; plans come by then. */
static void a_claim_waits_until_its_budget_covers_the_cost(void **state)
{
    struct world *w = *state;

    (void)fill(w);
    (void)world_submit(
        w, &(struct world_job){.queue = "B", .submitted_ms = 2 * HOUR});
    assert_int_equal(preempted_at(w, 2 * HOUR), 0);
    assert_int_equal(preempted_at(w, 4 * HOUR - 1), 0);
    assert_int_equal(preempted_at(w, 4 * HOUR), 1);
    assert_int_equal(w->plan.decisions[1].action, SCHED_LEASE);
    assert_int_equal(w->plan.decisions[1].waited_ms, 2 * HOUR);
}

/* In hours by its size: what it would take, what its budget covers, and until
 * when it cannot. */
static void it_is_said_what_the_price_keeps_a_claim_from(void **state)
{
    struct world *w = *state;
    struct sched_explanation why;
    struct sched_need need;

    (void)fill(w);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "B", .submitted_ms = 2 * HOUR});
    assert_int_equal(preempted_at(w, 3 * HOUR), 0);
    sched_explain_need(w->sched, job, 3 * HOUR, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_PRICE);
    assert_float_equal(why.asked, 3, 1e-3);
    assert_float_equal(why.allowed, 2, 1e-3);
    assert_in_range(why.until_ms, 3 * HOUR + HOUR / 2 - 1000,
                    3 * HOUR + HOUR / 2 + 1000);
}

static void plans_are_made_when_the_budget_is_enough(void **state)
{
    struct world *w = *state;

    (void)fill(w);
    (void)world_submit(
        w, &(struct world_job){.queue = "B", .submitted_ms = 2 * HOUR});
    int64_t at_ms = first_preemption(w, 2 * HOUR);
    assert_in_range(at_ms, 4 * HOUR, 4 * HOUR + 2000);
}

/* A job of two cores takes two runs, and a gang of two likewise: the budget
 * covers both or none. */
static void all_victims_together_are_covered(void **state)
{
    struct world *w = *state;

    (void)fill(w);
    (void)world_submit(w, &(struct world_job){.queue = "B",
                                              .cores = 2,
                                              .submitted_ms = 2 * HOUR});
    assert_int_equal(preempted_at(w, 4 * HOUR - 1), 0);
    assert_int_equal(preempted_at(w, 4 * HOUR), 2);
}

static void a_gang_pays_for_all_that_it_takes(void **state)
{
    struct world *w = *state;

    (void)fill(w);
    (void)world_submit_many(w,
                            &(struct world_job){.queue = "B",
                                                .gang = "g",
                                                .cardinality = 2,
                                                .submitted_ms = 2 * HOUR},
                            2);
    assert_int_equal(preempted_at(w, 4 * HOUR - 1), 0);
    assert_int_equal(preempted_at(w, 4 * HOUR), 2);
}

/* B is due three sevenths of four cores: with two it would have more. */
static uint32_t preempted_for(struct world *w, int64_t over_milli,
                              int64_t cores, int64_t now_ms)
{
    w->policy.pools[0].over_share_price_milli = over_milli;
    world_restart(w);
    w->requeues = true;
    world_node(w, &(struct world_node){"n", .cores = CORES});
    (void)world_queue(w, "B", 4.0 / 3);
    (void)fill(w);
    (void)world_submit(w, &(struct world_job){.queue = "B",
                                              .cores = cores,
                                              .submitted_ms = 2 * HOUR});
    return preempted_at(w, now_ms);
}

static void a_claim_above_its_share_pays_more(void **state)
{
    assert_int_equal(preempted_for(*state, 0, 2, 4 * HOUR), 2);
    assert_int_equal(preempted_for(*state, 700, 2, 4 * HOUR), 0);
    assert_int_equal(preempted_for(*state, 700, 2, 7 * HOUR), 2);
    assert_int_equal(preempted_for(*state, 2000, 2, 100 * HOUR), 0);
}

static void a_claim_within_its_share_does_not(void **state)
{
    assert_int_equal(preempted_for(*state, 2000, 1, 4 * HOUR), 1);
}

/* A gang is a victim as a whole, so a small claim waits longer for it. */
static void a_gang_costs_as_much_as_all_its_members(void **state)
{
    struct world *w = *state;

    (void)world_submit_many(
        w, &(struct world_job){.queue = "A", .gang = "g", .cardinality = CORES},
        CORES);
    world_round(w, ROUND_BALANCE, 0);
    (void)world_submit(w, &(struct world_job){.queue = "B"});
    /* It came with the gang, and may destroy twice what it is itself. */
    assert_int_equal(preempted_at(w, 10 * HOUR), 0);
    (void)world_submit(w, &(struct world_job){.queue = "B", .cores = 2});
    assert_int_equal(preempted_at(w, 10 * HOUR), CORES);
}

/* How long a victim had waited is part of its cost. */
static void what_was_waited_for_costs(void **state)
{
    struct world *w = *state;

    (void)world_submit_many(w, &(struct world_job){.queue = "A"}, CORES);
    world_round(w, ROUND_BALANCE, 2 * HOUR);
    assert_int_equal(w->leased_count, CORES);
    (void)world_submit(
        w, &(struct world_job){.queue = "B", .submitted_ms = 3 * HOUR});
    assert_int_equal(preempted_at(w, 6 * HOUR - 1), 0);
    assert_int_equal(preempted_at(w, 6 * HOUR), 1);
}

/* What was spent is spent: a job that was requeued waits anew. */
static void a_requeued_job_has_waited_since_then(void **state)
{
    struct world *w = *state;
    uint32_t job;

    job = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, 0);
    sched_set_time(w->sched, 2 * HOUR);
    sched_job_requeue(w->sched, job, SCHED_NONE);
    w->node_of[job] = SCHED_NONE;
    (void)world_submit_many(w, &(struct world_job){.queue = "A"}, CORES - 1);
    uint32_t first = world_submit(
        w, &(struct world_job){.queue = "A", .submitted_ms = HOUR});
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = CORES});
    for (uint32_t i = 0; i < CORES; i++) {
        world_lease(w, first + 1 - CORES + i, node, 2 * HOUR);
    }
    /* The cheapest has been there since the first hour, the job waits since
     * the second. */
    assert_int_equal(preempted_at(w, 3 * HOUR - 1), 0);
    assert_int_equal(preempted_at(w, 3 * HOUR), 1);
}

/* What has lost an hour is protected for as long when it runs again. */
static void what_was_lost_protects(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].preemption_price_milli = 0;
    w->policy.pools[0].loss_protection_milli = 2000;
    w->policy.cooldown_ms = 0;
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 2);
    for (uint32_t job = first; job < first + 2; job++) {
        world_lease(w, job, node, 0);
        sched_job_age_from(w->sched, job, 0);
    }
    for (uint32_t job = first; job < first + 2; job++) {
        sched_set_time(w->sched, HOUR);
        sched_job_lost(w->sched, job);
        sched_job_requeue(w->sched, job, SCHED_NONE);
        world_lease(w, job, node, HOUR);
        sched_job_age_from(w->sched, job, HOUR);
    }
    (void)world_submit(w,
                       &(struct world_job){.queue = "B", .submitted_ms = HOUR});
    assert_int_equal(preempted_at(w, 3 * HOUR - 1), 0);
    assert_int_equal(w->plan.next_wake_ms, 3 * HOUR);
    assert_int_equal(preempted_at(w, 3 * HOUR), 1);
}

/* A limit of 1, and neither a price nor a protection; A runs two jobs since
 * time 0, each of which has lost an hour before. */
static uint32_t limit_repeats(struct world *w)
{
    w->policy.pools[0].preemption_price_milli = 0;
    w->policy.pools[0].loss_limit_milli = 1000;
    w->policy.cooldown_ms = 0;
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 2});
    uint32_t first = world_submit_many(w, &(struct world_job){.queue = "A"}, 2);
    for (uint32_t job = first; job < first + 2; job++) {
        world_lease(w, job, node, 0);
        sched_job_age_from(w->sched, job, 0);
    }
    for (uint32_t job = first; job < first + 2; job++) {
        sched_set_time(w->sched, HOUR);
        sched_job_lost(w->sched, job);
        sched_job_requeue(w->sched, job, SCHED_NONE);
        world_lease(w, job, node, HOUR);
        sched_job_age_from(w->sched, job, HOUR);
    }
    return first;
}

/* What was lost is as much as what is useful: no job loses a second run. */
static void nothing_is_lost_beyond_the_limit(void **state)
{
    struct world *w = *state;

    (void)limit_repeats(w);
    (void)world_submit(w,
                       &(struct world_job){.queue = "B", .submitted_ms = HOUR});
    assert_int_equal(preempted_at(w, 2 * HOUR), 0);
    assert_int_equal(preempted_at(w, 100 * HOUR), 0);
}

/* A first run may always be lost, and what ends makes room for others. */
static void what_is_useful_may_be_lost(void **state)
{
    struct world *w = *state;
    uint32_t first = limit_repeats(w);

    sched_set_time(w->sched, 3 * HOUR);
    sched_job_ended_well(w->sched, first);
    world_end(w, first);
    uint32_t job =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 1});
    world_lease(w, job, 0, 3 * HOUR);
    sched_job_age_from(w->sched, job, 3 * HOUR);
    (void)world_submit_many(
        w, &(struct world_job){.queue = "B", .submitted_ms = HOUR}, 2);
    assert_int_equal(preempted_at(w, 4 * HOUR), 1);
    assert_int_equal(w->plan.decisions[0].job, job);
}

/* The sums and longest runs are history: a checkpoint brings them back. */
static void the_limit_is_in_the_history(void **state)
{
    struct world *w = *state;
    uint32_t first = limit_repeats(w);
    auto_strbuf before = {0}, after = {0};

    sched_history_pack(w->sched, &before);
    sched_set_time(w->sched, 5 * HOUR);
    sched_job_lost(w->sched, first);
    assert_int_equal(sched_history_unpack(w->sched, strbuf_str(&before)), 0);
    sched_history_pack(w->sched, &after);
    assert_true(str_equal(strbuf_str(&before), strbuf_str(&after)));
}

/* Urgency has no price. */
static void a_more_urgent_class_takes_at_once(void **state)
{
    struct world *w = *state;

    (void)fill(w);
    (void)world_submit(w, &(struct world_job){.queue = "B",
                                              .priority_class = "high",
                                              .submitted_ms = HOUR});
    assert_int_equal(preempted_at(w, HOUR), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_claim_waits_until_its_budget_covers_the_cost, setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            it_is_said_what_the_price_keeps_a_claim_from, setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(
            plans_are_made_when_the_budget_is_enough, setup, world_teardown),
        cmocka_unit_test_setup_teardown(all_victims_together_are_covered, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_gang_pays_for_all_that_it_takes,
                                        setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_gang_costs_as_much_as_all_its_members,
                                        setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_was_waited_for_costs, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_requeued_job_has_waited_since_then,
                                        setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_was_lost_protects, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_claim_above_its_share_pays_more,
                                        setup, world_teardown),
        cmocka_unit_test_setup_teardown(a_claim_within_its_share_does_not,
                                        setup, world_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_lost_beyond_the_limit, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(what_is_useful_may_be_lost, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(the_limit_is_in_the_history, setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_more_urgent_class_takes_at_once,
                                        setup, world_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
