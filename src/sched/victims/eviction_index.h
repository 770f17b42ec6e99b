/*
 * eviction_index - a round's evicted work in the order in which it is
 * preempted: the last to get its place back first, within a gang by the rank of
 * nodes.
 *
 * Each evicted run knows what its node would have free if it and all later
 * evicted runs of the node went, as a packed word that may be too large but
 * never too small; so the node whose victims come last in the global order is
 * found by going up the evicted runs until one fits.  A class goes on from
 * where it stood, since rooms only shrink; where they grew (round.watch.grown)
 * an evicted run is noted in a log, which each class reads once.
 *
 * Rooms count work up to the level of the class that asks; each such level
 * has words of its own, made when first asked for.
 *
 * Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/place/place.h"

/* The node on which a job finds room by the evicted work that goes first, or
 * NONE; `ret_depth` is 1 + the ordinal down to which it must go there, or 0. */
uint32_t eviction_index_find(const struct search *search, uint32_t *ret_depth);
