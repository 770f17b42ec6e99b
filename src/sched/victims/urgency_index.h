/*
 * urgency_index - where a class would have room if it preempted less urgent
 * work.
 *
 * For each level that is asked about, the nodes of the pool in the order in
 * which they are to be filled, by what they would have free without their
 * urgency-preemptible work below that level, none for 0, and without what is
 * evicted up to the level of the class, or below it (see cooldown.h).  Made
 * when first asked for in a round, then kept up to date. Revocable runs
 * (revocable.h) count as any other work.
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/place/place.h"

/* What `node` would have free, if evicted work up to level `evicted_max` counts
 * as gone. */
struct resource_vec urgent_room(const struct round *round, uint32_t node,
                                uint32_t evicted_max, uint32_t below);
/* What it would have if all went that may for work of a level now; it may be
 * too much, never too little. */
struct resource_vec urgent_room_most(const struct round *round, uint32_t node,
                                     uint32_t level);
/* The best node with such room that `match` lets through, or NONE. */
uint32_t urgent_find(const struct search *search, uint32_t below,
                     uint32_t evicted_max, node_match_fn *match, void *context);
/* The round is over. */
void urgent_forget(struct round *round);
