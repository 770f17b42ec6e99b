/*
 * lend_fixture - a pool in which queue A is at home and B borrows; for
 * test_sched_lend*.c.
 */
#pragma once

#include "world_fixture.h"

/* Classes p0, p5, p10, p100 and p1000 of those priorities; p0 is the default;
 * and `kept` of 1000, which is not preemptible. */
int lend_setup(void **state);
/* The like, and it is a pool object's. */
int lend_setup_object(void **state);
/* A node of so many cores. */
uint32_t lend_node(struct world *w, const char *name, int64_t cores);
/* A job of A. */
uint32_t lend_own(struct world *w, const char *class, int64_t cores);
/* A job of B, of another pool. */
uint32_t lend_foreign(struct world *w, const char *class, int64_t cores);
/* Whether a job has a lease. */
bool lend_runs(const struct world *w, uint32_t job);
/* Every preemption of the last plan is a recall for home work. */
void lend_assert_recalls(const struct world *w, uint32_t count);

/* A test in a pool of the configuration, and in one that is an object. */
#define LEND_TEST(name)                                                \
    cmocka_unit_test_setup_teardown(name, lend_setup, world_teardown), \
        cmocka_unit_test_setup_teardown(name, lend_setup_object,       \
                                        world_teardown)
