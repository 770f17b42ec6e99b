/*
 * floating - resources that are not tied to a node: licences, connections.  A
 * pool has an amount of each (policy.floating), which all its jobs share.
 *
 * They are columns like others, so that shares, limits and rates count them;
 * every node has room for any amount of them, and a round checks the pool's
 * amount before it searches for nodes.  No job is preempted for them.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

struct round;

/* What each node has of each: more than any pool has, and small enough that
 * sums over all nodes do not overflow. */
static const int64_t FLOATING_ROOM = (int64_t)1 << 40;

/* Give a node's capacity room for them. */
void floating_make_room(const struct sched *sched,
                        struct resource_vec *capacity);
/* Take it out, to be counted or shown. */
void floating_strip(const struct sched *sched, struct resource_vec *v);
/* The totals of a pool are the policy's from now on. */
void floating_set_totals(const struct sched *sched, struct pool *pool);
/* A run came to (+1) or left (-1) a node of a pool. */
void floating_count(struct sched *sched, uint32_t pool,
                    const struct resource_vec *request, int sign);
/* Whether a pool could ever give so much. */
bool floating_may_fit(const struct sched *sched, uint32_t pool,
                      const struct resource_vec *request);
/* The column that a pool has too little left of, or -1. */
int floating_short(const struct sched *sched, uint32_t pool,
                   const struct resource_vec *used,
                   const struct resource_vec *request);
/* How much more of each a pool would need for a request. */
struct resource_vec floating_missing(const struct sched *sched, uint32_t pool,
                                     const struct resource_vec *used,
                                     const struct resource_vec *request);
