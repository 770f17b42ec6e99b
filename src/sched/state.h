/*
 * state - what the planner knows, as tables of plain structs linked by u32
 * indexes.  Private to src/sched.
 *
 * Jobs that wait are grouped by queue, class and pool into *lists*; the
 * waiting members of a gang are in the gang instead, and the gang, once
 * complete, in a list of gangs.  A leased job has a *run*.  *Accounts* hold
 * the sums per queue, pool and priority class.  The order of tables and of
 * linked lists depends on history, so nothing is decided by it.
 *
 * `free` of a node is its capacity without all runs; `preemptible` the
 * requests of its preemptible runs by level.  A level is a rank of class
 * priorities, 0 the lowest.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "sched/amounts.h"
#include "sched/bucket.h"
#include "sched/cost.h"
#include "sched/flow.h"
#include "sched/health.h"
#include "sched/node_index.h"
#include "sched/sched.h"
#include "sched/seq.h"

enum {
    NONE = UINT32_MAX,
    LEVELS_MAX = POLICY_LEVELS_MAX,
    CLASSES_MAX = (1 + POLICY_AWAY_MAX) * SCHED_CLASSES_MAX
};

/* A scheduling class: what sched_class_add() was given. */
struct class
{
    struct resource_vec request;
    char *packed; /* owned; the requirement */
    uint32_t packed_bytes;
    uint32_t list_count; /* lists that are of it */
    uint64_t serial;     /* no other class has or had it */
    uint8_t level;
    uint8_t priority_class;
    bool is_live;
    bool is_away;        /* a variant of `base`; see away.h */
    uint32_t match_work; /* beside the look at a node, when it is asked */
    uint8_t away;        /* which of its priority class's types */
    uint32_t base;       /* of a variant */
    uint32_t variant;    /* the first, or next one; or NONE */
    uint32_t sweep[2];   /* by round_kind: no place in this one; see sweep.h */
    uint32_t lent_sweep[2];   /* the like, for work of other pools */
    uint32_t barred_sweep[2]; /* the like: none of it can be admitted */
    bool is_plain;            /* asks nothing of labels */
    bool asks_names;          /* asks for nodes by name */
    bool is_impossible;       /* asks for a resource that the policy has not */
    /* How long it may not be preempted for fairness (or LIFETIME_INFINITE),
     * and how long it may run (INT64_MAX: for ever). */
    int64_t lifetime_ms, deadline_ms;
    /* Of one round only, see class_round(). */
    bool is_blocked;     /* fits in no free space */
    bool is_blocked_all; /* not by preemption either */
    bool is_barred;      /* none of it can be admitted */
    uint32_t stamp;
    uint32_t lane_first;     /* lanes whose next new work is of it */
    uint64_t blocked_growth; /* the round's, when it was blocked */
    /* What a search taught: of the nodes before this place of the index none
     * will do, but for those that moved since. */
    uint64_t *kinds; /* a bit each: asked about, and then allowed */
    bool has_cursor;
    bool was_kept;    /* maybe from nodes with GPUs, while that was so */
    bool was_growing; /* what was learnt is for what gangs grow by */
    uint64_t cursor_key;
    uint32_t cursor_rank;
    uint32_t moved_seen; /* of round.moved */
    uint32_t cached_node;
    uint64_t cached_version;
    struct requirement *requirement; /* decoded, in the round's arena */
    struct climb *climb;             /* see ladder.c */
    struct group_rooms *group_rooms; /* see group_room.c */
    struct domain_room *domain_room; /* see domain_room.h */
    struct domain_room *empty_room;  /* likewise, of nodes that nobody uses */
    struct domain_room *held_room;   /* likewise, or that a gang has */
    struct borrowed *borrowed;       /* see lend.h */
};

/* A job; 40 bytes, for there are millions. */
struct job {
    struct job_id id;
    int64_t submitted_ms;
    uint32_t priority;
    uint32_t list : 29; /* LIST_NONE: no such job */
    uint32_t was_leased : 1;
    uint32_t gang; /* or NONE */
    uint32_t run;  /* or NONE: it waits */
};

/* Bits of sched.job_flags. */
enum {
    JOB_AVOIDS = 1,      /* it has an avoid list */
    JOB_PLANNED = 2,     /* leased or failed by the plan in the making */
    JOB_ADMITTED = 4,    /* of no gang, and in a pool's list of admitted ones */
    JOB_CHARGED = 8,     /* it has a charge */
    JOB_SWEPT_FAST = 16, /* no place for it in this sweep of fast rounds */
    JOB_SWEPT_BALANCE = 32, /* the like */
    JOB_TRUCE = 64,         /* of no gang, and under a truce; see truce.h */
};

enum { LIST_NONE = (1 << 29) - 1 };

/* Waiting jobs of one queue, class, pool and application; or waiting gangs of
 * one queue, level, pool and application. */
struct list {
    struct seq seq; /* jobs, or gangs */
    uint32_t queue;
    uint32_t class_index; /* or NONE: of gangs */
    uint32_t pool;        /* or NONE: any */
    uint32_t app;         /* or NONE: the queue does not go by them */
    uint32_t account;     /* of its jobs' demand */
    uint32_t use_count;   /* jobs (gangs) that belong to it; 0: free */
    uint32_t place;       /* in the lists of its application or else its
                             queue, or NONE while seq is empty */
    uint8_t level;
    bool is_foreign; /* of work whose home is elsewhere; see lend.h */
};

/* What is first in a list; see fronts.h. */
struct front {
    int64_t submitted_ms; /* of the job, or that which the gang is listed by */
    uint32_t priority;    /* likewise */
    uint32_t list;
    uint32_t item;
    uint32_t class_index, pool; /* as in the list */
    uint8_t level;              /* likewise */
    bool is_foreign;            /* likewise */
};

/* Beside a level, in what list_get() is asked for: foreign work. */
enum { LIST_FOREIGN = 1 << 8 };

struct gang {
    struct seq waiting, leased; /* jobs */
    struct resource_vec waiting_sum;
    char *id, *uniformity; /* owned; "" is none */
    uint32_t id_bytes;
    uint32_t queue;
    uint32_t list;
    uint32_t cardinality, minimum;
    uint32_t least_count;      /* members that `least` is of, or 0: unknown */
    struct resource_vec least; /* see gang_least() */
    uint32_t next;             /* with the same hash */
    uint32_t position;      /* the job it is listed by, or NONE: not listed */
    uint32_t started_count; /* members that have had a run */
    uint32_t sweep[2];      /* by round_kind: no place in this one */
    uint32_t cut[2];        /* likewise: a try of it was left */
    bool has_fitted;        /* empty nodes might have held it; gang_fit.c */
    uint64_t planned; /* the last plan (sched.plan_count) that starts members
                         of it or preempts it: it does not do both */
    bool is_live;
    bool is_admitted;        /* in a pool's list */
    int64_t scaled_ms;       /* the last time; INT64_MIN: never */
    uint32_t elastic_place;  /* in sched.elastic, or NONE */
    uint64_t work_plan;      /* the plan in which its work was summed up: */
    u128 work;               /* see scale_work() */
    struct sub_groups *subs; /* owned; or NULL: it has no terms.  Then waiting
                                and its sum are what it asks for, not all that
                                waits: see sub_groups.h */
};

/* Sums of one queue, pool and priority class. */
struct account {
    struct resource_vec allocated, queued;
    struct resource_vec foreign; /* of what is allocated */
    uint32_t queue;
    uint32_t pool; /* or NONE: demand that any pool may serve */
    uint32_t next; /* of the queue, or NONE */
    uint32_t leased_count, queued_count;
    uint32_t run_first; /* or NONE */
    struct ripe *ripe;  /* owned; or NULL: nobody asked; see ripe.h */
    uint8_t priority_class;
};

/* See standing.h. */
struct standing {
    struct resource_vec all;      /* what it runs and was admitted */
    struct resource_vec infinite; /* of it, with infinite lifetime */
    struct flow flow, infinite_flow;
    int64_t charged; /* the sum of its jobs' charges */
    uint32_t queue;  /* or NONE: a free slot */
    uint32_t pool;
    uint32_t next; /* of the queue, or NONE */
    uint32_t held; /* 1 + its place in what is held; 0: none */
};

/* What a job was charged; see sched_job_charge(). */
struct charge {
    int64_t amount;
    uint32_t pool;
};

/* What an application has of a pool. */
struct app_use {
    struct resource_vec allocated;
    uint32_t pool;
    uint32_t next; /* of the application, or NONE */
};

struct app {
    char *id; /* owned; NULL: free slot */
    uint32_t id_bytes;
    uint32_t queue;
    uint32_t same_hash_next;
    enum sched_app_state state;
    int64_t since_ms;     /* in this state */
    int64_t submitted_ms; /* of its first job ... */
    struct job_id first;  /* ... with this id, which settles ties */
    uint32_t ask_count, allocation_count;
    uint32_t lent_count; /* of the asks, those that wait in another state */
    /* Borrowers that wait here, which ask at home: all of them by submission,
     * the first, and whether one says so; see app_state_shown(). */
    struct seq guests;
    int64_t guest_submitted_ms;
    struct job_id guest_first;
    bool is_guest_opted_out;
    bool is_restored;        /* while a checkpoint is read */
    bool is_opted_out;       /* one of its jobs says so */
    bool is_ready;           /* it is in a seq of its queue */
    uint32_t next, previous; /* of queue and state */
    uint32_t older, younger; /* of all in this state, if it is timed */
    uint32_t use_first;      /* or NONE */
    VEC(uint32_t) lists;     /* with something in them */
    uint64_t planned;        /* the last plan that leased to it ... */
    uint32_t planned_count;  /* ... so many jobs, ... */
    uint32_t lost_count;     /* ... and took so many from it */
    /* Of one round only: see order.c. */
    uint32_t stamp;
    struct resource_vec *used; /* of the pool, with what is planned; or NULL:
                                  as it is */
    const struct app_rank *rank;
};

/* Those in one state that ends by itself, of all queues. */
struct app_timers {
    uint32_t oldest, youngest; /* by the time that they have been in it */
    uint32_t count;
};

/* The applications of one queue. */
struct app_queue {
    /* Those with jobs that could start, by submission. */
    struct seq accepted, going;
    uint32_t first[SCHED_APP_STATES];
    uint32_t count[SCHED_APP_STATES];
    /* Of one plan only: see order.c. */
    uint64_t planned;
    uint32_t starting_count; /* that have not timed out */
    uint32_t running_count;  /* with those that start */
    uint32_t chosen;         /* the one that may start next, or NONE */
    struct seq_cursor chosen_at;
    /* What the last plan kept from starting, if it did, and for which job. */
    uint32_t held_app; /* or NONE */
    uint32_t held_for;
    struct job_id held_for_id;
};

struct queue {
    char *name; /* owned; NULL: no such queue */
    uint32_t name_bytes;
    int64_t factor_micro;
    bool is_cordoned;
    struct queue_limit *limits; /* owned with its strings, one block */
    uint32_t limit_count;
    uint32_t account_first;
    uint32_t rank;         /* by name */
    uint32_t active_place; /* in sched.active, or NONE */
    uint32_t waiting_count, leased_count;
    VEC(struct front) fronts; /* its lists with something in them; fronts.h */
    struct bucket bucket;
    struct app_queue *apps; /* owned; NULL: it does not go by them */
    enum queue_ordering ordering;
    bool is_class_priority_ignored, allows_stateaware_off;
    uint32_t running_apps_max;   /* 0: any number */
    int64_t over_share_ppm;      /* as in struct queue_record */
    int64_t excess_budget_milli; /* likewise */
    uint32_t standing_first;     /* or NONE */
    /* See quota.h. */
    struct resource_amount *quota_items; /* owned, one block */
    uint32_t quota_count;                /* 0: none */
    struct resource_vec quota;           /* in columns; INT64_MAX: any */
    struct resource_vec quota_beside;    /* what it has in other states */
    uint64_t quota_plan;                 /* the plan that ... */
    struct resource_vec quota_planned;   /* ... placed so much more */
};

/* What may become of a run within a plan. */
enum run_state { RUN_STEADY, RUN_EVICTED, RUN_RETURNED, RUN_PREEMPTED };

/* A lease. */
struct run {
    uint32_t job, node, account;
    uint32_t node_next, node_previous;
    uint32_t account_next, account_previous;
    int32_t priority;
    int64_t leased_ms;
    int64_t penalty_until_ms; /* it ended, and counts on till then; or 0 */
    int64_t started_ms;   /* its age counts from then; INT64_MAX: not started */
    uint32_t yields_to;   /* serial number of an admitted gang; 0: nobody */
    uint32_t yield_place; /* in sched.yielders */
    uint8_t level;
    uint8_t state; /* enum run_state; STEADY between plans */
    bool is_preemptible;
    bool yields_at_once; /* to whom it yields, whatever its lifetime */
    bool is_protected;   /* by a disruption budget; see budgets.h */
    bool is_held;        /* counts in its node's held_count */
    uint32_t unit;       /* of the round that evicted it */
    uint32_t ripe_place; /* in its account's memory, if that has one: ripe.h */
};

struct node {
    char *name; /* owned; NULL: free slot */
    uint32_t name_bytes;
    uint32_t executor;
    uint32_t pool;              /* or NONE: never set */
    struct node_record *record; /* owned, one block; NULL: absent */
    struct resource_vec capacity;
    uint32_t run_first, run_count;
    uint32_t foreign_count; /* of its runs */
    uint32_t held_count; /* runs that end in time, or are protected till then */
    uint32_t avoid_count;
    bool is_accepting; /* new leases */
    bool is_out;       /* quarantined */
    bool is_on_trial;  /* takes one job at a time */
    /* 1 + the gang that has it whole, 0: none; and how many of its members
     * run there.  And who holds it in the plan (sched.plan_count) that gave it
     * to a member. */
    uint32_t holder, holder_count;
    uint32_t planned_holder;
    uint64_t planned_plan;
    uint64_t trial_plan; /* the plan (sched.plan_count) that gave it that */
    bool is_indexed;
    bool is_dirty;      /* in sched.dirty */
    uint32_t taint_set; /* that keep pods away, interned; 0: none */
    uint64_t key;       /* in the index */
    uint32_t evicted_first, evicted_end; /* in round.evicted_runs */
    uint32_t stamp;
    uint32_t reserved_stamp; /* of the round that reserved some of it */
    uint64_t look; /* sched.look, when a search last looked for yielders here */
};

/* What waits in a pool's list of admitted work; see admitted.h. */
struct admitted {
    uint32_t item; /* a job, or a gang */
    uint32_t queue;
    uint32_t serial; /* in the order of entry, over all pools; from 1 */
    bool is_gang;
    int64_t start_ms; /* promised, or SCHED_START_UNKNOWN */
    /* What its queue's standing counts for it: see standing.h. */
    bool is_counted;
    struct resource_vec all, infinite;
    int64_t charge;
};

/* What a reservation holds on one node. */
struct reserved_node {
    uint32_t node;
    struct resource_vec taken; /* by the gang */
    struct resource_vec extra; /* left beside it when it starts */
};

/* A reservation that outlives its round, for explanations. */
struct kept_reservation {
    uint32_t job; /* or NONE; as long as its id is this */
    struct job_id id;
    uint8_t level;
    int64_t start_ms;
    VEC(struct reserved_node) nodes;
};

/* When a node has room for what a reservation was last made for. */
struct ready_node {
    int64_t at_ms;    /* INT64_MIN: now; INT64_MAX: not known */
    int64_t until_ms; /* so long it is right, if nothing changes */
    uint64_t key;     /* in the node order, of what is free then */
    /* Whose lifetimes count for it: a bit for each queue, by number % 64. */
    uint64_t queues;
    uint32_t seen; /* the node's change_count that this is of */
    bool is_too_small;
    bool is_piled; /* it has piles, and not steps */
    /* In the memory's steps (of a gang's members) or piles. */
    uint32_t step_first, step_count, step_capacity;
};

/* From a time on so many members of a gang have room on a node. */
struct ready_step {
    int64_t at_ms; /* INT64_MIN: now */
    uint32_t count;
};

/* How many members of a gang have room on a node now (READY_UNSUMMED: its piles
 * say), and at last; and of which of the node's change_counts that is. */
struct ready_count {
    uint32_t now, last, seen;
};

/* What one queue's work would make free on a node, if it may go; see
 * reserve_piles.c. */
struct ready_pile {
    uint32_t queue; /* NONE: what is free or goes whoever may */
    struct resource_vec sum;
};

enum { READY_NEVER_SEEN = UINT32_MAX, READY_UNSUMMED = UINT32_MAX };

/* What was known of a node before a plan put work there. */
struct ready_aside {
    uint32_t node;
    struct ready_node ready;
};

/* Of some nodes the best for a single job, or NONE; and when the first of them
 * is to be looked at again. */
struct ready_winner {
    uint32_t node;
    int64_t until_ms;
};

/* See reserve_tree.h. */
struct ready_tree {
    struct ready_winner
        *items; /* owned; 1 is the root, `width` the first leaf */
    uint32_t width;
    uint32_t pause; /* questions until it may be made anew */
    bool is_whole;  /* it is right but for the stale nodes */
    uint64_t seen;  /* of what sched.changed told */
    VEC(uint32_t) stale;
    VEC(bool) is_stale; /* by node; as many as the tree has */
};

/* See reserve_job.c. */
struct ready_memory {
    struct resource_vec request;
    uint64_t weights[RESOURCE_COLUMNS_MAX]; /* of the pool's node order */
    uint32_t serial;                        /* of the claim */
    uint8_t level;
    uint32_t holder;               /* see struct reserving */
    bool is_of_gang;               /* steps are known, and not times */
    VEC(struct ready_node) nodes;  /* by node */
    VEC(struct ready_step) steps;  /* of all nodes */
    VEC(struct ready_pile) piles;  /* likewise */
    VEC(struct ready_aside) aside; /* put back before the next question */
    VEC(uint8_t) may_go;           /* by queue */
    /* Of a gang's members, by node: these are asked of all nodes each round. */
    VEC(struct ready_count) counts;
    VEC(uint8_t) allowed; /* whether the node allows the class ... */
    uint64_t class_serial, layout_count; /* ... that was asked, and when */
    int64_t due_ms;                      /* no node's until_ms is earlier */
    int64_t last_ms;                     /* no step is later */
    uint64_t turn;                       /* of its last use; 0: none yet */
    struct ready_tree tree;              /* of times, not of steps */
};

enum { READY_MEMORIES = 3 };

/* What is remembered of a pool's nodes, for those that were reserved for last:
 * they take turns. */
struct ready_memories {
    struct ready_memory items[READY_MEMORIES];
    uint64_t turn; /* 0: nothing is remembered */
};

struct pool {
    int policy_index; /* in the policy's pools, or -1 */
    uint32_t node_count, indexed_count;
    struct resource_vec total;
    struct resource_vec used; /* by all runs, while there are floating ones */
    uint64_t weights[RESOURCE_COLUMNS_MAX]; /* of the node order */
    struct cost_base base;
    struct node_index index;
    struct bucket start[RESOURCE_COLUMNS_MAX]; /* resource rate limits */
    bool is_stale;                             /* rebuild the index */
    bool is_base_stale;                        /* and the base */
    bool is_foreign_known;       /* the next is right; see growth_load.c */
    struct resource_vec foreign; /* what others' pods have on its nodes */
    struct resource_vec foreign_pending; /* and would have, were there room */
    VEC(struct admitted) admitted;       /* first come first */
    struct kept_reservation kept;
    struct ready_memories ready;
    struct label_memory *labels; /* owned; see label_groups.c; or NULL */
    struct topology *topology;   /* owned; see topology.h; NULL: none */
    bool is_topology_stale;
};

/* One executor, as the scheduler knows it. */
struct executor {
    struct str name;
    bool accepts;
};

/* The nodes that a job avoids. */
struct avoid_list {
    uint32_t nodes[SCHED_AVOIDED_NODES_MAX];
    uint32_t count;
};

/* A job that ended too soon, and still counts; see penalty.h. */
struct penalty {
    int64_t until_ms;
    uint32_t queue, pool;
    struct resource_vec sum;
};

/* Who takes nothing for fairness for a while; see truce.h. */
struct truce {
    uint32_t item; /* a job, or a gang; or NONE: it is over */
    bool is_gang;
    int64_t since_ms;
    uint64_t news_count; /* when it began */
};

/* Where plans of a kind go on; see sweep.h. */
struct sweep {
    bool is_open;       /* the last one ended before all was looked at */
    uint32_t pool_at;   /* in the policy's pools */
    uint32_t id;        /* one for each pass over a pool */
    uint32_t id_last;   /* that was given out; `id`, or later ones forgotten */
    uint64_t version;   /* of the state when it began */
    VEC(uint32_t) jobs; /* with the kind's flag */
};

/* A job that a sweep missed; the slot may be another's since. */
struct swept_job {
    struct job_id id;
    uint32_t job;
};

/* What the last plan took with it of a sweep, so that it can be put back; see
 * sweep_undo.h. */
struct sweep_undo {
    bool is_moved;   /* it was a plan, and not forgotten yet */
    bool is_resumed; /* the sweep was open before it */
    uint8_t kind;
    uint32_t pool_at, id; /* the sweep's, before */
    uint64_t version;
    uint32_t job_count; /* of its jobs, while these still stand; */
    bool has_jobs;      /* else these are they: */
    VEC(struct swept_job) jobs;
    /* What this plan stamped with `id`. */
    VEC(struct sweep_note {
        uint32_t index; /* of a class, or a gang */
        uint8_t stamp;  /* enum sweep_stamp */
    })
    notes;
};

struct sched {
    const struct policy *policy;
    uint32_t level_count;
    int32_t level_priority[LEVELS_MAX];
    uint8_t class_level[POLICY_CLASSES_MAX]; /* by priority class */

    struct intern *pool_names;
    VEC(struct pool) pools; /* by interned name */
    VEC(struct class) classes;
    uint64_t class_serial; /* the last */
    VEC(uint32_t) spare_classes;
    VEC(struct job) jobs;
    VEC(uint8_t) job_flags;  /* by job */
    VEC(uint8_t) sub_groups; /* by job, up to the last that needs it */
    uint32_t hop_cap_count;  /* gangs with a cap; see hops.h */
    VEC(struct list) lists;
    VEC(uint32_t) spare_lists;
    struct map list_map; /* see list_key() */
    VEC(struct gang) gangs;
    VEC(uint32_t) spare_gangs;
    VEC(uint32_t) elastic;     /* gangs that may grow; see scale.h */
    uint32_t whole_gang_count; /* that have their nodes whole */
    uint32_t terms_run_count;  /* members of gangs with terms that run */
    uint64_t collect_count;    /* looks at a node's victims */
    struct map gang_map;       /* hash to the first gang of a chain */
    VEC(struct account) accounts;
    VEC(uint32_t) spare_accounts;
    VEC(struct run) runs;
    VEC(uint32_t) spare_runs;
    VEC(struct app) apps;
    VEC(uint32_t) spare_apps;
    VEC(struct app_use) app_uses;
    VEC(uint32_t) spare_app_uses;
    struct map app_map; /* hash to the first application of a chain */
    struct app_timers app_timers[SCHED_APP_STATES];
    VEC(struct queue) queues;
    VEC(uint32_t) active; /* queues with jobs */
    struct seq queues_by_name;
    bool are_queue_ranks_stale;

    struct intern *executor_names;
    struct intern *taint_sets;         /* 0: the empty one */
    struct intern *kinds, *label_keys; /* see kinds.h */
    VEC(bool) asked_keys; /* by label key: whether a class asks about it */
    bool are_kinds_stale, are_keys_stale;
    VEC(struct executor) executors;
    VEC(struct node) nodes;
    VEC(uint32_t) spare_nodes;
    struct map node_map;     /* hash of names to the first node of a chain */
    VEC(uint32_t) node_next; /* the chains, by node */
    struct seq nodes_by_name;
    bool are_node_ranks_stale;
    struct resource_vec *free;        /* by node */
    struct resource_vec *preemptible; /* by node x level_count + level */
    uint32_t *ranks;                  /* by node */
    uint32_t *kinds_of;               /* by node; see kinds.h */
    uint32_t *change_counts; /* by node: of its capacity, runs and their
                                bounds; never READY_NEVER_SEEN */
    VEC(uint32_t) changed;   /* nodes whose count went up, in order; those */
    uint64_t changed_base;   /* before this number are forgotten */
    uint64_t *free_words;    /* by node: `free` as in the index of its pool */
    uint32_t node_capacity;
    uint32_t preemptible_count[LEVELS_MAX]; /* runs, by level */
    VEC(uint32_t) dirty;   /* nodes whose index entry may be stale */
    uint64_t layout_count; /* changes of which nodes accept work, in which
                              pools and clusters, and of their labels and
                              taints */

    uint32_t admission_count; /* the last serial number */
    VEC(uint32_t) yielders;   /* runs that yield to someone, in no order */
    uint64_t look;            /* searches that looked for them, counted */

    struct map avoid_map; /* job to avoids */
    VEC(struct avoid_list) avoids;
    VEC(uint32_t) spare_avoids;

    bool is_preemption_off; /* of what is at home here; see lend.h */
    bool is_pool_object;    /* victims go by the order of 6.6; see victims.c */
    uint32_t foreign_waiting_count, foreign_run_count;
    uint32_t protected_run_count;

    struct bucket bucket; /* all starts */
    struct health health;
    VEC(struct penalty) penalties; /* in no order */
    struct sweep sweeps[2];        /* by round_kind */
    struct sweep_undo sweep_undo;

    VEC(struct truce) truces; /* in the order in which they began */
    uint32_t truce_first;     /* that is not over */
    uint32_t truce_serial;    /* of the first slot */
    struct map truce_map;     /* jobs and gangs to serial numbers */
    uint64_t news_count;      /* what came from outside so far */
    bool is_told_news;        /* see sched_news_follow() */
    uint32_t truce_lifted;    /* a job that none binds; or NONE: see need.c */

    bool keeps_standings;        /* see standing.h */
    struct flow_hold *flow_hold; /* see standing_hold.h; NULL: never */
    bool is_relinking;           /* sums change, but not the usage */
    bool are_weights_stale;
    u128 weight_unit, weight_sum; /* see limits.c */
    VEC(struct standing) standings;
    VEC(uint32_t) spare_standings;
    struct map charge_map; /* job to charges */
    VEC(struct charge) charges;
    VEC(uint32_t) spare_charges;

    int64_t now_ms; /* see sched_set_time() */

    uint64_t version;            /* of the state: any change counts it up */
    uint64_t settled_version[2]; /* by round_kind: nothing was left to do */
    int64_t settled_until_ms[2];
    /* Of the policy; see cfs.h. */
    uint32_t gpu_columns; /* bits */
    int cpu_column, memory_column;
    int64_t aging_ms;

    uint32_t stamp;      /* of the last round */
    uint64_t plan_count; /* so far */
    int64_t plan_now_ms; /* of the last */
    struct arena arena;  /* of the round */
    VEC(struct sched_decision) decisions;
    VEC(struct sched_looked) looked;       /* of the last plan */
    const struct limit_trial *limit_trial; /* or NULL; see need.h */
    bool is_trial;    /* the plan in the making is only to explain by, ... */
    bool trial_grows; /* ... gangs grow in it all the same, ... */
    uint64_t trial_work_max; /* ... and it ends after so much work */
    bool forgets_victims;    /* for tests: searches remember nothing, or ... */
    bool checks_victims;     /* ... are made both ways; see victim_memo.h */
    VEC(struct journal_entry) journal; /* see round.h */
};

/* What a plan did to the state, to be undone. */
struct journal_entry {
    uint32_t node;
    uint32_t class_index;
    uint32_t count; /* placed; 0: `job` was preempted */
    uint32_t job;
};

/* How a queue stands in a pool; fractions of the pool. */
struct share {
    uint32_t queue;
    double weight, fair, adjusted, actual, demand;
    struct resource_vec allocated, wanted; /* wanted: with what it runs */
    uint32_t leased_count;
};

/* Order of jobs within a queue and level: priority, submission, id. */
static inline bool job_is_before(const struct job *a, const struct job *b)
{
    if (a->priority != b->priority) {
        return a->priority < b->priority;
    }
    if (a->submitted_ms != b->submitted_ms) {
        return a->submitted_ms < b->submitted_ms;
    }
    return key128_compare(a->id.v, b->id.v) < 0;
}

/* Nodes (nodes.c, node_names.c, node_runs.c, pool_nodes.c, nodes_sync.c). */

/* Bring ranks, pools and indexes up to date with the nodes. */
void nodes_sync(struct sched *sched);
/* The entry of a node in its pool's index may be stale. */
void node_index_later(struct sched *sched, uint32_t node);
/* Count a change of a node's capacity, runs or their bounds. */
void node_count_change(struct sched *sched, uint32_t node);
/* node_index_later(), as something has changed there that outlives the plan. */
void node_touch(struct sched *sched, uint32_t node);
/* Whether it accepts new leases is right after this. */
void node_refresh(struct sched *sched, uint32_t node);
/* Put the entry right at once. */
void node_reindex(struct sched *sched, uint32_t node);
/* The weighted amount that a vector is worth in the order of a pool. */
uint64_t pool_weigh(const struct pool *pool, const struct resource_vec *v);
/* Whether what a node has is part of what its pool has: what is cordoned in
 * its cluster is not, though jobs may still run there. */
bool node_is_in_total(const struct node *node);
/* The base of a pool's costs is right after this. */
void pool_sync_base(const struct sched *sched, struct pool *pool);
/* The pool of a name, made when new. */
uint32_t pool_get(struct sched *sched, struct str name);
/* A run came to (+1) or left (-1) its node. */
void node_add_run(struct sched *sched, uint32_t run, int sign);
/* Give back the slot of an absent node that nothing refers to. */
void node_release(struct sched *sched, uint32_t node);
/* Resource vectors of all nodes by the present policy. */
void nodes_rebuild(struct sched *sched);
/* Forget what is remembered of a pool's labels (label_groups.c). */
void labels_forget(struct pool *pool);
/* Free all that belongs to nodes. */
void nodes_fini(struct sched *sched);

/* Matching (match.c). */

/* Why a class may not use a node, as far as labels and taints go;
 * SCHED_EXCLUSIONS: it may. */
enum sched_exclusion match_static(const struct sched *sched,
                                  const struct requirement *requirement,
                                  uint32_t node);
/* The decoded requirement of a class; lives in `arena`. */
struct requirement *class_decode(const struct sched *sched,
                                 uint32_t class_index, struct arena *arena);
/* Whether a job avoids a node. */
bool job_avoids(const struct sched *sched, uint32_t job, uint32_t node);
/* Request, level and so on of a class by the present policy. */
void class_resolve(struct sched *sched, uint32_t class_index);
/* Free all classes. */
void classes_fini(struct sched *sched);

/* Jobs (waiting.c, lists.c, runs.c, gangs.c). */

/* The account of a queue, pool and priority class, made when new. */
uint32_t account_get(struct sched *sched, uint32_t queue, uint32_t pool,
                     uint32_t priority_class);
/* Order of jobs for seqs; `context` is the sched. */
bool job_less(const void *context, uint32_t a, uint32_t b);
/* Take the place of a waiting job in its list or gang, or give it up. */
void job_wait(struct sched *sched, uint32_t job);
/* The reverse. */
void job_unwait(struct sched *sched, uint32_t job);
/* Put a job's lease on its node and accounts, or take it off. */
void run_link(struct sched *sched, uint32_t run);
/* The reverse. */
void run_unlink(struct sched *sched, uint32_t run);
/* The list of a queue, class, pool and application (or NONE), made when new;
 * one more uses it.  Foreign work has lists of its own: `level` |
 * LIST_FOREIGN. */
uint32_t list_get(struct sched *sched, uint32_t queue, uint32_t class_index,
                  uint32_t level, uint32_t pool, uint32_t app);
/* What to ask list_get() for, to get a list like this one. */
static inline uint32_t list_level(const struct list *list)
{
    return list->level | (list->is_foreign ? (uint32_t)LIST_FOREIGN : 0);
}
/* One less uses it. */
void list_put(struct sched *sched, uint32_t list);
/* The seq of a list came to hold something, or ceased to. */
void list_refresh(struct sched *sched, uint32_t list);
/* The gang that a new job belongs to, made when new. */
uint32_t gang_get(struct sched *sched, const struct sched_job *record,
                  uint32_t level, uint32_t pool);
/* Take a gang out of its list while its members change; then put it back,
 * or free it when it has none. */
void gang_detach(struct sched *sched, uint32_t gang);
/* See gang_detach(). */
void gang_attach(struct sched *sched, uint32_t gang);
/* Whether a gang is to be listed: all of it is there, or was once, and waits
 * for something. */
bool gang_is_ready(const struct gang *gang);
/* Of the members that it asks for, how many must start at once. */
uint32_t gang_needed(const struct gang *gang);
/* What that many of them ask for, the first in order: summed up once, and kept
 * while the same members wait. */
struct resource_vec gang_least(const struct sched *sched, uint32_t gang);
/* Whether nobody knows why a gang could never start on the nodes that are here
 * (gang_fit.c), whatever was found out of it before: for decisions, which may
 * not go by who was asked what when. */
bool gang_could_start(struct sched *sched, struct gang *gang,
                      uint32_t *ret_looks);
/* Free all jobs, lists, gangs, runs. */
void jobs_fini(struct sched *sched);

/* Queues (queues.c). */

/* The ranks of queues by name are right after this. */
void queues_sync(struct sched *sched);
/* A queue came to have jobs, or ceased to. */
void queue_refresh(struct sched *sched, uint32_t queue);
/* The most of `column` that a queue's jobs of a priority class may have of a
 * pool; INT64_MAX for no limit. */
int64_t queue_limit_of(const struct sched *sched, uint32_t queue, uint32_t pool,
                       uint32_t priority_class, uint32_t column);
/* What an account has of a column for such a limit, between rounds: what may
 * be taken back (lend.h) counts for foreign work alone. */
int64_t queue_used_of(const struct sched *sched, const struct account *account,
                      bool is_foreign, uint32_t column);
/* By how much the quota of a queue would have to be larger for a request. */
struct resource_vec queue_quota_missing(const struct sched *sched,
                                        uint32_t queue,
                                        const struct resource_vec *request);
/* Whether any limit applies at all. */
bool queue_has_limits(const struct sched *sched, uint32_t queue,
                      uint32_t priority_class);
/* Whether a queue says itself what the pools' limits on its share are. */
bool queue_has_own_limits(const struct queue *queue);
/* Free all queues. */
void queues_fini(struct sched *sched);

/* The shares of all queues that want or have something of a pool, in no
 * order; the array lives in `arena`. */
struct share *shares_of(struct sched *sched, uint32_t pool, struct arena *arena,
                        uint32_t *ret_count);
/* The part of a pool that a queue may keep, whoever wants more. */
double share_kept(const struct sched *sched, uint32_t pool,
                  const struct share *share);
/* Whether a queue has more than its protected share. */
bool share_is_over(const struct sched *sched, uint32_t pool,
                   const struct share *share);

/* The level of a priority: the highest that is not above it. */
uint32_t level_of(const struct sched *sched, int32_t priority);
