/* The router as a whole: create, destroy, queues, time. */
#include "pools/pools.h"

#include "pools/jobs/deltas.h"
#include "pools/jobs/jobs.h"
#include "pools/jobs/lent.h"
#include "pools/jobs/quota.h"
#include "pools/nodes/nodes.h"
#include "pools/objects/objects.h"
#include "pools/tables/classes.h"
#include "pools/tables/node_table.h"

struct pools *pools_create(const struct policy *policy)
{
    struct pools *pools = mem_alloc(sizeof(*pools));

    pools->policy = policy;
    (void)shard_create(pools, policy);
    return pools;
}

void pools_destroy(struct pools *pools)
{
    if (!pools) {
        return;
    }
    for (size_t i = 0; i < pools->shards.count; i++) {
        if (pools->shards.items[i]) {
            shard_destroy(pools->shards.items[i]);
        }
    }
    VEC_FREE(&pools->shards);
    VEC_FREE(&pools->objects);
    VEC_FREE(&pools->records);
    VEC_FREE(&pools->by_application);
    VEC_FREE(&pools->looked);
    intern_destroy(pools->names);
    pool_jobs_fini(pools);
    lent_fini(pools);
    quotas_fini(pools);
    pools_pending_fini(pools);
    pool_classes_fini(pools);
    pool_nodes_fini(pools);
    mem_free(pools);
}

/* Time. */

static void apply_time(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    (void)pools;
    sched_news_set(shard->sched, (uint64_t)delta->amount);
    sched_set_time(shard->sched, delta->at_ms);
}

void pools_set_time(struct pools *pools, int64_t now_ms)
{
    struct delta delta = delta_of(apply_time);

    if (!pools->is_mapped) {
        sched_set_time(first_of(pools), now_ms);
    } else {
        delta.at_ms = now_ms;
        delta.amount = (int64_t)pools->news_count;
        deliver_all(pools, &delta);
    }
    pools->now_ms = now_ms > pools->now_ms ? now_ms : pools->now_ms;
}

static void apply_hold(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    (void)pools;
    (void)delta;
    sched_flows_hold(shard->sched);
}

static void apply_keep(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    (void)pools;
    (void)delta;
    sched_flows_keep(shard->sched);
}

void pools_flows_hold(struct pools *pools)
{
    struct delta delta = delta_of(apply_hold);

    if (pools->is_mapped) {
        deliver_all(pools, &delta);
    } else {
        sched_flows_hold(first_of(pools));
    }
}

void pools_flows_keep(struct pools *pools)
{
    struct delta delta = delta_of(apply_keep);

    if (pools->is_mapped) {
        deliver_all(pools, &delta);
    } else {
        sched_flows_keep(first_of(pools));
    }
}

/* Queues. */

static const void *copy_queue(const void *from, struct arena *arena)
{
    struct queue_record *record = arena_alloc(arena, sizeof(*record));

    *record = *(const struct queue_record *)from;
    struct queue_limit *limits =
        arena_alloc_array(arena, record->limit_count, sizeof(*limits));
    for (uint32_t i = 0; i < record->limit_count; i++) {
        limits[i] = record->limits[i];
        limits[i].priority_class = arena_str(arena, limits[i].priority_class);
        limits[i].pool = arena_str(arena, limits[i].pool);
        limits[i].resource = arena_str(arena, limits[i].resource);
    }
    record->limits = limits;
    struct resource_amount *quota =
        arena_alloc_array(arena, record->quota.count, sizeof(*quota));
    for (uint32_t i = 0; i < record->quota.count; i++) {
        quota[i] = record->quota.items[i];
        quota[i].name = arena_str(arena, quota[i].name);
    }
    record->quota.items = quota;
    record->name = arena_str(arena, record->name);
    return record;
}

static void apply_queue(struct pools *pools, struct shard *shard,
                        const struct delta *delta)
{
    (void)pools;
    sched_queue_set(shard->sched, delta->other, delta->record);
}

void pools_queue_set(struct pools *pools, uint32_t queue,
                     const struct queue_record *record)
{
    struct delta delta = delta_of(apply_queue);

    if (!pools->is_mapped) {
        sched_queue_set(first_of(pools), queue, record);
        return;
    }
    pools->news_count++;
    while (pools->by_application.count <= queue) {
        VEC_PUSH(&pools->by_application, false);
    }
    pools->by_application.items[queue] = sched_goes_by_applications(record);
    delta.other = queue;
    delta.record = record;
    delta.copy = copy_queue;
    deliver_all(pools, &delta);
    quotas_set(pools, queue, record);
}

static void apply_queue_gone(struct pools *pools, struct shard *shard,
                             const struct delta *delta)
{
    (void)pools;
    sched_queue_remove(shard->sched, delta->other);
}

void pools_queue_remove(struct pools *pools, uint32_t queue)
{
    struct delta delta = delta_of(apply_queue_gone);

    if (!pools->is_mapped) {
        sched_queue_remove(first_of(pools), queue);
        return;
    }
    pools->news_count++;
    delta.other = queue;
    deliver_all(pools, &delta);
    quotas_forget(pools, queue);
}

bool pools_queue_has_applications(const struct pools *pools, uint32_t queue)
{
    if (!pools->is_mapped) {
        return sched_queue_has_applications(first_of(pools), queue);
    }
    return queue < pools->by_application.count &&
           pools->by_application.items[queue];
}
