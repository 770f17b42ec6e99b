/*
 * round - one pool's part of a plan, in the making.  Private to src/sched.
 *
 * Each queue has a *lane* with up to two streams in one heap: its evicted work,
 * which may get its place back, and its new work.  The round decides the top of
 * the heap next; levels never rise during a round, so nothing that the plan
 * places is a victim later in the same plan.
 *
 * Everything done to nodes and runs stands in the journal and is undone when
 * the plan is made; what lies in the arena dies with the plan.
 */
#pragma once

#include "sched/fairness/class_limit.h"
#include "sched/fairness/rates.h"
#include "sched/order/reserved.h"
#include "sched/order/units.h"
#include "sched/order/watch.h"
#include "sched/state/what_if.h"

enum { ROUND_FACTORS_MAX = 64 };

enum stream_kind { STREAM_EVICTED, STREAM_NEW, STREAM_KINDS };

/* A list that a lane still draws from; 64 bytes, a line of the cache. */
struct head {
    uint32_t list;
    uint32_t item;        /* the job or gang at the cursor */
    uint32_t class_index; /* of the list, or NONE: of gangs */
    uint32_t front;       /* in its queue's heap, when what lies below it there
                             is not in the lane yet; or NONE */
    struct seq_reader at;
    const struct app_rank *rank; /* see order.h; NULL: no application */
    int64_t bound_ms; /* it runs no longer; only if that comes first */
    int64_t due_ms;   /* only if that does */
    /* What the item is ordered by, while the lane has several lists. */
    int64_t submitted_ms;
    uint32_t priority;
    uint8_t level;
    uint8_t list_level;
    bool is_by_score; /* its queue is ordered `cfs` */
    bool is_alone;    /* it is its item, and none behind that */
};

/* A place in the order of a lane's heads; see lane_lists.c for the key. */
struct head_slot {
    uint64_t key;
    uint32_t head; /* in lane.heads */
};

struct lane_flow;
struct lane_held;
struct limits;

struct lane {
    uint32_t queue, rank;
    uint32_t factor_id; /* lanes of one factor share it; 0: of no other */
    int64_t factor_micro;
    struct resource_vec all;     /* what it runs and was placed */
    struct resource_vec penalty; /* of jobs that ended too soon */
    struct resource_vec placed;  /* `all` without what is evicted */
    struct cost cost[STREAM_KINDS];
    uint8_t level[STREAM_KINDS];
    const struct resource_vec *request; /* of the new stream's first */
    struct head *heads;                 /* in no order */
    struct head_slot *slots;            /* first a heap of them: lane_lists.h */
    uint32_t head_count, head_capacity;
    struct head *late; /* heads that wait for another application to start */
    uint32_t late_count, late_capacity;
    struct order_hold *hold; /* see order_reserve.c; NULL: nothing is unmet */
    uint32_t unit_first, unit_next, unit_end; /* evicted work, in order */
    uint32_t looked_count;
    struct usage **usages;    /* by priority class; NULL: none yet */
    struct lane_quota *quota; /* see quota.h; NULL: its queue has none */
    struct lane_flow *flow;   /* or NULL: the pool remembers none */
    struct limits *limits;    /* or NULL: none */
    struct lane_held *held;   /* see lane_held.h; NULL: nothing is */
    /* Flags, together, for a lane is read at each step. */
    bool has_penalty;
    bool is_folded;       /* its queue's heap may hold more */
    bool is_by_apps;      /* each head has a rank: see order.h */
    bool is_stepwise;     /* a lease changes what its order is */
    bool is_touched;      /* its work was preempted */
    bool is_in_turn;      /* its first new work is being decided about */
    bool is_rescued;      /* see starving.h */
    bool is_refused;      /* by its share: out for the round */
    bool are_starts_over; /* the limit of its queue is reached */
    /* The lanes whose next new work is of one class are chained. */
    uint32_t class_index; /* or NONE */
    uint32_t class_next, class_previous;
};

/* A lane's first head. */
static inline struct head *lane_first(const struct lane *lane)
{
    return &lane->heads[lane->slots[0].head];
}

/* A stream in the heap; see heap.c for `key` and `like`. */
struct heap_entry {
    uint64_t key;
    double approx;
    uint32_t stream; /* lane x STREAM_KINDS + kind */
    uint32_t rank;
    uint32_t like; /* costs of equal `like` compare as their doubles; 0: no */
    uint32_t level;
};

/* What a lane's flows were floored by before its usage fell. */
struct fall {
    struct lane *lane;
    struct cost floor;
    double fraction;
    bool has_floor;
    double infinite_floor;
    size_t journal_count; /* then */
};

struct round {
    struct sched *sched;
    struct arena *arena;
    uint32_t p;
    struct pool *pool;
    struct reserve_memory *memory; /* the pool's, or a trial's */
    enum round_kind kind;
    const struct what_if *what_if; /* it is only to explain by; or NULL */
    int64_t now_ms;
    uint32_t decision_max;
    struct sched_counters *counters;
    struct resource_vec used; /* of the pool's floating resources, as planned */

    struct lane *lanes;
    uint32_t lane_count;
    uint32_t *lane_of_queue; /* or NONE */
    int64_t factors[ROUND_FACTORS_MAX];
    uint32_t factor_count;
    struct heap_entry *heap;
    uint32_t *heap_places; /* by stream: where it is there, or NONE */
    uint32_t heap_count;
    uint32_t heap_new_count; /* of them new streams */

    struct start_rules starts;
    bool has_flow;         /* usage is remembered in the pool */
    u128 active_weight;    /* see limits_whole() */
    uint32_t held_columns; /* bits: nothing more that asks for them */
    bool are_starts_over;
    int64_t wake_ms;

    uint32_t group;        /* of the next decision */
    uint64_t growth_count; /* times that free amounts grew */
    uint32_t rest_count;   /* of them by preemptions that stand: more room than
                              whom they serve takes */
    bool is_truncated;
    bool is_spent, is_resumed; /* see sweep.h */
    uint32_t sweep_id;
    bool is_filling;         /* the pass after preemptions: no further ones */
    size_t decision_first;   /* of this round */
    bool is_growth_off_gpus; /* in the step of gangs, who asks for no GPU does
                                not grow on nodes with GPUs (growth/gpus.c);
                                keepsGpus is in `gpus` */
    bool is_lending;         /* the pass for borrowed work: see lending.h */
    bool is_growing; /* the step of gangs: what is leased has no lifetime */

    struct units units;
    struct watch watch;
    struct reserve reserve;
    /* What other rooms keep of a round, each in a type of its own. */
    struct changes *changes;   /* place/changes.h */
    struct evicted *evicted;   /* evict/evicted.h */
    struct searches *searches; /* victims/searches.h */
    struct gpu_nodes *gpus;    /* place/gpu_nodes.h; or NULL */

    size_t kinds_bytes; /* that classes note about kinds; see node_shapes.h */
    VEC(struct fall) falls;     /* see share_fall() */
    struct label_index *labels; /* that the pool does not remember */
    const struct label_index
        *domains[GANG_LEVELS_MAX + 1]; /* locality_groups.c */

    const struct share *shares; /* of the round's start, or NULL */
    uint32_t share_count;
};

/* Whether the plan is made only to explain by: it leaves no trace. */
static inline bool round_is_what_if(const struct round *round)
{
    return round->what_if;
}

/* The class of an index. */
static inline struct class *class_at(const struct round *round, uint32_t index)
{
    return &round->sched->classes.items[index];
}

/* Append a decision to the present group. */
void round_decide(struct round *round, struct sched_decision decision);
/* The same: a job of a class gets a lease. */
void round_decide_lease(struct round *round, uint32_t job, uint32_t node,
                        const struct class *class, int64_t charge);
/* Take back what was decided since `mark`, once it is undone. */
void round_undecide(struct round *round, size_t mark);
/* Plan again at `when_ms` at the latest, though nothing happens. */
void round_wake_by(struct round *round, int64_t when_ms);
/* The decisions from `first` on stand: what is left of gangs that they
 * preempt does not start in the same plan. */
void round_settle_gangs(struct round *round, size_t first);
/* The queues' shares as the round found them; computed once. */
const struct share *round_shares(struct round *round, uint32_t *ret_count);
/* Whether members of gangs with terms run in the pool; by the first rules in
 * any pool of the shard. */
static inline bool round_has_terms(const struct round *round)
{
    return round->sched->policy->rules_revision < POLICY_RULES_BY_POOL
               ? round->sched->terms_run_count > 0
               : round->pool->terms_run_count > 0;
}

/* Likewise runs that a disruption budget protects. */
static inline bool round_has_budgets(const struct round *round)
{
    return round->sched->policy->rules_revision < POLICY_RULES_BY_POOL
               ? round->sched->protected_run_count > 0
               : round->pool->protected_run_count > 0;
}
/* What became of a unit: that of those of its runs that are not preempted. */
enum run_state evict_state(const struct round *round, const struct unit *unit);
