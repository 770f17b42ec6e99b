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
    if (limits_get(sched, NULL, queue, pool, limits_whole(sched, pool),
                   sched->now_ms, &limits)) {
        add_limits(&limits, base->units, stats);
    }
}

static void set_share(struct sched_queue_stats *stats,
                      const struct share *share)
{
    stats->fair_share = share->fair;
    stats->adjusted_share = share->adjusted;
    stats->actual_share = share->actual;
    stats->demand_share = share->demand;
    stats->allocated = share->allocated;
    stats->demand = share->wanted;
    stats->leased_count = share->leased_count;
}

/* The shares of a pool by queue, in the arena; NULL: it has none there. */
static const struct share **shares_by_queue(struct sched *sched, uint32_t pool,
                                            struct arena *arena)
{
    uint32_t count;
    const struct share *shares = shares_of(sched, NULL, pool, arena, &count);
    const struct share **of = arena_alloc_array(arena, sched->queues.count + 1,
                                                sizeof(const struct share *));

    for (uint32_t i = 0; i < count; i++) {
        of[shares[i].queue] = &shares[i];
    }
    return of;
}

void sched_queues_stats(struct sched *sched, const uint32_t *queues,
                        uint32_t count, uint32_t pool_index,
                        struct sched_queue_stats *ret_stats)
{
    auto_arena arena = {0};

    ASSERT(pool_index < sched->policy->pool_count);
    nodes_sync(sched);
    queues_sync(sched);
    uint32_t pool = pool_get(sched, sched->policy->pools[pool_index].name);
    const struct share **shares = shares_by_queue(sched, pool, &arena);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(queues[i] < sched->queues.count);
        ret_stats[i] = (struct sched_queue_stats){
            .weight = (double)PRIORITY_FACTOR_ONE_MICRO /
                      (double)sched->queues.items[queues[i]].factor_micro,
            .queued_count = sched->queues.items[queues[i]].waiting_count,
        };
        if (shares[queues[i]]) {
            set_share(&ret_stats[i], shares[queues[i]]);
        }
        add_usage_ledger(sched, queues[i], pool, &ret_stats[i]);
    }
}

void sched_queue_stats(struct sched *sched, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    sched_queues_stats(sched, &queue, 1, pool_index, ret_stats);
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
    const struct share *shares = shares_of(sched, NULL, p, &arena, &count);
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
    if (ret_stats->head == NONE) {
        ret_stats->head_start_ms = SCHED_START_UNKNOWN;
    }
    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&ret_stats->allocated, &shares[i].allocated);
    }
}
