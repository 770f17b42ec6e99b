/*
 * command_rows - the rows of the leader's answers to questions (command.h).
 *
 * A row and all it points to live in the arena of the command that it is an
 * answer to.
 */
#pragma once

#include "model/event.h"
#include "model/policy.h"

/* How many applications of a queue are in which state. */
struct application_counts {
    bool is_by_applications; /* false: the queue keeps none */
    uint32_t accepted, starting, running, completing, completed;
};

/* One application of a queue that goes by them. */
struct application_row {
    struct str queue, id;
    struct str state; /* "Accepted", "Starting", ... */
    int64_t since_ms; /* in this state */
    int64_t until_ms; /* which ends by itself then; 0: it does not */
    int64_t submitted_ms;
    uint32_t ask_count, allocation_count; /* jobs that wait, are leased */
    bool has_stateaware_off;
};

/* Share and usage of one queue in one pool, as of the last round. */
struct queue_share {
    struct str queue, pool;
    int64_t weight_micro;       /* 1 / priority factor */
    int64_t fair_share_ppm;     /* w / sum of w over active queues */
    int64_t adjusted_share_ppm; /* demand-capped, water-filled */
    int64_t actual_share_ppm;   /* dominant share of what is leased */
    int64_t demand_share_ppm;   /* of all it has queued and leased */
    int64_t usage_ppm;          /* of what is leased or admitted */
    int64_t flow_ppm;           /* usage, with what is remembered of it */
    int64_t infinite_flow_ppm;  /* of what has an infinite lifetime */
    int64_t infinite_limit_ppm; /* that this may be; -1: no limit */
    /* The excess budget, in thousandths of resource-minutes; -1: none. */
    int64_t budget_milli, budget_left_milli;
    uint32_t queued_count, leased_count, pending_count, running_count;
    uint32_t job_count;       /* that have not ended, in all pools */
    int64_t considered_count; /* jobs that the last round looked at */
    bool is_cordoned;
    struct application_counts applications; /* of the queue, in all pools */
    struct resource_list allocated;         /* to what is leased; no zeros */
};

/* A run of a periodic job that has not ended. */
struct periodic_live_run {
    struct job_id first; /* of its jobs, whose ids count up */
    uint32_t job_count;
};

/* One periodic job. */
struct periodic_row {
    struct str queue, name;
    struct str encoded; /* berth.api.PeriodicJob */
    struct periodic_owner owner;
    int64_t next_ms;          /* 0: there is none */
    struct periodic_run last; /* of outcome PERIODIC_NONE: there was none */
    struct periodic_live_run *runs; /* oldest first */
    uint32_t run_count;
};

/* One maintenance window. */
struct window_row {
    struct str encoded; /* berth.api.MaintenanceWindow */
    bool is_open;       /* it has begun */
    uint32_t node_count;
};

/* What waits for nodes in one pool although its turn has come. */
struct pool_admitted {
    struct str pool;
    uint32_t count;   /* jobs and gangs that were admitted */
    int64_t start_ms; /* until when at the latest there is room for the one that
                         nodes are kept for (t*); INT64_MAX: there is none, or
                         no bound tells */
};

/* One node as it is now. */
struct node_window {
    struct str name;
    int64_t begin_ms, end_ms;
};

struct node_status {
    struct str name, executor, pool;
    const char *state; /* ready, cordoned, stale, lost, quarantined, pinned,
                          trial */
    struct str reason; /* of the state; "" when there is none */
    struct resource_list capacity, free; /* no zeros */
    uint32_t run_count;
    int64_t until_ms;                   /* quarantined: until then */
    uint64_t ended_count, failed_count; /* runs in the quarantine's window */
    const struct label *labels;         /* by key */
    const struct taint *taints;
    uint32_t label_count, taint_count;
    const struct node_window *windows; /* of maintenance, in order of names */
    uint32_t window_count;
};

/* What an executor offers to a pool. */
struct executor_status {
    struct str name, pool; /* pool: "" while it has no nodes */
    const char *state;     /* live, stale (three beats missed), lost */
    bool is_cordoned;
    struct str cordon_reason;
    bool is_held;             /* over a held stream */
    int64_t silent_ms;        /* since it was last heard */
    uint32_t node_count;      /* in the pool */
    uint32_t open_node_count; /* of them, those that get new work */
    uint32_t run_count;       /* on them */
    struct resource_list capacity, available, free; /* of all nodes, of those
                                 that are open, what is free there; no zeros */
};

/* What pools as objects are told of (model.md 5.8). */
enum pool_amount_kind {
    POOL_AMOUNT_CPU,
    POOL_AMOUNT_GPU,
    POOL_AMOUNT_MEMORY,
    POOL_AMOUNT_STORAGE,
    POOL_AMOUNT_PODS,
    POOL_AMOUNT_NODES,
    POOL_AMOUNTS,
};

/* Of one pool; `total`: of all pools what is allocatable. */
struct pool_amount {
    int64_t capacity_milli, allocatable_milli, total_milli;
    int64_t used_milli;   /* by all pods on its nodes; of it ... */
    int64_t shared_milli; /* ... by jobs at home elsewhere ... */
    int64_t system_milli; /* ... and by pods that are not ours */
    int64_t pending_milli;
};

/* How a pool stands. */
struct pool_row {
    struct str name;
    struct str encoded; /* berth.api.Pool; "" of the Default pool */
    bool is_default;
    bool is_preemption_off, is_borrowing_off, is_sharing_off;
    uint32_t node_count;
    uint32_t queued_own_count, queued_foreign_count;
    uint32_t running_own_count, running_foreign_count;
    uint32_t conflict_count; /* nodes that several pools match; in Default */
    int64_t age_ms; /* the pool is being planned, and counts and amounts are so
                       old; 0: they are as of now */
    struct pool_amount amounts[POOL_AMOUNTS];
    /* Of metrics: names of its nodes, and of pods that wait; the first so
     * many. */
    const struct str *nodes, *pods;
    uint32_t node_name_count, pod_name_count;
};

/* By which rules is planned in a pool. */
struct pool_rules {
    struct str name;
    struct pool_policy policy; /* without its name and floating resources */
};

/* Whether a job that waits is admitted, and what it was promised; whether one
 * that has a node is preempted if that is asked for. */
struct admission_status {
    struct job_id job;
    bool is_admitted;          /* answer */
    int64_t start_ms;          /* answer: the latest start; 0: unknown */
    bool is_kept;              /* answer: it has a node, and is not preempted */
    struct str priority_class; /* answer */
    bool is_held;              /* answer: it waits and is not planned */
    struct str reason;         /* answer: why that is; for people */
    const char *wait; /* answer: why it waits, in a word; "": it does not, or
                         nobody knows */
};

/* A sub-group of a gang; of a plain gang the one that it is, without a name. */
struct gang_part_status {
    struct str name; /* of a TrainingJob "": its components stand in its row */
    uint32_t min_count, max_count;
    uint32_t waiting_count, running_count, succeeded_count, failed_count;
    uint32_t starting_count; /* of those running: the pod does not run yet */
    bool is_auxiliary;
};

/* A TrainingJob and how it stands. */
struct training_row {
    struct str encoded; /* berth.api.TrainingJob, without ids of jobs */
    const char *phase;
    struct str reason;
    int64_t created_ms, started_ms, completed_ms; /* 0: not yet */
    struct gang_part_status *parts; /* as its components; [part_count] */
    uint32_t part_count;
};

/* A gang and how it stands. */
struct gang_status {
    struct str queue, job_set, gang_id;
    struct job_id oldest;   /* of its jobs that have not ended */
    const char *kind;       /* gang, podgroup or trainingjob */
    int64_t below_since_ms; /* it has less than its minimum; 0: it has not */
    struct gang_part_status *parts;
    uint32_t part_count;
    struct job_id *jobs; /* if wanted: those that have not ended, by id */
    uint32_t job_count;
};

/* How often jobs of a queue went from one state to another, since this leader
 * began to lead. */
struct job_transition {
    struct str queue, pool; /* pool: "" before it has one */
    const char *before, *after;
    uint64_t count;
};

/* How long jobs of a queue waited for their first lease, while this leader
 * leads. */
struct queue_wait {
    struct str queue;
    uint64_t count;
    int64_t sum_ms;
};
