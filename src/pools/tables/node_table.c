/* The table of nodes and executors, while there are pool objects: their
 * handles, here and in shards. */

#include "pools/tables/node_table.h"

#include "base/hash.h"
#include "pools/tables/pool_names.h"

static struct key128 post_key(uint32_t executor, struct str name)
{
    return (struct key128){executor,
                           hash_bytes(name.p, name.byte_count, executor)};
}

uint32_t executor_of(struct pools *pools, struct str name)
{
    uint32_t executor = intern_add(pools->executors, name);

    while (pools->accepts.count <= executor) {
        VEC_PUSH(&pools->accepts, true);
    }
    return executor;
}

static uint32_t post_add(struct pools *pools, uint32_t executor,
                         struct str name)
{
    uint32_t node;

    if (pools->spare_posts.count) {
        node = pools->spare_posts.items[--pools->spare_posts.count];
    } else {
        node = (uint32_t)pools->posts.count;
        VEC_PUSH(&pools->posts, (struct post){0});
    }
    pools->posts.items[node] = (struct post){
        .name = str_dup(name),
        .executor = executor,
        .pool = NONE,
        .shard = POOLS_DEFAULT,
        .is_listed = pools->posts.items[node].is_listed,
    };
    pools->posts.items[node].next =
        map_put(&pools->post_map, post_key(executor, name), node);
    VEC_PUSH(&pools->idle_posts, node);
    return node;
}

static uint32_t post_known(const struct pools *pools, uint32_t executor,
                           struct str name)
{
    uint32_t node = map_find(&pools->post_map, post_key(executor, name));

    for (; node != MAP_NONE; node = pools->posts.items[node].next) {
        const struct post *post = &pools->posts.items[node];
        if (post->executor == executor && str_equal(str_of(post->name), name)) {
            return node;
        }
    }
    return NONE;
}

uint32_t post_find(const struct pools *pools, struct str executor,
                   struct str name)
{
    uint32_t e = intern_find(pools->executors, executor);

    return e == INTERN_NONE ? (uint32_t)NONE : post_known(pools, e, name);
}

uint32_t post_get(struct pools *pools, struct str executor, struct str name)
{
    uint32_t e = executor_of(pools, executor);
    uint32_t node = post_known(pools, e, name);

    return node == NONE ? post_add(pools, e, name) : node;
}

static void post_free(struct pools *pools, uint32_t node)
{
    struct post *post = &pools->posts.items[node];
    struct key128 key = post_key(post->executor, str_of(post->name));
    uint32_t first = map_find(&pools->post_map, key);

    if (first != node) {
        while (pools->posts.items[first].next != node) {
            first = pools->posts.items[first].next;
        }
        pools->posts.items[first].next = post->next;
    } else if (post->next != MAP_NONE) {
        map_put(&pools->post_map, key, post->next);
    } else {
        map_remove(&pools->post_map, key);
    }
    mem_free(post->name);
    *post = (struct post){.is_listed = post->is_listed};
    VEC_PUSH(&pools->spare_posts, node);
}

void post_use(struct pools *pools, uint32_t node, int sign)
{
    struct post *post = &pools->posts.items[node];

    post->use_count += (uint32_t)sign;
    if (post->use_count == 0 && !post->is_present) {
        VEC_PUSH(&pools->idle_posts, node);
    }
}

void posts_release(struct pools *pools)
{
    for (size_t i = 0; i < pools->idle_posts.count; i++) {
        uint32_t node = pools->idle_posts.items[i];
        const struct post *post = &pools->posts.items[node];
        if (post->name && post->use_count == 0 && !post->is_present) {
            post_free(pools, node);
        }
    }
    pools->idle_posts.count = 0;
}

void post_unhold(struct post *post)
{
    if (post->held) {
        arena_fini(post->held);
        mem_free(post->held);
        post->held = NULL;
    }
    post->is_moving = false;
}

/* Handles. */

uint32_t shard_node(struct pools *pools, struct shard *shard, uint32_t node)
{
    const struct post *post = &pools->posts.items[node];
    uint32_t local = sched_node_index(
        shard->sched, intern_get(pools->executors, post->executor),
        str_of(post->name));

    while (shard->nodes.count <= local) {
        VEC_PUSH(&shard->nodes, NONE);
    }
    shard->nodes.items[local] = node;
    return local;
}

uint32_t node_back(const struct shard *shard, uint32_t local)
{
    return local == SCHED_NONE ? SCHED_NONE : shard->nodes.items[local];
}

uint32_t pools_node_index(struct pools *pools, struct str executor,
                          struct str name)
{
    return pools->is_mapped ? post_get(pools, executor, name)
                            : sched_node_index(first_of(pools), executor, name);
}

struct str pools_node_name(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped ? str_of(pools->posts.items[node].name)
                            : sched_node_name(first_of(pools), node);
}

struct str pools_node_executor(const struct pools *pools, uint32_t node)
{
    return pools->is_mapped
               ? intern_get(pools->executors, pools->posts.items[node].executor)
               : sched_node_executor(first_of(pools), node);
}

struct str pools_node_pool(const struct pools *pools, uint32_t node)
{
    if (!pools->is_mapped) {
        return sched_node_pool(first_of(pools), node);
    }
    uint32_t pool = pools->posts.items[node].pool;
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
        uint32_t executor = executor_of(pools, name);
        pools->accepts.items[executor] = accepts;
    }
    for (uint32_t i = 0; i < end; i++) {
        if (!sched_node_is_known(shard->sched, i)) {
            VEC_PUSH(&pools->posts, (struct post){0});
            VEC_PUSH(&pools->spare_posts, i);
            VEC_PUSH(&shard->nodes, NONE);
            continue;
        }
        uint32_t spare_count = (uint32_t)pools->spare_posts.count;
        pools->spare_posts.count = 0; /* its number is kept */
        struct str executor = sched_node_executor(shard->sched, i);
        struct str pool = sched_node_pool(shard->sched, i);
        uint32_t node = post_add(pools, executor_of(pools, executor),
                                 sched_node_name(shard->sched, i));
        ASSERT(node == i);
        pools->spare_posts.count = spare_count;
        pools->posts.items[i].is_present =
            sched_node_is_present(shard->sched, i);
        pools->posts.items[i].pool =
            pool.byte_count ? name_of_pool(pools, pool) : NONE;
        VEC_PUSH(&shard->nodes, i);
    }
}

void posts_fini(struct pools *pools)
{
    for (size_t i = 0; i < pools->posts.count; i++) {
        post_unhold(&pools->posts.items[i]);
        mem_free(pools->posts.items[i].name);
    }
    VEC_FREE(&pools->posts);
    VEC_FREE(&pools->spare_posts);
    VEC_FREE(&pools->idle_posts);
    VEC_FREE(&pools->moving_posts);
    VEC_FREE(&pools->accepts);
    VEC_FREE(&pools->changes);
    map_fini(&pools->post_map);
    intern_destroy(pools->executors);
}
