/* Readings of the rules about limits, flows and stages of applications that the
 * oracle of tests/prop/sched and the planner once differed about. */
#include "sched/fairness/limits.h"
#include "world_fixture.h"

/* Work of lifetime 0 is never limited (model.md 2.7), nor is any within the
 * share, whatever was booked beyond the budget by then. */
static void what_costs_nothing_needs_no_budget(void **state)
{
    const struct limits limits = {
        .over_share_ppm = POLICY_OFF, .budget_max = 10, .budget_left = -1};
    struct limit_question question = {.limits = &limits};

    (void)state;
    assert_int_equal(limits_answer(&question), LIMIT_NONE);
    question.charge = 1;
    assert_int_equal(limits_answer(&question), LIMIT_BUDGET);
}

/* A node that is to show that it no longer fails takes one job (model.md
 * 6.10b), be it of a gang that has its nodes whole. */
static void a_group_puts_one_pod_on_a_node_on_trial(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("a"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("b"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
        .has_exclusive_nodes = true,
    };
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);

    sched_health_set(w->sched, node,
                     &(struct sched_health){.health = NODE_TRIAL});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, group, 2), 0);
    world_node(w, &(struct world_node){"m", .cores = 4});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, group, 2), 2);
}

/* The flow of A is what it had a moment ago, and what B would have: they are
 * equal, and B's own flow is the smaller one (FL-10).  Rounding has no say. */
static void a_flow_ties_with_what_another_would_have(void **state)
{
    struct world *w = *state;

    for (uint32_t most = 3; most < 30; most++) {
        struct pool_policy *pool = &w->policy.pools[0];
        pool_policy_apply(pool, PROFILE_FLOW);
        pool->half_time_ms = 600000;
        pool->over_share_ppm = pool->excess_budget_minutes = POLICY_OFF;
        world_restart(w);
        w->job_count = 0;
        uint32_t node = world_node(
            w, &(struct world_node){"n", .cores = 2 * (int64_t)most - 2});
        uint32_t ours =
            world_submit_many(w, &(struct world_job){.queue = "A"}, most + 1);
        uint32_t theirs =
            world_submit_many(w, &(struct world_job){.queue = "B"}, most);
        for (uint32_t i = 0; i < most; i++) {
            world_lease(w, ours + i, node, 0);
        }
        world_end(w, ours);
        world_end(w, ours + 1);
        for (uint32_t i = 0; i + 1 < most; i++) {
            world_lease(w, theirs + i, node, 0);
        }
        world_round(w, ROUND_FAST, 0);
        assert_int_equal(w->leased_count, 1);
        assert_string_equal(world_node_of(w, theirs + most - 1), "n");
    }
}

/* A queue that goes by applications, a pool that reserves, and work of B for
 * which it does so on node m. */
static void make_stages(struct world *w, bool is_class_ignored)
{
    struct queue_record queue = queue_record_plain(STR("A"));

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    world_restart(w);
    queue.ordering = QUEUE_BY_STATEAWARE;
    queue.is_class_priority_ignored = is_class_ignored;
    world_queue_by(w, "A", &queue);
    uint32_t node =
        world_node(w, &(struct world_node){"m", .cores = 8, .label_key = "on",
                                           .label_value = "m"});
    struct world_job job = {"B", .priority_class = "fixed", .cores = 8,
                            .selector_key = "on", .selector_value = "m"};
    world_lease(w, world_submit(w, &job), node, 0);
    world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
}

/* What an application asked for in vain before it started is demand of a later
 * stage once it has (model.md 3.5), in the same plan too. */
static void what_an_application_lacks_is_kept_for_it(void **state)
{
    struct world *w = *state;
    struct world_job job = {"A", .priority_class = "fixed", .cores = 4,
                            .selector_key = "on", .selector_value = "n"};

    make_stages(w, false);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 5, .label_key = "on",
                                           .label_value = "n"});
    uint32_t other = world_submit(
        w, &(struct world_job){"C", .priority_class = "fixed", .cores = 2});
    world_lease(w, other, node, 1);
    job.application = "a0";
    world_submit(w, &job);
    job.cores = 1;
    job.submitted_ms = 1;
    uint32_t ours = world_submit_many(w, &job, 2);
    job.application = "a1";
    job.submitted_ms = 2;
    uint32_t next = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, ours, 2), 2);
    assert_string_equal(world_node_of(w, next), "");
}

/* A reservation of the queue's own does not bind what is more urgent: where
 * that has no room all the same, it is admitted like any other. */
static void what_nothing_binds_is_admitted(void **state)
{
    struct world *w = *state;
    struct world_job job = {"A", .priority_class = "fixed", .cores = 1};

    world_keep_fixed(w);
    make_stages(w, true);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 4});
    job.application = "a0";
    for (int i = 0; i < 2; i++) {
        world_lease(w, world_submit(w, &job), node, 1);
    }
    job.cores = 4;
    world_submit(w, &job);
    job.application = "a1";
    job.priority_class = "high";
    job.submitted_ms = 1;
    uint32_t next = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->plan.decision_count, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[0].job, next);
}

/* A gang that the plan took members of starts none in it, so a limit on starts
 * that it would reach stops nobody behind it. */
static void a_gang_that_lost_members_asks_no_limit_on_starts(void **state)
{
    struct world *w = *state;
    struct world_job member = {.queue = "G",
                               .priority_class = "low",
                               .cores = 2,
                               .gang = "g",
                               .cardinality = 3,
                               .minimum = 1};

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].admitted_window = 2;
    w->policy.rate_global = (struct rate_limit){1000, 2};
    world_restart(w);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 3});
    uint32_t gang = world_submit_many(w, &member, 3);
    world_lease(w, gang, node, 0);
    uint32_t urgent =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 2});
    world_round(w, ROUND_FAST, 10000);
    assert_int_equal(w->plan.decision_count, 2);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    assert_int_equal(w->plan.decisions[1].action, SCHED_ADMIT);
    uint32_t small = world_submit(w, &(struct world_job){.queue = "B"});
    world_round(w, ROUND_BALANCE, 20000);
    assert_string_equal(world_node_of(w, urgent), "n");
    assert_string_equal(world_node_of(w, small), "n");
}

/* What had no room is not tried again as long as nobody leaves any, so a limit
 * on starts that it would reach by now holds nobody back: gangs grow. */
static void what_has_no_room_reaches_no_limit_on_starts(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("s"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    pool_policy_apply(&w->policy.pools[0], PROFILE_BERTH);
    w->policy.pools[0].admitted_window = 0;
    w->policy.pools[0].start_limits[0] =
        (struct resource_fraction){STR("cpu"), FRACTION_ONE_PPM};
    w->policy.pools[0].start_limit_count = 1;
    world_restart(w);
    uint32_t large = world_node(w, &(struct world_node){"n", .cores = 8});
    uint32_t small = world_node(w, &(struct world_node){"m", .cores = 2});
    uint32_t group = world_submit_group(
        w, &(struct world_job){.queue = "G", .gang = "g"}, &terms);
    world_lease(w, group, small, 0);
    uint32_t low = world_submit(
        w,
        &(struct world_job){.queue = "A", .priority_class = "low", .cores = 6});
    world_lease(w, low, large, 0);
    uint32_t high = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "high", .cores = 3});
    world_submit(w, &(struct world_job){.queue = "A", .cores = 7});
    uint32_t next =
        world_submit(w, &(struct world_job){.queue = "A", .cores = 3});
    world_round(w, ROUND_BALANCE, 10000);
    assert_string_equal(world_node_of(w, high), "n");
    assert_string_equal(world_node_of(w, next), "n");
    assert_int_equal(world_running_of(w, group, 2), 2);
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(what_costs_nothing_needs_no_budget),
        SCENARIO(a_group_puts_one_pod_on_a_node_on_trial),
        SCENARIO(a_flow_ties_with_what_another_would_have),
        SCENARIO(a_gang_that_lost_members_asks_no_limit_on_starts),
        SCENARIO(what_has_no_room_reaches_no_limit_on_starts),
        SCENARIO(what_an_application_lacks_is_kept_for_it),
        SCENARIO(what_nothing_binds_is_admitted),
    };

    return RUN_TESTS(tests);
}
