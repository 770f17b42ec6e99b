#include "sched/fairness/limits.h"
#include "sched/fairness/usage_ledger.h"
#include "sched/reserve/reserve.h"
#include "sched/state/topology.h"

/* 10^6 ppm x 60,000 ms: charges, in minutes of the whole pool. */
static const double CHARGE_PER_MINUTE = 60e9;

static void add_limits(const struct limits *limits, double units,
                       struct sched_queue_stats *stats)
{
    if (limits->over_share_ppm != POLICY_OFF && limits->whole > 0) {
        stats->infinite_limit = limits_over_share(limits);
    }
    if (limits->budget_max != INT64_MAX) {
        double scale = units / CHARGE_PER_MINUTE;
        stats->budget_minutes = (double)limits->budget_max * scale;
        stats->budget_left_minutes = (double)limits->budget_left * scale;
    }
}

/* What is remembered of a queue, as of the time told last. */
static void add_usage_ledger(struct sched *sched, uint32_t queue, uint32_t pool,
                             struct sched_queue_stats *stats)
{
    const struct cost_base *base = &sched->pools.items[pool].base;
    const struct usage_ledger *usage_ledger =
        usage_ledger_find(sched, queue, pool);
    int64_t half_ms = pool_half_time_ms(sched, pool);
    struct limits limits;

    stats->usage_share = stats->flow = stats->actual_share;
    stats->infinite_limit = -1;
    stats->budget_minutes = stats->budget_left_minutes = -1;
    if (usage_ledger) {
        stats->usage_share = cost_fraction(base, &usage_ledger->all);
        stats->flow = stats->usage_share +
                      flow_excess(&usage_ledger->flow, half_ms, sched->now_ms);
        stats->infinite_flow =
            cost_fraction(base, &usage_ledger->infinite) +
            flow_excess(&usage_ledger->infinite_flow, half_ms, sched->now_ms);
    }
    if (limits_get(sched, queue, pool, limits_whole(sched, pool), sched->now_ms,
                   &limits)) {
        add_limits(&limits, base->units, stats);
    }
}

void sched_queue_stats(struct sched *sched, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    auto_arena arena = {0};
    uint32_t count;

    ASSERT(pool_index < sched->policy->pool_count &&
           queue < sched->queues.count);
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t pool = pool_get(sched, sched->policy->pools[pool_index].name);
    const struct share *shares = shares_of(sched, pool, &arena, &count);
    *ret_stats = (struct sched_queue_stats){
        .weight = (double)PRIORITY_FACTOR_ONE_MICRO /
                  (double)sched->queues.items[queue].factor_micro,
        .queued_count = sched->queues.items[queue].waiting_count,
    };
    for (uint32_t i = 0; i < count; i++) {
        if (shares[i].queue == queue) {
            ret_stats->fair_share = shares[i].fair;
            ret_stats->adjusted_share = shares[i].adjusted;
            ret_stats->actual_share = shares[i].actual;
            ret_stats->demand_share = shares[i].demand;
            ret_stats->allocated = shares[i].allocated;
            ret_stats->demand = shares[i].wanted;
            ret_stats->leased_count = shares[i].leased_count;
        }
    }
    add_usage_ledger(sched, queue, pool, ret_stats);
}

void sched_pool_stats(struct sched *sched, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats)
{
    auto_arena arena = {0};
    uint32_t count;

    ASSERT(pool_index < sched->policy->pool_count);
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t p = pool_get(sched, sched->policy->pools[pool_index].name);
    const struct share *shares = shares_of(sched, p, &arena, &count);
    *ret_stats = (struct sched_pool_stats){
        .total = sched->pools.items[p].total,
        .node_count = sched->pools.items[p].node_count,
        .active_queue_count = count,
        .units = sched->pools.items[p].base.units,
        .admitted_count = (uint32_t)sched->pools.items[p].admitted.count,
    };
    const struct topology *topology = topology_of(sched, p);
    if (topology) {
        ret_stats->level_count = topology->level_count;
        ret_stats->domain_count = topology->domain_count;
        ret_stats->split_count = topology->split_count;
        ret_stats->bare_count = topology->bare_count;
    }
    ret_stats->head = reserve_kept_for(sched, p, &ret_stats->head_start_ms);
    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&ret_stats->allocated, &shares[i].allocated);
    }
}
