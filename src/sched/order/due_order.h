/*
 * due_order - when waiting work is due, where its pool orders by that
 * (`backfillOrder: shortestBounded`).
 *
 *     due = submission + DUE_ORDER_FACTOR x limit
 *
 * The limit is the time after which a job is ended (`deadline`), but counts for
 * CLASS_LIMIT_MAX_MS at most, and for that where there is none.  What is due
 * first goes first within a class priority, an application and a job priority;
 * from the start of a round on, so also for what is reserved next.
 *
 * So short work goes before long work that came a little earlier.  Of its queue
 * and priority nothing is tried before it, and nothing is reserved for before
 * it, that was submitted more than DUE_ORDER_FACTOR of its own limits later.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

enum { DUE_ORDER_FACTOR = 2 };

/* When work is due that was submitted then and may run so long. */
int64_t due_order_at(int64_t submitted_ms, int64_t limit_ms);
/* Whether a pool orders by it. */
bool due_order_holds(const struct sched *sched, uint32_t pool);
/* When a waiting job is due; a gang by the job that stands for it. */
int64_t due_order_of(const struct sched *sched, uint32_t job);
/* Let a round order by it from now on, where the pool says so and some class
 * is shorter than the longest that counts; otherwise the order is that of
 * submission anyway. */
void due_order_begin(struct round *round);
