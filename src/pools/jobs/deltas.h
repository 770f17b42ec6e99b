/*
 * deltas - what a shard is told: applied at once, or kept while its plan is
 * out.  Private to src/pools.
 */
#pragma once

#include "pools/tables/router.h"

/* Tell a shard, now or when it is back. */
void deliver(struct pools *pools, struct shard *shard,
             const struct delta *delta);
/* Tell all shards. */
void deliver_all(struct pools *pools, const struct delta *delta);
/* What the plan in the making decides of a job, if its shard is being planned,
 * does not stand. */
void job_touch(struct pools *pools, uint32_t job);
/* A shard is back: tell it what was kept. */
void deltas_apply(struct pools *pools, struct shard *shard);
/* Free what a shard keeps. */
void deltas_fini(struct shard *shard);
