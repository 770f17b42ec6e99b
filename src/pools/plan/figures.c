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

/* The answer for a queue is kept, for when its shard is being planned. */
static void keep_queue(struct shard *shard, size_t at,
                       const struct sched_queue_stats *stats)
{
    if (at < FIGURES_QUEUES_MAX) {
        while (shard->known_queues.count <= at) {
            VEC_PUSH(&shard->known_queues, (struct sched_queue_stats){0});
        }
        shard->known_queues.items[at] = *stats;
    }
}

void pools_queues_stats(struct pools *pools, const uint32_t *queues,
                        uint32_t count, uint32_t pool_index,
                        struct sched_queue_stats *ret_stats)
{
    struct shard *shard = shard_of_pool(pools, &pool_index);
    size_t stride = shard->name ? 1 : pools->policy->pool_count;

    if (!shard->is_busy) {
        sched_queues_stats(shard->sched, queues, count, pool_index, ret_stats);
    }
    for (uint32_t i = 0; i < count; i++) {
        size_t at = queues[i] * stride + pool_index;
        if (shard->is_busy) {
            ret_stats[i] = at < shard->known_queues.count
                               ? shard->known_queues.items[at]
                               : (struct sched_queue_stats){0};
        } else if (pools->is_mapped) {
            keep_queue(shard, at, &ret_stats[i]);
        }
    }
}

void pools_queue_stats(struct pools *pools, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats)
{
    pools_queues_stats(pools, &queue, 1, pool_index, ret_stats);
}

/* Of a pool that nobody has asked about yet. */
static const struct sched_pool_stats nothing_known = {
    .head = SCHED_NONE,
    .head_start_ms = SCHED_START_UNKNOWN,
};

void pools_pool_stats(struct pools *pools, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats)
{
    struct shard *shard = shard_of_pool(pools, &pool_index);

    *ret_stats = nothing_known;
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
        VEC_PUSH(&shard->known_pools, nothing_known);
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
