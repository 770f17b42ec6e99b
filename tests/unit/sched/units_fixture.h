/*
 * units_fixture - elastic units that share the nodes of a pool; for
 * test_sched_growth*.c.
 */
#pragma once

#include "world_fixture.h"

/* Times in ms. */
enum { SECOND = 1000, WINDOW_MS = 300 * SECOND };

/* One sub-group of so many pods, frozen for five minutes. */
struct gang_terms units_trainers(uint32_t min, uint32_t max);
/* A unit as one job of it says. */
uint32_t units_submit(struct world *w, const struct world_job *job,
                      const struct gang_terms *terms);
/* A unit of one-core pods of class mid in a queue. */
uint32_t units_submit_plain(struct world *w, const char *queue, const char *id,
                            const struct gang_terms *terms);
/* How many pods of a unit run. */
uint32_t units_count_of(const struct world *w, uint32_t first,
                        const struct gang_terms *terms);
/* How many of these jobs run on a node. */
uint32_t units_count_on(const struct world *w, uint32_t first, uint32_t count,
                        const char *node);
/* A node has so many cores from now on. */
void units_set_cores(struct world *w, const char *name, int64_t cores);
/* Levels of one priority, of the weights 10, 100 and 10000. */
void units_add_levels(struct world *w);

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
