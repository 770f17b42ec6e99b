/*
 * lane_held - the room under its queue's limits that is reserved for an
 * admitted claim until it can start (model.md 2.2, 2.9).
 *
 * Limits are those of queue and class, and the queue's quota.  As on reserved
 * nodes, other new work of the queue may start only if it ends before the claim
 * starts, or leaves enough room for the claim.  Its lifetime does not count: no
 * work of a queue is preempted for a limit of the same queue.  Borrowed work is
 * not checked, because it can be preempted at once.
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "sched/order/round.h"

/* Amounts of INT64_MAX: no limit. */
struct lane_held {
    int64_t at_ms;             /* SCHED_START_UNKNOWN: no bound tells */
    struct resource_vec asked; /* by the claim; in the sums of its lane */
    uint32_t priority_class;
    struct resource_vec class_left; /* beside the claim, at that time */
    struct resource_vec quota_left; /* likewise */
};

/* Whether work of a class may start with `request` beside what is held. */
bool held_allows(const struct round *round, const struct lane *lane,
                 const struct class *class, const struct resource_vec *request);
/* `count` jobs of a class came to a lane, or did not (less than 0). */
void held_charge(const struct round *round, struct lane *lane,
                 const struct class *class, int64_t count);
