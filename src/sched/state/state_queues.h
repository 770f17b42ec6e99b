/*
 * state_queues - queues, and what each holds in a pool (queues.c, shares.c).
 *
 * *Accounts* hold the sums per queue, pool and priority class, *usage ledgers*
 * what is remembered of its usage.
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "base/vec.h"
#include "sched/data/amounts.h"
#include "sched/data/bucket.h"
#include "sched/data/flow.h"
#include "sched/state/state_apps.h"
#include "sched/state/state_jobs.h"

struct what_if;

/* Sums of one queue, pool and priority class. */
struct account {
    struct resource_vec allocated, queued;
    struct resource_vec borrowed; /* of what is allocated */
    uint32_t queue;
    uint32_t pool; /* or NONE: demand that any pool may serve */
    uint32_t next; /* of the queue, or NONE */
    uint32_t leased_count, queued_count;
    uint32_t run_first; /* or NONE */
    struct evictable
        *evictable; /* owned; or NULL: nobody asked; see evictable.h */
    uint8_t priority_class;
};

/* See usage_ledger.h. */
struct usage_ledger {
    struct resource_vec all;      /* what it runs and was admitted */
    struct resource_vec infinite; /* of it, with infinite lifetime */
    struct flow flow, infinite_flow;
    int64_t charged; /* the sum of its jobs' charges */
    uint32_t queue;  /* or NONE: a free slot */
    uint32_t pool;
    uint32_t next; /* of the queue, or NONE */
    uint32_t held; /* 1 + its place in what is held; 0: none */
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
    VEC(struct front)
    list_heap; /* its lists with something in them; list_heap.h */
    struct bucket bucket;
    struct app_queue *apps; /* owned; NULL: it does not go by them */
    enum queue_ordering ordering;
    bool is_class_priority_ignored, allows_stateaware_off;
    uint32_t running_apps_max;   /* 0: any number */
    int64_t over_share_ppm;      /* as in struct queue_record */
    int64_t excess_budget_milli; /* likewise */
    uint32_t usage_ledger_first; /* or NONE */
    /* See quota.h. */
    struct resource_amount *quota_items; /* owned, one block */
    uint32_t quota_count;                /* 0: none */
    struct resource_vec quota;           /* in columns; INT64_MAX: any */
    struct resource_vec quota_beside;    /* what it has in other states */
    uint64_t quota_plan;                 /* the plan that ... */
    struct resource_vec quota_planned;   /* ... placed so much more */
};

/* How a queue stands in a pool; fractions of the pool. */
struct share {
    uint32_t queue;
    double weight, fair, adjusted, actual, demand;
    struct resource_vec allocated, wanted; /* wanted: with what it runs */
    uint32_t leased_count;
};

/* The queue that is called so, or NONE. */
uint32_t queue_by_name(const struct sched *sched, struct str name);
/* The ranks of queues by name are right after this. */
void queues_sync(struct sched *sched);
/* A queue came to have jobs, or ceased to. */
void queue_refresh(struct sched *sched, uint32_t queue);
/* The most of `column` that a queue's jobs of a priority class may have of a
 * pool, in a trial (what_if.h) or not (NULL); INT64_MAX for no limit. */
int64_t queue_limit_of(const struct sched *sched, const struct what_if *what_if,
                       uint32_t queue, uint32_t pool, uint32_t priority_class,
                       uint32_t column);
/* Whether any limit applies at all. */
bool queue_has_limits(const struct sched *sched, uint32_t queue,
                      uint32_t priority_class);
/* Whether a queue says itself what the pools' limits on its share are. */
bool queue_has_own_limits(const struct queue *queue);
/* A queue goes, which has no jobs. */
void queues_forget(struct sched *sched, uint32_t queue);
/* Free all queues. */
void queues_fini(struct sched *sched);

/* The shares of all queues that want or have something of a pool, in no
 * order, in a trial or not (NULL); the array lives in `arena`. */
struct share *shares_of(struct sched *sched, const struct what_if *what_if,
                        uint32_t pool, struct arena *arena,
                        uint32_t *ret_count);
/* The part of a pool that a queue may keep, whoever wants more. */
double share_kept(const struct sched *sched, uint32_t pool,
                  const struct share *share);
/* Whether a queue has more than its protected share. */
bool share_is_over(const struct sched *sched, uint32_t pool,
                   const struct share *share);
