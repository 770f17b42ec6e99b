/*
 * flow_fixture - pools with the profile flow, and what their queues have used;
 * for test_sched_flow*.c.
 */
#pragma once

#include "world_fixture.h"

/* In ms. */
enum { MINUTE = 60000 };

/* The one pool, as the policy has it. */
struct pool_policy *flow_pool(struct world *w);
/* The profile flow with a half-life, one core weighing 1, no window and no
 * limits; world_restart() is still to come. */
void flow_use(struct world *w, int64_t half_minutes);
/* A pool of so many cores, and queues A and B. */
uint32_t flow_make_pool(struct world *w, int64_t cores);
/* The planner's handle of a queue. */
uint32_t flow_queue(const struct world *w, const char *name);
/* How a queue stands in the pool. */
struct sched_queue_stats flow_stats(struct world *w, const char *queue);
/* They are the same but for rounding. */
void assert_near(double value, double expected);
/* A job of a queue runs from `now_ms` on. */
uint32_t flow_run_job(struct world *w, const char *queue, int64_t cores,
                      uint32_t node, int64_t now_ms);
/* Whether a job waits. */
bool flow_is_waiting(const struct world *w, uint32_t job);
