/*
 * instance - a small cluster as plain data: drawn from a tape, told to a
 * planner (built.h), decided by the oracle, and changed by plans.
 *
 * Amounts are whole cores and GB, or GPUs in their stead; one pool, or two.
 * Jobs, queues and nodes are numbered by their place here.
 */
#pragma once

#include <limits.h>

#include "fraction.h"
#include "prop.h"
#include "sched/sched.h"

enum {
    INSTANCE_NODES_MAX = 8,
    INSTANCE_QUEUES_MAX = 4,
    INSTANCE_JOBS_MAX = 40,
    INSTANCE_KINDS = 3, /* cores, GB (or GPUs), seats: these are of no node */
    GPUS = 1,           /* where there are any, that kind is theirs */
    SEATS = 2,
    NODE_KINDS = 2,
    INSTANCE_APPS_MAX = 4,
    INSTANCE_POOLS = 2,
    NO_NODE = -1,
    ANY_POOL = -1,
    BY_CLASS = -1, /* of lifetimes: what the class says */
    ENDLESS = -2,
    NO_LIMIT = -1,
    NOT_STARTED = -1,
    INSTANCE_GROUPS_NOW = 1000, /* of instance_draw_groups() */
    ELASTIC_PERIOD_MS = 300,
    AGING_MS = 2, /* that make up for a decimal digit of a weight */
};

struct instance_node {
    int capacity[INSTANCE_KINDS]; /* no seats */
    int rack;                     /* 0: no label; else r1, r2 */
    int row;                      /* the level above, where there is one */
    int cluster;                  /* 0, or 1 where there is a second */
    bool is_tainted;
    bool is_unschedulable;
    enum node_health health;
    int pool; /* 0, or 1 where there is a second */
};

/* A limit on starts: so many tokens, of which so many come back in a period. */
struct start_limit {
    int64_t size, refill, period_ms; /* size 0: no limit */
    int64_t missing;                 /* in tokens x period_ms, as of `at` */
    int at;
};

struct instance_queue {
    int factor_halves; /* the factor is half of this; >= 2 */
    bool is_cordoned;
    struct flow_note {
        double all, endless; /* fractions of the pool, as of `at` */
        int at;
    } flow[INSTANCE_POOLS];
    struct start_limit starts;
    enum queue_ordering ordering;
    bool is_class_ignored, allows_off;
    int running_apps_max; /* 0: no limit */
    int quota;            /* cores; 0: no limit */
    int cores_elsewhere;  /* of them, in pools that are not looked at */
    struct app_note {
        enum sched_app_state state;
        int since;
        int first;   /* job: submitted first */
        bool is_off; /* opted out of Starting */
    } apps[INSTANCE_APPS_MAX];
};

struct instance_job {
    bool is_there;
    int queue;
    int priority_class; /* of CLASSES in instance.c */
    int request[INSTANCE_KINDS];
    int rack; /* selector; 0: none */
    bool is_tolerant;
    int priority;
    int submitted;
    int gang; /* 0: none */
    int cardinality, minimum;
    bool is_uniform; /* in rack */
    /* Of its sub-group, where its gang has terms. */
    bool has_terms;
    int sub_group, sub_minimum, sub_count;
    int hops;                   /* or NO_LIMIT */
    bool has_succeeded;         /* and is not there any more */
    bool is_whole;              /* its gang has its nodes whole */
    int freezing, frozen_until; /* the window of its gang; 0: none */
    bool was_leased;
    unsigned avoided; /* nodes, as bits */
    int node;         /* or NO_NODE */
    int leased;
    int lifetime;               /* ms, or BY_CLASS, ENDLESS */
    int deadline;               /* ms; 0: none */
    int started;                /* its age counts from then; or NOT_STARTED */
    int admitted;               /* the serial number of its admission, or 0 */
    int admitted_pool;          /* where */
    int admitted_at;            /* when */
    bool is_admitted_elsewhere; /* in a pool that is not looked at */
    bool is_admitted_later;     /* whose turn comes after this one's */
    int promised;               /* it starts then at the latest, or INT_MAX */
    int revocable_for;          /* a serial number, or 0 */
    bool yields_at_once;
    int yields_from; /* not before, or INT_MAX */
    int pool;        /* that it is for, or ANY_POOL; where there are two */
    /* A pool planned before has decided about it or its gang, or its gang runs
     * in another: it still wants, if it is not spare. */
    bool is_elsewhere, is_spare_elsewhere;
    bool is_away; /* runs on nodes that are not its home */
    int app;
    bool is_off;
    bool is_borrowed;       /* its home is another pool, and so is its gang's */
    int cooldown;           /* 1 + when one began, its gang's too; 0: none */
    bool has_news;          /* something is new since */
    struct fraction charge; /* booked against its queue's budget */
};

struct instance {
    int node_count, queue_count, job_count;
    struct instance_node nodes[INSTANCE_NODES_MAX];
    struct instance_queue queues[INSTANCE_QUEUES_MAX];
    struct instance_job jobs[INSTANCE_JOBS_MAX];
    int protected_percent;
    int limit_percent; /* cores of class 0 for a queue; 0: none */
    bool is_fair_share_off, is_urgency_off;
    unsigned kept_classes; /* bits: urgency takes nothing of those */
    /* The knobs of model.md 6.4; 0 and NO_LIMIT are those of profile `armada`.
     */
    bool is_weighted;       /* by scarcity */
    int half_ms;            /* of flows */
    int over_share_percent; /* or NO_LIMIT */
    int budget_minutes;     /* times the share, or NO_LIMIT */
    int window, window_per_queue;
    int keeps_ms;       /* gangs of that age may be kept; 0: none; with a
                            window of any age */
    int short_cooldown; /* ms, or 0: cooldowns last a minute */
    bool is_strict, has_backfill;
    bool is_shortest_first, is_aged, is_bounded; /* the order; one at most */
    int delay_ms;                                /* of reservations; 0: none */
    int admission_count;
    bool has_second_pool;
    int pool;       /* that is looked at */
    int seats;      /* of the pool */
    int away_level; /* of AWAY_CLASS on tainted nodes; 0: not there */
    struct start_limit starts, starts_per_queue;
    struct start_limit start_cores[INSTANCE_POOLS]; /* of cores / 1000 */
    int start_percent; /* of the pool in 10 s; 0: no limit */
    int load_percent;  /* of the cores, that growth may fill; 0: all */
    /* A pool object's shard, whose own work may not preempt. */
    bool is_object, is_preemption_off;
    bool has_topology; /* racks are its lowest level */
    bool has_rows;     /* and the one above */
    bool has_clusters; /* two; no gang is in both */
    bool has_gpus;
    int gpu_keeping; /* enum gpu_keeping */
};

struct instance_class {
    const char *name;
    int priority;
    bool is_preemptible;
    int weight; /* of gangs that grow */
};

enum { CLASS_COUNT = 4, AWAY_CLASS = 0 };
extern const struct instance_class CLASSES[CLASS_COUNT];

/* Draw an instance; some of its jobs run. */
void instance_draw(struct tape *tape, struct instance *instance);
/* Draw one with the knobs of flows, limits and budgets; nothing runs yet. */
void instance_draw_flow(struct tape *tape, struct instance *instance);
/* How times are drawn: a lifetime that is not its class's has no end once in
 * `endless_in` times, else is up to so much; a deadline is there once in
 * `deadline_in` times. */
struct drawn_times {
    int endless_in, lifetime_max, lifetime_ms;
    int deadline_in, deadline_max, deadline_ms;
};
/* Draw lifetimes and deadlines, of all of a gang alike; those of gangs with
 * terms keep their lifetime. */
void instance_draw_times(struct tape *tape, struct instance *instance,
                         const struct drawn_times *times);
/* Give a member of a gang the times of the first; false: it is that, or a job
 * alone. */
bool instance_take_times(struct instance *instance, int job);
/* Draw one with a window for admitted work; nothing runs yet. */
void instance_draw_window(struct tape *tape, struct instance *instance);
/* Draw one with the knobs of profile `berth`, or of `flow` with a smaller
 * window; nothing runs yet. */
void instance_draw_profile(struct tape *tape, struct instance *instance);
/* Draw one whose queues go by applications; nothing runs yet. */
void instance_draw_apps(struct tape *tape, struct instance *instance);
/* The same with a window for admitted work. */
void instance_draw_stages(struct tape *tape, struct instance *instance);
/* Draw one with gangs that have terms, of which nothing runs yet; racks are
 * the topology, and then nobody makes way.  Only a fast round leaves what is
 * above their minimums alone. */
void instance_draw_terms(struct tape *tape, struct instance *instance,
                         bool is_fast);
/* Draw one in which some of the gangs with terms run, with or without all of
 * what they ask for and more. */
void instance_draw_groups(struct tape *tape, struct instance *instance);
/* Make racks, and maybe rows of them, the topology. */
void instance_draw_levels(struct tape *tape, struct instance *instance);
/* A cap on hops there, or NO_LIMIT. */
int instance_draw_cap(struct tape *tape, const struct instance *instance);
/* The same, with caps on hops. */
void instance_draw_hops(struct tape *tape, struct instance *instance);
/* Draw in a window, and maybe half-lives, beside what runs.  What had ended
 * before would have left its flow. */
void instance_draw_list(struct tape *tape, struct instance *instance);
/* Draw in what gangs that grow have to do with: queues that go by scores,
 * quotas, GPUs. */
void instance_draw_elastic(struct tape *tape, struct instance *instance);
/* Draw in GPUs, and whether nodes with GPUs are kept for jobs that ask. */
void instance_draw_gpus(struct tape *tape, struct instance *instance);
/* Gangs with terms of which too few are left to start ever are admitted no
 * longer. */
void instance_forget_groups(struct instance *instance, int now);
/* Let some jobs and gangs be at home in another pool. */
void instance_lend(struct tape *tape, struct instance *instance);
/* Make it a workload of one-core jobs of one class on nodes alike. */
void instance_make_uniform(struct instance *instance);
/* Draw in what any instance may have beside, each once in a while. */
void instance_draw_more(struct tape *tape, struct instance *instance);
/* Draw in jobs that ask for seats, as the like of their gang does. */
void instance_draw_seats(struct tape *tape, struct instance *instance);
/* Draw in, beside what runs, half-lives, limits on endless work, budgets,
 * seats, limits on starts, and the rest of instance_draw_more(). */
void instance_draw_limits(struct tape *tape, struct instance *instance);
/* Draw in a second pool: nodes of either, jobs and gangs that may be in one of
 * them, or in any; no gang runs yet unless `has_running_gangs`, and then in one
 * pool. */
void instance_draw_pools(struct tape *tape, struct instance *instance,
                         bool has_running_gangs);
/* One of the pools alone: nodes of the other are closed, what runs there or may
 * start only there is not there, and what is admitted there may start here,
 * but is not admitted here.  What is kept for each pool is that pool's, at
 * index 0. */
void instance_project(const struct instance *instance, int pool,
                      struct instance *ret_part);
/* Maybe draw in a second cluster, right after what runs. */
void instance_draw_clusters(struct tape *tape, struct instance *instance);
/* Draw in limits on starts. */
void instance_draw_rates(struct tape *tape, struct instance *instance);
/* Whether a limit lets so much start: more than it ever holds when it is full.
 */
bool start_limit_has(const struct start_limit *limit, int64_t tokens, int now);
/* So much starts. */
void start_limit_take(struct start_limit *limit, int64_t tokens, int now);
/* Whether the node takes new work: it is not closed, nor out for its failures,
 * nor on trial and busy (model.md 6.10b). */
bool instance_is_open(const struct instance *instance, int node);
/* Let a decision happen; `node` is where a lease goes.  Preempted and failed
 * jobs are gone.  What is let past admitted work names whom it yields to
 * while that is still admitted, so a plan's decisions go in order. */
void instance_apply(struct instance *instance,
                    const struct sched_decision *decision, int node, int now);
/* How many jobs from `first` on are of its gang; 1 for a job alone. */
int instance_gang_count(const struct instance *instance, int first);
/* Those are all of their gang; none of them runs, or minds where. */
void instance_reset_gang(struct instance *instance, int first, int count);
/* Those are a sub-group of their gang, and ask for the like. */
void instance_set_sub_group(struct instance *instance, int first, int count,
                            int sub_group, int minimum);
/* A job comes, to wait. */
void instance_submit(struct instance *instance, int job, int now);
/* Members of a gang came or went: it stays admitted, with all of them, as long
 * as it is whole and something of it waits. */
void instance_gang_changed(struct instance *instance, int gang);
/* Whether a job that waits is more than its sub-group's minimum lacks. */
bool instance_is_spare(const struct instance *instance, int job);
/* The containers of a leased job run. */
void instance_start(struct instance *instance, int job, int now);
/* The gang of a job was scaled. */
void instance_scale(struct instance *instance, int job, int now);
/* A job that runs waits again. */
void instance_requeue(struct instance *instance, int job, int now);
/* A job is no longer there. */
void instance_remove(struct instance *instance, int job, int now);
/* Capacity of a node that nothing which runs uses; may be negative. */
int instance_free(const struct instance *instance, int node, int kind);
/* Whether the job may be on the node at all, and would fit `room`. */
bool instance_is_place(const struct instance *instance, int job, int node,
                       const int room[INSTANCE_KINDS]);
/* Whether the limit on its class keeps the job from starting. */
bool instance_is_limited(const struct instance *instance, int job);
/* All of the pool. */
int instance_total(const struct instance *instance, int kind);
/* Whether urgency takes no places of a class's jobs. */
bool instance_is_kept(const struct instance *instance, int priority_class);
/* How long a job may not be preempted for fairness, ms; or ENDLESS. */
int instance_lifetime(const struct instance *instance, int job);
/* What fraction of the pool amounts are. */
struct fraction instance_cost(const struct instance *instance,
                              const int amounts[INSTANCE_KINDS]);
/* A queue's weight among the queues that have jobs; of all when `is_any`. */
struct fraction instance_share(const struct instance *instance, int queue,
                               bool is_any);
/* The part of an added cost that is over the share, times how long it may not
 * be taken: in ms of the whole pool. */
struct fraction instance_charge(const struct instance *instance, int queue,
                                struct fraction before, struct fraction after,
                                int lifetime_ms);
/* Time passes: flows fall towards what is used.  Before every change. */
void instance_advance(struct instance *instance, int now);
/* What happens to an application. */
enum app_happening { APP_ASKS, APP_GETS, APP_LOSES };

/* It happened to a job of it, whose own state is the one after it. */
void instance_app_event(struct instance *instance, int job,
                        enum app_happening what, int now);
/* The state after a lease more. */
enum sched_app_state instance_app_leased(enum sched_app_state state);
/* Timers of applications that are due by now fire. */
void instance_apps_advance(struct instance *instance, int now);
/* How long cooldowns last at least, in ms. */
int instance_cooldown_ms(const struct instance *instance);
/* Whether a job, or its gang, may take nothing for fairness. */
bool instance_has_cooldown(const struct instance *instance, int job, int now);
/* That begins, unless it is so already. */
void instance_cooldown(struct instance *instance, int job, int now);
/* Something came from outside. */
void instance_news(struct instance *instance);
/* A job is no longer there. */
void instance_forget_cooldown(struct instance *instance, int job);
