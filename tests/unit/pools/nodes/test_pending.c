/* What pods that are not ours ask for in vain reaches the pools whose nodes
 * they could use. */
#include "pools_stage.h"

static const struct pool_record plain = {.is_borrowing_off = true};

/* A gang of 1 to 8 one-core pods at home in a pool; its first job. */
static uint32_t submit_gang(struct pools_stage *stage, const char *pool)
{
    struct resource_amount cpu = {STR("cpu"), STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .priority_class = STR("armada-preemptible"),
        .lifetime_ms = LIFETIME_BY_CLASS,
    };
    struct gang_terms terms = {
        .kind = GANG_TRAINING_TOLERANT,
        .sub_groups = {{STR("trainer"), 1, 8, .hops_max = HOPS_ANY}},
        .sub_group_count = 1,
    };
    auto_strbuf packed = {0};
    uint32_t first = stage->job_count;

    gang_terms_pack(&packed, &terms);
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t job = stage->job_count++;
        struct sched_job record = {
            .class_index = pools_class_add(stage->pools, &requirement),
            .submitted_ms = job,
            .id = {{0, job + 1}},
            .pool = str_of(pool),
            .gang_id = pool[0] ? str_of(pool) : STR("d"),
            .gang_cardinality = 8,
            .gang_minimum = 1,
            .gang_terms = strbuf_str(&packed),
        };
        pools_job_add(stage->pools, job, &record);
    }
    return first;
}

static uint32_t running(const struct pools_stage *stage, uint32_t first)
{
    uint32_t count = 0;

    for (uint32_t i = first; i < first + 8; i++) {
        count += pools_job_node(stage->pools, i) != SCHED_NONE;
    }
    return count;
}

/* What an executor says of its cluster, which is of a pool of the
 * configuration. */
static void tell_of(struct pools_stage *stage, const char *executor,
                    const char *pool, int64_t cores)
{
    int cpu = resource_column(&stage->policy.schema, STR("cpu"));
    struct resource_vec amounts = {0};

    amounts.v[cpu] = cores * STAGE_MILLI;
    pools_foreign_pending_set(stage->pools, str_of(executor), str_of(pool),
                              &amounts);
}

static void tell(struct pools_stage *stage, int64_t cores)
{
    tell_of(stage, "e", "default", cores);
}

/* Pools of 8 cores and of 4, and 4 that no object selects. */
static void begin(struct pools_stage *stage)
{
    pools_stage_init(stage);
    pools_stage_pool(stage, "a", plain);
    pools_stage_pool(stage, "b", plain);
    (void)pools_stage_node(stage, "a1", "a", 8);
    (void)pools_stage_node(stage, "b1", "b", 4);
    (void)pools_stage_node(stage, "d1", "", 4);
}

/* 8 cores are asked for: pool a has half of the cluster and makes room for 4
 * of them, b and Default for 2 each. */
static void each_pool_makes_room_for_its_part(void **state)
{
    struct pools_stage stage;

    (void)state;
    begin(&stage);
    tell(&stage, 8);
    uint32_t a = submit_gang(&stage, "a"), b = submit_gang(&stage, "b");
    uint32_t d = submit_gang(&stage, "");
    pools_stage_round(&stage, "a");
    pools_stage_round(&stage, "b");
    pools_stage_round(&stage, "default");
    assert_int_equal(running(&stage, a), 4);
    assert_int_equal(running(&stage, b), 2);
    assert_int_equal(running(&stage, d), 2);
    /* They found their place: there is room for all again. */
    tell(&stage, 0);
    stage.now_ms += 1000000;
    pools_set_time(stage.pools, stage.now_ms);
    pools_stage_round(&stage, "a");
    pools_stage_round(&stage, "b");
    assert_int_equal(running(&stage, a), 8);
    assert_int_equal(running(&stage, b), 4);
    pools_stage_fini(&stage);
}

static void a_pool_without_nodes_there_is_told_nothing(void **state)
{
    struct pools_stage stage;

    (void)state;
    begin(&stage);
    tell_of(&stage, "other", "default", 2);
    uint32_t a = submit_gang(&stage, "a"), d = submit_gang(&stage, "");
    pools_stage_round(&stage, "a");
    pools_stage_round(&stage, "default");
    assert_int_equal(running(&stage, a), 8);
    assert_int_equal(running(&stage, d), 2);
    pools_stage_fini(&stage);
}

static void an_executor_that_changes_its_pool_asks_there_alone(void **state)
{
    struct pools_stage stage;

    (void)state;
    pools_stage_init(&stage);
    (void)pools_stage_node(&stage, "d1", "", 8);
    tell(&stage, 6);
    uint32_t d = submit_gang(&stage, "");
    tell_of(&stage, "e", "other", 6);
    pools_stage_round(&stage, "default");
    assert_int_equal(running(&stage, d), 8);
    pools_stage_fini(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_pool_makes_room_for_its_part),
        TEST(a_pool_without_nodes_there_is_told_nothing),
        TEST(an_executor_that_changes_its_pool_asks_there_alone),
    };

    return RUN_TESTS(tests);
}
