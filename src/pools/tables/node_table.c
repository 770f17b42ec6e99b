/* The table of nodes and executors, while there are pool objects: their
 * handles, here and in shards. */

#include "pools/tables/node_table.h"

#include "pools/tables/pool_names.h"

/* The executor of a name, made when new, with one more reference: each of its
 * nodes has one, and so has that it is closed.  It goes with the last. */
static uint32_t executor_hold(struct pools *pools, struct str name)
{
    bool is_new = intern_find(pools->executors, name) == INTERN_NONE;
    uint32_t executor = intern_add(pools->executors, name);

    if (pools->accepts.count <= executor) {
        VEC_PUSH(&pools->accepts, true);
    }
    pools->accepts.items[executor] |= is_new;
    return executor;
}

bool executor_set(struct pools *pools, struct str name, bool accepts)
{
    uint32_t executor = intern_find(pools->executors, name);
    bool accepted = executor == INTERN_NONE || pools->accepts.items[executor];

    if (accepted == accepts) {
        return false;
    }
    if (!accepts) {
        executor = executor_hold(pools, name);
    }
    pools->accepts.items[executor] = accepts;
    if (accepts) {
        intern_unref(pools->executors, executor);
    }
    return true;
}

/* Fill a slot with a node that is new. */
static void pool_node_fill(struct pools *pools, uint32_t node,
                           struct str executor_name, struct str name)
{
    uint32_t executor = executor_hold(pools, executor_name);

    ASSERT(!pools->nodes.items[node].name); /* no node has it */
    pools->nodes.items[node] = (struct pool_node){
        .name = str_dup(name),
        .executor = executor,
        .pool = NONE,
        .shard = POOLS_DEFAULT,
        .is_listed = pools->nodes.items[node].is_listed,
    };
    names_put(&pools->node_names, executor, name, node);
    VEC_PUSH(&pools->idle_nodes, node);
}

static uint32_t pool_node_known(const struct pools *pools, uint32_t executor,
                                struct str name)
{
    uint32_t node = names_first(&pools->node_names, executor, name);

    for (; node != NAMES_NONE; node = names_next(&pools->node_names, node)) {
        const struct pool_node *row = &pools->nodes.items[node];
        if (row->executor == executor && str_equal(str_of(row->name), name)) {
            return node;
        }
    }
    return NONE;
}

uint32_t pool_node_find(const struct pools *pools, struct str executor,
                        struct str name)
{
    uint32_t e = intern_find(pools->executors, executor);

    return e == INTERN_NONE ? (uint32_t)NONE : pool_node_known(pools, e, name);
}

uint32_t pool_node_get(struct pools *pools, struct str executor,
                       struct str name)
{
    uint32_t node = pool_node_find(pools, executor, name);

    if (node == NONE) {
        node = SLOTS_TAKE(&pools->nodes);
        pool_node_fill(pools, node, executor, name);
    }
    return node;
}

static void pool_node_free(struct pools *pools, uint32_t node)
{
    struct pool_node *row = &pools->nodes.items[node];

    ASSERT(!row->is_moving); /* a node that is gone goes nowhere */
    names_remove(&pools->node_names, row->executor, str_of(row->name), node);
    intern_unref(pools->executors, row->executor);
    mem_free(row->name);
    *row = (struct pool_node){.is_listed = row->is_listed};
    SLOTS_GIVE(&pools->nodes, node);
}

void pool_node_use(struct pools *pools, uint32_t node, int sign)
{
    struct pool_node *row = &pools->nodes.items[node];

    ASSERT(sign > 0 || row->use_count > 0);
    row->use_count += (uint32_t)sign;
    if (row->use_count == 0 && !row->is_present) {
        VEC_PUSH(&pools->idle_nodes, node);
    }
}

void pool_nodes_release(struct pools *pools)
{
    for (size_t i = 0; i < pools->idle_nodes.count; i++) {
        uint32_t node = pools->idle_nodes.items[i];
        const struct pool_node *row = &pools->nodes.items[node];
        if (row->name && row->use_count == 0 && !row->is_present) {
            pool_node_free(pools, node);
        }
    }
    pools->idle_nodes.count = 0;
}

void pool_node_unhold(struct pool_node *row)
{
    if (row->held) {
        arena_fini(row->held);
        mem_free(row->held);
        row->held = NULL;
    }
    row->is_moving = false;
}

/* Handles. */

uint32_t shard_node(struct pools *pools, struct shard *shard, uint32_t node)
{
    const struct pool_node *row = &pools->nodes.items[node];
    uint32_t local = sched_node_index(
        shard->sched, intern_get(pools->executors, row->executor),
        str_of(row->name));

    while (shard->nodes.count <= local) {
        VEC_PUSH(&shard->nodes, NONE);
    }
    shard->nodes.items[local] = node;
    return local;
}

uint32_t node_back(const struct shard *shard, uint32_t local)
{
    /* A shard knows the nodes that the router has told it of. */
    ASSERT(local == SCHED_NONE || local < shard->nodes.count);
    return local == SCHED_NONE ? SCHED_NONE : shard->nodes.items[local];
}

uint32_t pools_node_index(struct pools *pools, struct str executor,
                          struct str name)
{
    return pools->is_mapped ? pool_node_get(pools, executor, name)
                            : sched_node_index(first_of(pools), executor, name);
}

struct str pools_node_name(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped ? str_of(pools->nodes.items[node].name)
                            : sched_node_name(first_of(pools), node);
}

struct str pools_node_executor(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped
               ? intern_get(pools->executors, pools->nodes.items[node].executor)
               : sched_node_executor(first_of(pools), node);
}

struct str pools_node_pool(const struct pools *pools, uint32_t node)
{
    if (!pools->is_mapped) {
        return sched_node_pool(first_of(pools), node);
    }
    uint32_t pool = pools->nodes.items[node].pool;
    return pool == NONE ? (struct str){0} : intern_get(pools->names, pool);
}

/* Beginning and end. */

void nodes_adopt(struct pools *pools)
{
    struct shard *shard = pools->shards.items[POOLS_DEFAULT];
    uint32_t end = sched_nodes_end(shard->sched);

    for (uint32_t i = 0; i < sched_executors_end(shard->sched); i++) {
        bool accepts;
        struct str name = sched_executor_at(shard->sched, i, &accepts);
        if (name.byte_count) {
            (void)executor_set(pools, name, accepts);
        }
    }
    for (uint32_t i = 0; i < end; i++) {
        VEC_PUSH(&pools->nodes, (struct pool_node){0}); /* its number is kept */
        if (!sched_node_is_known(shard->sched, i)) {
            SLOTS_GIVE(&pools->nodes, i);
            VEC_PUSH(&shard->nodes, NONE);
            continue;
        }
        struct str executor = sched_node_executor(shard->sched, i);
        struct str pool = sched_node_pool(shard->sched, i);
        pool_node_fill(pools, i, executor, sched_node_name(shard->sched, i));
        pools->nodes.items[i].is_present =
            sched_node_is_present(shard->sched, i);
        pools->nodes.items[i].pool =
            pool.byte_count ? name_of_pool(pools, pool) : NONE;
        VEC_PUSH(&shard->nodes, i);
    }
}

void pool_nodes_fini(struct pools *pools)
{
    for (size_t i = 0; i < pools->nodes.count; i++) {
        pool_node_unhold(&pools->nodes.items[i]);
        mem_free(pools->nodes.items[i].name);
    }
    SLOTS_FREE(&pools->nodes);
    VEC_FREE(&pools->idle_nodes);
    VEC_FREE(&pools->moving_nodes);
    VEC_FREE(&pools->accepts);
    VEC_FREE(&pools->changes);
    names_fini(&pools->node_names);
    intern_destroy(pools->executors);
}
