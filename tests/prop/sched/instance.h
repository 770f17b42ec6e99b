/*
 * instance - a small cluster as plain data: drawn from a tape, told to a
 * planner (built.h), decided by the oracle, and changed by plans.
 *
 * Amounts are whole cores and GB; one pool.  Jobs, queues and nodes are
 * numbered by their place here.
 */
#pragma once

#include "prop.h"
#include "sched/sched.h"

enum {
    INSTANCE_NODES_MAX = 8,
    INSTANCE_QUEUES_MAX = 4,
    INSTANCE_JOBS_MAX = 40,
    INSTANCE_KINDS = 2, /* cores, GB */
    NO_NODE = -1,
};

struct instance_node {
    int capacity[INSTANCE_KINDS];
    int rack; /* 0: no label; else r1, r2 */
    bool is_tainted;
    bool is_unschedulable;
};

struct instance_queue {
    int factor_halves; /* the factor is half of this; >= 2 */
    bool is_cordoned;
};

struct instance_job {
    bool is_there;
    int queue;
    int priority_class; /* of CLASSES in instance.c */
    int request[INSTANCE_KINDS];
    int rack; /* selector; 0: none */
    bool is_tolerant;
    int priority;
    int submitted;
    int gang; /* 0: none */
    int cardinality, minimum;
    bool is_uniform; /* in rack */
    bool was_leased;
    unsigned avoided; /* nodes, as bits */
    int node;         /* or NO_NODE */
    int leased;
};

struct instance {
    int node_count, queue_count, job_count;
    struct instance_node nodes[INSTANCE_NODES_MAX];
    struct instance_queue queues[INSTANCE_QUEUES_MAX];
    struct instance_job jobs[INSTANCE_JOBS_MAX];
    int protected_percent;
    int limit_percent; /* cores of class 0 for a queue; 0: none */
    bool is_fair_share_off, is_urgency_off;
};

struct instance_class {
    const char *name;
    int priority;
    bool is_preemptible;
};

enum { CLASS_COUNT = 4 };
extern const struct instance_class CLASSES[CLASS_COUNT];

/* Draw an instance; some of its jobs run. */
void instance_draw(struct tape *tape, struct instance *instance);
/* Make it a workload of one-core jobs of one class on nodes alike. */
void instance_make_uniform(struct instance *instance);
/* Let a decision happen; `node` is where a lease goes.  Preempted and failed
 * jobs are gone. */
void instance_apply(struct instance *instance,
                    const struct sched_decision *decision, int node, int now);
/* Capacity of a node that nothing which runs uses; may be negative. */
int instance_free(const struct instance *instance, int node, int kind);
/* Whether the job may be on the node at all, and would fit `room`. */
bool instance_is_place(const struct instance *instance, int job, int node,
                       const int room[INSTANCE_KINDS]);
/* Whether the limit on its class keeps the job from starting. */
bool instance_is_limited(const struct instance *instance, int job);
