/* Which shard a node is in, by its labels. */

#include "pools/nodes/nodes.h"

#include "pools/jobs/deltas.h"
#include "pools/tables/match.h"
#include "pools/tables/node_table.h"
#include "pools/tables/pool_names.h"

/* Copies of records. */

static struct str held_str(struct arena *arena, struct str s)
{
    return s.byte_count ? arena_str(arena, s) : s;
}

static struct resource_list held_list(struct arena *arena,
                                      const struct resource_list *list)
{
    struct resource_list held = {
        .items = arena_alloc_array(arena, list->count, sizeof(*held.items)),
        .count = list->count,
    };

    for (uint32_t i = 0; i < list->count; i++) {
        held.items[i] = list->items[i];
        held.items[i].name = held_str(arena, list->items[i].name);
    }
    return held;
}

const void *node_copy(const void *from, struct arena *arena)
{
    struct node_record *record = arena_alloc(arena, sizeof(*record));

    *record = *(const struct node_record *)from;
    struct label *labels =
        arena_alloc_array(arena, record->label_count, sizeof(*labels));
    struct taint *taints =
        arena_alloc_array(arena, record->taint_count, sizeof(*taints));
    for (uint32_t i = 0; i < record->label_count; i++) {
        labels[i].key = held_str(arena, record->labels[i].key);
        labels[i].value = held_str(arena, record->labels[i].value);
    }
    for (uint32_t i = 0; i < record->taint_count; i++) {
        taints[i] = record->taints[i];
        taints[i].key = held_str(arena, record->taints[i].key);
        taints[i].value = held_str(arena, record->taints[i].value);
    }
    record->labels = labels;
    record->taints = taints;
    record->name = held_str(arena, record->name);
    record->pool = held_str(arena, record->pool);
    record->node_type = held_str(arena, record->node_type);
    record->total = held_list(arena, &record->total);
    record->foreign = held_list(arena, &record->foreign);
    return record;
}

/* What nodes are. */

void apply_node_set(struct pools *pools, struct shard *shard,
                    const struct delta *delta)
{
    (void)shard_node(pools, shard, delta->node);
    (void)sched_node_set(
        shard->sched,
        intern_get(pools->executors, pools->nodes.items[delta->node].executor),
        delta->record, (struct str){0});
}

void apply_node_gone(struct pools *pools, struct shard *shard,
                     const struct delta *delta)
{
    sched_node_remove(shard->sched, shard_node(pools, shard, delta->node));
}

void pool_node_tell(struct pools *pools, uint32_t node, struct delta *delta)
{
    delta->node = node;
    deliver(pools, pools->shards.items[pools->nodes.items[node].shard], delta);
}

/* Whose a node is, and the name of its pool there. */
static struct shard *match_record(struct pools *pools,
                                  const struct node_record *record,
                                  struct str pool, struct str *ret_pool)
{
    uint32_t object =
        match_node(pools->records.items, (uint32_t)pools->records.count,
                   record->labels, record->label_count, NULL);

    if (object == MATCH_DEFAULT) {
        *ret_pool = record->pool.byte_count ? record->pool : pool;
        return pools->shards.items[POOLS_DEFAULT];
    }
    *ret_pool = pools->records.items[object]->name;
    return pools->shards.items[pools->objects.items[object]];
}

bool pools_node_moves(const struct pools *pools, struct str executor,
                      const struct node_record *record)
{
    uint32_t node = pools->is_mapped
                        ? pool_node_find(pools, executor, record->name)
                        : (uint32_t)NONE;

    if (node == NONE || (!pools->nodes.items[node].is_present &&
                         pools->nodes.items[node].use_count == 0)) {
        return false;
    }
    uint32_t object =
        match_node(pools->records.items, (uint32_t)pools->records.count,
                   record->labels, record->label_count, NULL);
    uint32_t shard = object == MATCH_DEFAULT ? (uint32_t)POOLS_DEFAULT
                                             : pools->objects.items[object];
    return shard != pools->nodes.items[node].shard;
}

void pool_node_set(struct pools *pools, uint32_t node,
                   const struct node_record *record)
{
    struct delta delta = delta_of(apply_node_set);

    pools->nodes.items[node].pool = name_of_pool(pools, record->pool);
    delta.record = record;
    delta.copy = node_copy;
    pool_node_tell(pools, node, &delta);
}

uint32_t pools_node_set(struct pools *pools, struct str executor,
                        const struct node_record *record, struct str pool)
{
    struct node_record known = *record;

    if (!pools->is_mapped) {
        return sched_node_set(first_of(pools), executor, record, pool);
    }
    pools->news_count++;
    uint32_t node = pool_node_get(pools, executor, record->name);
    struct shard *to = match_record(pools, record, pool, &known.pool);
    ASSERT(!to->is_closed);
    struct pool_node *row = &pools->nodes.items[node];
    const struct shard *from = pools->shards.items[row->shard];
    bool is_fresh = !row->is_present && row->use_count == 0;
    row->is_present = true;
    row->total = resource_capacity(&pools->policy->schema, &record->total);
    pools->is_pending_stale = true;
    if (from == to) {
        pool_node_unhold(row);
    } else if (is_fresh && from->is_busy) {
        row->shard = to->index; /* nothing of it is anywhere */
    } else if (from->is_busy) {
        pool_node_hold(pools, node, to, &known);
        return node;
    } else {
        pool_node_unhold(row);
        pool_node_shift(pools, node, to);
    }
    /* A node is in the shard that its labels say, or on its way there. */
    ASSERT(pools->nodes.items[node].shard == to->index);
    pool_node_set(pools, node, &known);
    return node;
}

uint32_t pools_node_recall(struct pools *pools, struct str executor,
                           struct str name, struct str pool)
{
    struct node_record record = {.name = name, .pool = pool};

    if (!pools->is_mapped) {
        return sched_node_set(first_of(pools), executor, &record, pool);
    }
    uint32_t node = pool_node_get(pools, executor, name);
    struct pool_node *row = &pools->nodes.items[node];
    if (row->pool != NONE) {
        record.pool = intern_get(pools->names, row->pool);
    } else {
        row->shard = home_of_name(pools, name_of_pool(pools, pool))->index;
    }
    row->is_present = true;
    pool_node_set(pools, node, &record);
    return node;
}

void pool_node_restore(struct pools *pools, struct str executor,
                       struct str name, struct str pool, const struct shard *in)
{
    uint32_t node = pool_node_get(pools, executor, name);
    uint32_t pool_name =
        pool.byte_count ? name_of_pool(pools, pool) : (uint32_t)NONE;

    pools->nodes.items[node].pool = pool_name;
    pools->nodes.items[node].shard = in->index;
}

void pools_node_remove(struct pools *pools, uint32_t node)
{
    struct delta delta = delta_of(apply_node_gone);

    if (!pools->is_mapped) {
        sched_node_remove(first_of(pools), node);
        return;
    }
    pools->news_count++;
    struct pool_node *row = &pools->nodes.items[node];
    pool_node_unhold(row);
    row->is_present = false;
    pools->is_pending_stale = true;
    VEC_PUSH(&pools->idle_nodes, node);
    pool_node_tell(pools, node, &delta);
}

void pools_node_stats(struct pools *pools, uint32_t node,
                      struct sched_node_stats *ret_stats)
{
    if (!pools->is_mapped) {
        sched_node_stats(first_of(pools), node, ret_stats);
        return;
    }
    struct shard *shard = pools->shards.items[pools->nodes.items[node].shard];
    *ret_stats = (struct sched_node_stats){0};
    if (!shard->is_busy) {
        uint32_t local = shard_node(pools, shard, node);
        sched_node_stats(shard->sched, local, ret_stats);
    }
}

/* Executors. */

static void apply_executor(struct pools *pools, struct shard *shard,
                           const struct delta *delta)
{
    (void)pools;
    sched_executor_set(shard->sched, delta->text, delta->flag);
}

void pools_executor_set(struct pools *pools, struct str executor,
                        bool accepts_new_leases)
{
    struct delta delta = delta_of(apply_executor);

    if (!pools->is_mapped) {
        sched_executor_set(first_of(pools), executor, accepts_new_leases);
        return;
    }
    pools->news_count += executor_set(pools, executor, accepts_new_leases);
    delta.text = executor;
    delta.flag = accepts_new_leases;
    deliver_all(pools, &delta);
}
