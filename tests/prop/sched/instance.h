/*
 * instance - a small cluster as plain data: drawn from a tape, built into a
 * planner in any order, solved by the oracle, and changed by plans.
 *
 * Amounts are whole cores and GB; one pool.  Job, queue and node numbers are
 * indexes here; `handles` gives a planner's node index for a number.
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

/* A planner that was told an instance. */
struct built {
    struct policy policy;
    struct sched *sched;
    uint32_t handles[INSTANCE_NODES_MAX];
    uint32_t classes[INSTANCE_JOBS_MAX]; /* by the first job that is of it */
};

/* Draw an instance; some of its jobs run. */
void instance_draw(struct tape *tape, struct instance *instance);
/* Tell a fresh planner all of it, in an order that `shuffle` decides (0: as
 * numbered). */
void instance_build(const struct instance *instance, uint64_t shuffle,
                    struct built *ret_built);
/* Tell the planner of a node as it now is. */
void built_set_node(struct built *built, const struct instance *instance,
                    int node);
/* Tell the planner of a queue as it now is. */
void built_set_queue(struct built *built, const struct instance *instance,
                     int queue);
/* Free the planner. */
void built_fini(struct built *built);
/* The number of a node by the planner's index. */
int built_node(const struct built *built, uint32_t handle);
/* Tell the planner of one more job, and where it runs. */
void built_add_job(struct built *built, const struct instance *instance,
                   int job);
/* Let a decision happen in the instance; preempted and failed jobs are gone. */
void instance_apply(struct instance *instance, const struct built *built,
                    const struct sched_decision *decision, int now);
/* The same in the planner. */
void built_apply(struct built *built, const struct sched_decision *decision,
                 int now);
/* Capacity of a node that nothing which runs uses; may be negative. */
int instance_free(const struct instance *instance, int node, int kind);
