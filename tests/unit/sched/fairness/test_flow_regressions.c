/* Cases of flows, shares and what is charged, in which the planner and the
 * oracle of tests/prop/sched once read the specification differently; as
 * test_place_regressions.c. */
#include "world_fixture.h"

/* What is over the quota of its class is passed over, also when it would be
 * over the share: the queue goes on (model.md 6.5: quotas come first). */
static void a_quota_is_asked_before_the_share(void **state)
{
    struct world *w = *state;

    for (uint32_t i = 0; i < w->policy.class_count; i++) {
        w->policy.classes[i].queue_limits[0] =
            (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM / 2};
        w->policy.classes[i].queue_limit_count = 1;
    }
    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    uint32_t big = world_submit(
        w,
        &(struct world_job){.queue = "Q", .cores = 6, .lifetime_s = INT64_MAX});
    uint32_t small =
        world_submit(w, &(struct world_job){.queue = "Q", .submitted_ms = 1});
    world_round(w, ROUND_FAST, 10);
    assert_string_equal(world_node_of(w, big), "");
    assert_string_equal(world_node_of(w, small), "n");
}

/* Within a plan the flow of endless work is what it was or what is used now,
 * whichever is more, and not both together (model.md 2.5, 2.7). */
static void a_flow_and_what_a_plan_starts_do_not_add_up(void **state)
{
    struct world *w = *state;
    struct world_job endless = {
        .queue = "Q", .cores = 3, .memory_gb = 1, .lifetime_s = INT64_MAX};

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.pools[0].over_share_ppm = FRACTION_ONE_PPM / 5;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    world_submit(w, &(struct world_job){.queue = "R", .cores = 20});
    endless.cores = 4;
    uint32_t before = world_submit(w, &endless);
    world_lease(w, before, node, 0);
    world_end(w, before); /* its flow is .4 from now on; .6 may be */
    endless.cores = 3;
    world_submit_many(w, &endless, 2);
    world_round(w, ROUND_FAST, 0);
    assert_int_equal(w->leased_count, 2);
}

/* What a plan preempts does not make its queue hungry at once: the flow falls
 * only with time (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_plan_preempts(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].half_time_ms = 600000;
    w->policy.is_fair_share_preemption_off = true;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 6});
    uint32_t kept =
        world_submit(w, &(struct world_job){.queue = "R", .cores = 2});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q", .cores = 4});
    world_lease(w, kept, node, 0);
    world_lease(w, victim, node, 1);
    uint32_t hungry = world_submit(w, &(struct world_job){.queue = "R"});
    uint32_t sated = world_submit(w, &(struct world_job){.queue = "Q"});
    world_submit(w, &(struct world_job){
                        .queue = "S", .cores = 3, .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, hungry), "n");
    assert_string_equal(world_node_of(w, sated), "");
}

/* A queue whose head its share refuses is out for the round, also when the
 * round takes work from it later (model.md 6.5). */
static void what_a_share_refuses_waits_for_the_next_round(void **state)
{
    struct world *w = *state;

    w->policy.pools[0].over_share_ppm = 0;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 10});
    uint32_t victim =
        world_submit(w, &(struct world_job){.queue = "Q",
                                            .cores = 5,
                                            .memory_gb = 28,
                                            .lifetime_s = INT64_MAX});
    world_lease(w, victim, node, 0);
    uint32_t refused = world_submit(w, &(struct world_job){
                                           .queue = "Q",
                                           .memory_gb = 1,
                                           .priority_class = "high",
                                           .lifetime_s = INT64_MAX,
                                       });
    world_submit(w, &(struct world_job){.queue = "S",
                                        .cores = 8,
                                        .memory_gb = 4,
                                        .priority_class = "high"});
    world_round(w, ROUND_BALANCE, 1);
    assert_true(w->is_gone[victim]);
    assert_string_equal(world_node_of(w, refused), "");
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, refused), "n");
}

/* What is admitted no longer is charged no longer, in the same round (model.md
 * 2.16). */
static void a_dismissed_job_gives_its_charge_back_at_once(void **state)
{
    struct world *w = *state;

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    uint32_t big = world_node(w, &(struct world_node){"big", .cores = 8});
    world_node(w, &(struct world_node){"small", .cores = 2});
    uint32_t running = world_submit(
        w, &(struct world_job){
               .queue = "R", .cores = 8, .priority_class = "fixed"});
    world_lease(w, running, big, 0);
    world_submit(w, &(struct world_job){.queue = "R", .cores = 9});
    world_submit(
        w, &(struct world_job){.queue = "Q", .cores = 8, .lifetime_s = 100});
    world_round(w, ROUND_FAST, 0); /* admitted, for all of the budget */
    sched_node_remove(w->sched, big);
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "Q", .cores = 2, .lifetime_s = 60, .submitted_ms = 1});
    world_round(w, ROUND_FAST, 1);
    assert_string_equal(world_node_of(w, other), "small");
}

/* Nor does it fall at once with the members that an admitted gang starts
 * without (model.md 2.5). */
static void a_flow_does_not_fall_with_what_a_gang_goes_without(void **state)
{
    struct world *w = *state;
    struct world_job member = {
        .queue = "Q", .gang = "g", .cores = 5, .cardinality = 2, .minimum = 1};
    struct world_job last = {.queue = "Q", .cores = 3, .submitted_ms = 2};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].half_time_ms = 600000;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "R", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 9});
    uint32_t m = world_node(w, &(struct world_node){"m", .cores = 6});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    run.queue = "R";
    world_lease(w, world_submit(w, &run), m, 0);
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0); /* admitted: Q uses 10, R 6 */
    world_end(w, first);
    uint32_t of_q = world_submit(w, &last);
    last.queue = "R";
    uint32_t of_r = world_submit(w, &last);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 4 are left */
    assert_string_equal(world_node_of(w, of_q), "");
    assert_string_equal(world_node_of(w, of_r), "n");
}

/* What an admitted gang goes without is charged no longer, in the same round
 * (model.md 2.7). */
static void what_a_gang_goes_without_is_not_charged(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "Q",
                               .gang = "g",
                               .cores = 5,
                               .lifetime_s = 60,
                               .cardinality = 2,
                               .minimum = 1};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    /* Of 10 cores Q is due 5: the gang is charged for 5 and a minute, which is
     * the budget; half of it remains when it has started with one. */
    w->policy.pools[0].excess_budget_minutes = 1;
    world_restart(w);
    world_queue(w, "Q", 1);
    world_queue(w, "S", 1);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 10});
    struct world_job run = {
        .queue = "S", .cores = 6, .priority_class = "fixed"};
    uint32_t first = world_submit(w, &run);
    world_lease(w, first, n, 0);
    world_submit(w, &(struct world_job){.queue = "S", .cores = 11});
    world_submit_many(w, &member, 2);
    world_round(w, ROUND_FAST, 0);
    struct world_job last = {.queue = "Q", .cores = 2, .lifetime_s = 60};
    uint32_t of_q = world_submit(w, &last);
    world_end(w, first);
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "S", .cores = 2}),
                n, 0);
    world_round(w, ROUND_FAST, 0); /* one of 5 starts, and 3 are left */
    assert_string_equal(world_node_of(w, of_q), "n");
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(a_quota_is_asked_before_the_share),
        CASE(a_flow_and_what_a_plan_starts_do_not_add_up),
        CASE(a_flow_does_not_fall_with_what_a_plan_preempts),
        CASE(what_a_share_refuses_waits_for_the_next_round),
        CASE(a_dismissed_job_gives_its_charge_back_at_once),
        CASE(a_flow_does_not_fall_with_what_a_gang_goes_without),
        CASE(what_a_gang_goes_without_is_not_charged),
    };

    return RUN_TESTS(tests);
}
