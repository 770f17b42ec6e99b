/*
 * state_nodes - nodes, and the pools that they are of (nodes.c, node_names.c,
 * node_runs.c, pool_nodes.c, nodes_sync.c).
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "base/vec.h"
#include "sched/data/amounts.h"
#include "sched/data/bucket.h"
#include "sched/data/cost.h"
#include "sched/data/node_index.h"
#include "sched/state/state_plans.h"
#include "sched/state/state_reserve.h"

struct node {
    char *name; /* owned; NULL: free slot */
    uint32_t name_bytes;
    uint32_t executor;
    uint32_t pool;              /* or NONE: never set */
    struct node_record *record; /* owned, one block; NULL: absent */
    struct resource_vec capacity;
    uint32_t run_first, run_count;
    uint32_t borrowed_count; /* of its runs */
    uint32_t held_count; /* runs that end in time, or are protected till then */
    uint32_t avoid_count;
    bool is_accepting; /* new leases */
    bool is_out;       /* quarantined */
    bool is_on_trial;  /* takes one job at a time */
    bool has_health;   /* a record in health.h, which keeps its slot */
    /* 1 + the gang that has it whole, 0: none; and how many of its members
     * run there.  And who holds it in the plan (sched.plan_count) that gave it
     * to a member. */
    uint32_t holder, holder_count;
    uint32_t planned_holder;
    uint64_t planned_plan;
    uint64_t trial_plan; /* the plan (sched.plan_count) that gave it that */
    bool is_indexed;
    bool is_dirty;           /* in sched.dirty */
    bool has_window;         /* its record has a maintenance window */
    uint32_t taint_set;      /* that keep pods away, interned; 0: none */
    uint32_t soft_taint_set; /* the like: that pods prefer to do without */
    uint64_t key;            /* in the index */
    uint32_t evicted_first, evicted_end; /* in round.evicted->runs */
    uint32_t stamp;
    uint32_t reserved_stamp; /* of the round that reserved some of it */
    uint64_t look; /* sched.look, when a search last looked for revocable runs
                      here */
};

/* What runs on a node has so much of an extra, see extras.h. */
struct extra_used {
    uint32_t node; /* NONE: a free slot */
    uint32_t number;
    i128 amount;
};

/* The indexes of a few labels, for as long as the nodes stay as they are. */
struct label_memory {
    struct arena arena;
    struct label_index *indexes;
    uint32_t count;
    uint64_t layout_count; /* the state's, when they were made */
};

/* See loss_limit.h. */
struct loss_sums {
    u128 lost[RESOURCE_COLUMNS_MAX], useful[RESOURCE_COLUMNS_MAX];
};

struct pool {
    int policy_index; /* in the policy's pools, or -1 */
    uint32_t node_count, indexed_count;
    struct resource_vec total;
    struct resource_vec used; /* by all runs, while there are floating ones */
    uint32_t terms_run_count; /* members of gangs with terms that run on its
                                 nodes */
    uint32_t protected_run_count;           /* likewise by disruption budgets */
    uint64_t weights[RESOURCE_COLUMNS_MAX]; /* of the node order */
    struct cost_base base;
    struct node_index index;
    struct bucket start[RESOURCE_COLUMNS_MAX]; /* resource rate limits */
    bool is_stale;                             /* rebuild the index */
    bool is_base_stale;                        /* and the base */
    bool is_foreign_known;       /* the next is right; see growth/load.c */
    struct resource_vec foreign; /* what others' pods have on its nodes */
    struct resource_vec foreign_pending; /* and would have, were there room */
    VEC(struct admitted) admitted;       /* first come first */
    VEC(struct refusal) refusals;        /* of its last round */
    struct reserve_memory memory;
    struct loss_sums *loss_sums; /* owned; see loss_limit.h; NULL: none */
    struct label_memory *labels; /* owned; see label_groups.c; or NULL */
    struct topology *topology;   /* owned; see topology.h; NULL: none */
    bool is_topology_stale;
};

/* One executor, as the scheduler knows it; by the number of its name in
 * `executor_names`, while that is in use. */
struct executor {
    struct str name; /* borrowed from there */
    bool accepts;
};

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
/* Likewise for a node that will change again soon. */
void node_reindex_loosely(struct sched *sched, uint32_t node);
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
