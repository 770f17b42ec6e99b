/*
 * cluster_private - what the parts of a cluster share; for cluster*.c only.
 *
 *     cluster.c             create, nodes and their failures
 *     cluster_runs.c        runs and their pods, as the planner says
 *     cluster_reports.c     what became of runs goes to the leader, gathered
 *     cluster_exchange.c    nodes and runs go there too; leases come back
 */
#pragma once

#include "sim/world/cluster.h"

enum { CLUSTER_FREE_RUN = UINT32_MAX /* as the job of a slot */ };

/* The moment that it is. */
static inline int64_t cluster_now_ms(const struct cluster *cluster)
{
    return cluster->world->now_ms;
}

/* A run by its slot; the next run that is added may move it. */
static inline struct cluster_run *cluster_run_at(struct cluster *cluster,
                                                 uint32_t run)
{
    return &cluster->runs.items[run];
}

/* cluster_runs.c */

/* Do what the planner says about a run, until it says nothing more. */
void cluster_plan_run(struct cluster *cluster, uint32_t run);
/* A lease of the leader's; one that is held already is passed over. */
void cluster_take_lease(struct cluster *cluster,
                        const struct exchange_lease *lease);
/* A run that the leader wants stopped; one that is not held is passed over. */
void cluster_take_cancel(struct cluster *cluster, struct run_id id);
/* The pods on a node are lost. */
void cluster_lose_runs(struct cluster *cluster, uint32_t node);

/* cluster_reports.c */

/* A run is to be told of: all that it has come through since the last time. */
void cluster_report_run(struct cluster *cluster, uint32_t run);
/* Put cluster_flush() on the agenda, if it is not there. */
void cluster_flush_soon(struct cluster *cluster);
/* Free a report that was not sent; NULL is fine. */
void cluster_report_destroy(struct cluster_report *report);

/* cluster_exchange.c */

/* Set up the stream that the leader pushes to. */
void cluster_session_init(struct cluster *cluster);
/* Tell the leader what is news, at the first time all there is, and have
 * credit again. */
void cluster_exchange(struct cluster *cluster, bool is_first);
