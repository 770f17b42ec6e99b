/*
 * world - a small cluster around the planner, for its tests: it makes jobs
 * and nodes from a few numbers, and acts on plans as the control loop would.
 *
 * Handles are those of sched.h.  Names of queues and nodes are C strings.
 */
#pragma once

#include "model/gang_terms.h"
#include "sched/sched.h"

enum {
    WORLD_JOBS_MAX = 4096,
    WORLD_QUEUES_MAX = 8,
    WORLD_CLASSES_MAX = 512,
    WORLD_LABELS_MAX = 4,
    CPU = 1, /* columns of the default policy */
    MEMORY = 2,
};

/* A job as the tests say it; zero is one core of the default class. */
struct world_job {
    const char *queue;
    const char *priority_class; /* NULL: preemptible, priority 1000 */
    int64_t cores;
    int64_t memory_gb;
    int64_t licences; /* of no node; if the policy has them */
    int64_t gpus;
    uint32_t priority;
    int64_t submitted_ms;
    const char *gang;
    uint32_t cardinality, minimum;
    const char *uniformity;
    const char *selector_key, *selector_value;
    const char *tolerated; /* taint key */
    const char *pool;
    const char *application;
    bool has_stateaware_off;
    int64_t lifetime_s; /* 0: by the class; < 0: preemptible at once;
                           INT64_MAX: infinite */
    int64_t deadline_s; /* 0: unknown */
    const struct gang_terms *terms; /* of its gang; NULL: none */
    uint32_t sub_group;
    bool is_foreign; /* its home is another pool */
};

struct world_node {
    const char *name;
    int64_t cores;
    int64_t memory_gb;
    int64_t gpus;
    const char *label_key, *label_value;
    const struct label *labels; /* instead of that one; sorted by key */
    uint32_t label_count;
    const char *taint;
    const char *pool;
    const char *executor; /* NULL: "e" */
    bool is_unschedulable;
    int64_t foreign_cores; /* that pods of others use */
};

struct world {
    struct policy policy;
    struct sched *sched;
    const char *queue_names[WORLD_QUEUES_MAX];
    uint32_t queue_count;
    struct world_job records[WORLD_JOBS_MAX];
    uint32_t job_count;
    uint32_t node_of[WORLD_JOBS_MAX]; /* SCHED_NONE: waits */
    bool is_gone[WORLD_JOBS_MAX];     /* preempted, failed or ended */
    char *class_keys[WORLD_CLASSES_MAX];
    size_t class_key_bytes[WORLD_CLASSES_MAX];
    uint32_t class_handles[WORLD_CLASSES_MAX];
    uint32_t class_count;
    struct strbuf terms; /* the last that were packed */
    bool requeues; /* all that is preempted waits again, not only members of
                      gangs with terms */
    /* Of the last plan. */
    struct sched_plan plan;
    uint32_t leased_count, preempted_count, failed_count;
};

/* A policy of profile armada with preemptible classes low (500), mid (1000, the
 * default) and high (10000), and fixed (1000), which is not preemptible. */
void world_init(struct world *world);
/* Make the state anew after `world.policy` was changed. */
void world_restart(struct world *world);
/* Restart with what is not preemptible kept from urgency too, as under
 * Armada. */
void world_keep_fixed(struct world *world);
/* Forget the classes that were told: `world.sched` is another state now. */
void world_forget_classes(struct world *world);
/* Free everything. */
void world_fini(struct world *world);

/* Add or change a queue; the weight is 1 / `factor`. */
uint32_t world_queue(struct world *world, const char *name, double factor);
/* The same with an ordering and what belongs to it; the record's name and
 * factor are ignored. */
uint32_t world_queue_by(struct world *world, const char *name,
                        const struct queue_record *by);
/* Add or change a node. */
uint32_t world_node(struct world *world, const struct world_node *node);
/* Submit a job; its handle. */
uint32_t world_submit(struct world *world, const struct world_job *job);
/* Submit `count` like jobs; the first handle. */
uint32_t world_submit_many(struct world *world, const struct world_job *job,
                           uint32_t count);
/* Submit all members of a gang with such terms, sub-group by sub-group; the
 * first handle. */
uint32_t world_submit_group(struct world *world, const struct world_job *job,
                            const struct gang_terms *terms);
/* The class handle of such a job. */
uint32_t world_class(struct world *world, const struct world_job *job);
/* What sched_job_add() is to be told of a job. */
struct sched_job world_record(struct world *world, uint32_t job);

/* Plan and act on the plan: leases and preemptions happen, failures end.
 * Members of gangs with terms wait again when they are preempted, and
 * everybody where the world says so. */
void world_round(struct world *world, enum round_kind kind, int64_t now_ms);
/* Put a job on a node outright. */
void world_lease(struct world *world, uint32_t job, uint32_t node,
                 int64_t now_ms);
/* A job ends. */
void world_end(struct world *world, uint32_t job);
/* The name of the node of a job, "" for none. */
const char *world_node_of(const struct world *world, uint32_t job);
/* How many of `count` jobs from `first` on run. */
uint32_t world_running_of(const struct world *world, uint32_t first,
                          uint32_t count);
/* Jobs of a queue that run. */
uint32_t world_running(const struct world *world, const char *queue);
