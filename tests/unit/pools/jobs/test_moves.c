/* What goes with jobs and gangs that move from pool object to pool object. */
#include "pools_stage.h"

enum { PODS = 3, SCALED_MS = 6000, CAP_WAIT_MS = 60000 };

/* Pods of a gang of one-core pods at home in pool a wait. */
static void submit_from(struct pools_stage *stage, uint32_t begin, uint32_t end,
                        const struct sub_group *sub_group)
{
    struct resource_amount cpu = {STR("cpu"), STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .priority_class = STR("armada-preemptible"),
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {*sub_group},
        .sub_group_count = 1,
    };
    auto_strbuf packed = {0};

    gang_terms_pack(&packed, &terms);
    for (uint32_t i = begin; i < end; i++) {
        struct sched_job record = {
            .class_index = pools_class_add(stage->pools, &requirement),
            .submitted_ms = i,
            .id = {{0, i + 1}},
            .pool = STR("a"),
            .gang_id = STR("gang"),
            .gang_cardinality = PODS,
            .gang_minimum = sub_group->min_count,
            .gang_terms = strbuf_str(&packed),
        };
        pools_job_add(stage->pools, stage->job_count++, &record);
    }
}

/* All of them. */
static void submit(struct pools_stage *stage, const struct sub_group *sub_group)
{
    submit_from(stage, 0, PODS, sub_group);
}

/* One of two to three pods, of which two run there; one of them succeeds.  It
 * was scaled before. */
static uint32_t begin(struct pools_stage *stage)
{
    pools_stage_init(stage);
    pools_stage_pool(stage, "a", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(stage, "a1", "a", 2);
    submit(stage,
           &(struct sub_group){STR("trainer"), 2, PODS, .hops_max = HOPS_ANY});
    pools_stage_round(stage, "a");
    assert_true(pools_job_node(stage->pools, 0) != SCHED_NONE);
    assert_true(pools_job_node(stage->pools, 1) != SCHED_NONE);
    pools_gang_scaled(stage->pools, 1, SCALED_MS);
    pools_job_succeeded(stage->pools, 0);
    pools_job_remove(stage->pools, 0);
    return 1;
}

static bool runs(const struct pools_stage *stage, uint32_t job)
{
    return pools_job_node(stage->pools, job) != SCHED_NONE;
}

/* What the last gang of a shard remembers. */
static struct sched_gang_memory memory_of(struct pools_stage *stage,
                                          uint32_t shard)
{
    struct sched *sched = pools_plan_begin(stage->pools, shard);
    struct sched_gang_memory memory = {.scaled_ms = INT64_MIN};
    struct sched_plan plan;

    for (uint32_t job = 0; job < sched_jobs_end(sched); job++) {
        if (sched_job_is_known(sched, job)) {
            sched_gang_memory(sched, job, &memory);
        }
    }
    sched_plan(sched, stage->now_ms, ROUND_FAST, 16, &plan);
    (void)pools_plan_end(stage->pools, shard, &plan);
    pools_plan_forget(stage->pools, shard);
    return memory;
}

/* The time at which the gangs of a shard were scaled last. */
static int64_t scaled_ms(struct pools_stage *stage, uint32_t shard)
{
    return memory_of(stage, shard).scaled_ms;
}

static void who_has_succeeded_counts_when_the_pool_is_deleted(void **state)
{
    struct pools_stage stage;

    (void)state;
    uint32_t job = begin(&stage);
    pools_job_requeue(stage.pools, job, SCHED_NONE);
    pools_pool_delete(stage.pools, STR("a"));
    (void)pools_stage_node(&stage, "d1", "", 1); /* room for one */
    pools_stage_round(&stage, "");
    assert_true(runs(&stage, 1) || runs(&stage, 2));
    pools_stage_fini(&stage);
}

static void it_stays_frozen_when_its_node_changes_its_pool(void **state)
{
    struct pools_stage stage;

    (void)state;
    (void)begin(&stage);
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "b", 2);
    uint32_t shard = pools_stage_shard(&stage, "b");
    assert_int_equal(pools_job_shard(stage.pools, 1), shard);
    assert_true(scaled_ms(&stage, shard) == SCALED_MS);
    /* What waits of it came along. */
    assert_int_equal(pools_job_shard(stage.pools, 2), shard);
    pools_stage_fini(&stage);
}

static void and_when_it_goes_home_again(void **state)
{
    struct pools_stage stage;

    (void)state;
    uint32_t job = begin(&stage);
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "b", 2);
    pools_job_requeue(stage.pools, job, SCHED_NONE);
    uint32_t shard = pools_stage_shard(&stage, "a");
    assert_int_equal(pools_job_shard(stage.pools, 1), shard);
    assert_int_equal(pools_job_shard(stage.pools, 2), shard);
    assert_true(scaled_ms(&stage, shard) == SCALED_MS);
    (void)pools_stage_node(&stage, "a2", "a", 1);
    pools_stage_round(&stage, "a");
    assert_true(runs(&stage, 1) || runs(&stage, 2));
    pools_stage_fini(&stage);
}

static void a_cap_that_ends_is_not_over_since_a_gang_moves(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", PODS);
    submit(&stage, &(struct sub_group){.name = STR("trainer"),
                                       .min_count = PODS,
                                       .max_count = PODS,
                                       .hops_max = 0,
                                       .hops_wait_ms = CAP_WAIT_MS});
    pools_stage_round(&stage, "a");
    stage.now_ms += CAP_WAIT_MS;
    pools_set_time(stage.pools, stage.now_ms);
    for (uint32_t job = 0; job < PODS; job++) {
        assert_true(runs(&stage, job));
        pools_job_requeue(stage.pools, job, SCHED_NONE);
    }
    /* It was submitted long ago, and lost its places just now. */
    pools_pool_delete(stage.pools, STR("a"));
    pools_node_remove(stage.pools, pools_stage_node(&stage, "a1", "", 1));
    (void)pools_stage_node(&stage, "d1", "", 1);
    (void)pools_stage_node(&stage, "d2", "", PODS - 1);
    pools_stage_round(&stage, "");
    assert_false(runs(&stage, 0));
    stage.now_ms += CAP_WAIT_MS;
    pools_stage_round(&stage, "");
    assert_true(runs(&stage, 0));
    pools_stage_fini(&stage);
}

/* It borrows with its minimum: what it has to spare needs no room there. */
static void a_gang_is_lent_where_its_minimum_fits(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", PODS - 2);
    (void)pools_stage_node(&stage, "b1", "b", PODS - 1);
    submit(&stage, &(struct sub_group){STR("trainer"), PODS - 1, PODS,
                                       .hops_max = HOPS_ANY});
    pools_stage_round(&stage, "a");
    pools_stage_round(&stage, "b");
    assert_true(runs(&stage, 0) && runs(&stage, 1));
    assert_false(runs(&stage, 2));
    pools_stage_fini(&stage);
}

/* Whether there is room at home is asked of all its pods, not of the first. */
static void a_gang_of_unlike_pods_is_lent(void **state)
{
    struct pools_stage stage;
    auto_strbuf packed = {0};
    struct gang_terms terms = {
        .sub_groups = {{STR("small"), 1, 1, .hops_max = HOPS_ANY},
                       {STR("large"), 1, 1, .hops_max = HOPS_ANY}},
        .sub_group_count = 2,
    };

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", PODS);
    (void)pools_stage_node(&stage, "b1", "b", 2 * PODS);
    gang_terms_pack(&packed, &terms);
    for (uint32_t i = 0; i < 2; i++) {
        struct resource_amount cpu = {STR("cpu"),
                                      (i ? PODS + 1 : 1) * STAGE_MILLI};
        struct requirement requirement = {
            .requests = {&cpu, 1},
            .priority_class = STR("armada-preemptible"),
            .lifetime_ms = LIFETIME_BY_CLASS,
        };
        struct sched_job record = {
            .class_index = pools_class_add(stage.pools, &requirement),
            .submitted_ms = i,
            .id = {{0, i + 1}},
            .pool = STR("a"),
            .gang_id = STR("gang"),
            .gang_cardinality = 2,
            .gang_minimum = 2,
            .gang_terms = strbuf_str(&packed),
            .sub_group = i,
        };
        pools_job_add(stage.pools, stage.job_count++, &record);
    }
    pools_stage_round(&stage, "a");
    pools_stage_round(&stage, "b");
    assert_true(runs(&stage, 0) && runs(&stage, 1));
    pools_stage_fini(&stage);
}

/* Since when a job of a shard is under a cooldown, or INT64_MIN. */
static int64_t cooldown_since_ms(struct pools_stage *stage, const char *pool)
{
    uint32_t shard = pools_stage_shard(stage, pool);
    struct sched *sched = pools_plan_begin(stage->pools, shard);
    int64_t since_ms = INT64_MIN;
    struct sched_cooldown cooldown;
    struct sched_plan plan;

    for (uint32_t job = 0; job < sched_jobs_end(sched); job++) {
        if (sched_job_is_known(sched, job)) {
            bool has_cooldown = sched_job_cooldown_get(sched, job, &cooldown);
            since_ms = has_cooldown ? cooldown.since_ms : INT64_MIN;
        }
    }
    sched_plan(sched, stage->now_ms, ROUND_FAST, 16, &plan);
    (void)pools_plan_end(stage->pools, shard, &plan);
    pools_plan_forget(stage->pools, shard);
    return since_ms;
}

static void a_cooldown_goes_to_the_lender_and_home_again(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", 1);
    (void)pools_stage_node(&stage, "b1", "b", 2);
    uint32_t job = pools_stage_job(&stage, "a", 2);
    int64_t since_ms = stage.now_ms;
    pools_set_time(stage.pools, since_ms);
    pools_job_cooldown(stage.pools, job);

    pools_stage_round(&stage, "a");
    assert_int_equal(pools_job_shard(stage.pools, job),
                     pools_stage_shard(&stage, "b"));
    assert_true(cooldown_since_ms(&stage, "b") == since_ms);

    pools_sweep_reset(stage.pools);
    assert_int_equal(pools_job_shard(stage.pools, job),
                     pools_stage_shard(&stage, "a"));
    assert_true(cooldown_since_ms(&stage, "a") == since_ms);

    /* That it moved was no news; what comes to another pool is. */
    stage.now_ms = since_ms + stage.policy.cooldown_ms;
    pools_set_time(stage.pools, stage.now_ms);
    assert_true(cooldown_since_ms(&stage, "a") == since_ms);
    (void)pools_stage_node(&stage, "b2", "b", 1);
    assert_true(cooldown_since_ms(&stage, "a") == INT64_MIN);
    pools_stage_fini(&stage);
}

/* A gang that runs in two pools: what happens to it in one is known in both,
 * for nobody knows where the last of it will be. */
static void what_a_gang_did_is_known_in_all_its_pools(void **state)
{
    struct pools_stage stage;

    (void)state;
    (void)begin(&stage);
    uint32_t a = pools_stage_shard(&stage, "a");
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", 2);
    uint32_t b1 = pools_stage_node(&stage, "b1", "b", 1);
    pools_job_lease(stage.pools, 2, b1, 1000, stage.now_ms, true);
    assert_int_equal(memory_of(&stage, a).succeeded_counts[0], 1);
    pools_set_time(stage.pools, stage.now_ms);
    pools_job_cooldown(stage.pools, 2);
    pools_job_succeeded(stage.pools, 2);
    pools_job_remove(stage.pools, 2);
    assert_int_equal(memory_of(&stage, a).succeeded_counts[0], 2);
    assert_true(cooldown_since_ms(&stage, "a") == stage.now_ms);
    pools_stage_fini(&stage);
}

/* The same of its windows, though a pool alone could not say so: what runs in
 * b since long ago is that by which it is frozen in a. */
static void when_a_gang_was_scaled_is_known_in_all_its_pools(void **state)
{
    struct pools_stage stage;

    (void)state;
    (void)begin(&stage);
    uint32_t a = pools_stage_shard(&stage, "a");
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    uint32_t a2 = pools_stage_node(&stage, "a2", "a", 1);
    (void)pools_stage_node(&stage, "a1", "b", 2);
    stage.now_ms += 2 * stage.policy.elastic.period_ms;
    pools_set_time(stage.pools, stage.now_ms);
    pools_job_lease(stage.pools, 2, a2, 1000, stage.now_ms, true);
    assert_true(scaled_ms(&stage, a) == SCALED_MS);
    pools_gang_scaled(stage.pools, 2, stage.now_ms);
    assert_true(scaled_ms(&stage, a) == stage.now_ms);
    assert_true(scaled_ms(&stage, pools_stage_shard(&stage, "b")) ==
                stage.now_ms);
    pools_stage_fini(&stage);
}

/* Likewise since when a cap that ends counts. */
static void when_a_gang_lost_a_place_is_known_in_all_its_pools(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    uint32_t a1 = pools_stage_node(&stage, "a1", "a", 1);
    uint32_t b1 = pools_stage_node(&stage, "b1", "b", 1);
    submit(&stage, &(struct sub_group){STR("trainer"), 1, PODS, .hops_max = 0,
                                       .hops_wait_ms = CAP_WAIT_MS});
    pools_job_remove(stage.pools, 2);
    pools_job_lease(stage.pools, 0, a1, 1000, stage.now_ms, true);
    pools_job_lease(stage.pools, 1, b1, 1000, stage.now_ms, true);
    stage.now_ms += CAP_WAIT_MS;
    pools_set_time(stage.pools, stage.now_ms);
    /* Its pool is being planned, so it cannot follow the other yet. */
    uint32_t a = pools_stage_shard(&stage, "a");
    (void)pools_plan_begin(stage.pools, a);
    pools_job_requeue(stage.pools, 0, SCHED_NONE);
    assert_true(memory_of(&stage, pools_stage_shard(&stage, "b")).requeued_ms ==
                stage.now_ms);
    struct sched_plan plan = {.next_wake_ms = INT64_MAX};
    (void)pools_plan_end(stage.pools, a, &plan);
    pools_stage_fini(&stage);
}

/* How many leases a plan has that is back. */
static uint32_t lease_count(const struct sched_plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plan->decision_count; i++) {
        count += plan->decisions[i].action == SCHED_LEASE;
    }
    return count;
}

/* Of a gang that starts with one pod the first was lent to b, where there is
 * room; the next came later, and has room at home in a. */
static void begin_lent(struct pools_stage *stage)
{
    pools_stage_init(stage);
    pools_stage_pool(stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(stage, "b1", "b", 1);
    submit_from(
        stage, 0, 1,
        &(struct sub_group){STR("trainer"), 1, PODS, .hops_max = HOPS_ANY});
    pools_stage_round(stage, "a");
    assert_int_equal(pools_job_shard(stage->pools, 0),
                     pools_stage_shard(stage, "b"));
    submit_from(
        stage, 1, 2,
        &(struct sub_group){STR("trainer"), 1, PODS, .hops_max = HOPS_ANY});
    (void)pools_stage_node(stage, "a1", "a", 1);
    assert_int_equal(pools_job_shard(stage->pools, 1),
                     pools_stage_shard(stage, "a"));
}

/* Both pools are planned at the same time. */
static void two_plans_start_a_gang_in_one_pool(void **state)
{
    struct pools_stage stage;
    struct sched_plan plan;

    (void)state;
    begin_lent(&stage);
    uint32_t a = pools_stage_shard(&stage, "a");
    uint32_t b = pools_stage_shard(&stage, "b");
    struct sched *home = pools_plan_begin(stage.pools, a);
    struct sched *lender = pools_plan_begin(stage.pools, b);
    sched_plan(home, stage.now_ms, ROUND_BALANCE, 16, &plan);
    (void)pools_plan_end(stage.pools, a, &plan);
    assert_int_equal(lease_count(&plan), 1);
    sched_plan(lender, stage.now_ms, ROUND_BALANCE, 16, &plan);
    (void)pools_plan_end(stage.pools, b, &plan);
    assert_int_equal(lease_count(&plan), 0);
    assert_true(plan.is_truncated);

    /* The first came to nothing: now b may start it. */
    pools_plan_forget(stage.pools, a);
    pools_plan_forget(stage.pools, b);
    pools_plan(stage.pools, b, stage.now_ms, ROUND_BALANCE, 16, &plan);
    assert_int_equal(lease_count(&plan), 1);
    pools_plan_forget(stage.pools, b);
    pools_stage_fini(&stage);
}

/* What a plan found for a gang does not stand when that runs elsewhere by the
 * time that it is back. */
static void a_plan_starts_nothing_of_a_gang_that_runs_elsewhere(void **state)
{
    struct pools_stage stage;
    struct sched_plan plan;

    (void)state;
    begin_lent(&stage);
    uint32_t b = pools_stage_shard(&stage, "b");
    struct sched *lender = pools_plan_begin(stage.pools, b);
    sched_plan(lender, stage.now_ms, ROUND_BALANCE, 16, &plan);
    pools_stage_round(&stage, "a");
    assert_true(runs(&stage, 1));
    (void)pools_plan_end(stage.pools, b, &plan);
    assert_int_equal(lease_count(&plan), 0);
    pools_plan_forget(stage.pools, b);
    assert_int_equal(pools_job_shard(stage.pools, 0),
                     pools_stage_shard(&stage, "a"));
    pools_stage_fini(&stage);
}

/* What a plan gives a gang that has lost others of it meanwhile does not stand:
 * they may have been more than it can lose. */
static void a_plan_starts_nothing_of_a_gang_that_went_meanwhile(void **state)
{
    struct pools_stage stage;
    struct sched_plan plan;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", 2);
    submit(&stage,
           &(struct sub_group){STR("trainer"), 2, PODS, .hops_max = HOPS_ANY});
    pools_stage_round(&stage, "a");
    assert_true(runs(&stage, 0) && runs(&stage, 1) && !runs(&stage, 2));
    (void)pools_stage_node(&stage, "a2", "a", 1);
    uint32_t a = pools_stage_shard(&stage, "a");
    struct sched *sched = pools_plan_begin(stage.pools, a);
    sched_plan(sched, stage.now_ms, ROUND_BALANCE, 16, &plan);
    assert_int_equal(lease_count(&plan), 1);
    pools_job_requeue(stage.pools, 0, SCHED_NONE);
    pools_job_requeue(stage.pools, 1, SCHED_NONE);
    (void)pools_plan_end(stage.pools, a, &plan);
    assert_int_equal(lease_count(&plan), 0);
    assert_true(plan.is_truncated);
    pools_plan_forget(stage.pools, a);
    pools_stage_fini(&stage);
}

/* A plan of a shard that is made apart, up to what it lends. */
static void plan_apart(struct pools_stage *stage, uint32_t shard,
                       struct sched *sched)
{
    struct sched_plan plan;

    sched_plan(sched, stage->now_ms, ROUND_BALANCE, 16, &plan);
    (void)pools_plan_end(stage->pools, shard, &plan);
    (void)pools_borrow(stage->pools, shard, ROUND_BALANCE, &plan);
}

/* Who has been with a lender, and comes again while that is being planned, is
 * none of those that the plan had no place for. */
static void who_comes_again_during_a_plan_stays_for_the_next(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "b1", "b", 2);
    uint32_t job = pools_stage_job(&stage, "a", 2);
    uint32_t a = pools_stage_shard(&stage, "a");
    uint32_t b = pools_stage_shard(&stage, "b");
    pools_stage_round(&stage, "a");
    assert_int_equal(pools_job_shard(stage.pools, job), b);
    pools_stage_pool(&stage, "c", (struct pool_record){.lender_count = 0});
    assert_int_equal(pools_job_shard(stage.pools, job), a);

    plan_apart(&stage, a, pools_plan_begin(stage.pools, a));
    struct sched *lender = pools_plan_begin(stage.pools, b);
    (void)pools_plan_commit(stage.pools, a);
    assert_int_equal(pools_job_shard(stage.pools, job), b);
    plan_apart(&stage, b, lender);
    (void)pools_plan_commit(stage.pools, b);
    assert_int_equal(pools_job_shard(stage.pools, job), b);
    pools_stage_fini(&stage);
}

/* Two pods of a gang at home in c; they run in b, on a node each. */
static void begin_apart(struct pools_stage *stage)
{
    static const char *const names[] = {"a", "b", "c"};
    static const char *const nodes[] = {"n0", "n1"};
    struct resource_amount cpu = {STR("cpu"), STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
    };

    pools_stage_init(stage);
    for (uint32_t i = 0; i < ARRAY_COUNT(names); i++) {
        pools_stage_pool(stage, names[i],
                         (struct pool_record){.lender_count = 0});
    }
    for (uint32_t i = 0; i < ARRAY_COUNT(nodes); i++) {
        struct sched_job record = {
            .class_index = pools_class_add(stage->pools, &requirement),
            .submitted_ms = i,
            .id = {{0, i + 1}},
            .pool = STR("c"),
            .gang_id = STR("gang"),
            .gang_cardinality = ARRAY_COUNT(nodes),
            .gang_minimum = 1,
        };
        pools_job_add(stage->pools, i, &record);
        pools_job_lease(stage->pools, i,
                        pools_stage_node(stage, nodes[i], "b", 1), 1000, 0,
                        true);
    }
}

/* A gang belongs where it ran last; when that pool goes, where it runs. */
static void a_gang_whose_pool_goes_is_where_it_runs(void **state)
{
    struct pools_stage stage;

    (void)state;
    begin_apart(&stage);
    (void)pools_stage_node(&stage, "n1", "a", 1);
    pools_job_requeue(stage.pools, 1, SCHED_NONE);
    assert_int_equal(pools_job_shard(stage.pools, 1),
                     pools_stage_shard(&stage, "a"));
    pools_pool_delete(stage.pools, STR("a"));
    assert_int_equal(pools_job_shard(stage.pools, 1),
                     pools_stage_shard(&stage, "b"));

    /* Nor does it belong to the next pool that comes. */
    pools_stage_pool(&stage, "d", (struct pool_record){.lender_count = 0});
    assert_int_equal(pools_job_shard(stage.pools, 1),
                     pools_stage_shard(&stage, "b"));
    pools_stage_fini(&stage);
}

/* A node that went has no number any more, and another one may get it: who
 * moves avoids the one that failed it, and no other. */
static void who_moves_avoids_the_node_that_it_did(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    uint32_t a1 = pools_stage_node(&stage, "a1", "a", 1);
    uint32_t job = pools_stage_job(&stage, "a", 1);
    pools_stage_round(&stage, "a");
    assert_int_equal(pools_job_node(stage.pools, job), a1);
    pools_job_requeue(stage.pools, job, a1);
    pools_node_remove(stage.pools, a1);
    pools_stage_round(&stage, "a"); /* the number is free after it */
    assert_int_equal(pools_stage_node(&stage, "d1", "", 1), a1);
    pools_pool_delete(stage.pools, STR("a"));
    pools_stage_round(&stage, "");
    assert_int_equal(pools_job_node(stage.pools, job), a1);

    pools_job_requeue(stage.pools, job, SCHED_NONE);
    pools_node_remove(stage.pools, a1);
    (void)pools_stage_node(&stage, "a1", "", 1);
    pools_stage_round(&stage, "");
    assert_int_equal(pools_job_node(stage.pools, job), SCHED_NONE);
    pools_stage_fini(&stage);
}

/* Plan pool a, and hand out what waits there; whether the plan says that a job
 * is admitted no longer. */
static bool plan_dismisses(struct pools_stage *stage, uint32_t job)
{
    uint32_t shard = pools_stage_shard(stage, "a");
    bool is_dismissed = false;
    struct sched_plan plan;

    pools_plan(stage->pools, shard, stage->now_ms, ROUND_BALANCE,
               SCHED_DECISIONS_MAX, &plan);
    (void)pools_borrow(stage->pools, shard, ROUND_BALANCE, &plan);
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        is_dismissed |= plan.decisions[i].action == SCHED_DISMISS &&
                        plan.decisions[i].job == job;
    }
    return is_dismissed;
}

/* The log says nothing of who is lent, but that it is admitted no longer. */
static void who_is_admitted_is_lent_when_its_dismissal_was_told(void **state)
{
    struct pools_stage stage;
    struct sched_admission admission;

    (void)state;
    pools_stage_init(&stage);
    pool_policy_apply(&stage.policy.pools[0], PROFILE_FLOW);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    (void)pools_stage_node(&stage, "a1", "a", 1);
    (void)pools_stage_node(&stage, "b1", "b", 1);
    (void)pools_stage_job(&stage, "a", 1);
    pools_stage_round(&stage, "a");
    uint32_t job = pools_stage_job(&stage, "a", 1);
    pools_job_admit(stage.pools, job, STR("a"), SCHED_START_UNKNOWN, 0);
    uint32_t a = pools_stage_shard(&stage, "a");

    /* Something else in the batch has cut the plan short. */
    assert_true(plan_dismisses(&stage, job));
    assert_false(pools_plan_commit(stage.pools, a));
    assert_int_equal(pools_job_shard(stage.pools, job), a);
    assert_true(pools_job_admission(stage.pools, job, &admission));

    assert_true(plan_dismisses(&stage, job));
    pools_job_dismiss(stage.pools, job);
    assert_true(pools_plan_commit(stage.pools, a));
    assert_int_equal(pools_job_shard(stage.pools, job),
                     pools_stage_shard(&stage, "b"));
    pools_stage_fini(&stage);
}

/* A node that is gone while something runs there takes that along if it comes
 * again elsewhere: the leader must know that it moves. */
static void a_node_that_is_gone_moves_with_what_runs_there(void **state)
{
    struct resource_amount cpu = {STR("cpu"), STAGE_MILLI};
    struct label label = {STR("pool"), STR("b")};
    const struct node_record record = {
        .name = STR("a1"),
        .labels = &label,
        .label_count = 1,
        .total = {&cpu, 1},
    };
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    pools_stage_pool(&stage, "a", (struct pool_record){.lender_count = 0});
    pools_stage_pool(&stage, "b", (struct pool_record){.lender_count = 0});
    uint32_t node = pools_stage_node(&stage, "a1", "a", 1);
    uint32_t job = pools_stage_job(&stage, "a", 1);
    pools_stage_round(&stage, "a");
    assert_true(pools_node_moves(stage.pools, STR("e"), &record));
    pools_node_remove(stage.pools, node);
    assert_true(pools_node_moves(stage.pools, STR("e"), &record));
    assert_false(pools_node_moves(stage.pools, STR("f"), &record));
    pools_job_remove(stage.pools, job);
    assert_false(pools_node_moves(stage.pools, STR("e"), &record));
    pools_stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_has_succeeded_counts_when_the_pool_is_deleted),
        TEST(it_stays_frozen_when_its_node_changes_its_pool),
        TEST(and_when_it_goes_home_again),
        TEST(a_cap_that_ends_is_not_over_since_a_gang_moves),
        TEST(a_gang_is_lent_where_its_minimum_fits),
        TEST(a_gang_of_unlike_pods_is_lent),
        TEST(a_cooldown_goes_to_the_lender_and_home_again),
        TEST(who_comes_again_during_a_plan_stays_for_the_next),
        TEST(a_gang_whose_pool_goes_is_where_it_runs),
        TEST(what_a_gang_did_is_known_in_all_its_pools),
        TEST(when_a_gang_was_scaled_is_known_in_all_its_pools),
        TEST(when_a_gang_lost_a_place_is_known_in_all_its_pools),
        TEST(two_plans_start_a_gang_in_one_pool),
        TEST(a_plan_starts_nothing_of_a_gang_that_runs_elsewhere),
        TEST(a_plan_starts_nothing_of_a_gang_that_went_meanwhile),
        TEST(a_node_that_is_gone_moves_with_what_runs_there),
        TEST(who_moves_avoids_the_node_that_it_did),
        TEST(who_is_admitted_is_lent_when_its_dismissal_was_told),
    };

    return RUN_TESTS(tests);
}
