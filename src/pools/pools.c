#include "pools/pools.h"

struct pools {
    struct sched *sched; /* the Default shard */
    const struct policy *policy;
};

struct pools *pools_create(const struct policy *policy)
{
    struct pools *pools = mem_alloc(sizeof(*pools));

    pools->policy = policy;
    pools->sched = sched_create(policy);
    return pools;
}

void pools_destroy(struct pools *pools)
{
    if (pools) {
        sched_destroy(pools->sched);
        mem_free(pools);
    }
}

void pools_policy_set(struct pools *pools, const struct policy *policy)
{
    pools->policy = policy;
    sched_policy_set(pools->sched, policy);
}

uint32_t pools_pool_count(const struct pools *pools)
{
    return pools->policy->pool_count;
}

struct str pools_pool_name(const struct pools *pools, uint32_t pool_index)
{
    return pools->policy->pools[pool_index].name;
}

void pools_set_time(struct pools *pools, int64_t now_ms)
{
    sched_set_time(pools->sched, now_ms);
}

void pools_queue_set(struct pools *pools, uint32_t queue,
                     const struct queue_record *record)
{
    sched_queue_set(pools->sched, queue, record);
}

void pools_queue_remove(struct pools *pools, uint32_t queue)
{
    sched_queue_remove(pools->sched, queue);
}

bool pools_queue_has_applications(const struct pools *pools, uint32_t queue)
{
    return sched_queue_has_applications(pools->sched, queue);
}

void pools_executor_set(struct pools *pools, struct str executor,
                        bool accepts_new_leases)
{
    sched_executor_set(pools->sched, executor, accepts_new_leases);
}

uint32_t pools_node_set(struct pools *pools, struct str executor,
                        const struct node_record *record, struct str pool)
{
    return sched_node_set(pools->sched, executor, record, pool);
}

void pools_node_remove(struct pools *pools, uint32_t node)
{
    sched_node_remove(pools->sched, node);
}

uint32_t pools_node_index(struct pools *pools, struct str executor,
                          struct str name)
{
    return sched_node_index(pools->sched, executor, name);
}

struct str pools_node_name(const struct pools *pools, uint32_t node)
{
    return sched_node_name(pools->sched, node);
}

struct str pools_node_executor(const struct pools *pools, uint32_t node)
{
    return sched_node_executor(pools->sched, node);
}

struct str pools_node_pool(const struct pools *pools, uint32_t node)
{
    return sched_node_pool(pools->sched, node);
}

void pools_node_stats(const struct pools *pools, uint32_t node,
                      struct sched_node_stats *ret_stats)
{
    sched_node_stats(pools->sched, node, ret_stats);
}

uint32_t pools_class_add(struct pools *pools,
                         const struct requirement *requirement)
{
    return sched_class_add(pools->sched, requirement);
}

void pools_class_remove(struct pools *pools, uint32_t class_index)
{
    sched_class_remove(pools->sched, class_index);
}

void pools_job_add(struct pools *pools, uint32_t job,
                   const struct sched_job *record)
{
    sched_job_add(pools->sched, job, record);
}

void pools_job_application(struct pools *pools, uint32_t job, struct str id,
                           bool has_stateaware_off)
{
    sched_job_application(pools->sched, job, id, has_stateaware_off);
}

void pools_job_lease(struct pools *pools, uint32_t job, uint32_t node,
                     int32_t priority, int64_t now_ms, bool is_counted)
{
    sched_job_lease(pools->sched, job, node, priority, now_ms, is_counted);
}

bool pools_job_started(struct pools *pools, uint32_t job)
{
    return sched_job_started(pools->sched, job);
}

void pools_job_age_from(struct pools *pools, uint32_t job, int64_t at_ms)
{
    sched_job_age_from(pools->sched, job, at_ms);
}

int64_t pools_job_age_of(const struct pools *pools, uint32_t job)
{
    return sched_job_age_of(pools->sched, job);
}

void pools_job_yield(struct pools *pools, uint32_t job, uint32_t for_job)
{
    sched_job_yield(pools->sched, job, for_job);
}

void pools_job_admit(struct pools *pools, uint32_t job, struct str pool,
                     int64_t start_ms, int64_t charge)
{
    sched_job_admit(pools->sched, job, pool, start_ms, charge);
}

void pools_job_dismiss(struct pools *pools, uint32_t job)
{
    sched_job_dismiss(pools->sched, job);
}

bool pools_job_admission(const struct pools *pools, uint32_t job,
                         struct sched_admission *ret_admission)
{
    return sched_job_admission(pools->sched, job, ret_admission);
}

void pools_job_charge(struct pools *pools, uint32_t job, struct str pool,
                      int64_t charge)
{
    sched_job_charge(pools->sched, job, pool, charge);
}

void pools_job_requeue(struct pools *pools, uint32_t job, uint32_t avoid_node)
{
    sched_job_requeue(pools->sched, job, avoid_node);
}

void pools_job_avoid(struct pools *pools, uint32_t job, uint32_t node)
{
    sched_job_avoid(pools->sched, job, node);
}

void pools_job_remove(struct pools *pools, uint32_t job)
{
    sched_job_remove(pools->sched, job);
}

void pools_job_reprioritise(struct pools *pools, uint32_t job,
                            uint32_t priority)
{
    sched_job_reprioritise(pools->sched, job, priority);
}

uint32_t pools_job_node(const struct pools *pools, uint32_t job)
{
    return sched_job_node(pools->sched, job);
}

void pools_run_ended(struct pools *pools, uint32_t job,
                     const struct sched_outcome *outcome)
{
    sched_run_ended(pools->sched, job, outcome);
}

void pools_job_finished(struct pools *pools, uint32_t job)
{
    sched_job_finished(pools->sched, job);
}

uint32_t pools_health_plan(struct pools *pools, int64_t now_ms,
                           const struct sched_health_change **ret_changes)
{
    return sched_health_plan(pools->sched, now_ms, ret_changes);
}

int64_t pools_health_wake_ms(const struct pools *pools)
{
    return sched_health_wake_ms(pools->sched);
}

void pools_health_set(struct pools *pools, uint32_t node,
                      const struct sched_health *health)
{
    sched_health_set(pools->sched, node, health);
}

void pools_health_get(const struct pools *pools, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health)
{
    sched_health_get(pools->sched, node, now_ms, ret_health);
}

uint32_t pools_health_count(const struct pools *pools, enum node_health health)
{
    return sched_health_count(pools->sched, health);
}

void pools_history_pack(const struct pools *pools, struct strbuf *buf)
{
    sched_history_pack(pools->sched, buf);
}

int pools_history_unpack(struct pools *pools, struct str bytes)
{
    return sched_history_unpack(pools->sched, bytes);
}

void pools_plan(struct pools *pools, uint32_t shard, int64_t now_ms,
                enum round_kind kind, uint32_t decision_count_max,
                struct sched_plan *ret_plan)
{
    ASSERT(shard == POOLS_DEFAULT);
    sched_plan(pools->sched, now_ms, kind, decision_count_max, ret_plan);
}

void pools_sweep_reset(struct pools *pools)
{
    sched_sweep_reset(pools->sched);
}

const struct sched_looked *pools_looked(struct pools *pools,
                                        uint32_t *ret_count)
{
    return sched_looked(pools->sched, ret_count);
}

void pools_explain_need(struct pools *pools, uint32_t job, int64_t now_ms,
                        struct sched_explanation *ret_explanation,
                        struct sched_need *ret_need)
{
    sched_explain_need(pools->sched, job, now_ms, ret_explanation, ret_need);
}

uint32_t pools_explain_kinds(struct pools *pools, uint32_t job, int64_t now_ms,
                             struct sched_node_kind *ret_kinds,
                             uint32_t *ret_left_out_count)
{
    return sched_explain_kinds(pools->sched, job, now_ms, ret_kinds,
                               ret_left_out_count);
}

void pools_explain_nodes(struct pools *pools, uint32_t job,
                         struct sched_explanation *ret_explanation)
{
    sched_explain_nodes(pools->sched, job, ret_explanation);
}

bool pools_has_place(struct pools *pools, uint32_t job, uint32_t *ret_looks)
{
    return sched_has_place(pools->sched, job, ret_looks);
}

bool pools_gang_may_fit(struct pools *pools, uint32_t job, uint32_t *ret_looks,
                        struct sched_gang_miss *ret_miss)
{
    return sched_gang_may_fit(pools->sched, job, ret_looks, ret_miss);
}

uint32_t *pools_gang_waiting(const struct pools *pools, uint32_t job,
                             struct arena *arena, uint32_t *ret_count)
{
    return sched_gang_waiting(pools->sched, job, arena, ret_count);
}

void pools_queue_stats(struct pools *pools, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    sched_queue_stats(pools->sched, queue, pool_index, ret_stats);
}

uint32_t pools_applications(const struct pools *pools, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications)
{
    return sched_applications(pools->sched, queue, now_ms, arena,
                              ret_applications);
}

void pools_application_counts(const struct pools *pools, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES])
{
    sched_application_counts(pools->sched, queue, ret_counts);
}

void pools_pool_stats(struct pools *pools, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats)
{
    sched_pool_stats(pools->sched, pool_index, ret_stats);
}

bool pools_is_consistent(struct pools *pools)
{
    return sched_is_consistent(pools->sched);
}

void pools_job_succeeded(struct pools *pools, uint32_t job)
{
    sched_job_succeeded(pools->sched, job);
}
