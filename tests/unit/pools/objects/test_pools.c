#include <stdio.h>

#include "pools/tables/router.h"
#include "pools_stage.h"

enum { MILLI = 1000 };

/* A router over the default policy, with one queue and one class. */
struct stage {
    struct policy policy;
    struct pools *pools;
    uint32_t class_index;
    uint32_t job_count;
};

static void stage_init(struct stage *stage)
{
    struct resource_amount cpu = {STR("cpu"), MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct queue_record queue = queue_record_plain(STR("q"));

    *stage = (struct stage){0};
    policy_defaults(&stage->policy);
    stage->pools = pools_create(&stage->policy);
    pools_queue_set(stage->pools, 0, &queue);
    stage->class_index = pools_class_add(stage->pools, &requirement);
}

static void stage_fini(struct stage *stage)
{
    pools_destroy(stage->pools);
}

static uint32_t stage_node(struct stage *stage, const char *name, int64_t cores)
{
    struct resource_amount cpu = {STR("cpu"), cores * MILLI};
    struct node_record record = {
        .name = str_of(name),
        .total = {&cpu, 1},
    };

    return pools_node_set(stage->pools, STR("e"), &record, STR("default"));
}

/* A job whose home is the pool of that name. */
static uint32_t stage_job_of(struct stage *stage, const char *pool)
{
    uint32_t job = stage->job_count++;
    struct sched_job record = {
        .class_index = stage->class_index,
        .submitted_ms = job,
        .id = {{0, job + 1}},
        .pool = str_of(pool),
    };

    pools_job_add(stage->pools, job, &record);
    return job;
}

static uint32_t stage_job(struct stage *stage)
{
    return stage_job_of(stage, "");
}

static void without_an_object_plans_are_of_the_configured_pools(void **state)
{
    struct stage stage;
    struct sched_plan plan;

    (void)state;
    stage_init(&stage);
    uint32_t node = stage_node(&stage, "n", 1);
    uint32_t first = stage_job(&stage);
    uint32_t second = stage_job(&stage);
    pools_plan(stage.pools, POOLS_DEFAULT, 0, ROUND_FAST, 16, &plan);
    assert_int_equal(plan.decision_count, 2);
    assert_int_equal(plan.decisions[0].job, first);
    assert_int_equal(plan.decisions[0].node, node);
    /* Nor does the limit of its class, all of the pool, refuse the other. */
    assert_int_equal(plan.decisions[1].action, SCHED_ADMIT);
    assert_int_equal(plan.decisions[1].job, second);
    assert_int_equal(pools_pool_count(stage.pools), 1);
    assert_true(str_equal(pools_node_pool(stage.pools, node), STR("default")));
    assert_true(pools_is_consistent(stage.pools));
    stage_fini(&stage);
}

/* Jobs come and go with names of pools that are none. */
static void names_of_pools_that_went_make_room(void **state)
{
    enum { NAMES = 100000 };
    struct label label = {STR("pool"), STR("late")};
    struct pool_record late = {
        .name = STR("late"),
        .has_selector = true,
        .labels = &label,
        .label_count = 1,
    };
    struct stage stage;

    (void)state;
    stage_init(&stage);
    uint32_t kept = stage_job_of(&stage, "kept");
    for (uint32_t i = 0; i < NAMES; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "p%u", i);
        stage.job_count = 1;
        pools_job_remove(stage.pools, stage_job_of(&stage, name));
    }
    pools_pool_set(stage.pools, &late);
    uint32_t job = stage_job_of(&stage, "late");
    assert_int_not_equal(pools_job_shard(stage.pools, job), POOLS_DEFAULT);
    late.name = STR("kept");
    pools_pool_set(stage.pools, &late);
    assert_int_not_equal(pools_job_shard(stage.pools, kept), POOLS_DEFAULT);
    assert_true(pools_is_consistent(stage.pools));
    stage_fini(&stage);
}

static void what_is_protected_stays_so_in_another_pool(void **state)
{
    struct stage stage;
    struct sched_run run;
    struct pool_record record = {.name = STR("a"), .has_selector = true};

    (void)state;
    stage_init(&stage);
    uint32_t node = stage_node(&stage, "n", 1);
    uint32_t job = stage_job(&stage);
    pools_job_lease(stage.pools, job, node, 1000, 0, false);
    pools_job_protect(stage.pools, job, true);
    pools_pool_set(stage.pools, &record);
    (void)stage_node(&stage, "n", 1);
    uint32_t shard = pools_job_shard(stage.pools, job);
    assert_int_not_equal(shard, POOLS_DEFAULT);
    assert_true(pools_is_consistent(stage.pools));
    assert_true(sched_job_run(pools_plan_begin(stage.pools, shard), 0, &run));
    assert_true(run.is_protected);
    stage_fini(&stage);
}

/* A node whose labels change again and again while its pool is planned: what
 * is kept of it is one record, and where it ends up is as it was told last. */
static void a_node_that_comes_and_goes_meanwhile_is_kept_once(void **state)
{
    enum { TIMES = 1000 };
    struct pools_stage stage;
    struct sched_plan plan;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    uint32_t node = pools_stage_node(&stage, "n", "a", 4);
    uint32_t shard = pools_stage_shard(&stage, "a");
    struct sched *sched = pools_plan_begin(stage.pools, shard);
    for (int i = 0; i < TIMES; i++) {
        (void)pools_stage_node(&stage, "n", "b", 4);
        (void)pools_stage_node(&stage, "n", i + 1 < TIMES ? "a" : "b", 4);
    }
    assert_false(pools_is_full(stage.pools, shard));
    sched_plan(sched, 0, ROUND_FAST, 16, &plan);
    (void)pools_plan_end(stage.pools, shard, &plan);
    assert_int_equal(pools_node_shard(stage.pools, node),
                     pools_stage_shard(&stage, "b"));
    pools_stage_fini(&stage);
}

/* While a pool is planned it answers what was known of it last, and how old
 * that is. */
static void a_pool_that_is_planned_answers_what_it_had(void **state)
{
    struct pools_stage stage;
    struct sched_usage usage;
    struct sched_queue_stats stats;
    struct sched_plan plan;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "n", "a", 4);
    (void)pools_stage_job(&stage, "a", 3);
    pools_stage_round(&stage, "a");
    uint32_t shard = pools_stage_shard(&stage, "a");
    pools_queue_stats(stage.pools, 0, pools_shard_pool(stage.pools, shard),
                      &stats);
    assert_int_equal(stats.leased_count, 1);
    pools_figures_keep(stage.pools, shard, 5000);
    struct sched *sched = pools_plan_begin(stage.pools, shard);
    assert_int_equal(pools_usage(stage.pools, shard, 7500, &usage), 2500);
    assert_int_equal(usage.own_running_count, 1);
    assert_int_equal(usage.node_count, 1);
    pools_queue_stats(stage.pools, 0, pools_shard_pool(stage.pools, shard),
                      &stats);
    assert_int_equal(stats.leased_count, 1);
    sched_plan(sched, 0, ROUND_FAST, 16, &plan);
    (void)pools_plan_end(stage.pools, shard, &plan);
    assert_int_equal(pools_usage(stage.pools, shard, 7500, &usage), 0);
    pools_stage_fini(&stage);
}

/* The orderings by applications; `cfs` is of gangs. */
static void a_queue_goes_by_applications_with_pools_as_without(void **state)
{
    struct pools_stage stage;
    struct queue_record queue = queue_record_plain(STR("q"));

    (void)state;
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        pools_stage_init(&stage);
        if (is_mapped) {
            pools_stage_pool(&stage, "a",
                             (struct pool_record){.lender_count = 0});
        }
        queue.ordering = QUEUE_BY_CFS;
        pools_queue_set(stage.pools, 0, &queue);
        assert_false(pools_queue_has_applications(stage.pools, 0));
        queue.ordering = QUEUE_BY_FAIR;
        pools_queue_set(stage.pools, 0, &queue);
        assert_true(pools_queue_has_applications(stage.pools, 0));
        pools_stage_fini(&stage);
    }
}

/* Clusters come and go: each is known while it has nodes, or is closed. */
static void names_of_executors_that_went_make_room(void **state)
{
    enum { CLUSTERS = 100 };
    struct pools_stage stage;
    struct resource_amount cpu = {STR("cpu"), STAGE_MILLI};
    struct node_record record = {.name = STR("n"), .total = {&cpu, 1}};
    struct sched_plan plan;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "cluster-%u", i);
        pools_executor_set(stage.pools, str_of(name), i % 2 == 0);
        uint32_t node =
            pools_node_set(stage.pools, str_of(name), &record, STR("default"));
        assert_int_equal(intern_live_count(stage.pools->executors), 1);
        pools_node_remove(stage.pools, node);
        pools_executor_set(stage.pools, str_of(name), true);
        pools_plan(stage.pools, POOLS_DEFAULT, 0, ROUND_FAST, 16, &plan);
        assert_int_equal(intern_live_count(stage.pools->executors), 0);
    }
    assert_int_equal(intern_count(stage.pools->executors), 1);
    pools_stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_an_object_plans_are_of_the_configured_pools),
        TEST(names_of_pools_that_went_make_room),
        TEST(names_of_executors_that_went_make_room),
        TEST(a_node_that_comes_and_goes_meanwhile_is_kept_once),
        TEST(a_pool_that_is_planned_answers_what_it_had),
        TEST(what_is_protected_stays_so_in_another_pool),
        TEST(a_queue_goes_by_applications_with_pools_as_without),
    };

    return RUN_TESTS(tests);
}
