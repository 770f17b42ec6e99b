/*
 * quota - quotas are over all pools: what queues have in which shard, and what
 * plans of several shards may take of it at once.  Private to src/pools.
 */
#pragma once

#include "pools/tables/router.h"

/* A lease of a job is there (1), or is going to be no more (-1). */
void quotas_count(struct pools *pools, const struct pool_job *row, int sign);
/* A queue is as its record says. */
void quotas_set(struct pools *pools, uint32_t queue,
                const struct queue_record *record);
/* A queue is gone. */
void quotas_forget(struct pools *pools, uint32_t queue);
/* Tell shards what queues with a quota have in the others, if that is not as
 * they know it. */
void quotas_settle(struct pools *pools);
/* Shards or resources are others: count all anew. */
void quotas_renew(struct pools *pools);
/* Free what is kept. */
void quotas_fini(struct pools *pools);
/* Whether the sums are those of the leases. */
bool quotas_are_right(const struct pools *pools);
/* A plan of a shard is back: what the others decided and nobody was told of
 * counts.  False: no queue has a quota, and nothing is to be asked. */
bool quotas_begin(struct pools *pools, const struct shard *shard);
/* Whether a group of its decisions leaves all quotas as they must be; then it
 * counts.  Decisions are in the shard's handles. */
bool quotas_allow(struct pools *pools, const struct shard *shard,
                  const struct sched_decision *decisions, uint32_t count);
