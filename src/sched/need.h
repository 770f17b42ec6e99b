/*
 * need - what it would take for a waiting job to start, found by trying.
 *
 * A trial changes what one node has, or what a limit is, plans a balance
 * round, looks whether the job is among the leases, and puts everything back:
 * nothing that decides later is touched.  So what was tried is true by its
 * making.  Private to src/sched.
 */
#pragma once

#include "sched/state.h"

enum {
    NEED_TRIALS_MAX = 64,
    /* What all trials of one answer may cost: lists, nodes, runs and queues
     * that their rounds may go over. */
    NEED_WORK_MAX = 2000000,
    /* Nor is another made when they examined so many nodes, a tenth of a
     * second: rounds may cost far more than what they go over. */
    NEED_LOOKS_MAX = 100 * (int)POLICY_WORK_PER_MS,
    NEED_TRIALS_MIN = 3, /* with fewer nothing can be shown: none are made */
    NEED_NODE_WORK = 10, /* of a node, which is put in order again */
    NEED_NODES_MAX = 4,  /* nodes that are tried */
};

/* A limit that is raised for a trial; see queue_limit_of(). */
struct limit_trial {
    uint32_t queue, pool, priority_class;
    struct resource_vec more;
};

/* Nodes that could hold a job when empty, nearest first. */
struct near_nodes {
    uint32_t nodes[NEED_NODES_MAX];
    double lacks[NEED_NODES_MAX];
    uint32_t count;
};

/* Put a node among the nearest, if it is; of equal ones the first stays. */
void near_add(struct near_nodes *near, uint32_t node, double lack);

/* What `job`, which waits as `explanation` says, needs to start at `now_ms`;
 * `pool` is one that it may go to.  If it is a truce that keeps it back, the
 * explanation says so from now on. */
void need_find(struct sched *sched, uint32_t job, uint32_t pool, int64_t now_ms,
               struct sched_explanation *explanation,
               const struct near_nodes *near, struct sched_need *ret_need);
