/* Nodes and executors: which shard a node is in, by the labels that it has. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "pools/match.h"
#include "pools/router.h"

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

static const void *copy_node(const void *from, struct arena *arena)
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

/* The table. */

static struct key128 post_key(uint32_t executor, struct str name)
{
    return (struct key128){executor,
                           hash_bytes(name.p, name.byte_count, executor)};
}

static uint32_t executor_of(struct pools *pools, struct str name)
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

static uint32_t post_get(struct pools *pools, struct str executor,
                         struct str name)
{
    uint32_t e = executor_of(pools, executor);
    uint32_t node = map_find(&pools->post_map, post_key(e, name));

    for (; node != MAP_NONE; node = pools->posts.items[node].next) {
        const struct post *post = &pools->posts.items[node];
        if (post->executor == e && str_equal(str_of(post->name), name)) {
            return node;
        }
    }
    return post_add(pools, e, name);
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

/* What nodes are. */

static void apply_set(struct pools *pools, struct shard *shard,
                      const struct delta *delta)
{
    (void)shard_node(pools, shard, delta->node);
    (void)sched_node_set(
        shard->sched,
        intern_get(pools->executors, pools->posts.items[delta->node].executor),
        delta->record, (struct str){0});
}

static void apply_gone(struct pools *pools, struct shard *shard,
                       const struct delta *delta)
{
    sched_node_remove(shard->sched, shard_node(pools, shard, delta->node));
}

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
    health->reason = held_str(arena, health->reason);
    return health;
}

static void tell(struct pools *pools, uint32_t node, struct delta *delta)
{
    delta->node = node;
    deliver(pools, pools->shards.items[pools->posts.items[node].shard], delta);
}

/* A node is of a pool as long as something runs there, be it gone: the shard
 * that it comes to hears of that before what runs there, and that the node is
 * not there after; it may be set later.  So what runs counts in that pool at
 * once, whether or not the shard remembers another pool of the node's. */
static void tell_ghost(struct pools *pools, uint32_t node, struct shard *to,
                       bool is_end)
{
    struct node_record record = {
        .name = str_of(pools->posts.items[node].name),
        .pool = to->name ? str_of(to->name) : pools_node_pool(pools, node),
    };
    struct delta delta = delta_of(is_end ? apply_gone : apply_set);

    delta.node = node;
    delta.record = is_end ? NULL : &record;
    delta.copy = copy_node;
    deliver(pools, to, &delta);
}

/* Take a node out of its shard, with what runs there and how it is. */
static void shift(struct pools *pools, uint32_t node, struct shard *to)
{
    struct post *post = &pools->posts.items[node];
    struct shard *from = pools->shards.items[post->shard];
    uint32_t local = shard_node(pools, from, node);
    struct sched_health health;
    uint32_t run;

    sched_health_get(from->sched, local, pools->now_ms, &health);
    bool has_runs = sched_node_first(from->sched, local) != SCHED_NONE;
    if (has_runs) {
        tell_ghost(pools, node, to, false);
    }
    while ((run = sched_node_first(from->sched, local)) != SCHED_NONE) {
        uint32_t job = from->jobs.items[run];
        /* Its lease is told to the shard that its node is in. */
        job_move(pools, job, to);
    }
    if (has_runs) {
        tell_ghost(pools, node, to, true);
    }
    if (sched_node_is_present(from->sched, local)) {
        sched_node_remove(from->sched, local);
    }
    post = &pools->posts.items[node];
    post->shard = to->index;
    pools->is_pending_stale = true;
    if (health.health != NODE_NORMAL) {
        struct sched_health normal = {0};
        sched_health_set(from->sched, local, &normal);
        pools_health_set(pools, node, &health);
    }
}

static void unhold(struct post *post)
{
    if (post->held) {
        arena_fini(post->held);
        mem_free(post->held);
        post->held = NULL;
    }
    post->is_moving = false;
}

/* Whose a node is, and the name of its pool there. */
static struct shard *match(struct pools *pools,
                           const struct node_record *record, struct str pool,
                           struct str *ret_pool)
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

bool pools_node_moves(const struct pools *pools, uint32_t node,
                      const struct node_record *record)
{
    if (!pools->is_mapped || !pools->posts.items[node].is_present) {
        return false;
    }
    uint32_t object =
        match_node(pools->records.items, (uint32_t)pools->records.count,
                   record->labels, record->label_count, NULL);
    uint32_t shard = object == MATCH_DEFAULT ? (uint32_t)POOLS_DEFAULT
                                             : pools->objects.items[object];
    return shard != pools->posts.items[node].shard;
}

/* The node goes on in its shard as `record` says. */
static void settle(struct pools *pools, uint32_t node,
                   const struct node_record *record)
{
    struct delta delta = delta_of(apply_set);

    pools->posts.items[node].pool = name_of_pool(pools, record->pool);
    delta.record = record;
    delta.copy = copy_node;
    tell(pools, node, &delta);
}

/* Its shard is being planned: until that is over it is nowhere. */
static void hold(struct pools *pools, uint32_t node, const struct shard *to,
                 const struct node_record *record)
{
    struct delta gone = delta_of(apply_gone);

    if (!pools->posts.items[node].is_moving) {
        tell(pools, node, &gone);
    }
    struct post *post = &pools->posts.items[node];
    unhold(post);
    post->held = mem_alloc(sizeof(*post->held));
    post->record = copy_node(record, post->held);
    post->is_moving = true;
    post->target = to->index;
    if (!post->is_listed) {
        ASSERT(pools->moving_posts.count < NODES_MAX);
        post->is_listed = true;
        VEC_PUSH(&pools->moving_posts, node);
    }
}

uint32_t pools_node_set(struct pools *pools, struct str executor,
                        const struct node_record *record, struct str pool)
{
    struct node_record known = *record;

    if (!pools->is_mapped) {
        return sched_node_set(first_of(pools), executor, record, pool);
    }
    pools->news_count++;
    uint32_t node = post_get(pools, executor, record->name);
    struct shard *to = match(pools, record, pool, &known.pool);
    struct post *post = &pools->posts.items[node];
    const struct shard *from = pools->shards.items[post->shard];
    bool is_fresh = !post->is_present && post->use_count == 0;
    post->is_present = true;
    post->total = resource_capacity(&pools->policy->schema, &record->total);
    pools->is_pending_stale = true;
    if (from == to) {
        unhold(post);
    } else if (is_fresh && from->is_busy) {
        post->shard = to->index; /* nothing of it is anywhere */
    } else if (from->is_busy) {
        hold(pools, node, to, &known);
        return node;
    } else {
        unhold(post);
        shift(pools, node, to);
    }
    settle(pools, node, &known);
    return node;
}

uint32_t pools_node_recall(struct pools *pools, struct str executor,
                           struct str name, struct str pool)
{
    struct node_record record = {.name = name, .pool = pool};

    if (!pools->is_mapped) {
        return sched_node_set(first_of(pools), executor, &record, pool);
    }
    uint32_t node = post_get(pools, executor, name);
    struct post *post = &pools->posts.items[node];
    if (post->pool != NONE) {
        record.pool = intern_get(pools->names, post->pool);
    } else {
        post->shard = home_of_name(pools, name_of_pool(pools, pool))->index;
    }
    post->is_present = true;
    settle(pools, node, &record);
    return node;
}

void post_restore(struct pools *pools, struct str executor, struct str name,
                  struct str pool, const struct shard *in)
{
    uint32_t node = post_get(pools, executor, name);
    uint32_t pool_name =
        pool.byte_count ? name_of_pool(pools, pool) : (uint32_t)NONE;

    pools->posts.items[node].pool = pool_name;
    pools->posts.items[node].shard = in->index;
}

void posts_settle(struct pools *pools, struct shard *shard)
{
    size_t left = 0;

    for (size_t i = 0; i < pools->moving_posts.count; i++) {
        uint32_t node = pools->moving_posts.items[i];
        struct post *post = &pools->posts.items[node];
        if (!post->is_moving) {
            post->is_listed = false;
            continue;
        }
        if (post->shard != shard->index) {
            pools->moving_posts.items[left++] = node;
            continue;
        }
        post->is_listed = false;
        shift(pools, node, pools->shards.items[post->target]);
        settle(pools, node, pools->posts.items[node].record);
        pools->has_moved = true;
        unhold(&pools->posts.items[node]);
    }
    pools->moving_posts.count = left;
}

/* A node that leaves, by its names. */
struct leaving {
    struct str executor, name;
    uint32_t node;
};

static int compare_leaving(const void *a, const void *b)
{
    const struct leaving *x = a;
    const struct leaving *y = b;
    int c = str_compare(x->executor, y->executor);

    return c ? c : str_compare(x->name, y->name);
}

/* In order of names, not of handles, of which leaders have different ones: what
 * comes and goes at the same time leaves another flow in another order. */
void posts_leave(struct pools *pools, const struct shard *shard)
{
    auto_mem struct leaving *list =
        mem_alloc_array(pools->posts.count + 1, sizeof(*list));
    uint32_t count = 0;

    for (uint32_t node = 0; node < pools->posts.count; node++) {
        const struct post *post = &pools->posts.items[node];
        if (post->name && post->shard == shard->index) {
            list[count++] = (struct leaving){
                intern_get(pools->executors, post->executor),
                str_of(post->name),
                node,
            };
        }
    }
    qsort(list, count, sizeof(*list), compare_leaving);
    for (uint32_t i = 0; i < count; i++) {
        shift(pools, list[i].node, pools->shards.items[POOLS_DEFAULT]);
    }
}

void pools_node_remove(struct pools *pools, uint32_t node)
{
    struct delta delta = delta_of(apply_gone);

    if (!pools->is_mapped) {
        sched_node_remove(first_of(pools), node);
        return;
    }
    pools->news_count++;
    struct post *post = &pools->posts.items[node];
    unhold(post);
    post->is_present = false;
    pools->is_pending_stale = true;
    VEC_PUSH(&pools->idle_posts, node);
    tell(pools, node, &delta);
}

void pools_node_stats(struct pools *pools, uint32_t node,
                      struct sched_node_stats *ret_stats)
{
    if (!pools->is_mapped) {
        sched_node_stats(first_of(pools), node, ret_stats);
        return;
    }
    struct shard *shard = pools->shards.items[pools->posts.items[node].shard];
    *ret_stats = (struct sched_node_stats){0};
    if (!shard->is_busy) {
        uint32_t local = shard_node(pools, shard, node);
        sched_node_stats(shard->sched, local, ret_stats);
    }
}

/* Health. */

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
    tell(pools, node, &delta);
}

void pools_health_get(struct pools *pools, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health)
{
    if (!pools->is_mapped) {
        sched_health_get(first_of(pools), node, now_ms, ret_health);
        return;
    }
    struct shard *shard = pools->shards.items[pools->posts.items[node].shard];
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

/* Add a shard's changes, which are in order, to those that are. */
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
    uint32_t at = executor_of(pools, executor);
    pools->news_count += pools->accepts.items[at] != accepts_new_leases;
    pools->accepts.items[at] = accepts_new_leases;
    delta.text = executor;
    delta.flag = accepts_new_leases;
    deliver_all(pools, &delta);
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
        unhold(&pools->posts.items[i]);
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
