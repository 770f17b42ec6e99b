/*
 * pool_names - pools by name: the number of each name, and the shard that is
 * the home of jobs that say it.  Private to src/pools.
 *
 * Threads: the router's owner.
 */
#pragma once

#include "pools/tables/router.h"

/* The shard of the object of that name, or Default. */
struct shard *home_of_name(const struct pools *pools, uint32_t name);
/* The name of the pool that a job waits for in a shard. */
struct str pool_in(const struct pools *pools, const struct shard *shard,
                   uint32_t name);
/* The number of the pool of that name, made when new; then the numbers of
 * names that nobody speaks of may be given back, and all others change. */
uint32_t name_of_pool(struct pools *pools, struct str name);
/* Where the object of that name is in the order of names, or would be. */
size_t object_position(const struct pools *pools, struct str name,
                       bool *ret_is_there);
/* Whether the policy has a pool of that name. */
bool is_configured(const struct pools *pools, struct str name);
