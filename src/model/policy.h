/*
 * policy - the part of the configuration that decisions depend on, which is
 * therefore logged (event policySet).
 *
 * Fractions are in ppm (millionths), rates in milli tokens a second, times in
 * ms; 0 means "no limit" where a limit is spoken of.  Defaults are Armada's
 * (armada-api.md appendix A, model.md 6.10) unless a comment says otherwise.
 *
 * Pure; strings and arrays belong to whoever made the policy (see
 * wire/policy/policy_codec.h) and outlive it.
 */
#pragma once

#include "model/gang_terms.h"
#include "model/queue.h"
#include "model/requirement.h"
#include "model/resource.h"

enum {
    POLICY_POOLS_MAX = 256,
    POLICY_CLASSES_MAX = 64,
    POLICY_FRACTIONS_MAX = 16,
    POLICY_NODE_TYPES_MAX = 16,
    POLICY_TAINTS_MAX = 4,      /* of a node type */
    POLICY_AWAY_MAX = 4,        /* node types of a priority class */
    POLICY_LEVELS_MAX = 128,    /* different priorities, away ones included */
    POLICY_ADMITTED_MAX = 1024, /* gangs of a pool */
    POLICY_CFS_WEIGHT = 1000,   /* of classes that do not say */
    POLICY_CFS_WEIGHT_MAX = 1000000000,
};

/* Revisions of the rules: what each changed in what is decided. */
enum {
    POLICY_RULES_FIRST = 1, /* of logs that do not say */
    /* What runs in one pool has no part in whom another pool preempts
     * (docs/decisions/0015). */
    POLICY_RULES_BY_POOL = 2,
    /* A queue takes no place from itself for fairness, and promises count what
     * fairness costs (docs/decisions/0017). */
    POLICY_RULES_BOUNDED = 3,
    /* What a limit refuses only because work of its queue runs waits as the
     * head (docs/decisions/0027). */
    POLICY_RULES_LIMITS = 4,
    /* Gangs with terms that may not be preempted for a job have no part in whom
     * it preempts (docs/decisions/0034). */
    POLICY_RULES_GROUPS = 5,
    /* Among equal nodes jobs choose by preferred affinity and PreferNoSchedule
     * (docs/decisions/0074). */
    POLICY_RULES_WISHES = 6,
    /* Resources beside the columns are counted by node, and so are host ports
     * (docs/decisions/0074). */
    POLICY_RULES_EXTRAS = 7,
    /* Who is let past a reservation since it could preempt there promises to
     * yield, even if nobody has to go (docs/decisions/0080). */
    POLICY_RULES_YIELD = 8,
    POLICY_RULES_LATEST = POLICY_RULES_YIELD,
};

/* A fraction of a pool's total of one resource. */
struct resource_fraction {
    struct str resource;
    int64_t fraction_ppm;
};

/* Nodes that are told by their taints (wellKnownNodeTypes).  A value `*` is
 * any; a node of the type has all of them. */
struct node_type {
    struct str name;
    struct taint taints[POLICY_TAINTS_MAX];
    uint32_t taint_count;
};

/* Where jobs may run beside their home, and how urgent they are there. */
struct away_type {
    uint32_t type_index;
    int32_t priority;
};

struct priority_class {
    struct str name;
    int32_t priority;            /* larger is more urgent */
    bool is_preemptible;         /* its lifetime is finite */
    bool is_kept_from_urgency;   /* no more urgent class takes its places */
    int64_t default_lifetime_ms; /* 0 or more, or LIFETIME_INFINITE */
    /* At most this much of a pool for one queue's jobs of this class. */
    struct resource_fraction queue_limits[POLICY_FRACTIONS_MAX];
    uint32_t queue_limit_count;
    struct away_type away[POLICY_AWAY_MAX]; /* in order of trial */
    uint32_t away_count;
    uint32_t cfs_weight; /* >= 1; its level in queues that are ordered `cfs` */
    bool may_borrow;     /* its jobs may run on nodes of other pools */
};

/* A token bucket. */
struct rate_limit {
    int64_t rate_milli_per_s; /* 0: no limit */
    int64_t burst;            /* tokens it holds when full */
};

/* A named set of defaults for the knobs of a pool (model.md 6.10). */
enum pool_profile {
    PROFILE_BERTH = 0,
    PROFILE_ARMADA = 1,
    PROFILE_FLOW = 2,
};

/* What a queue's fraction of a pool is (model.md 6.4). */
enum cost_rule {
    COST_DRF = 0,          /* the largest over the dominant resources */
    COST_WEIGHTED_SUM = 1, /* all resources, weighted, as one sum */
};

/* In which order waiting work tries to pass the head (model.md 2.9). */
enum backfill_order {
    BACKFILL_IN_ORDER = 0,
    BACKFILL_SHORTEST_FIRST = 1, /* smallest upper bound of its run time */
    /* Smallest deadline / (1 + how long it has waited / BACKFILL_AGING_MS),
     * within a job priority. */
    BACKFILL_SHORTEST_AGED = 2,
    /* What is due first (sched/order/due_order.h), within a job priority; so
     * does what is reserved for next. */
    BACKFILL_SHORTEST_BOUNDED = 3,
};

/* When jobs that ask for no GPU keep off nodes with GPUs (gpu_nodes.h). */
enum gpu_keeping {
    GPUS_KEPT_NEVER = 0,
    GPUS_KEPT_WAITING =
        1, /* while a job that asks for one waits for the node */
    GPUS_KEPT_ALWAYS = 2,
};

#define BACKFILL_AGING_MS (INT64_C(24) * 3600 * 1000)

/* What a plan does in a ms, about: nodes that it looks at. */
#define POLICY_WORK_PER_MS INT64_C(50000)

/* Stands for a limit that is switched off. */
#define POLICY_OFF INT64_C(-1)

/* When a node that fails is taken out, and for how long (AR-12). */
struct quarantine_policy {
    bool is_off;
    int64_t window_ms; /* that failures and runs are counted in */
    uint32_t failures_min;
    uint32_t job_sets_min;    /* that the failures are of */
    int64_t failure_rate_ppm; /* of the runs that ended; at least */
    int64_t pool_factor_ppm;  /* times the rest of the pool's rate; at least */
    int64_t probation_ms, probation_max_ms; /* it doubles up to the latter */
    uint32_t trial_successes;               /* then the node is as any other */
    int64_t nodes_max_ppm; /* of a pool's nodes; never more are out */
};

/* How gangs grow and shrink, and in which order (model.md 4). */
struct elastic_policy {
    int64_t period_ms;          /* between steps while nothing happens */
    int64_t freezing_window_ms; /* of gangs that do not say */
    /* Waiting so long is worth as much as ten times the weight. */
    int64_t aging_per_level_ms;
    int64_t cpu_per_gpu_milli; /* that a pod of a TrainingJob asks for */
    /* What a unit of a resource (a core, a GiB of what is counted in bytes)
     * counts in a score, in millionths, per column; all 0: a GPU 100, a core
     * 1, a GiB of memory 0.1. */
    int64_t score_weights_ppm[RESOURCE_COLUMNS_MAX];
};

struct pool_policy {
    struct str name;
    enum pool_profile profile; /* where the defaults of the rest came from */
    enum cost_rule cost;
    /* COST_WEIGHTED_SUM: per unit of a resource (a core; a GB of what is
     * counted in bytes), in millionths, per column; all 0: by scarcity. */
    int64_t cost_weights_ppm[RESOURCE_COLUMNS_MAX];
    int64_t half_time_ms; /* of flows; 0: flow is usage */
    /* Gangs that are admitted before there is room for them; 0: none. */
    uint32_t admitted_window, admitted_window_per_queue;
    bool is_strict;         /* with the window full no further gang is tried */
    int64_t over_share_ppm; /* above the share, or POLICY_OFF */
    int64_t excess_budget_minutes; /* times the share, or POLICY_OFF */
    bool has_backfill;
    enum backfill_order backfill_order;
    uint32_t backfill_candidates_max; /* in a round */
    enum gpu_keeping gpu_keeping;
    /* Nothing is reserved for admitted work before it has waited so long,
     * unless bounds tell that it starts within such a time; 0: at once. */
    int64_t reservation_delay_ms;
    /* A gang that was the first of its queue for so long is admitted out of
     * turn, and one that runs is kept for so long where others have too
     * little; 0: neither. */
    int64_t starved_after_ms;
    int64_t short_job_penalty_ms; /* counts at least so long; 0: none */
    /* How long a claim has waited, in thousandths of what it destroys for
     * fairness by its size; 0: it may at once (docs/fairness.md). */
    int64_t preemption_price_milli;
    /* The same of a claim with which its queue has more than its share; it pays
     * the larger of the two. */
    int64_t over_share_price_milli;
    /* A run is protected from fairness until it is so many thousandths as old
     * as all that its job has lost by preemption; 0: it is not. */
    int64_t loss_protection_milli;
    /* All that fairness destroys is at most so many thousandths of what is
     * useful; 0: no limit, otherwise 1000 or more (loss_limit.h). */
    int64_t loss_limit_milli;
    /* A queue whose share is above this times its fair share may be evicted
     * from (protectedFractionOfFairShare). */
    int64_t protected_fraction_ppm;
    /* Of the pool's total, what may start per `round_period_ms`, by resource
     * (AR-11); empty: no limit. */
    struct resource_fraction start_limits[POLICY_FRACTIONS_MAX];
    uint32_t start_limit_count;
    /* Weights of the node order (model.md 2.10), per schema column, in
     * millionths per unit share of the pool; all 0: by scarcity. */
    int64_t packing_weights_ppm[RESOURCE_COLUMNS_MAX];
    int64_t floating[RESOURCE_COLUMNS_MAX]; /* what it has, in column units */
    /* Labels that say how near nodes are to each other, the nearest first
     * (model.md 2.11); none: nobody asks. */
    struct str topology[GANG_LEVELS_MAX];
    uint32_t level_count;
    /* Growth may fill this part of the CPUs, and all GPUs. */
    int64_t load_max_ppm;
    /* A pod moves from one gang to another when the score of the first is
     * more than 1 + this times the mean. */
    int64_t evenness_ppm;
};

struct policy {
    struct resource_schema schema; /* supportedResourceTypes */
    /* Columns that count in the dominant share. */
    bool is_dominant[RESOURCE_COLUMNS_MAX];
    /* Columns of resources that are of no node (floatingResources). */
    bool is_floating[RESOURCE_COLUMNS_MAX];
    bool has_floating;
    struct pool_policy pools[POLICY_POOLS_MAX]; /* in order of trial */
    uint32_t pool_count;
    struct priority_class classes[POLICY_CLASSES_MAX];
    uint32_t class_count;
    struct node_type node_types[POLICY_NODE_TYPES_MAX];
    uint32_t node_type_count;
    uint32_t default_class_index;  /* also for classes that are unknown */
    struct rate_limit rate_global; /* jobs newly started */
    struct rate_limit rate_per_queue;
    uint32_t lookback_max;  /* jobs of a queue looked at per round; 0: all */
    int64_t round_work_max; /* nodes and jobs a plan looks at; 0: no bound */
    uint32_t retries_max;   /* returned leases and lost executors; 3 */
    /* Whether retry policies of queues are applied, and how often at most. */
    bool has_retry_policies;
    uint32_t policy_retries_max;
    int64_t round_period_ms;   /* schedulePeriod of the limits above */
    int64_t balance_period_ms; /* at most this long between rounds */
    /* Who took a place for fairness takes none again for so long, and until
     * something is new. */
    int64_t cooldown_ms;
    int64_t executor_timeout_ms;      /* silent: no new leases; 10 min */
    int64_t executor_lost_timeout_ms; /* silent: its runs are lost; 1 h */
    uint32_t unacknowledged_max; /* leased, not yet reported, per executor */
    struct quarantine_policy quarantine;
    struct elastic_policy elastic;
    bool is_fair_share_preemption_off;
    bool is_urgency_preemption_off;
    /* The rules that decide: POLICY_RULES_LATEST, or, so that logs of former
     * releases are decided again as they were, an earlier one. */
    uint32_t rules_revision;
};

/* Fill in the defaults: one pool `default`, Armada's priority classes and
 * resources; rates as model.md 6.10 asks (2,000/s and more). */
void policy_defaults(struct policy *ret_policy);

/* Set the knobs that a profile speaks of, and `profile` itself; the others
 * (name, limits, weights) stay as they are. */
void pool_policy_apply(struct pool_policy *pool, enum pool_profile profile);

/* The pool whose knobs hold for one of that name: its own, or those of
 * `default`, or of the first. */
const struct pool_policy *policy_pool_of(const struct policy *policy,
                                         struct str name);

/* The index of a class by name, or the default's for one that is unknown. */
uint32_t policy_class_index(const struct policy *policy, struct str name);
