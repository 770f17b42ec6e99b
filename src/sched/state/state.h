/*
 * state - what the planner knows, as tables of plain structs linked by u32
 * indexes.  Private to src/sched.
 *
 *     state_links.h    indexes
 *     state_class.h    scheduling classes
 *     state_jobs.h     jobs, lists, gangs, runs
 *     state_queues.h   queues, accounts, usage ledgers
 *     state_apps.h     applications
 *     state_nodes.h    nodes, pools
 *     state_reserve.h  what is admitted and reserved
 *     state_plans.h    what plans leave to each other
 *
 * The order of tables and of linked lists depends on history, so nothing is
 * decided by it.
 *
 * `free` of a node is its capacity without all runs; `urgency_preemptible`
 * the requests of its runs that a more urgent class may preempt, by level.  A
 * level is a rank of class priorities, 0 the lowest.
 */
#pragma once

#include "base/intern.h"
#include "base/map.h"
#include "base/names.h"
#include "base/slots.h"
#include "sched/data/bucket.h"
#include "sched/data/seq.h"
#include "sched/state/state_apps.h"
#include "sched/state/state_class.h"
#include "sched/state/state_jobs.h"
#include "sched/state/state_links.h"
#include "sched/state/state_nodes.h"
#include "sched/state/state_plans.h"
#include "sched/state/state_queues.h"
#include "sched/state/state_reserve.h"

struct sched {
    const struct policy *policy;
    uint32_t level_count;
    int32_t level_priority[LEVELS_MAX];
    uint8_t class_level[POLICY_CLASSES_MAX]; /* by priority class */

    struct intern *pool_names;
    VEC(struct pool) pools; /* by interned name */
    SLOTS(struct class) classes;
    uint64_t class_serial;        /* the last */
    uint32_t limited_class_count; /* see class_is_limited() */
    VEC(struct job) jobs;
    VEC(uint8_t) job_flags;      /* by job */
    VEC(uint8_t) sub_groups;     /* by job, up to the last that needs it */
    uint32_t distance_cap_count; /* gangs with a cap; see distance_cap.h */
    SLOTS(struct list) lists;
    struct map list_map; /* see list_key() */
    SLOTS(struct gang) gangs;
    VEC(uint32_t) elastic;         /* gangs that may grow; see scale.h */
    uint32_t exclusive_gang_count; /* that have their nodes whole */
    uint32_t terms_run_count;      /* members of gangs with terms that run */
    uint64_t collect_count;        /* looks at a node's victims */
    struct names gang_names;       /* gangs, by queue and id */
    SLOTS(struct account) accounts;
    SLOTS(struct run) runs;
    SLOTS(struct app) apps;
    SLOTS(struct app_use) app_uses;
    struct names app_names; /* applications, by queue and id */
    struct app_timers app_timers[SCHED_APP_STATES];
    VEC(struct queue) queues;
    VEC(uint32_t) active; /* queues with jobs */
    struct seq queues_by_name;
    bool are_queue_ranks_stale;

    struct intern *executor_names;
    struct intern *extra_names; /* see extras.h */
    struct map extra_map;       /* node and number to extras_used */
    SLOTS(struct extra_used) extras_used;
    struct intern *taint_sets;         /* 0: the empty one */
    struct intern *kinds, *label_keys; /* see node_shapes.h */
    VEC(bool) asked_keys; /* by label key: whether a class asks about it */
    bool are_kinds_stale, are_keys_stale;
    VEC(struct resource_vec) kind_least; /* no node of kind / 2 has less */
    VEC(struct executor) executors;
    SLOTS(struct node) nodes;
    struct names node_names; /* nodes, by executor */
    struct seq nodes_by_name;
    bool are_node_ranks_stale;
    struct resource_vec *free; /* by node */
    struct resource_vec
        *urgency_preemptible; /* by node x level_count + level */
    uint32_t *ranks;          /* by node */
    uint32_t *kinds_of;       /* by node; see node_shapes.h */
    uint32_t *change_counts;  /* by node: of its capacity, runs and their
                                 bounds; never PROFILE_NEVER_SEEN */
    VEC(uint32_t) changed;    /* nodes whose count went up, in order; those */
    uint64_t changed_base;    /* before this number are forgotten */
    uint64_t *free_words;     /* by node: `free` as in the index of its pool */
    uint32_t node_capacity;
    uint32_t urgency_preemptible_count[LEVELS_MAX]; /* runs, by level */
    VEC(uint32_t) dirty;        /* nodes whose index entry may be stale */
    uint32_t window_node_count; /* nodes with a maintenance window */
    uint32_t soft_node_count;   /* nodes with a PreferNoSchedule taint */
    uint64_t layout_count;      /* changes of which nodes accept work, in which
                                   pools and clusters, and of their labels and
                                   taints */

    uint32_t admission_count; /* the last serial number */
    VEC(uint32_t) revocables; /* runs that yield to someone, in no order */
    uint64_t look;            /* searches that looked for them, counted */

    struct map avoid_map; /* job to avoids */
    SLOTS(struct avoid_list) avoids;

    bool is_preemption_off; /* of what is at home here; see borrowed.h */
    bool is_pool_object;    /* victims go by the order of 6.6; see victims.c */
    uint32_t borrowed_waiting_count, borrowed_run_count;
    uint32_t protected_run_count;

    struct bucket bucket;          /* all starts */
    struct health *health;         /* owned; see health.h */
    VEC(struct penalty) penalties; /* in no order */
    struct sweep sweeps[2];        /* by round_kind */
    struct sweep_undo sweep_undo;

    VEC(struct cooldown) cooldowns; /* in the order in which they began */
    uint32_t cooldown_first;        /* that is not over */
    uint32_t cooldown_serial;       /* of the first slot */
    struct map cooldown_map;        /* jobs and gangs to serial numbers */
    uint64_t news_count;            /* what came from outside so far */
    bool is_told_news;              /* see sched_news_follow() */

    SLOTS(struct loss) losses; /* see losses.h */
    struct map loss_map;       /* jobs to slots */

    bool keeps_usage_ledgers;    /* see usage_ledger.h */
    struct flow_hold *flow_hold; /* see usage_ledger_hold.h; NULL: never */
    bool is_relinking;           /* sums change, but not the usage */
    bool are_weights_stale;
    u128 weight_unit, weight_sum; /* see limits.c */
    SLOTS(struct usage_ledger) usage_ledgers;
    struct map charge_map; /* job to charges */
    SLOTS(struct charge) charges;

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
    VEC(struct sched_looked) looked; /* of the last plan */
    bool forgets_victims; /* for tests: searches remember nothing, or ... */
    bool checks_victims;  /* ... are made both ways; see memo.h */
    VEC(struct journal_entry) journal; /* see round.h */
};

/* The level of a priority: the highest that is not above it. */
uint32_t level_of(const struct sched *sched, int32_t priority);

/* The class of a job. */
static inline uint32_t class_of_job(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].class_index;
}

/* Whether any member of a gang with terms runs. */
static inline bool has_terms_running(const struct sched *sched)
{
    return sched->terms_run_count;
}
