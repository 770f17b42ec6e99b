/*
 * near_fixture - a pool whose labels leaf, agg and core say how near nodes are;
 * for test_sched_near*.c.
 */
#pragma once

#include "sched/state/topology.h"
#include "world_fixture.h"

enum { NEAR_LEVEL_COUNT = 3 };
/* The labels, the lowest first. */
extern const struct str NEAR_LEVELS[NEAR_LEVEL_COUNT];

/* The world, whose pool names the levels; for cmocka. */
int near_setup(void **state);
/* Name the levels, after the policy was changed. */
void near_name_levels(struct world *world);
/* A node of a leaf of an agg of the only core. */
uint32_t near_add_node(struct world *w, const char *name, int64_t cores,
                       const char *leaf, const char *agg);
/* Leaves L1 (3 nodes a1, ...), L2 (4, b1, ...), L3 (6, c1, ...); P1 = {L1, L2},
 * P2 = {L3}; nodes of one core. */
void near_add_tree(struct world *w);
/* Terms with one sub-group `w`. */
struct gang_terms near_terms(uint32_t min, uint32_t max, uint32_t hops);
/* Submit a gang of so many jobs of queue A; the first. */
uint32_t near_submit(struct world *w, const char *id, uint32_t count,
                     uint32_t hops);
/* How many of `count` jobs run on nodes whose name begins so. */
uint32_t near_count_on(const struct world *w, uint32_t first, uint32_t count,
                       char leaf);
/* The most hops between any two of them. */
uint32_t near_hops(struct world *w, uint32_t first, uint32_t count);

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, near_setup, world_teardown)
