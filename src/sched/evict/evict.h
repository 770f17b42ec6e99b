/*
 * evict - evicts running work of queues over their shares in a round, and gives
 * places back.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/evict/evicted.h"

/* Whether a run is old enough to be preempted for fairness. */
bool round_is_evictable(const struct round *round, const struct run *run);
/* Plan again when it will be, if that is known. */
void round_wake_for(struct round *round, const struct run *run);
/* A round begins: nothing is evicted. */
void evict_begin(struct round *round);
/* Evict what may be taken from queues that are over their share. */
void evict_over_share(struct round *round, const struct share *shares,
                      uint32_t share_count);
/* The first ordinal of evicted work whose turn to win its place back comes
 * after a claim of this level and cost. */
uint32_t evict_turn(const struct round *round, uint32_t level,
                    const struct cost *cost);
/* A run may be a victim: it is evicted, or has its place for sure. */
void evict_note(struct round *round, const struct run *run);
/* The heap runs: what is not of a tail has its place. */
void gang_protection_return(struct round *round);
/* A unit has its place again. */
void evict_return(struct round *round, uint32_t unit);
/* All that is evicted has its place again: there is no new work any more that
 * could take it. */
void evict_return_all(struct round *round);
/* Likewise what runs of a gang that is joined by more of its members. */
void evict_return_gang(struct round *round, const struct gang *gang);
/* What was evicted is steady again; the round is over. */
void evict_forget(struct round *round);
