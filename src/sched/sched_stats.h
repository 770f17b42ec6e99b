/*
 * sched_stats - figures of queues, applications and pools, for people and
 * metrics.
 *
 * Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_jobs.h"

/* A queue in a pool; shares are fractions of the pool. */
struct sched_queue_stats {
    double weight;         /* 1 / priority factor */
    double fair_share;     /* of the active queues' weights */
    double adjusted_share; /* with what the others do not want (exact
                              water-filling) */
    double actual_share;   /* cost of what it runs */
    double demand_share;   /* and of what it waits for, within its limits */
    double usage_share;    /* cost of what it runs and was admitted */
    double flow;           /* of that usage, as of the time told last */
    double infinite_flow;  /* of what of it has an infinite lifetime; kept
                              only while a pool or queue asks for it */
    double infinite_limit; /* the most that may be, -1 for no limit */
    /* The excess budget and what is left of it, in minutes x the pool's
     * units; -1 for no limit. */
    double budget_minutes, budget_left_minutes;
    struct resource_vec allocated;
    struct resource_vec demand;
    uint32_t leased_count; /* in this pool */
    uint32_t queued_count; /* waiting, in any pool */
};

/* An application, as of a time. */
struct sched_application {
    struct str id; /* borrowed until the state changes */
    enum sched_app_state state;
    int64_t since_ms;          /* in this state */
    int64_t until_ms;          /* it ends by itself then, or INT64_MAX */
    int64_t submitted_ms;      /* of its first job */
    uint32_t ask_count;        /* jobs that wait */
    uint32_t allocation_count; /* jobs that are leased */
    bool has_stateaware_off;   /* one of its jobs says so */
};

/* A pool as a whole. */
struct sched_pool_stats {
    struct resource_vec total;
    struct resource_vec allocated;
    uint32_t node_count;
    uint32_t active_queue_count;
    double units; /* what the whole pool weighs: cores, if those weigh 1 */
    uint32_t admitted_count;
    uint32_t head;         /* the job that nodes are kept for, or SCHED_NONE */
    int64_t head_start_ms; /* t*, as of the last plan, or SCHED_START_UNKNOWN:
                              no head, or nothing bounds it */
    /* Of its topology: labels, domains with clusters, values that are found
     * under several others in one cluster, nodes that lack a label. */
    uint32_t level_count, domain_count, split_count, bare_count;
};

/* How a queue stands in the pool policy.pools[pool_index]. */
void sched_queue_stats(struct sched *sched, uint32_t queue, uint32_t pool_index,
                       struct sched_queue_stats *ret_stats);
/* The same of many queues at once, `ret_stats` in their order: what they are
 * due of the pool depends on all of them, and is found once. */
void sched_queues_stats(struct sched *sched, const uint32_t *queues,
                        uint32_t count, uint32_t pool_index,
                        struct sched_queue_stats *ret_stats);
/* A gang that is a larger part of a pool than its queue can keep there. */
struct sched_gang_over_share {
    struct str pool;       /* borrowed until the state changes */
    double part;           /* of the pool: what of it runs or starts at once */
    double kept;           /* of the pool: its queue's, whoever wants more */
    int64_t lifetime_ms;   /* the shortest of its members */
    int64_t protected_ms;  /* it is protected so long at least, if its queue has
                         no more (gang_protection.h); 0: it is not */
    uint32_t member_count; /* that are `part` */
};

/* Whether the gang of a job is so large that its queue is above its share
 * whenever it runs, in each pool where it may: it is then preempted for
 * fairness (model.md 6.6 d) once its lifetime has passed and others want
 * theirs, unless it is protected.  Told of the pool where that is least so.
 * False for jobs without a gang, and for what is not preempted so. */
bool sched_gang_is_over_share(
    struct sched *sched, uint32_t job,
    struct sched_gang_over_share *ret_gang_over_share);
/* To whom a run gives way, since it was let past it. */
struct sched_yielding {
    uint32_t for_job;
    int64_t from_ms; /* not before; INT64_MAX: not known yet */
};

/* Whether the run of a job gives way to somebody who waits. */
bool sched_job_yielding(const struct sched *sched, uint32_t job,
                        struct sched_yielding *ret_yielding);
/* The applications of a queue, by submission and id, in the arena; their
 * number. */
uint32_t sched_applications(const struct sched *sched, uint32_t queue,
                            int64_t now_ms, struct arena *arena,
                            struct sched_application **ret_applications);
/* How many of them are in which state, as of the last sched_set_time(). */
void sched_application_counts(const struct sched *sched, uint32_t queue,
                              uint32_t ret_counts[SCHED_APP_STATES]);
/* How a pool stands. */
void sched_pool_stats(struct sched *sched, uint32_t pool_index,
                      struct sched_pool_stats *ret_stats);

/* The resources of which pools are told as objects (model.md 5.8). */
enum sched_amount {
    SCHED_AMOUNT_CPU,
    SCHED_AMOUNT_GPU, /* `gpu`, and all that end in `/gpu` */
    SCHED_AMOUNT_MEMORY,
    SCHED_AMOUNT_STORAGE, /* ephemeral */
    SCHED_AMOUNT_PODS,
    SCHED_AMOUNTS,
};

/* What all pools of a state have together, and for what it is used; milli
 * units.  Nodes count that are there, whether they get work or not. */
struct sched_usage {
    int64_t allocatable[SCHED_AMOUNTS];
    int64_t system[SCHED_AMOUNTS];  /* by pods that are not ours */
    int64_t own[SCHED_AMOUNTS];     /* by jobs that are at home here */
    int64_t shared[SCHED_AMOUNTS];  /* by borrowed ones */
    int64_t pending[SCHED_AMOUNTS]; /* of jobs that wait here */
    uint32_t node_count;
    uint32_t own_waiting_count, borrowed_waiting_count;
    uint32_t own_running_count, borrowed_running_count;
};

/* Sum it up; looks at every node. */
void sched_usage(const struct sched *sched, struct sched_usage *ret_usage);
