/*
 * config - the one configuration of berthd and berth-executor.
 *
 * One table of keys (config.c) is the parser, the defaults, --print-config
 * and docs/guide/config.md.  Sections that a program does not use are checked
 * all the same, so that one file serves both.
 *
 * Strings live in the arena that the file was read with.
 *
 * Threads: main reads it before it starts others; a configuration in use is not
 * changed, so any may read it.
 */
#pragma once

#include "model/failure.h"
#include "wire/policy/policy_codec.h"

enum {
    CONFIG_BYTES_MAX = SETTINGS_BYTES_MAX,
    CONFIG_USERS_MAX = 1024,
    CONFIG_RULES_MAX = 16,
    CONFIG_FAKE_GROUPS_MAX = 64,
    CONFIG_CATEGORIES_MAX = 64,
    CONFIG_CATEGORY_RULES_MAX = 64,
    CONFIG_NOTIFY_TARGETS_MAX = 32,
};

/* PEM files; "" is none. */
struct config_tls {
    struct str certificate, key, client_ca;
    struct str server_name; /* of a client: expected in the certificate */
};

/* What each caller may ask in a second; 0: as much as it likes. */
struct config_rate {
    int64_t requests_per_s, bytes_per_s;
};

struct config_server {
    struct str grpc, http; /* host:port; port 0 is any free one */
    struct str data;       /* data directory */
    struct config_tls tls;
    bool is_insecure_listen_allowed;
    int64_t thread_count;
    int64_t receive_bytes_max;
    int64_t call_count_max, stream_count_max;
    int64_t connection_count_max, address_connection_count_max;
    int64_t metric_queue_count_max;
    struct config_rate rate;
};

/* One user of basic authentication. */
struct config_user {
    struct str name, password_hash, password;
    struct setting_texts groups, executors;
};

/* Which groups hold each permission (armada-api.md 4.2). */
struct config_permissions {
    struct setting_texts submit_any_jobs, cancel_any_jobs, preempt_any_jobs;
    struct setting_texts reprioritize_any_jobs, watch_all_events;
    struct setting_texts create_queue, delete_queue, cordon_queue;
    struct setting_texts cordon_nodes, execute_jobs;
    struct setting_texts update_executor_settings;
    struct setting_texts create_retry_policy, update_retry_policy;
    struct setting_texts delete_retry_policy, backup;
    struct setting_texts create_pool, delete_pool, exec_any_jobs;
};

struct config_auth {
    bool is_anonymous;
    struct config_user users[CONFIG_USERS_MAX]; /* basic */
    uint32_t user_count;
    struct setting_texts administrators; /* groups */
    struct config_permissions permissions;
};

/* How long a job may run that requests some of a resource. */
struct config_deadline {
    struct str resource;
    int64_t deadline_ms;
};

/* What the pods of TrainingJobs are given. */
struct config_training {
    struct str launcher, image, etcd_image;
};

/* What jobs may ask, and are given when they do not. */
struct config_submission {
    struct setting_texts classes; /* see config_class_names() */
    struct str default_class;     /* see config_default_class() */
    struct resource_list default_limits, minimums;
    int64_t pod_spec_bytes_max;
    int64_t grace_period_ms_min, grace_period_ms_max;
    int64_t default_deadline_ms;
    struct config_deadline deadlines[CONFIG_RULES_MAX];
    uint32_t deadline_count;
    bool needs_fractional_init_cpu;
    bool allows_preferred_nodes;
    struct config_training training;
};

/* The log of events. */
struct config_log {
    int64_t retention_ms;
    int64_t checkpoint_record_count;
};

/* What is said on standard error (main/common/say.h). */
struct config_messages {
    struct str level, format;
};

/* Who makes plans and forecasts. */
struct config_planner {
    int64_t thread_count;       /* 0: one for each core */
    int64_t forecast_period_ms; /* 0: no forecasts */
};

/* The query store. */
struct config_store {
    int64_t retention_ms;
    int64_t deduplication_ms;
    int64_t behind_bytes_max; /* of submissions that it has not got yet */
};

/* How long the process runtime keeps what ended runs leave. */
struct config_retention {
    int64_t logs_ms, log_run_count_max, log_byte_count_max;
    int64_t folders_ms, folder_count_max;
    int64_t outputs_ms, output_count_max, outputs_byte_count_max;
    int64_t output_byte_count_max; /* of one job */
};

struct config_process {
    struct resource_list resources; /* empty: what the machine has */
    struct setting_texts labels;    /* key=value, beside its host name's */
    struct setting_texts taints;    /* key=value:effect or key:effect */
    int64_t user_id, group_id;      /* of jobs, when the server is root */
    bool is_root_allowed;
    struct setting_texts allowed_users; /* of the machine: names, numbers */
    struct str devices;                 /* directory of GPUs; "": none */
    bool has_cgroups;
    bool has_namespaces;
    struct config_retention retention;
};

struct config_fake_group {
    struct str name;
    int64_t count;
    struct resource_list resources;
    struct setting_texts labels; /* key=value */
    struct setting_texts taints; /* key=value:effect or key:effect */
};

/* The fake runtime. */
struct config_fake {
    struct config_fake_group groups[CONFIG_FAKE_GROUPS_MAX];
    uint32_t group_count;
    struct str distribution;
    int64_t run_a_ms, run_b_ms;
    int64_t start_delay_ms;
    int64_t failure_ppm;
    int64_t seed;
    struct resource_list pending;
};

/* The runtime kubernetes. */
struct config_kubernetes {
    struct str kubeconfig;           /* "": the account of our own pod */
    struct str context;              /* "": the kubeconfig's current one */
    struct setting_texts namespaces; /* where pods may be made; empty: all */
    struct str pool_label, node_type_label; /* of nodes; "": none */
    struct str priority_class; /* of all pods; "": each job's own */
    struct str hostname_suffix, certificate_suffix; /* in ingresses */
    struct setting_texts ingress_annotations; /* keys, or prefixes and '*' */
    struct setting_texts object_kinds; /* APIVERSION/KIND that jobs may have */
    int64_t retention_ms;              /* of ended pods */
};

/* Exit codes that a rule of a failure category looks for. */
struct config_failure_codes {
    struct str operator_; /* In, NotIn */
    struct setting_texts values;
};

/* A text that it looks for. */
struct config_failure_pattern {
    struct str pattern;
};

/* It has one of codes, message, pod_error, conditions. */
struct config_failure_rule {
    struct str subcategory, container;
    struct config_failure_codes codes;
    struct config_failure_pattern message, pod_error;
    struct setting_texts conditions;
};

/* A category, and the rules that give it. */
struct config_failure_category {
    struct str name;
    struct config_failure_rule *rules;
    uint32_t rule_count;
};

/* How failures are named (armada-api.md 2.3). */
struct config_failures {
    struct str default_category, default_subcategory;
    struct config_failure_category *categories;
    uint32_t category_count;
};

/* An executor, inside berthd or alone. */
struct config_executor {
    bool is_enabled; /* inside berthd --standalone */
    struct str id;
    struct str pool;
    struct str server; /* berth-executor: host:port */
    struct str user_name, password;
    struct config_tls tls; /* client_ca is the authority to trust */
    bool is_plain;         /* no TLS to the server */
    struct str runtime;    /* process, kubernetes, fake */
    bool has_held_stream;
    int64_t lease_period_ms;
    struct config_failures failures;
    struct config_process process;
    struct config_kubernetes kubernetes;
    struct config_fake fake;
};

/* What the programs give up once they have started. */
struct config_hardening {
    bool has_filter; /* of system calls */
    struct str user; /* to become, when started as root; "": stay root */
};

/* Whom to tell of ends (notify/target.h). */
struct config_notify_target {
    struct str name, url, ca_file, secret_file;
    struct setting_texts command; /* instead of the URL */
    struct setting_texts events, states, queues;
    bool is_on_request;
    int64_t timeout_ms;
};

struct config_notifications {
    /* Over HTTP, and programs; together as many as each may be. */
    struct config_notify_target webhooks[CONFIG_NOTIFY_TARGETS_MAX];
    struct config_notify_target commands[CONFIG_NOTIFY_TARGETS_MAX];
    uint32_t webhook_count, command_count;
    int64_t queued_count_max; /* of one target */
    int64_t keep_ms;          /* how long a note is tried */
};

/* How many targets there are, webhooks first. */
static inline uint32_t
config_notify_count(const struct config_notifications *notifications)
{
    return notifications->webhook_count + notifications->command_count;
}
/* The one with this index. */
static inline const struct config_notify_target *
config_notify_at(const struct config_notifications *notifications,
                 uint32_t index)
{
    return index < notifications->webhook_count
               ? &notifications->webhooks[index]
               : &notifications->commands[index - notifications->webhook_count];
}

struct config {
    struct setting_texts warnings; /* of keys by their old names */
    struct config_server server;
    struct config_auth auth;
    struct config_submission submission;
    struct policy_form scheduling;
    struct config_log log;
    struct config_messages messages;
    struct config_planner planner;
    struct config_store store;
    struct config_executor executor;
    struct config_notifications notifications;
    struct config_hardening hardening;
};

/* The keys of a struct config. */
extern const struct settings config_settings;

/* The defaults, in the arena; never NULL. */
struct config *config_defaults(struct arena *arena) must_check;

/* Read the file `path` over the defaults.  -ERR_IO: it cannot be read;
 * -ERR_INVALID: a key or a value is wrong, the text says which and where. */
int config_read_file(const char *path, struct arena *arena,
                     struct config **ret_config, struct err *err) must_check;

/* Whether others than the file's owner and group can read secrets in it.
 * -ERR_INVALID: they can; the text says what to do. */
int config_check_secrecy(const struct config *config, const char *path,
                         struct err *err) must_check;

/* The same from memory; `name` is for messages. */
int config_read(struct str text, const char *name, struct arena *arena,
                struct config **ret_config, struct err *err) must_check;

/* What no single key can say: that listening beyond this machine needs
 * authentication and TLS, that some way to authenticate is on, and the like.
 * -ERR_INVALID. */
int config_check(const struct config *config, struct err *err) must_check;

/* All that is wrong with a configuration, a text for each; in the arena. */
struct config_findings {
    struct arena *arena;
    struct setting_texts texts; /* at most SETTING_ERRORS_MAX */
};

/* Read the file `path` over the defaults, on and on after what is wrong, which
 * keeps its default and is noted; checks the secrecy too.  Never NULL. */
struct config *config_read_all(const char *path,
                               struct config_findings *findings) must_check;

/* As config_check(), noting everything. */
void config_check_all(const struct config *config,
                      struct config_findings *findings);

/* The first of them: -ERR_INVALID; 0: there is none. */
int config_findings_first(const struct config_findings *findings,
                          struct err *err) must_check;

/* The rules of executor.errorCategories, in the arena.  -ERR_INVALID: the text
 * says which key of it is wrong. */
int config_failure_rules(const struct config_failures *from,
                         struct arena *arena, struct failure_rules *ret_rules,
                         struct err *err) must_check;

/* The priority classes that pods may name: those of the section submission, or
 * where it names none all of the policy, and those that clients of Armada and
 * TrainingJobs name, which run as the policy's default class if it has them
 * not.  The list is in the arena. */
struct setting_texts config_class_names(const struct config *config,
                                        struct arena *arena) must_check;
/* The class of a pod that names none, found likewise. */
struct str config_default_class(const struct config *config) must_check;

/* The scheduling policy, in the arena. */
int config_policy(const struct config *config, struct arena *arena,
                  struct policy **ret_policy, struct err *err) must_check;
