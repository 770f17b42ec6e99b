/*
 * queue_order - the order of a queue's waiting jobs as a round begins, for
 * explanations.
 *
 * A round draws the same order from lists (lane_lists.h), and ranks
 * applications the same way (order.h).  Under `fair` each lease changes these
 * ranks, so that later in the round others may be first.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Whether waiting job `a` goes before `b` of the same queue; a gang goes by
 * the job that stands for it. */
bool queue_order_less(const struct sched *sched, uint32_t a, uint32_t b);
/* The first of a queue that goes by no applications; NONE: nothing waits. */
uint32_t queue_order_first(const struct sched *sched,
                           const struct queue *queue);
/* Waiting jobs of its queue that go before a job, were none kept back. */
uint32_t queue_order_ahead(const struct sched *sched, uint32_t job);
/* Those of them that were submitted later, and go first because their limits
 * are shorter (due_order.h); of applications that is not told. */
uint32_t queue_order_shorter(const struct sched *sched, uint32_t job);
