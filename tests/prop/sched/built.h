/*
 * built - a planner that was told an instance.
 *
 * Queues and jobs have the instance's numbers as their indexes; `handles`
 * gives the planner's index of a node.
 */
#pragma once

#include "instance.h"

/* A planner that was told an instance. */
struct built {
    struct policy policy;
    struct sched *sched;
    uint32_t handles[INSTANCE_NODES_MAX];
    int pools[INSTANCE_NODES_MAX];       /* of nodes */
    uint32_t classes[INSTANCE_JOBS_MAX]; /* by the first job that is of it */
};

/* The policy that an instance goes by. */
void built_make_policy(const struct instance *instance, struct policy *policy);
/* Tell a fresh planner all of it, in an order that `shuffle` decides (0: as
 * numbered). */
void built_init(struct built *built, const struct instance *instance,
                uint64_t shuffle);
/* Free the planner. */
void built_fini(struct built *built);
/* The number of a node by the planner's index, or NO_NODE. */
int built_node(const struct built *built, uint32_t handle);
/* Tell the planner of a node as it now is. */
void built_set_node(struct built *built, const struct instance *instance,
                    int node);
/* The same, but for its health, with so much more. */
void built_set_node_with(struct built *built, const struct instance *instance,
                         int node, const struct resource_vec *more);
/* Add to an amount what a vector has of its resource. */
void built_add_more(const struct built *built, const struct resource_vec *more,
                    struct resource_amount *amount);
/* What a queue's record points to. */
struct built_queue {
    char name[8];
    struct resource_amount quota[2]; /* of which the instance has cores */
    struct queue_limit limit;
};
/* A queue as it now is. */
struct queue_record built_queue(const struct instance *instance, int queue,
                                struct built_queue *parts);
/* Tell the planner of a queue as it now is. */
void built_set_queue(struct built *built, const struct instance *instance,
                     int queue);
/* Tell the planner of one more job, and where it runs. */
void built_add_job(struct built *built, const struct instance *instance,
                   int job);
/* Let a decision happen in the planner. */
void built_apply(struct built *built, const struct sched_decision *decision,
                 int now);
