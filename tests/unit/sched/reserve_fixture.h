/*
 * reserve_fixture - a cluster with a list of admitted work; for
 * test_sched_reserve*.c.  A minute of the scenarios is a second here.
 */
#pragma once

#include "sched/state/state.h"
#include "world_fixture.h"

/* A second, in ms. */
enum { S = 1000 };

/* The world; for cmocka. */
int reserve_setup(void **state);
/* A job that cannot be preempted, or not before its lifetime. */
uint32_t reserve_submit(struct world *w, const char *queue, int64_t cores,
                        int64_t deadline_s, int64_t lifetime_s);
/* Whether a job has a lease. */
bool reserve_runs(const struct world *w, uint32_t job);
/* When an admitted job is to start at the latest. */
int64_t reserve_promise(const struct world *w, uint32_t job);

/* BK-03's cluster: a node of 10 on which A uses 6 until 100; H needs 8. */
struct bk03 {
    uint32_t a, head;
};

/* That cluster, with A running and H admitted; A may be preempted from
 * deadline_s on. */
struct bk03 reserve_bk03(struct world *w, int64_t deadline_s);
/* Whether a job of Z starts at once; it is taken away again. */
bool reserve_passes(struct world *w, int64_t cores, int64_t deadline_s,
                    int64_t lifetime_s);

#define SCENARIO(name) \
    cmocka_unit_test_setup_teardown(name, reserve_setup, world_teardown)
