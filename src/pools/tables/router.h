/*
 * router - the tables behind pools.h: which shard a job, a gang, a node and a
 * class is in, and by which handle it is known there.  Private to src/pools.
 *
 * What changes a shard is a *delta*: a function with its arguments, in the
 * router's handles for nodes and classes and the shard's own for jobs.  It is
 * applied at once, or kept while the shard is being planned.  The router's
 * own tables are always as of the last delta.
 *
 * What is done with them stands in the headers of the rooms, first of all
 * node_table.h, classes.h and pool_names.h of this one.
 *
 * Nothing is decided by the order of these tables, which depends on history.
 *
 * Threads: the router's owner.  A shard's planner is used by another thread
 * while its plan is made, and nothing here reads it then (pools_plan_begin()).
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/names.h"
#include "base/slots.h"
#include "pools/pools.h"

enum { NONE = UINT32_MAX, NAMES_SPARE_MAX = 1 << 12, TRIES_MAX = 15 };

struct delta;
struct shard;

/* What a delta does. */
typedef void apply_fn(struct pools *pools, struct shard *shard,
                      const struct delta *delta);

/* Something that a shard is told. */
struct delta {
    apply_fn *apply;
    uint32_t job;         /* the shard's, or NONE */
    uint32_t other;       /* another job of the shard, or a queue */
    uint32_t node;        /* the router's, or NONE */
    uint32_t class_index; /* the router's, or NONE */
    int32_t priority;
    bool flag;
    int64_t at_ms, amount;
    struct str text;
    const void *record; /* copied by `copy` when it is kept */
    const void *(*copy)(const void *record, struct arena *arena);
};

/* A job, by the caller's index: where it is. */
struct pool_job {
    uint32_t local; /* in its shard; NONE: no such job */
    uint32_t node;  /* of its lease, or NONE */
    uint32_t name;  /* of the pool that it names, in pools.names */
    uint32_t gang;  /* or NONE */
    uint32_t queue;
    uint32_t class_index;
    uint32_t gang_next, gang_previous; /* of the gang, in no order; or NONE */
    uint32_t shard : 16;
    uint32_t is_borrowed : 1;
    uint32_t is_aged : 1;    /* its age was set at its lease */
    uint32_t is_leaving : 1; /* a plan lends it, which may be forgotten yet */
    uint32_t is_chosen : 1; /* a lease of it is told next, if the plan stands */
    uint32_t try_count : 4; /* lenders that had no place for it */
    uint32_t is_lent : 1;   /* see struct lent */
    uint32_t sub_group : 4; /* of its gang's terms */
    int64_t leased_ms;      /* if it has a lease */
};
_Static_assert(SUB_GROUPS_MAX <= 16, "a sub-group fits its bits");

/* A job that waits in a lender's shard, seen from home: its application there
 * counts it until it is back, starts or ends. */
struct lent {
    uint32_t job;
    char *application; /* owned; "" where its queue goes by none */
};

/* A gang is where its leased members are, else at home. */
struct pool_gang {
    struct key128 key; /* of queue and name */
    uint32_t count, leased_count;
    uint32_t first;  /* of its members */
    uint32_t anchor; /* the shard that the last lease was in */
    /* Over its members, of the numbers of their shards: all are in one if these
     * do not vary. */
    uint64_t shard_sum, shard_square_sum;
    /* The last plan that has found places for some of it: of which shard, and
     * which choice of that. */
    uint32_t chosen_in;
    uint64_t choice;
    uint64_t loss; /* of `loss_count`: the last lease that it lost; 0: none */
    bool has_terms;
};

/* A node, by the router's handle. */
struct pool_node {
    char *name;         /* owned; NULL: free */
    uint32_t executor;  /* interned */
    uint32_t pool;      /* interned in pools.names, or NONE: never set */
    uint32_t use_count; /* leases, and deltas that are kept */
    uint16_t shard;
    bool is_present;
    bool is_touched; /* while its shard is being planned */
    /* It goes to the shard `target` as soon as the present one is back. */
    bool is_moving;
    struct resource_vec total; /* as it was told last */
    bool is_listed;            /* among moving_nodes, at most once */
    uint16_t target;
    struct arena *held; /* owned: its record, while it is moving */
    const struct node_record *record;
};

/* A class, by the router's handle. */
struct pool_class {
    char *packed; /* owned; NULL: free */
    uint32_t packed_bytes;
    uint32_t pin_count;           /* deltas that are kept */
    struct resource_vec *request; /* owned; NULL: not read yet */
};

/* What a queue has, by the router's tables: jobs/quota.c. */
struct quota_book {
    bool is_kept;              /* the queue has a quota */
    bool is_stale;             /* shards are to be told what others have */
    struct resource_vec quota; /* INT64_MAX: any */
    struct resource_vec sum;
    VEC(struct resource_vec) by_shard;
    struct resource_vec planned; /* by plans that nobody was told of yet */
};

/* What an executor reports of pods that are not ours: nodes/pending.c. */
struct pending_report {
    char *executor, *pool; /* owned */
    struct resource_vec amounts;
};

/* What becomes of a job when the plan after which that was decided stands. */
struct move {
    struct job_id id; /* the slot may be another's by then */
    uint32_t job;
    uint16_t to; /* a shard; of MOVE_LEND */
    enum move_kind {
        MOVE_HOME,    /* a borrower goes back, and asks another lender next */
        MOVE_LEND,    /* it goes to a lender */
        MOVE_RESTART, /* it asks the first lender again next time */
    } kind;
};

struct shard {
    struct sched *sched; /* owned; NULL: a free slot */
    uint16_t index;
    char *name;            /* owned; of an object; NULL: Default */
    bool is_closed;        /* its object is gone */
    struct policy *policy; /* owned; of an object */
    struct arena arena;    /* of the record */
    struct pool_record record;
    /* Back from the shard's handles. */
    SLOTS(uint32_t) jobs;
    VEC(uint32_t) nodes;
    VEC(uint32_t) classes; /* its handle, by the router's; or NONE */
    VEC(uint32_t) class_back;
    /* While it is planned. */
    bool is_busy;
    VEC(struct delta) deltas;
    struct arena delta_arena;
    struct map told_adds;  /* by job: the last delta by which it came, */
    struct map told_names; /* and the last since then with its application */
    VEC(uint8_t) touched;  /* by its jobs */
    VEC(uint32_t) touched_nodes;
    VEC(uint32_t) retired_jobs; /* its jobs that were removed meanwhile */
    VEC(uint32_t) returning;    /* jobs that may have to go home then */
    uint32_t health_counts[NODE_TRIAL + 1];
    VEC(struct sched_decision) decisions; /* of its last plan, translated */
    uint64_t choice; /* these, among all; 0: they are told, or forgotten */
    VEC(struct sched_looked) looked;
    uint32_t planned_borrower_count; /* of these, how many the plan has seen */
    uint64_t planned_loss_count;     /* leases that gangs had lost by then */
    VEC(uint32_t) borrowers;         /* that wait here for one cycle */
    uint32_t waiting_count;          /* jobs of its own that wait */
    uint32_t borrower_count;         /* borrowers that wait */
    /* As it stood when that was known last: figures.c. */
    struct sched_usage known_usage;
    VEC(struct sched_queue_stats) known_queues; /* by queue and pool */
    VEC(struct sched_pool_stats) known_pools;
    bool is_usage_known;
    int64_t known_ms;
    bool must_ask_again;    /* for its own, who would lend; soon */
    uint32_t asked_count;   /* of its own that the present turn of asking
                               lenders has passed; 0: the next is new */
    uint32_t asked_next;    /* it is that when the last plan stands */
    VEC(struct move) moves; /* after its last plan, if that stands */
};

struct pools {
    const struct policy *policy;
    bool is_mapped; /* there was a pool object once */
    int64_t now_ms;
    VEC(struct shard *) shards; /* owned; the first is Default */
    VEC(uint16_t) objects;      /* shards of objects, in order of names */
    VEC(const struct pool_record *) records; /* theirs */
    struct intern *names;                    /* of pools; 0: "" */
    VEC(struct pool_job) jobs;               /* by job */
    VEC(struct lent) lent;                   /* in no order ... */
    struct map lent_map;                     /* ... where they are, by job */
    SLOTS(struct pool_gang) gangs;
    struct map gang_map;
    struct intern *executors;
    VEC(bool) accepts;            /* by executor */
    VEC(bool) by_application;     /* by queue */
    VEC(struct quota_book) books; /* likewise */
    VEC(uint32_t) stale_books;
    uint32_t kept_book_count;         /* queues with a quota */
    bool are_books_counted;           /* all of them */
    uint64_t book_count_count;        /* how often all were */
    SLOTS(struct pool_node) nodes;    /* by node */
    VEC(uint32_t) idle_nodes;         /* may be given back */
    VEC(uint32_t) moving_nodes;       /* wait for their shard; < NODES_MAX */
    struct names node_names;          /* nodes, by executor */
    SLOTS(struct pool_class) classes; /* by class */
    VEC(uint32_t) retired_classes;
    VEC(struct pending_report) reports; /* by executor; few */
    bool is_pending_stale;              /* shards are to be told their parts */
    uint64_t news_count; /* from outside, in any shard; cooldown.h */
    bool has_pending;    /* some were told of something */
    uint32_t busy_count;
    uint64_t choice_count; /* plans that were back */
    uint64_t loss_count;   /* leases that gangs have lost */
    bool has_moved;        /* something, when a plan came back */
    bool are_names_stale;  /* the configuration has other pools */
    VEC(struct sched_health_change) changes;
    VEC(struct sched_looked) looked;
};

/* The Default shard's state: all there is while nothing is mapped. */
static inline struct sched *first_of(const struct pools *pools)
{
    return pools->shards.items[POOLS_DEFAULT]->sched;
}

/* What its pool's record says, borrowed; NULL: it is the Default shard. */
static inline const struct pool_record *shard_record(const struct shard *shard)
{
    return shard->name ? &shard->record : NULL;
}

/* The shard of a job that is there. */
static inline struct shard *shard_of(const struct pools *pools, uint32_t job)
{
    return pools->shards.items[pools->jobs.items[job].shard];
}

/* A delta that speaks of nothing yet. */
static inline struct delta delta_of(apply_fn *apply)
{
    return (struct delta){
        .apply = apply, .job = NONE, .node = NONE, .class_index = NONE};
}
