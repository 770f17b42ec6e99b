/* The health of nodes, over all shards. */
#include "pools/nodes/nodes.h"
#include "pools/tables/node_table.h"

static void apply_health(struct pools *pools, struct shard *shard,
                         const struct delta *delta)
{
    sched_health_set(shard->sched, shard_node(pools, shard, delta->node),
                     delta->record);
}

static const void *copy_health(const void *from, struct arena *arena)
{
    struct sched_health *health = arena_alloc(arena, sizeof(*health));

    *health = *(const struct sched_health *)from;
    health->reason = arena_str(arena, health->reason);
    return health;
}

void pools_health_set(struct pools *pools, uint32_t node,
                      const struct sched_health *health)
{
    struct delta delta = delta_of(apply_health);

    if (!pools->is_mapped) {
        sched_health_set(first_of(pools), node, health);
        return;
    }
    delta.record = health;
    delta.copy = copy_health;
    pool_node_tell(pools, node, &delta);
}

void pools_health_get(struct pools *pools, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health)
{
    if (!pools->is_mapped) {
        sched_health_get(first_of(pools), node, now_ms, ret_health);
        return;
    }
    struct shard *shard = pools->shards.items[pools->nodes.items[node].shard];
    *ret_health = (struct sched_health){0};
    if (!shard->is_busy) {
        uint32_t local = shard_node(pools, shard, node);
        sched_health_get(shard->sched, local, now_ms, ret_health);
    }
}

static bool comes_before(const struct pools *pools,
                         const struct sched_health_change *a,
                         const struct sched_health_change *b)
{
    int c = str_compare(pools_node_name(pools, a->node),
                        pools_node_name(pools, b->node));

    return c ? c < 0
             : str_compare(pools_node_executor(pools, a->node),
                           pools_node_executor(pools, b->node)) < 0;
}

/* Merge the changes of a shard, which are in order, into the list. */
static void merge(struct pools *pools, const struct shard *shard,
                  const struct sched_health_change *changes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sched_health_change change = changes[i];
        change.node = node_back(shard, change.node);
        VEC_PUSH(&pools->changes, change);
        size_t at = pools->changes.count - 1;
        for (; at > 0 &&
               comes_before(pools, &change, &pools->changes.items[at - 1]);
             at--) {
            pools->changes.items[at] = pools->changes.items[at - 1];
        }
        pools->changes.items[at] = change;
    }
}

uint32_t pools_health_plan(struct pools *pools, int64_t now_ms,
                           const struct sched_health_change **ret_changes)
{
    if (!pools->is_mapped) {
        return sched_health_plan(first_of(pools), now_ms, ret_changes);
    }
    pools->changes.count = 0;
    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        const struct sched_health_change *changes;
        if (shard && !shard->is_busy) {
            uint32_t count = sched_health_plan(shard->sched, now_ms, &changes);
            merge(pools, shard, changes, count);
        }
    }
    *ret_changes = pools->changes.items;
    return (uint32_t)pools->changes.count;
}

int64_t pools_health_wake_ms(const struct pools *pools)
{
    int64_t wake_ms = INT64_MAX;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (shard && !shard->is_busy) {
            int64_t ms = sched_health_wake_ms(shard->sched);
            wake_ms = ms < wake_ms ? ms : wake_ms;
        }
    }
    return wake_ms;
}

uint32_t pools_health_count(const struct pools *pools, enum node_health health)
{
    uint32_t count = 0;

    for (size_t i = 0; i < pools->shards.count; i++) {
        const struct shard *shard = pools->shards.items[i];
        if (shard) {
            count += shard->is_busy ? shard->health_counts[health]
                                    : sched_health_count(shard->sched, health);
        }
    }
    return count;
}
