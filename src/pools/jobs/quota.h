/*
 * quota - quotas are over all pools: what queues have in which shard, and what
 * plans of several shards may take of it at once.  Private to src/pools.
 *
 * Threads: the router's owner; a plan on another thread has its part before it
 * begins.
 */
#pragma once

#include "pools/tables/router.h"

/* Count a lease of a job (1), or no longer (-1). */
void quotas_count(struct pools *pools, const struct pool_job *row, int sign);
/* Take the quota of a queue from its record. */
void quotas_set(struct pools *pools, uint32_t queue,
                const struct queue_record *record);
/* Forget the quota of a queue that is gone. */
void quotas_forget(struct pools *pools, uint32_t queue);
/* Tell each shard what queues with a quota have in the others, where that has
 * changed. */
void quotas_settle(struct pools *pools);
/* Count all anew, after shards or resources have changed. */
void quotas_renew(struct pools *pools);
/* Free what is kept. */
void quotas_fini(struct pools *pools);
/* Whether the sums are those of the leases. */
bool quotas_are_right(const struct pools *pools);
/* Begin to check the plan of a shard: what other shards' plans decided and is
 * not in the log yet counts.  False: no queue has a quota. */
bool quotas_begin(struct pools *pools, const struct shard *shard);
/* Whether a group of its decisions keeps to all quotas; if so it is counted.
 * Decisions are in the shard's handles. */
bool quotas_allow(struct pools *pools, const struct shard *shard,
                  const struct sched_decision *decisions, uint32_t count);

/* What is kept of a queue that has a quota; or NULL. */
struct quota_book *quota_book_of(const struct pools *pools, uint32_t queue);
/* What a job of a class asks for, read from its record once. */
const struct resource_vec *quota_request(const struct pools *pools,
                                         uint32_t class_index);
