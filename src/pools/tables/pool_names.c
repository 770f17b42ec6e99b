/* Names of pools, and the jobs' homes by name. */
#include "pools/tables/pool_names.h"

/* How many names there may be: users may name what they like, but only jobs
 * and nodes that are there count. */
static size_t names_max(const struct pools *pools)
{
    return 2 * (pools->jobs.count + pools->nodes.count) + NAMES_SPARE_MAX;
}

/* Keep only the names of jobs and nodes. */
static void names_renew(struct pools *pools)
{
    auto_ptr(intern) old = pools->names;

    pools->names = intern_create();
    (void)intern_add(pools->names, STR(""));
    for (size_t i = 0; i < pools->jobs.count; i++) {
        struct pool_job *row = &pools->jobs.items[i];
        if (row->local != NONE) {
            row->name = intern_add(pools->names, intern_get(old, row->name));
        }
    }
    for (size_t i = 0; i < pools->nodes.count; i++) {
        struct pool_node *row = &pools->nodes.items[i];
        if (row->name && row->pool != NONE) {
            row->pool = intern_add(pools->names, intern_get(old, row->pool));
        }
    }
}

uint32_t name_of_pool(struct pools *pools, struct str name)
{
    uint32_t at = intern_find(pools->names, name);

    if (at != INTERN_NONE) {
        return at;
    }
    if (intern_count(pools->names) >= names_max(pools)) {
        names_renew(pools);
        /* Jobs and nodes name fewer than there may be. */
        ASSERT(intern_count(pools->names) < names_max(pools));
    }
    return intern_add(pools->names, name);
}

bool is_configured(const struct pools *pools, struct str name)
{
    for (uint32_t i = 0; i < pools->policy->pool_count; i++) {
        if (str_equal(pools->policy->pools[i].name, name)) {
            return true;
        }
    }
    return false;
}

size_t object_position(const struct pools *pools, struct str name,
                       bool *ret_is_there)
{
    size_t at = 0;

    ASSERT(pools->records.count == pools->objects.count);
    while (at < pools->records.count &&
           str_compare(pools->records.items[at]->name, name) < 0) {
        at++;
    }
    *ret_is_there = at < pools->records.count &&
                    str_equal(pools->records.items[at]->name, name);
    return at;
}

struct shard *home_of_name(const struct pools *pools, uint32_t name)
{
    bool is_there;

    if (name == 0) {
        return pools->shards.items[POOLS_DEFAULT];
    }
    size_t at =
        object_position(pools, intern_get(pools->names, name), &is_there);
    return pools->shards
        .items[is_there ? pools->objects.items[at] : POOLS_DEFAULT];
}

struct str pool_in(const struct pools *pools, const struct shard *shard,
                   uint32_t name)
{
    struct str text = intern_get(pools->names, name);

    if (shard->name) {
        return str_of(shard->name);
    }
    return is_configured(pools, text) ? text : (struct str){0};
}

/* Pool indexes: the pools of the policy, then objects by name. */

uint32_t pools_pool_count(const struct pools *pools)
{
    return pools->policy->pool_count + (uint32_t)pools->records.count;
}

struct str pools_pool_name(const struct pools *pools, uint32_t pool_index)
{
    uint32_t count = pools->policy->pool_count;

    return pool_index < count ? pools->policy->pools[pool_index].name
                              : pools->records.items[pool_index - count]->name;
}

uint32_t pools_shard_pool(const struct pools *pools, uint32_t shard)
{
    for (uint32_t i = 0; i < pools->objects.count; i++) {
        if (pools->objects.items[i] == shard) {
            return pools->policy->pool_count + i;
        }
    }
    return 0;
}

uint32_t pools_pool_shard(const struct pools *pools, uint32_t pool_index)
{
    uint32_t count = pools->policy->pool_count;

    ASSERT(pool_index < count + pools->objects.count);
    return pool_index < count ? POOLS_DEFAULT
                              : pools->objects.items[pool_index - count];
}
