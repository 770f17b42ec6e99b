/*
 * objects - creates and removes shards with pool objects.  For pools/objects
 * only.
 */
#pragma once

#include "pools/tables/router.h"

/* A fresh shard in a free slot. */
struct shard *shard_create(struct pools *pools, const struct policy *policy);
/* Free it and all that it has. */
void shard_destroy(struct shard *shard);
