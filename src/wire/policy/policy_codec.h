/*
 * policy_codec - the scheduling policy as YAML: the `scheduling` section of
 * the configuration, and the text of the event policySet in the log.
 *
 * policy_print() writes every key, so two policies are the same exactly when
 * their texts are.  Keys are never taken away, since old logs hold them.  A key
 * that was renamed for users keeps its old name in the log, so that the text of
 * a policy does not depend on the release that wrote it.
 *
 * Threads: none of this is shared.
 */
#pragma once

#include "wire/settings/settings.h"

/* The words in which a policy's choices are written. */
const char *policy_profile_word(enum pool_profile profile);
/* Likewise. */
const char *policy_cost_word(enum cost_rule cost);
/* Likewise of backfill: "off", or the order of it. */
const char *policy_backfill_word(const struct pool_policy *pool);

/* One pool as it is written. */
struct policy_pool_form {
    struct str name;
    int64_t protected_fraction_ppm;
    struct setting_fractions start_limits;
    struct setting_fractions packing_weights;
    /* Of the rest, what is not written comes from the profile. */
    struct str profile;
    struct str cost;
    struct setting_fractions cost_weights;
    int64_t half_time_ms;
    int64_t admitted_window, admitted_window_per_queue;
    struct str strict_order;
    int64_t over_share_ppm;
    int64_t excess_budget_minutes;
    struct str backfill;
    struct str backfill_order;
    int64_t backfill_candidates_max;
    struct str gpu_keeping;
    int64_t reservation_delay_ms;
    int64_t starved_after_ms;
    int64_t preemption_price_milli;
    int64_t over_share_price_milli;
    int64_t loss_protection_milli;
    int64_t loss_limit_milli;
    int64_t short_job_penalty_ms;
    struct setting_texts topology;
    int64_t load_max_ppm, evenness_ppm;
};

/* A taint of a node type, as it is written. */
struct policy_taint_form {
    struct str key, value, effect;
};

/* One node type as it is written. */
struct policy_node_type_form {
    struct str name;
    struct policy_taint_form taints[POLICY_TAINTS_MAX];
    uint32_t taint_count;
};

/* A node type that a class's jobs may go to, as it is written. */
struct policy_away_form {
    struct str type;
    int64_t priority;
};

/* One priority class as it is written. */
struct policy_class_form {
    struct str name;
    int64_t priority;
    bool is_preemptible, is_urgency_preemptible;
    struct setting_fractions queue_limits;
    int64_t default_lifetime_ms; /* of preemptible ones */
    struct policy_away_form away[POLICY_AWAY_MAX];
    uint32_t away_count;
    int64_t cfs_weight;
    bool may_borrow;
};

/* One resource as it is written. */
struct policy_resource_form {
    struct str name;
    int64_t resolution_milli;
};

/* What a pool has of a floating resource, as it is written. */
struct policy_floating_pool_form {
    struct str name;
    int64_t quantity_milli;
};

/* One floating resource as it is written. */
struct policy_floating_form {
    struct str name;
    int64_t resolution_milli;
    struct policy_floating_pool_form pools[POLICY_POOLS_MAX];
    uint32_t pool_count;
};

/* A token bucket as it is written. */
struct policy_rate_form {
    int64_t rate_milli_per_s;
    int64_t burst;
};

/* When failing nodes are taken out, as it is written. */
struct policy_quarantine_form {
    bool is_off;
    int64_t window_ms;
    int64_t failures_min, job_sets_min;
    int64_t failure_rate_ppm, pool_factor_ppm;
    int64_t probation_ms, probation_max_ms;
    int64_t trial_successes;
    int64_t nodes_max_ppm;
};

/* How gangs grow and shrink, as it is written. */
struct policy_elastic_form {
    int64_t period_ms, freezing_window_ms, aging_per_level_ms;
    int64_t cpu_per_gpu_milli;
    struct setting_fractions score_weights;
};

/* The policy as it is written: names where struct policy has indexes. */
struct policy_form {
    struct policy_resource_form resources[RESOURCE_COLUMNS_MAX];
    uint32_t resource_count;
    struct policy_floating_form floating[RESOURCE_COLUMNS_MAX];
    uint32_t floating_count;
    struct setting_texts dominant_resources;
    struct policy_pool_form pools[POLICY_POOLS_MAX];
    uint32_t pool_count;
    struct policy_class_form classes[POLICY_CLASSES_MAX];
    uint32_t class_count;
    struct policy_node_type_form node_types[POLICY_NODE_TYPES_MAX];
    uint32_t node_type_count;
    struct str default_class;
    struct policy_rate_form rate_global, rate_per_queue;
    int64_t lookback_max;
    int64_t round_ms_max;
    int64_t retries_max;
    bool has_retry_policies;
    int64_t policy_retries_max;
    int64_t round_period_ms;
    int64_t balance_period_ms;
    int64_t cooldown_ms;
    int64_t executor_timeout_ms;
    int64_t executor_lost_timeout_ms;
    int64_t unacknowledged_max;
    struct policy_quarantine_form quarantine;
    struct policy_elastic_form elastic;
    bool is_fair_share_preemption_off;
    bool is_urgency_preemption_off;
    int64_t rules_revision;
};

/* The keys of a struct policy_form; its defaults are policy_defaults(). */
extern const struct settings policy_settings;

/* Write `policy` as a form.  Strings are borrowed from it; `arena` holds the
 * lists. */
void policy_to_form(const struct policy *policy, struct arena *arena,
                    struct policy_form *ret_form);

/* Write into a form what its pools leave to their profiles. */
void policy_form_complete(struct policy_form *form);

/* Read a form into a policy, whose strings are the form's.  -ERR_INVALID:
 * names given twice, or one that names nothing. */
int policy_from_form(const struct policy_form *form, struct policy *ret_policy,
                     struct err *err) must_check;

/* Read a policy from the YAML of a log; what is not said there has its default,
 * but for what a text of a release that had no such key means:
 * urgencyPreemptible is what the class's `preemptible` is, rulesRevision is
 * POLICY_RULES_FIRST, retryPolicies is false, keepsGpus is `never`, and prices,
 * the limit of losses and reservationDelay are 0.  Strings live in `arena`.
 * `file_name` is for messages. */
int policy_read(struct str yaml, const char *file_name, struct arena *arena,
                struct policy *ret_policy, struct err *err) must_check;

/* The same of what a person has written for this release: what is not said has
 * its default. */
int policy_read_written(struct str yaml, const char *file_name,
                        struct arena *arena, struct policy *ret_policy,
                        struct err *err) must_check;

/* Write every key of `policy` as YAML without comments. */
void policy_print(const struct policy *policy, struct strbuf *out);
