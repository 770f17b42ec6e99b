/*
 * cluster - an executor and its nodes: what the leader leases to it becomes
 * pods that start, run for the time that their job has, and end.
 *
 * What is done about a run is what the shipped planner says
 * (reconcile/reconcile.h): each lease, cancel, change of a pod and
 * acknowledgement changes the run's row, and the row is planned for.  The
 * conversation is that of a held stream: leases and cancels are pushed;
 * reports and news go out a little later, gathered.
 *
 * Threads: the world's.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "control/command/session.h"
#include "reconcile/reconcile.h"
#include "sim/world/world.h"
#include "wire/log/log_codec.h"

enum {
    CLUSTER_NODES_MAX = NODES_MAX,
    CLUSTER_HELLO_MS = 60000,
    CLUSTER_FAILURES_STREAM = 1 << 20, /* of draws; and on, by cluster */
    CLUSTER_LEASES_MAX = 1 << 20,      /* credit of its stream */
};

/* How a cluster behaves. */
struct cluster_options {
    struct str name, pool;
    int64_t start_ms;   /* from a lease to a pod that runs */
    int64_t stop_ms;    /* from a cancel to the end of the pod */
    int64_t report_ms;  /* news are gathered for so long */
    int64_t failure_ms; /* mean time of a node between failures; 0: none */
    int64_t repair_ms;  /* how long it is away then */
};

/* A node, up or down. */
struct cluster_node {
    struct node_record record;
    bool is_down;
};

/* A run, while the executor remembers it. */
struct cluster_run {
    struct reconcile_row row;
    uint32_t job;  /* number; UINT32_MAX: the slot is free */
    uint32_t node; /* index */
    int64_t created_ms, started_ms, ended_ms;
    int64_t due_ms; /* the pod's next phase; INT64_MAX: none */
};

struct cluster_report;

/* An executor; see above. */
struct cluster {
    struct exchange_session session; /* first member */
    struct world *world;
    uint32_t index; /* in the world */
    struct cluster_options options;
    struct arena arena; /* of names and nodes */
    VEC(struct cluster_node) nodes;
    struct intern node_names; /* indexes are those in nodes */
    VEC(struct cluster_run) runs;
    VEC(uint32_t) free_runs;
    struct map run_by_id;
    struct cluster_report *report; /* being gathered; owned */
    VEC(struct run_id) held, gone; /* news of the next exchange */
    VEC(uint32_t) changed_nodes;   /* likewise */
    struct draw failures;
    uint32_t credit;
    bool is_flushing; /* a report is on the agenda */
};

/* A cluster in the world, which owns it; its nodes are added before
 * cluster_open(). */
struct cluster *cluster_create(struct world *world,
                               const struct cluster_options *options);
/* Add a node; copied. */
void cluster_add_node(struct cluster *cluster,
                      const struct node_record *record);
/* Say hello to the leader. */
void cluster_open(struct cluster *cluster);
/* What world_destroy() calls. */
void cluster_destroy(struct cluster *cluster);

/* A node goes down: its pods are lost.  Or comes back, empty. */
void cluster_set_node(struct cluster *cluster, uint32_t node, bool is_down);
/* The pod of a run has come to its next phase, if it is due now. */
void cluster_pod_due(struct cluster *cluster, uint32_t run);
/* The pod of a run that runs succeeds now; for callers that know when. */
void cluster_end_run(struct cluster *cluster, struct run_id id);
/* Send what was gathered. */
void cluster_flush(struct cluster *cluster);
/* The periodic exchange. */
void cluster_hello(struct cluster *cluster);
