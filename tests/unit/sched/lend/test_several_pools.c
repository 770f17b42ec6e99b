/* Several pools of one configuration: what they share, and who starts where;
 * found by the oracle of tests/prop/sched. */
#include "world_fixture.h"

/* Two pools that reserve. */
static void make_pools(struct world *w)
{
    struct pool_policy *pools = w->policy.pools;

    world_apply(&pools[0], PROFILE_BERTH);
    pools[1] = pools[0];
    pools[1].name = STR("second");
    w->policy.pool_count = 2;
    world_restart(w);
}

/* What is admitted in one pool may start in another that has room; but not in
 * both, when the plan finds room in either. */
static void what_starts_in_one_pool_starts_in_no_other(void **state)
{
    struct world *w = *state;

    make_pools(w);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 1, .pool = "second"});
    uint32_t old = world_submit(
        w, &(struct world_job){.queue = "A", .priority_class = "fixed"});
    world_lease(w, old, node, 0);
    uint32_t job = world_submit(
        w, &(struct world_job){.queue = "A", .priority_class = "fixed"});
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    world_end(w, old);
    world_node(w, &(struct world_node){"m", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(w->leased_count, 1);
    assert_string_equal(world_node_of(w, job), "m");
}

/* What is admitted counts in its queue's usage (model.md 2.2), so in its quota
 * too: another pool leaves it what it is to have. */
static void a_quota_is_kept_for_what_another_pool_admitted(void **state)
{
    struct world *w = *state;
    struct resource_amount two = {STR("cpu"), 2000};
    struct queue_record queue = queue_record_plain(STR("A"));
    struct world_job job = {
        .queue = "A", .priority_class = "fixed", .pool = "second"};

    make_pools(w);
    queue.quota = (struct resource_list){&two, 1};
    world_queue_by(w, "A", &queue);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 1, .pool = "second"});
    uint32_t old = world_submit(w, &job);
    world_lease(w, old, node, 0);
    uint32_t head = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    world_node(w, &(struct world_node){"m", .cores = 1});
    job.pool = NULL;
    uint32_t other = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, other), "");
    world_end(w, old);
    world_round(w, ROUND_BALANCE, 3);
    assert_string_equal(world_node_of(w, head), "n");
    assert_string_equal(world_node_of(w, other), "m");
}

/* A gang of which some start is admitted no longer: the quota is kept for those
 * of it that wait on in no pool of that plan. */
static void a_quota_is_not_kept_for_the_rest_of_a_gang(void **state)
{
    struct world *w = *state;
    struct resource_amount three = {STR("cpu"), 3000};
    struct queue_record queue = queue_record_plain(STR("A"));
    struct world_job job = {.queue = "A",
                            .priority_class = "fixed",
                            .pool = "default",
                            .gang = "g",
                            .cardinality = 3,
                            .minimum = 1};

    make_pools(w);
    queue.quota = (struct resource_list){&three, 1};
    world_queue_by(w, "A", &queue);
    uint32_t node = world_node(w, &(struct world_node){"n", .cores = 1});
    uint32_t gang = world_submit_many(w, &job, 3);
    world_lease(w, gang, node, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    world_node(w, &(struct world_node){"n", .cores = 2});
    world_node(w, &(struct world_node){"m", .cores = 1, .pool = "second"});
    uint32_t other = world_submit(
        w, &(struct world_job){
               .queue = "A", .priority_class = "fixed", .pool = "second"});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, gang, 3), 2);
    assert_string_equal(world_node_of(w, other), "m");
}

/* But what it is kept for may start in either. */
static void a_quota_that_is_kept_is_for_whom_it_is_kept(void **state)
{
    struct world *w = *state;
    struct resource_amount one = {STR("cpu"), 1000};
    struct queue_record queue = queue_record_plain(STR("A"));
    struct world_job job = {.queue = "A", .priority_class = "fixed"};

    make_pools(w);
    queue.quota = (struct resource_list){&one, 1};
    world_queue_by(w, "A", &queue);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 1, .pool = "second"});
    world_lease(w,
                world_submit(w, &(struct world_job){.queue = "B",
                                                    .priority_class = "fixed"}),
                node, 0);
    uint32_t head = world_submit(w, &job);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decisions[0].action, SCHED_ADMIT);
    world_node(w, &(struct world_node){"m", .cores = 1});
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, head), "m");
}

/* What is admitted counts in a flow, and a flow does not fall at once (model.md
 * 2.5): that one of two starts elsewhere makes the queue no hungrier. */
static void a_flow_does_not_fall_with_what_starts_elsewhere(void **state)
{
    struct world *w = *state;
    struct world_job ask = {
        .queue = "A", .priority_class = "fixed", .cores = 4};
    struct world_job run = {
        .queue = "B", .priority_class = "fixed", .cores = 6, .pool = "second"};

    make_pools(w);
    w->policy.pools[1].half_time_ms = 600000;
    w->policy.pools[1].admitted_window = 2;
    w->policy.pools[1].admitted_window_per_queue = 2;
    world_restart(w);
    uint32_t node =
        world_node(w, &(struct world_node){"n", .cores = 10, .pool = "second"});
    world_lease(w, world_submit(w, &run), node, 0);
    run.queue = "C";
    run.cores = 3;
    world_lease(w, world_submit(w, &run), node, 0);
    uint32_t first = world_submit(w, &ask);
    ask.submitted_ms = 1;
    world_submit(w, &ask);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(w->plan.decision_count, 2);
    world_node(w, &(struct world_node){"m", .cores = 4});
    struct world_job new = {.queue = "A", .pool = "second"};
    uint32_t ours = world_submit(w, &new);
    new.queue = "B";
    uint32_t theirs = world_submit(w, &new);
    world_round(w, ROUND_BALANCE, 2);
    assert_string_equal(world_node_of(w, first), "m");
    assert_string_equal(world_node_of(w, ours), "");
    assert_string_equal(world_node_of(w, theirs), "n");
}

/* A gang stays in one pool as it stays in one cluster: what runs of it decides
 * where the rest goes, also when that pool takes no more. */
static void a_gang_that_runs_in_one_pool_goes_on_there(void **state)
{
    struct world *w = *state;
    const struct gang_terms terms = {
        .sub_groups = {{STR("a"), 2, 3, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    make_pools(w);
    uint32_t n = world_node(w, &(struct world_node){"n", .cores = 1});
    world_node(w, &(struct world_node){"m", .cores = 4, .pool = "second"});
    uint32_t gang = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g"}, &terms);
    world_lease(w, gang, n, 0);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, gang, 3), 1);
    world_node(w, &(struct world_node){"n", .cores = 3});
    world_round(w, ROUND_BALANCE, 2);
    assert_int_equal(world_running_of(w, gang, 3), 3);
    assert_string_equal(world_node_of(w, gang + 1), "n");
}

/* A gang that waits for GPUs in the pool where it runs keeps those of no other
 * pool from what grows there (model.md 4.6). */
static void gpus_are_kept_only_where_a_gang_goes_on(void **state)
{
    struct world *w = *state;
    const struct gang_terms two = {
        .sub_groups = {{STR("a"), 2, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    const struct gang_terms growing = {
        .sub_groups = {{STR("a"), 1, 2, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };

    make_pools(w);
    uint32_t n =
        world_node(w, &(struct world_node){"n", .cores = 1, .gpus = 1});
    world_node(
        w, &(struct world_node){"m", .cores = 2, .gpus = 1, .pool = "second"});
    uint32_t first = world_submit_group(
        w, &(struct world_job){.queue = "A", .gang = "g", .gpus = 1}, &two);
    world_lease(w, first, n, 0);
    uint32_t grows = world_submit_group(
        w, &(struct world_job){.queue = "B", .gang = "h", .pool = "second"},
        &growing);
    world_round(w, ROUND_BALANCE, 1);
    assert_int_equal(world_running_of(w, first, 2), 1);
    assert_int_equal(world_running_of(w, grows, 2), 2);
}

/* A class without room is out in all queues that may have none of it admitted,
 * also when it was a job of another pool's list that found none: what stands
 * behind it in those queues has its turn. */
static void a_class_without_room_holds_up_nobody(void **state)
{
    struct world *w = *state;
    struct world_job job = {
        .queue = "B", .priority_class = "fixed", .cores = 3};

    make_pools(w);
    uint32_t d = world_node(w, &(struct world_node){"d", .cores = 3});
    uint32_t n =
        world_node(w, &(struct world_node){"n", .cores = 8, .pool = "second"});
    world_lease(w, world_submit(w, &job), d, 0);
    job.queue = "A";
    uint32_t elsewhere = world_submit(w, &job);
    job.pool = "second";
    job.cores = 5;
    world_lease(w, world_submit(w, &job), n, 0);
    job.queue = "C";
    job.cores = 1;
    world_lease(w, world_submit(w, &job), n, 0);
    job.cores = 4;
    uint32_t first = world_submit(w, &job);
    job.cores = 3;
    job.submitted_ms = 1;
    world_submit(w, &job);
    job = (struct world_job){.queue = "C", .pool = "second", .submitted_ms = 2};
    uint32_t small = world_submit(w, &job);
    job.queue = "A";
    job.cores = 2;
    world_submit(w, &job);
    world_round(w, ROUND_FAST, 1);
    assert_int_equal(w->plan.decision_count, 3);
    assert_int_equal(w->plan.decisions[0].job, elsewhere);
    assert_int_equal(w->plan.decisions[1].job, first);
    assert_string_equal(world_node_of(w, small), "n");
}

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENARIO(what_starts_in_one_pool_starts_in_no_other),
        SCENARIO(a_quota_is_kept_for_what_another_pool_admitted),
        SCENARIO(a_quota_is_not_kept_for_the_rest_of_a_gang),
        SCENARIO(a_quota_that_is_kept_is_for_whom_it_is_kept),
        SCENARIO(a_gang_that_runs_in_one_pool_goes_on_there),
        SCENARIO(gpus_are_kept_only_where_a_gang_goes_on),
        SCENARIO(a_class_without_room_holds_up_nobody),
        SCENARIO(a_flow_does_not_fall_with_what_starts_elsewhere),
    };

    return RUN_TESTS(tests);
}
