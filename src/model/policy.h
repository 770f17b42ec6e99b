/*
 * policy - how the scheduler is to decide: the part of the configuration that
 * decisions depend on, and which is therefore logged (event policySet).
 *
 * Fractions are in ppm (millionths), rates in milli tokens a second, times in
 * ms; 0 means "no limit" where a limit is spoken of.  Defaults are Armada's
 * (armada-api.md appendix A, model.md 6.10) unless a comment says otherwise.
 *
 * Pure; strings and arrays belong to whoever made the policy (see
 * wire/policy_codec.h) and outlive it.
 */
#pragma once

#include "model/queue.h"
#include "model/resource.h"

enum {
    POLICY_POOLS_MAX = 256,
    POLICY_CLASSES_MAX = 64,
    POLICY_FRACTIONS_MAX = 16,
};

/* A fraction of a pool's total of one resource. */
struct resource_fraction {
    struct str resource;
    int64_t fraction_ppm;
};

struct priority_class {
    struct str name;
    int32_t priority; /* larger is more urgent */
    bool is_preemptible;
    /* At most this much of a pool for one queue's jobs of this class. */
    struct resource_fraction queue_limits[POLICY_FRACTIONS_MAX];
    uint32_t queue_limit_count;
};

/* A token bucket. */
struct rate_limit {
    int64_t rate_milli_per_s; /* 0: no limit */
    int64_t burst;            /* tokens it holds when full */
};

struct pool_policy {
    struct str name;
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
};

struct policy {
    struct resource_schema schema; /* supportedResourceTypes */
    /* Columns that count in the dominant share. */
    bool is_dominant[RESOURCE_COLUMNS_MAX];
    struct pool_policy pools[POLICY_POOLS_MAX]; /* in order of trial */
    uint32_t pool_count;
    struct priority_class classes[POLICY_CLASSES_MAX];
    uint32_t class_count;
    uint32_t default_class_index;  /* also for classes that are unknown */
    struct rate_limit rate_global; /* jobs newly started */
    struct rate_limit rate_per_queue;
    uint32_t lookback_max;     /* jobs of a queue looked at per round; 0: all */
    uint32_t retries_max;      /* returned leases and lost executors; 3 */
    int64_t round_period_ms;   /* schedulePeriod of the limits above */
    int64_t balance_period_ms; /* at most this long between rounds */
    int64_t executor_timeout_ms;      /* silent: no new leases; 10 min */
    int64_t executor_lost_timeout_ms; /* silent: its runs are lost; 1 h */
    uint32_t unacknowledged_max; /* leased, not yet reported, per executor */
    bool is_fair_share_preemption_off;
    bool is_urgency_preemption_off;
};

/* Fill in the defaults: one pool `default`, Armada's priority classes and
 * resources; rates as model.md 6.10 asks (2,000/s and more). */
void policy_defaults(struct policy *ret_policy);

/* The index of a class by name, or the default's for one that is unknown. */
uint32_t policy_class_index(const struct policy *policy, struct str name);
