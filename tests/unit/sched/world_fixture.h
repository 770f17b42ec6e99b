/*
 * world_fixture - a world for each test: cmocka's setup and teardown.
 */
#pragma once

#include "unit.h"
#include "world.h"

/* An empty world of world_init(), as the test's state. */
static inline int world_setup(void **state)
{
    struct world *world = mem_alloc(sizeof(*world));

    world_init(world);
    *state = world;
    return 0;
}

/* All sums and indexes are right at the end of each test; then free it. */
static inline int world_teardown(void **state)
{
    struct world *world = *state;

    assert_true(sched_is_consistent(world->sched));
    world_fini(world);
    mem_free(world);
    return 0;
}

/* How many the last plan preempts by one rule. */
static inline uint32_t world_count_preempted(const struct world *w,
                                             enum sched_preemption why)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->plan.decision_count; i++) {
        count += w->plan.decisions[i].action == SCHED_PREEMPT &&
                 w->plan.decisions[i].preemption == why;
    }
    return count;
}
