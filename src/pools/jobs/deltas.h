/*
 * deltas - changes for a shard, applied at once or kept while its plan is in
 * progress.  Private to src/pools.
 *
 * Threads: the router's owner; the plan in progress may be another's, which is
 * why changes are kept.
 */
#pragma once

#include "pools/tables/router.h"

/* Apply a delta to a shard, now or when its plan is back. */
void deliver(struct pools *pools, struct shard *shard,
             const struct delta *delta);
/* Deliver it to all shards. */
void deliver_all(struct pools *pools, const struct delta *delta);
/* Let nothing stand that a plan in the making decides about a job. */
void job_touch(struct pools *pools, uint32_t job);
/* Apply what was kept for a shard that is back. */
void deltas_apply(struct pools *pools, struct shard *shard);
/* Free what a shard keeps. */
void deltas_fini(struct shard *shard);
