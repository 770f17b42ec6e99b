/*
 * lane_quota - what the queue of a lane may still get by its quota, in a round
 * (quota.h).
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "sched/order/round.h"

/* What a lane's queue has in other pools, and had here before the round. */
struct lane_quota {
    struct resource_vec elsewhere, before;
    /* While an admitted claim is tried as if it were the only one: what is
     * before it in the list counts in the quota. */
    struct resource_vec earlier;
};

/* Note that; the lane's sums are there. */
void quota_begin(const struct round *round, struct lane *lane);
/* A lane's head, a job or a gang, is tried.  What it has admitted in a pool
 * whose turn is yet to come would be what it starts with here: it does not
 * count elsewhere meanwhile (`sign` -1), nor later, if it has started (1). */
void quota_count_own(const struct round *round, struct lane *lane,
                     uint32_t item, bool is_gang, int sign);
/* The same for what is tried now: the claim that the lane's limits are held
 * for does not count, for which lane_held.h answers. */
int quota_short_beside(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request);
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
