/*
 * quota - what a queue may have at most, in all pools together (model.md 4.6):
 * amounts of resources, not parts of a pool.
 *
 * It is asked for all that starts: a job, what a gang asks for at once, and
 * each pod by which one grows.  What is refused is passed over, as by the
 * limits of a priority class.  Where a pool object has a planner of its own,
 * that is told what the queue has in the others (sched_quota_beside_set()).
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* What a queue record says, for the policy's columns. */
void quota_set(struct sched *sched, struct queue *queue,
               const struct resource_list *list);
/* The columns are others now. */
void quota_resolve(const struct sched *sched, struct queue *queue);
/* Free it. */
void quota_fini(struct queue *queue);

/* What a lane's queue has in other pools, and had here before the round. */
struct lane_quota {
    struct resource_vec elsewhere, before;
};

/* Note that; the lane's sums are there. */
void quota_begin(const struct round *round, struct lane *lane);
/* A lane's head, a job or a gang, is tried.  What it has admitted in a pool
 * whose turn is yet to come would be what it starts with here: it does not
 * count elsewhere meanwhile (`sign` -1), nor later, if it has started (1). */
void quota_count_own(const struct round *round, struct lane *lane,
                     uint32_t item, bool is_gang, int sign);
/* See quota_short(). */
int quota_short_indeed(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request);
/* The first column of which the lane's queue would have too much with what is
 * asked for, or -1. */
static inline int quota_short(const struct round *round,
                              const struct lane *lane,
                              const struct resource_vec *request)
{
    return lane->quota ? quota_short_indeed(round, lane, request) : -1;
}
/* The round is over: the pools after it are to know. */
void quota_end(const struct round *round);

/* The same as the state is; and what the queue has of that column. */
int quota_short_of(const struct sched *sched, uint32_t queue,
                   const struct resource_vec *request, int64_t *ret_used);
