#include "pools_stage.h"

void pools_stage_init(struct pools_stage *stage)
{
    struct queue_record queue = queue_record_plain(STR("q"));

    *stage = (struct pools_stage){.now_ms = 1000};
    policy_defaults(&stage->policy);
    stage->pools = pools_create(&stage->policy);
    pools_queue_set(stage->pools, 0, &queue);
}

void pools_stage_fini(struct pools_stage *stage)
{
    assert_true(pools_is_consistent(stage->pools));
    pools_destroy(stage->pools);
}

void pools_stage_pool(struct pools_stage *stage, const char *name,
                      struct pool_record record)
{
    struct label label = {STR("pool"), str_of(name)};

    record.name = str_of(name);
    record.has_selector = true;
    record.labels = &label;
    record.label_count = 1;
    pools_pool_set(stage->pools, &record);
}

uint32_t pools_stage_node(struct pools_stage *stage, const char *name,
                          const char *pool, int64_t cores)
{
    struct resource_amount cpu = {STR("cpu"), cores * STAGE_MILLI};
    struct label label = {STR("pool"), str_of(pool)};
    struct node_record record = {
        .name = str_of(name),
        .total = {&cpu, 1},
        .labels = &label,
        .label_count = 1,
    };

    return pools_node_set(stage->pools, STR("e"), &record, STR("default"));
}

uint32_t pools_stage_job(struct pools_stage *stage, const char *pool,
                         int64_t cores)
{
    struct resource_amount cpu = {STR("cpu"), cores * STAGE_MILLI};
    struct requirement requirement = {
        .requests = {&cpu, 1},
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = str_of(stage->priority_class),
    };
    uint32_t job = stage->job_count++;
    struct sched_job record = {
        .class_index = pools_class_add(stage->pools, &requirement),
        .submitted_ms = job,
        .id = {{0, job + 1}},
        .pool = str_of(pool),
    };

    pools_job_add(stage->pools, job, &record);
    return job;
}

uint32_t pools_stage_shard(const struct pools_stage *stage, const char *pool)
{
    for (uint32_t i = 0; i < pools_object_count(stage->pools); i++) {
        if (str_equal(pools_object(stage->pools, i)->name, str_of(pool))) {
            return pools_object_shard(stage->pools, i);
        }
    }
    return POOLS_DEFAULT;
}

void pools_stage_round(struct pools_stage *stage, const char *pool)
{
    uint32_t shard = pools_stage_shard(stage, pool);
    struct sched_plan plan;

    pools_plan(stage->pools, shard, stage->now_ms, ROUND_BALANCE,
               SCHED_DECISIONS_MAX, &plan);
    (void)pools_borrow(stage->pools, shard, ROUND_BALANCE, &plan);
    for (uint32_t i = 0; i < plan.decision_count; i++) {
        const struct sched_decision *decision = &plan.decisions[i];
        if (decision->action == SCHED_LEASE) {
            pools_job_lease(stage->pools, decision->job, decision->node,
                            decision->priority, stage->now_ms, true);
        }
    }
    (void)pools_plan_commit(stage->pools, shard);
}
