#include "cluster.h"

#include <stdio.h>

#include "measure.h"

static const int64_t GI_MILLI = ((int64_t)1 << 30) * 1000;

void cluster_init(struct cluster *cluster, const struct policy *policy)
{
    *cluster = (struct cluster){0};
    if (policy) {
        cluster->policy = *policy;
    } else {
        policy_defaults(&cluster->policy);
        /* What preempts has just come, and could pay no price. */
        cluster->policy.pools[0].preemption_price_milli = 0;
        cluster->policy.pools[0].over_share_price_milli = 0;
        cluster->policy.pools[0].loss_protection_milli = 0;
        cluster->policy.pools[0].loss_limit_milli = 0;
    }
    cluster->policy.lookback_max = 0;
    for (uint32_t c = 0; c < cluster->policy.class_count; c++) {
        cluster->policy.classes[c].queue_limit_count = 0;
    }
    cluster->sched = sched_create(&cluster->policy);
}

void cluster_make(struct cluster *cluster, uint32_t node_count)
{
    cluster_init(cluster, NULL);
    for (uint32_t i = 0; i < node_count; i++) {
        char name[32];
        struct resource_amount amounts[] = {
            {STR("cpu"), 32 * 1000},
            {STR("memory"), 256 * GI_MILLI},
        };
        snprintf(name, sizeof(name), "node-%06u", i);
        struct node_record record = {
            .name = str_of(name),
            .pool = STR("default"),
            .total = {amounts, 2},
        };
        (void)sched_node_set(cluster->sched, STR("bench"), &record, STR(""));
    }
    struct resource_amount amounts[] = {
        {STR("cpu"), 1000},
        {STR("memory"), 4 * GI_MILLI},
    };
    struct requirement requirement = {
        .lifetime_ms = LIFETIME_BY_CLASS,
        .priority_class = STR("armada-preemptible"),
        .requests = {amounts, 2},
    };
    cluster->class_index = sched_class_add(cluster->sched, &requirement);
}

void cluster_fini(struct cluster *cluster)
{
    sched_destroy(cluster->sched);
}

void cluster_set_queue(struct cluster *cluster, uint32_t queue,
                       int64_t factor_micro)
{
    char name[32];

    snprintf(name, sizeof(name), "queue-%05u", queue);
    struct queue_record record = queue_record_plain(str_of(name));

    record.priority_factor_micro = factor_micro;
    sched_queue_set(cluster->sched, queue, &record);
}

void cluster_add_queues(struct cluster *cluster, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cluster_set_queue(cluster, i, PRIORITY_FACTOR_ONE_MICRO);
    }
}

void cluster_add_jobs(struct cluster *cluster, uint32_t first, uint32_t queues,
                      uint32_t count, uint32_t gang_cardinality)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t job = cluster->job_count++;
        struct sched_job record = {
            .queue = first + i % queues,
            .class_index = cluster->class_index,
            .submitted_ms = job,
            .id = {{1, job}},
            .gang_id = gang_cardinality > 1 ? STR("gang") : STR(""),
            .gang_cardinality = gang_cardinality,
            .gang_minimum = gang_cardinality,
        };
        sched_job_add(cluster->sched, job, &record);
    }
}

void cluster_apply(struct cluster *cluster, const struct sched_plan *plan,
                   int64_t now_ms)
{
    for (uint32_t i = 0; i < plan->decision_count; i++) {
        const struct sched_decision *decision = &plan->decisions[i];
        switch (decision->action) {
        case SCHED_LEASE:
            sched_job_lease(cluster->sched, decision->job, decision->node,
                            decision->priority, now_ms, true);
            break;
        case SCHED_PREEMPT:
        case SCHED_FAIL:
            sched_job_remove(cluster->sched, decision->job);
            break;
        case SCHED_ADMIT:
            sched_job_admit(cluster->sched, decision->job,
                            cluster->policy.pools[decision->pool_index].name,
                            decision->start_ms, decision->charge);
            break;
        case SCHED_DISMISS:
            sched_job_dismiss(cluster->sched, decision->job);
            break;
        }
    }
}

double cluster_plan(struct cluster *cluster, int64_t now_ms,
                    enum round_kind kind, struct sched_plan *ret_plan)
{
    double start = measure_now_s();

    sched_plan(cluster->sched, now_ms, kind, SCHED_DECISIONS_MAX, ret_plan);
    return measure_now_s() - start;
}
