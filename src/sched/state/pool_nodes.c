/* A pool's sums, weights and indexes over its nodes. */
#include "sched/data/packed.h"
#include "sched/state/floating.h"
#include "sched/state/nodes.h"

uint32_t pool_get(struct sched *sched, struct str name)
{
    uint32_t pool = intern_add(sched->pool_names, name);

    while (sched->pools.count <= pool) {
        struct str fresh =
            intern_get(sched->pool_names, (uint32_t)sched->pools.count);
        struct pool record = {
            .policy_index = -1,
            .is_stale = true,
            .is_base_stale = true,
            .is_topology_stale = true,
        };
        for (uint32_t i = 0; i < sched->policy->pool_count; i++) {
            if (str_equal(sched->policy->pools[i].name, fresh)) {
                record.policy_index = (int)i;
            }
        }
        floating_set_totals(sched, &record);
        VEC_PUSH(&sched->pools, record);
    }
    return pool;
}

uint64_t pool_weigh(const struct pool *pool, const struct resource_vec *v)
{
    uint64_t sum = 0;

    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        sum += v->v[r] > 0 ? pool->weights[r] * (uint64_t)v->v[r] : 0;
    }
    return sum;
}

bool node_is_in_total(const struct node *node)
{
    return node->record && !node->record->is_unschedulable;
}

void pool_nodes_count(struct sched *sched, const struct node *node, int sign)
{
    struct pool *pool = &sched->pools.items[node->pool];

    struct resource_vec capacity = node->capacity;

    floating_strip(sched, &capacity);
    ASSERT(sign > 0 || pool->node_count > 0);
    pool->node_count += (uint32_t)sign;
    if (node_is_in_total(node)) {
        amounts_add_times(&pool->total, &capacity, sign);
    }
    pool->is_stale = pool->is_base_stale = true;
    pool->is_foreign_known = false;
}

void pool_nodes_leave(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->is_indexed) {
        struct pool *pool = &sched->pools.items[node->pool];
        if (!pool->is_stale && !sched->are_node_ranks_stale) {
            node_index_remove(&pool->index, index, node->key);
        } else {
            pool->is_stale = true;
        }
        node->is_indexed = false;
        ASSERT(pool->indexed_count > 0);
        pool->indexed_count--;
    }
}

/* Weights such that a whole pool weighs less than 2^62. */
static void set_weights(const struct sched *sched, struct pool *pool)
{
    int64_t ppm[RESOURCE_COLUMNS_MAX] = {0};
    int64_t sum = 0;

    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        if (pool->policy_index >= 0) {
            ppm[r] =
                sched->policy->pools[pool->policy_index].packing_weights_ppm[r];
        }
        ppm[r] = ppm[r] > 0 ? ppm[r] : 0;
        sum += ppm[r];
    }
    for (uint32_t r = 0; r < sched->policy->schema.column_count; r++) {
        ppm[r] = sum ? ppm[r] : 1;
    }
    sum = sum ? sum : RESOURCE_COLUMNS_MAX;
    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        u128 one = (u128)1 << 62;
        pool->weights[r] =
            pool->total.v[r] > 0 && !sched->policy->is_floating[r]
                ? (uint64_t)(one * (uint64_t)ppm[r] / (uint64_t)sum /
                             (uint64_t)pool->total.v[r])
                : 0;
    }
}

void pool_sync_base(const struct sched *sched, struct pool *pool)
{
    if (pool->is_base_stale) {
        cost_base_set_by(&pool->base, &pool->total, sched->policy,
                         pool->policy_index < 0
                             ? NULL
                             : &sched->policy->pools[pool->policy_index]);
        pool->is_base_stale = false;
    }
}

static void raise_largest(struct resource_vec *largest,
                          const struct resource_vec *v)
{
    for (int r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        largest->v[r] = v->v[r] > largest->v[r] ? v->v[r] : largest->v[r];
    }
}

void pool_nodes_reindex(struct sched *sched, uint32_t p)
{
    struct pool *pool = &sched->pools.items[p];
    size_t n = sched->nodes_by_name.count;
    struct node_index_entry *entries =
        arena_alloc_array(&sched->arena, n, sizeof(*entries));
    struct node_index_entry *spare =
        arena_alloc_array(&sched->arena, n, sizeof(*spare));
    struct resource_vec largest = {0};
    uint32_t count = 0;

    pool_sync_base(sched, pool);
    set_weights(sched, pool);
    for (struct seq_cursor at = {0}; !seq_is_end(&sched->nodes_by_name, at);
         seq_next(&sched->nodes_by_name, &at)) {
        uint32_t i = seq_get(&sched->nodes_by_name, at);
        struct node *node = &sched->nodes.items[i];
        if (node->pool != p) {
            continue;
        }
        node->is_indexed = node->is_accepting;
        if (node->is_accepting) {
            node->key = pool_weigh(pool, &sched->free[i]);
            entries[count++] = (struct node_index_entry){node->key, i};
            raise_largest(&largest, &node->capacity);
        }
    }
    pool->index.free = sched->free;
    pool->index.ranks = sched->ranks;
    pool->index.kinds = sched->kinds_of;
    pool->index.node_words = sched->free_words;
    node_index_clear(&pool->index);
    pool->index.scale = packed_scale_for(&largest);
    node_index_fill(&pool->index, entries, spare, count);
    ASSERT(count <= n);
    pool->indexed_count = count;
    pool->is_stale = false;
}

/* Whether a node that is there, and stays, has another place there. */
static bool is_move(const struct sched *sched, uint32_t index)
{
    const struct node *node = &sched->nodes.items[index];

    return node->pool != NONE && node->is_indexed && node->is_accepting;
}

void node_reindex_loosely(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (!is_move(sched, index)) {
        node_reindex(sched, index);
        return;
    }
    struct pool *pool = &sched->pools.items[node->pool];
    uint64_t key = pool_weigh(pool, &sched->free[index]);
    node_index_move_loosely(&pool->index, index, node->key, key);
    node->key = key;
}

void node_reindex(struct sched *sched, uint32_t index)
{
    struct node *node = &sched->nodes.items[index];

    if (node->pool == NONE) {
        return;
    }
    struct pool *pool = &sched->pools.items[node->pool];
    uint64_t key = pool_weigh(pool, &sched->free[index]);
    if (is_move(sched, index)) {
        node_index_move(&pool->index, index, node->key, key);
        node->key = key;
        return;
    }
    if (node->is_indexed) {
        node_index_remove(&pool->index, index, node->key);
        pool->indexed_count--;
    }
    node->key = key;
    node->is_indexed = node->is_accepting;
    if (node->is_accepting) {
        node_index_insert(&pool->index, index, key);
        pool->indexed_count++;
    }
}

void labels_forget(struct pool *pool)
{
    if (pool->labels) {
        arena_fini(&pool->labels->arena);
    }
    mem_free(pool->labels);
    pool->labels = NULL;
}
