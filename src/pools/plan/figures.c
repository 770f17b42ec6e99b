/* Figures of pools, from their shards, or the last known ones while a pool is
 * being planned. */
#include "pools/plan/plan.h"

enum {
    FIGURES_PAUSE_MS = 1000,     /* between two looks at every node */
    FIGURES_QUEUES_MAX = 1 << 12 /* by pools: of those the answers are kept */
};

/* The shard of a pool, and its index there. */
static struct shard *shard_of_pool(const struct pools *pools,
                                   uint32_t *pool_index)
{
    struct shard *shard =
        pools->shards.items[pools_pool_shard(pools, *pool_index)];

    *pool_index = shard->name ? 0 : *pool_index;
    ASSERT(shard->name || *pool_index < pools->policy->pool_count);
    return shard;
}

void pools_queue_stats(struct pools *pools, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    struct shard *shard = shard_of_pool(pools, &pool_index);
    size_t at = (size_t)queue * (shard->name ? 1 : pools->policy->pool_count) +
                pool_index;

    *ret_stats = (struct sched_queue_stats){0};
    if (!shard->is_busy) {
        sched_queue_stats(shard->sched, queue, pool_index, ret_stats);
        if (!pools->is_mapped || at >= FIGURES_QUEUES_MAX) {
            return;
        }
        while (shard->known_queues.count <= at) {
            VEC_PUSH(&shard->known_queues, (struct sched_queue_stats){0});
        }
        shard->known_queues.items[at] = *ret_stats;
    } else if (at < shard->known_queues.count) {
        *ret_stats = shard->known_queues.items[at];
    }
}

void pools_pool_stats(struct pools *pools, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats)
{
    struct shard *shard = shard_of_pool(pools, &pool_index);

    *ret_stats = (struct sched_pool_stats){.head = SCHED_NONE};
    if (shard->is_busy) {
        if (pool_index < shard->known_pools.count) {
            *ret_stats = shard->known_pools.items[pool_index];
        }
        return;
    }
    sched_pool_stats(shard->sched, pool_index, ret_stats);
    if (!pools->is_mapped) {
        return;
    }
    ret_stats->head = ret_stats->head == SCHED_NONE
                          ? SCHED_NONE
                          : shard->jobs.items[ret_stats->head];
    while (shard->known_pools.count <= pool_index) {
        VEC_PUSH(&shard->known_pools,
                 (struct sched_pool_stats){.head = SCHED_NONE});
    }
    shard->known_pools.items[pool_index] = *ret_stats;
    /* By the next report the job may be a different one. */
    shard->known_pools.items[pool_index].head = SCHED_NONE;
}

void pools_figures_keep(struct pools *pools, uint32_t index, int64_t now_ms)
{
    struct shard *shard = pools->shards.items[index];

    ASSERT(!shard->is_busy);
    if (pools->is_mapped && (!shard->is_usage_known ||
                             now_ms - shard->known_ms >= FIGURES_PAUSE_MS)) {
        sched_usage(shard->sched, &shard->known_usage);
        shard->known_ms = now_ms;
        shard->is_usage_known = true;
    }
}

int64_t pools_usage(const struct pools *pools, uint32_t index, int64_t now_ms,
                    struct sched_usage *ret_usage)
{
    const struct shard *shard = pools->shards.items[index];

    if (!shard->is_busy) {
        sched_usage(shard->sched, ret_usage);
        return 0;
    }
    *ret_usage = shard->known_usage; /* nothing, if it was never kept */
    return now_ms > shard->known_ms ? now_ms - shard->known_ms : 1;
}

void pools_figures_forget(struct shard *shard)
{
    VEC_FREE(&shard->known_queues);
    VEC_FREE(&shard->known_pools);
    shard->is_usage_known = false;
}
