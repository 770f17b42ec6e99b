/*
 * submit_rules - the limits and defaults of submissions (Armada's `submission`
 * configuration; armada-api.md appendix A).
 *
 * Strings are borrowed from the configuration and outlive the server.
 *
 * Threads: any; they are not changed once the server has started.
 */
#pragma once

#include "base/str.h"

enum {
    RULES_CLASSES_MAX = 72, /* those of a policy and the usual ones */
    RULES_RESOURCES_MAX = 16,
    RULES_TOLERATIONS_MAX = 32,
    RULES_KEYS_MAX = 64,
    RULES_NOTIFY_MAX = 32,
};

/* Requests and limits of a container that names neither. */
struct resource_default {
    struct str name;
    struct str quantity; /* as a pod spec writes it */
};

/* The least that a container may request of a resource, if it requests it. */
struct resource_minimum {
    struct str name;
    struct str quantity; /* for the text */
    int64_t milli;
};

/* How long a job may run that requests some of a resource. */
struct resource_deadline {
    struct str name;
    int64_t deadline_s;
};

/* Limits may be this many times the requests. */
struct resource_factor {
    struct str name;
    double factor;
};

enum toleration_cause {
    TOLERATION_ALWAYS,
    TOLERATION_OF_CLASS,    /* of jobs of a priority class */
    TOLERATION_OF_RESOURCE, /* of jobs that request some of a resource */
};

/* A toleration that jobs are given. */
struct toleration_rule {
    enum toleration_cause cause;
    struct str of; /* the class or resource; "" for TOLERATION_ALWAYS */
    struct str key, value, effect; /* operator Equal */
};

/* The runtime of the executor inside the server. */
enum rules_runtime {
    RULES_RUNTIME_UNKNOWN, /* there is none inside */
    RULES_RUNTIME_PROCESS,
    RULES_RUNTIME_KUBERNETES,
    RULES_RUNTIME_FAKE,
};

struct submit_rules {
    struct str classes[RULES_CLASSES_MAX]; /* allowedPriorityClassNames */
    uint32_t class_count;
    struct str default_class;
    struct resource_default default_limits[RULES_RESOURCES_MAX];
    uint32_t default_limit_count;
    struct resource_minimum minimums[RULES_RESOURCES_MAX];
    uint32_t minimum_count;
    struct resource_factor factors[RULES_RESOURCES_MAX]; /* else 1.00 */
    uint32_t factor_count;
    struct resource_deadline deadlines[RULES_RESOURCES_MAX];
    uint32_t deadline_count;
    struct toleration_rule tolerations[RULES_TOLERATIONS_MAX]; /* in order */
    uint32_t toleration_count;
    struct str restricted_toleration_keys[RULES_KEYS_MAX];
    uint32_t restricted_toleration_key_count;
    struct str resources[RULES_RESOURCES_MAX]; /* that jobs are scheduled by */
    uint32_t resource_count;                   /* 0: any */
    enum rules_runtime runtime;
    struct str notify_targets[RULES_NOTIFY_MAX]; /* that jobs can name */
    uint32_t notify_target_count;
    size_t pod_spec_bytes_max; /* of one encoded pod spec */
    int64_t default_deadline_s;
    int64_t grace_period_s_min;
    int64_t grace_period_s_max;
    struct str default_gang_uniformity_label; /* "": none */
    bool counts_pods; /* each job asks for one of the resource `pods` */
    bool needs_fractional_init_cpu; /* init containers ask no whole cores */
    bool allows_preferred_nodes;    /* preferred node affinity; Armada: no */
    bool adds_gang_id_label;
    bool allows_custom_service_names;
    bool allows_larger_limits; /* whatever the factors say */
};

/* Armada's defaults. */
void submit_rules_defaults(struct submit_rules *ret_rules);

/* Whether jobs may name this priority class. */
bool submit_rules_allow_class(const struct submit_rules *rules,
                              struct str name);
