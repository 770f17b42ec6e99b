/*
 * scenario - a YAML file for `berth-sim run`: clusters, queues, and streams of
 * jobs.  One table of keys is the parser, the checks and the manual
 * (docs/guide/berth-sim.md).
 *
 * Strings live in the arena that the file was read with.
 *
 * Threads: the one that reads it; any may read the result, which nobody
 * changes.
 */
#pragma once

#include "model/gang_terms.h"
#include "model/pool.h"
#include "sim/world/draw.h"
#include "wire/policy/policy_codec.h"

enum {
    SCENARIO_CLUSTERS_MAX = 64,
    SCENARIO_NODE_GROUPS_MAX = 32,
    SCENARIO_QUEUES_MAX = 1024,
    SCENARIO_STREAMS_MAX = 65536,
    SCENARIO_GROUP_PODS_MAX = 10000, /* one request brings them all */
};

/* Nodes that are alike. */
struct scenario_nodes {
    struct str name;
    int64_t count;
    struct resource_list resources;
    struct setting_texts labels; /* key=value */
};

/* How often a node fails, and for how long; 0: never. */
struct scenario_failures {
    int64_t mean_between_ms; /* of one node */
    int64_t repair_ms;
};

/* An executor and its nodes. */
struct scenario_cluster {
    struct str name, pool;
    int64_t start_ms, stop_ms, report_ms;
    struct scenario_nodes nodes[SCENARIO_NODE_GROUPS_MAX];
    uint32_t nodes_count;
    struct scenario_failures failures;
};

/* A queue. */
struct scenario_queue {
    struct str name;
    int64_t weight_milli;
    struct str ordering;
};

/* A pool as an object; see model/pool.h. */
struct scenario_pool {
    struct str name;
    struct setting_texts node_selector; /* key=value */
    bool is_preemption_off, is_borrowing_off, is_sharing_off;
    struct setting_texts lenders;
    struct str preemption_order;
};

/* The distribution of run times. */
struct scenario_run_time {
    struct str distribution; /* fixed, uniform, exponential, logUniform */
    int64_t a_ms, b_ms;
};

/* Jobs of a stream that start together. */
struct scenario_gang {
    int64_t size, minimum; /* size 0: no gang; minimum 0: the size */
    struct str uniformity;
};

/* Pods of a group that are alike; see model/gang_terms.h. */
struct scenario_sub_group {
    struct str name;
    int64_t min, max; /* max 0: min */
    struct resource_list resources;
    int64_t hops_max; /* negative: any number */
    int64_t hops_wait_ms;
    bool is_auxiliary; /* runs until the others have ended */
};

/* What each arrival is, in place of a job or a gang of equal ones. */
struct scenario_pod_group {
    struct scenario_sub_group sub_groups[SUB_GROUPS_MAX];
    uint32_t sub_group_count; /* 0: it is none */
    struct str kind;          /* podGroup, training, trainingTolerant */
    struct str node_reservation;
    int64_t freezing_window_ms, replace_timeout_ms;
};

/* Jobs that are alike, and when they come. */
struct scenario_stream {
    struct str name, queue;
    int64_t count;       /* 0: until `last` */
    struct str arrivals; /* atOnce, steady, poisson */
    int64_t rate_micro;  /* requests a second */
    int64_t first_ms, last_ms;
    int64_t batch; /* jobs (or gangs) of one request */
    struct resource_list resources;
    struct setting_texts node_selector; /* key=value */
    struct str priority_class;
    int64_t priority;
    struct scenario_run_time run;
    int64_t deadline_step_ms; /* 0: no deadline of each job's own */
    int64_t deadline_ms;      /* 0: none */
    struct str lifetime;
    int64_t failure_ppm;
    bool is_requeued;
    struct scenario_gang gang;
    struct scenario_pod_group pod_group;
    struct str user;        /* "": sim */
    struct str application; /* "": the stream is one */
    struct str pool;        /* "": any of the configuration's */
};

/* The page as a whole. */
struct scenario {
    struct str name, about;
    int64_t seed;
    int64_t duration_ms; /* 0: until all jobs have ended */
    int64_t sample_ms;
    int64_t warmup_ms; /* utilisation counts from here on */
    struct scenario_cluster clusters[SCENARIO_CLUSTERS_MAX];
    uint32_t cluster_count;
    struct scenario_queue queues[SCENARIO_QUEUES_MAX];
    uint32_t queue_count;
    struct scenario_pool pools[POOL_OBJECTS_MAX];
    uint32_t pool_count;
    struct scenario_stream *streams; /* in the arena */
    uint32_t stream_count;
    struct policy_form scheduling;
    struct setting_texts warnings; /* of keys by their old names */
};

/* The keys of a struct scenario. */
extern const struct settings scenario_settings;

/* Whether what the keys say goes together; -ERR_INVALID with the key, its value
 * and what it may be. */
int scenario_check(const struct scenario *scenario, struct err *err) must_check;
/* Read a scenario from memory; `name` is for messages.  -ERR_INVALID: a key
 * or a value is wrong, or names something that is not there; the text says
 * which and where. */
int scenario_read(struct str text, const char *name, struct arena *arena,
                  struct scenario **ret_scenario, struct err *err) must_check;

/* Divide nodes, counts and rates by `divisor`, none below 1: the same in
 * small. */
void scenario_scale(struct scenario *scenario, int64_t divisor);

/* The distribution of a name that scenario_read() has accepted. */
enum draw_distribution scenario_distribution_of(struct str name);

/* A lifetime as a requirement has it; false when it is none. */
bool scenario_lifetime(struct str text, int64_t *ret_ms);

/* The parts of a "key=value"; false when there is no "=". */
bool scenario_pair(struct str text, struct str *ret_key, struct str *ret_value);

/* Labels that scenario_read() has let through, sorted by key; in the arena. */
struct label *scenario_labels(const struct setting_texts *texts,
                              struct arena *arena);
