/*
 * arrivals - submits the jobs of a scenario's streams at their times.
 *
 * An entry WORLD_ARRIVAL of the world's agenda, under the number of a stream,
 * says when its next request comes.  Stream i draws from stream i of the
 * scenario's seed.
 *
 * Threads: the world's.
 */
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

struct arrivals;

/* Put the first request of each stream on the agenda of a world that has its
 * queues.  Both are borrowed; the caller destroys the arrivals first. */
struct arrivals *arrivals_create(const struct scenario *scenario,
                                 struct world *world) must_check;

/* Submit all requests of a stream that come at this moment, and put the next
 * one on the agenda. */
void arrivals_bring(struct arrivals *arrivals, uint32_t stream);

/* How many streams still bring jobs. */
uint32_t arrivals_open_count(const struct arrivals *arrivals);

/* Free them.  NULL is fine. */
void arrivals_destroy(struct arrivals *arrivals);
