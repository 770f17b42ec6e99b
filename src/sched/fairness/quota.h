/*
 * quota - what a queue may have at most, in all pools together (model.md 4.6):
 * amounts of resources, not parts of a pool.
 *
 * The round checks it for everything that starts: a job, the minimum of a gang,
 * and each pod by which a gang grows.  Jobs that it refuses are skipped, as by
 * the limits of a priority class.  Where a pool object has a planner of its
 * own, that is told what the queue has in the others
 * (sched_quota_beside_set()).
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* What a queue record says, for the policy's columns. */
void quota_set(struct sched *sched, struct queue *queue,
               const struct resource_list *list);
/* The columns are others now. */
void quota_resolve(const struct sched *sched, struct queue *queue);
/* Free it. */
void quota_fini(struct queue *queue);

/* What a queue has in all pools but one (or NONE). */
struct resource_vec quota_sum_beside(const struct sched *sched,
                                     const struct queue *queue, uint32_t pool);
/* The first column of which a queue would have too much with `more` than it
 * has and with a request, or -1. */
int quota_find_short(const struct sched *sched, const struct what_if *what_if,
                     const struct queue *queue, const struct resource_vec *has,
                     const struct resource_vec *more,
                     const struct resource_vec *request);
/* The first column of which a queue would have too much with a request, as
 * the state is, or -1; and what the queue has of that column. */
int quota_short_of(const struct sched *sched, uint32_t queue,
                   const struct resource_vec *request, int64_t *ret_used);
/* By how much a quota would have to be larger for a request, as the state is.
 */
struct resource_vec quota_missing(const struct sched *sched, uint32_t queue,
                                  const struct resource_vec *request);
