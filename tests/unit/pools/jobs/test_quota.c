/* A queue's quota is over all pools, though each is planned by itself. */
#include "pools/tables/router.h"
#include "pools_stage.h"

static const struct pool_record plain = {.is_borrowing_off = true};

/* Pools "a" and "b" of 8 cores each, and a quota of so many. */
static void begin(struct pools_stage *stage, int64_t cores)
{
    struct resource_amount amount = {STR("cpu"), cores * STAGE_MILLI};
    struct queue_record queue = queue_record_plain(STR("q"));

    pools_stage_init(stage);
    queue.quota = (struct resource_list){&amount, 1};
    pools_queue_set(stage->pools, 0, &queue);
    pools_stage_pool(stage, "a", plain);
    pools_stage_pool(stage, "b", plain);
    (void)pools_stage_node(stage, "a1", "a", 8);
    (void)pools_stage_node(stage, "b1", "b", 8);
}

static bool runs(const struct pools_stage *stage, uint32_t job)
{
    return pools_job_node(stage->pools, job) != SCHED_NONE;
}

static void what_runs_in_one_pool_counts_in_all(void **state)
{
    struct pools_stage stage;

    (void)state;
    begin(&stage, 6);
    uint32_t first = pools_stage_job(&stage, "a", 4);
    pools_stage_round(&stage, "a");
    assert_true(runs(&stage, first));
    uint32_t large = pools_stage_job(&stage, "b", 4);
    uint32_t small = pools_stage_job(&stage, "b", 2);
    pools_stage_round(&stage, "b");
    assert_false(runs(&stage, large));
    assert_true(runs(&stage, small));
    struct sched_explanation why;
    struct sched_need need;
    pools_explain_need(stage.pools, large, 1000, &why, &need);
    assert_int_equal(why.wait, SCHED_WAIT_QUOTA);
    assert_int_equal(why.limit, 6 * STAGE_MILLI);
    assert_int_equal(why.used, 6 * STAGE_MILLI);
    /* What ends in one makes room in the other. */
    pools_job_remove(stage.pools, first);
    pools_stage_round(&stage, "b");
    assert_true(runs(&stage, large));
    pools_stage_fini(&stage);
}

static void a_quota_given_later_counts_what_runs_already(void **state)
{
    struct resource_amount amount = {STR("cpu"), 5 * STAGE_MILLI};
    struct queue_record queue = queue_record_plain(STR("q"));
    struct pools_stage stage;

    (void)state;
    begin(&stage, 100);
    (void)pools_stage_job(&stage, "a", 4);
    pools_stage_round(&stage, "a");
    pools_queue_set(stage.pools, 0, &queue);
    queue.quota = (struct resource_list){&amount, 1};
    pools_queue_set(stage.pools, 0, &queue);
    uint32_t job = pools_stage_job(&stage, "b", 2);
    pools_stage_round(&stage, "b");
    assert_false(runs(&stage, job));
    pools_stage_fini(&stage);
}

static void a_new_pool_knows_what_the_others_have(void **state)
{
    struct pools_stage stage;

    (void)state;
    begin(&stage, 5);
    (void)pools_stage_job(&stage, "a", 4);
    pools_stage_round(&stage, "a");
    pools_stage_pool(&stage, "c", plain);
    (void)pools_stage_node(&stage, "a1", "a", 8);
    (void)pools_stage_node(&stage, "c1", "c", 8);
    uint32_t job = pools_stage_job(&stage, "c", 2);
    pools_stage_round(&stage, "c");
    assert_false(runs(&stage, job));
    pools_pool_delete(stage.pools, STR("a"));
    (void)pools_stage_node(&stage, "a1", "a", 8);
    pools_stage_round(&stage, "c");
    assert_false(runs(&stage, job));
    pools_stage_fini(&stage);
}

/* However many queues are given a quota, each job is looked at once. */
static void quotas_of_many_queues_take_one_look_at_each_job(void **state)
{
    enum { QUEUES = 40 };
    struct resource_amount amount = {STR("cpu"), 2 * STAGE_MILLI};
    struct queue_record queue = queue_record_plain(STR("q"));
    struct pools_stage stage;

    (void)state;
    begin(&stage, 4);
    (void)pools_stage_job(&stage, "a", 1);
    pools_stage_round(&stage, "a");
    uint64_t count = stage.pools->book_count_count;
    assert_true(count > 0);
    queue.quota = (struct resource_list){&amount, 1};
    for (uint32_t i = 0; i < QUEUES; i++) {
        pools_queue_set(stage.pools, i, &queue);
    }
    assert_int_equal(stage.pools->book_count_count, count);
    assert_true(pools_is_consistent(stage.pools));
    /* What queue 0 had before its quota became smaller counts in it. */
    uint32_t large = pools_stage_job(&stage, "b", 2);
    uint32_t small = pools_stage_job(&stage, "b", 1);
    pools_stage_round(&stage, "b");
    assert_false(runs(&stage, large));
    assert_true(runs(&stage, small));
    pools_stage_fini(&stage);
}

static uint32_t leases(const struct sched_plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->decision_count; i++) {
        count += plan->decisions[i].action == SCHED_LEASE;
    }
    return count;
}

/* Both are planned before either is told what the other decided: what the
 * second would have too much is left out, and planned again. */
static void plans_made_side_by_side_stay_within_it(void **state)
{
    struct pools_stage stage;
    struct sched_plan of_a, of_b;

    (void)state;
    begin(&stage, 6);
    (void)pools_stage_job(&stage, "a", 4);
    (void)pools_stage_job(&stage, "b", 4);
    (void)pools_stage_job(&stage, "b", 1);
    uint32_t a = pools_stage_shard(&stage, "a");
    uint32_t b = pools_stage_shard(&stage, "b");
    struct sched *in_a = pools_plan_begin(stage.pools, a);
    struct sched *in_b = pools_plan_begin(stage.pools, b);
    sched_plan(in_a, 1000, ROUND_BALANCE, SCHED_DECISIONS_MAX, &of_a);
    sched_plan(in_b, 1000, ROUND_BALANCE, SCHED_DECISIONS_MAX, &of_b);
    assert_int_equal(leases(&of_a) + leases(&of_b), 3);
    assert_int_equal(pools_plan_end(stage.pools, a, &of_a), 0);
    assert_true(pools_plan_end(stage.pools, b, &of_b) > 0);
    assert_true(of_b.is_truncated);
    assert_int_equal(leases(&of_a), 1);
    assert_true(leases(&of_b) <= 1);
    pools_stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_runs_in_one_pool_counts_in_all),
        TEST(a_quota_given_later_counts_what_runs_already),
        TEST(quotas_of_many_queues_take_one_look_at_each_job),
        TEST(a_new_pool_knows_what_the_others_have),
        TEST(plans_made_side_by_side_stay_within_it),
    };

    return RUN_TESTS(tests);
}
