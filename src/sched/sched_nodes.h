/*
 * sched_nodes - reports about nodes and executors to the planner: their
 * resources, whether they get new work, and their health.
 *
 * Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_handles.h"

/* Nodes are about to go from pool to pool with what runs there, or have all
 * done so: flows change once for all of it (usage_ledger_hold.h).  No round is
 * planned in between; holds nest. */
void sched_flows_hold(struct sched *sched);
/* The end of a hold; nothing happens where none began. */
void sched_flows_keep(struct sched *sched);

/* Whether an executor gets new leases at all: not while it is cordoned, stale
 * or over its limit of unacknowledged leases.  New executors do. */
void sched_executor_set(struct sched *sched, struct str executor,
                        bool accepts_new_leases);

/* Add a node or change it; `pool` is for a record that names none.  Jobs that
 * are leased there stay, also when they no longer fit. */
uint32_t sched_node_set(struct sched *sched, struct str executor,
                        const struct node_record *record, struct str pool);
/* The node is gone.  Its index stays good for the jobs leased there, and comes
 * back with the name. */
void sched_node_remove(struct sched *sched, uint32_t node);
/* The index of a node by name; one that was never set is made, absent. */
uint32_t sched_node_index(struct sched *sched, struct str executor,
                          struct str name);
/* A node's name; borrowed until the state is destroyed. */
struct str sched_node_name(const struct sched *sched, uint32_t node);
/* The executor that offers a node; borrowed likewise. */
struct str sched_node_executor(const struct sched *sched, uint32_t node);
/* The pool of a node, "" while it was never set; borrowed likewise. */
struct str sched_node_pool(const struct sched *sched, uint32_t node);

/* What pods that are not ours ask for in a pool and found no node for, in
 * columns of the policy's schema: gangs do not grow into that room, and shrink
 * for it.  Nothing, until it is told. */
void sched_foreign_pending_set(struct sched *sched, struct str pool,
                               const struct resource_vec *amounts);

/* Whether a node gets new work (model.md 6.10b), and why. */
struct sched_health {
    enum node_health health;
    bool is_pinned;                     /* OUT until an operator clears it */
    int64_t until_ms;                   /* OUT: the probation ends */
    int64_t probation_ms;               /* the last one */
    uint32_t success_count;             /* TRIAL */
    uint64_t ended_count, failed_count; /* runs in the window */
    struct str reason; /* for people; got: borrowed until it changes */
};

/* What is to be decided about a node; then told by sched_health_set(). */
struct sched_health_change {
    uint32_t node;
    struct sched_health health;
};

/* The changes that are due, in order of nodes' names; the number of them.
 * They are good until the next call. */
uint32_t sched_health_plan(struct sched *sched, int64_t now_ms,
                           const struct sched_health_change **ret_changes);
/* When sched_health_plan() is next to be asked though nothing ends. */
int64_t sched_health_wake_ms(const struct sched *sched);
/* A node's health is another.  NORMAL forgets its failures. */
void sched_health_set(struct sched *sched, uint32_t node,
                      const struct sched_health *health);
/* A node's health as of `now_ms`. */
void sched_health_get(const struct sched *sched, uint32_t node, int64_t now_ms,
                      struct sched_health *ret_health);
/* What a node has, and is used for. */
struct sched_node_stats {
    struct resource_vec capacity; /* without what others use */
    struct resource_vec free;     /* negative where it is overcommitted */
    uint32_t run_count;
    bool is_open; /* new work may be put there, as far as it fits */
};

/* How a node stands. */
void sched_node_stats(const struct sched *sched, uint32_t node,
                      struct sched_node_stats *ret_stats);

/* How many nodes that are there have this health, which is not NORMAL. */
uint32_t sched_health_count(const struct sched *sched, enum node_health health);
