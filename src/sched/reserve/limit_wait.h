/*
 * limit_wait - work that limits refuse only because work of its own queue runs
 * (model.md 2.2): when they let it start, and the room that is reserved for it
 * then.
 *
 * Limits are those of queue and class in the pool, and the queue's quota.
 * Running work is expected to end by its deadline; what the queue has in other
 * pools is expected to stay.  A limit that is no less than the pool does not
 * count here, because work that it refuses has no room on the nodes either.
 *
 * Private to src/sched.  Rules before POLICY_RULES_LIMITS do not know it.
 */
#pragma once

#include "sched/order/round.h"

/* Whether limits would let `least` of a class start if nothing of the lane's
 * queue ran in the pool. */
bool limit_wait_is_open(struct round *round, struct lane *lane,
                        uint32_t class_index, const struct resource_vec *least);
/* When limits let a claim start, of which `least` must start at once, as far as
 * bounds tell: now, or later, or SCHED_START_UNKNOWN.  The claim does not count
 * in its lane. */
int64_t limit_wait_until(struct round *round, const struct claim *claim,
                         const struct resource_vec *least);
/* Keep that room for it from a time on, or SCHED_START_UNKNOWN; `asked` is all
 * that counts for it in its lane. */
void limit_wait_hold(struct round *round, const struct claim *claim,
                     const struct resource_vec *least,
                     const struct resource_vec *asked, int64_t at_ms);
