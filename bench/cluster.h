/*
 * cluster - a planner's state to be measured, and what is done to it.
 *
 * Nodes of 32 cores and 256 GiB and jobs of 1 core and 4 GiB, as in the
 * comparison with Armada; bench/mixed.h fills the same struct with all sorts.
 * Jobs are numbered from 0 in the order in which they are added.
 *
 * Threads: none of its own.
 */
#pragma once

#include "sched/sched.h"

struct cluster {
    struct policy policy; /* without limits */
    struct sched *sched;  /* owned; goes by `policy` */
    uint32_t class_index; /* of the jobs that are added */
    uint32_t job_count;
};

/* A state without nodes that goes by a copy of `policy`, or by the default
 * one (NULL), without limits. */
void cluster_init(struct cluster *cluster, const struct policy *policy);
/* A state with `node_count` like nodes and a class of like jobs. */
void cluster_make(struct cluster *cluster, uint32_t node_count);
/* Free it. */
void cluster_fini(struct cluster *cluster);

/* Queues 0, 1, ... of equal weights. */
void cluster_add_queues(struct cluster *cluster, uint32_t count);
/* Add queue `queue`, or change it; the weight is 1 / factor. */
void cluster_set_queue(struct cluster *cluster, uint32_t queue,
                       int64_t factor_micro);
/* `count` jobs, to queues first, first + 1, ... in turn; in one gang when
 * `gang_cardinality` is more than 1. */
void cluster_add_jobs(struct cluster *cluster, uint32_t first, uint32_t queues,
                      uint32_t count, uint32_t gang_cardinality);
/* Tell the decisions of a plan back; who loses its place is gone. */
void cluster_apply(struct cluster *cluster, const struct sched_plan *plan,
                   int64_t now_ms);
/* Plan, and return the processor seconds that it took. */
double cluster_plan(struct cluster *cluster, int64_t now_ms,
                    enum round_kind kind, struct sched_plan *ret_plan);
