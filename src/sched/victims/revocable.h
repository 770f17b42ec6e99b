/*
 * revocable - the revocable runs: those that may be preempted, as promised, for
 * the job that is being placed, and their nodes.
 *
 * Only what is admitted is promised anything (model.md 2.9): while nothing
 * admitted asks (round.reserve.asking) there are none.  Private to src/sched.
 */
#pragma once

#include "sched/evict/evict.h"
#include "sched/evict/evictable.h"
#include "sched/order/round.h"
#include "sched/place/place.h"

/* Whether a run promised to give way to what is being placed, and at once, or
 * is old enough to be held to it; and from when on it did has come. */
static inline bool revocables_has(const struct round *round,
                                  const struct run *run)
{
    return round->reserve.asking &&
           run->revocable_for == round->reserve.asking &&
           run->state != RUN_PREEMPTED &&
           run->yields_from_ms <= round->now_ms &&
           (run->yields_at_once ||
            evictable_lived_ms(round->sched, run) <= round->now_ms);
}
/* Whether any such run is on a node. */
bool revocables_are_on(const struct round *round, uint32_t node);
/* Begin to look at the nodes of revocable runs. */
void revocables_look_anew(const struct round *round);
/* A search looks at the node of each revocable run, which would be the same
 * node many times: whether it has done so since revocables_look_anew(). */
bool revocables_is_looked_at(const struct round *round, uint32_t node);
/* Add what such runs have on a node to `room`. */
void revocables_add_room(const struct round *round, uint32_t node,
                         struct resource_vec *room);
/* The node on which nobody but them must go, or NONE: the fullest. */
uint32_t revocables_find(const struct search *search);
