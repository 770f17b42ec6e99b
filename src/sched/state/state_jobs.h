/*
 * state_jobs - jobs, the lists that they wait in, gangs, and leases (waiting.c,
 * lists.c, gangs.c, runs.c).
 *
 * Jobs that wait are grouped by queue, class and pool into *lists*; the
 * waiting members of a gang are in the gang instead, and the gang, once
 * complete, in a list of gangs.  A leased job has a *run*.
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "sched/data/amounts.h"
#include "sched/data/seq.h"
#include "sched/state/state_links.h"

/* A job; 40 bytes, for there are millions. */
struct job {
    struct job_id id;
    int64_t submitted_ms;
    uint32_t priority;
    uint32_t list : 29; /* LIST_NONE: no such job */
    uint32_t was_leased : 1;
    uint32_t is_opted_out : 1; /* see struct sched_job: has_stateaware_off */
    uint32_t gang;             /* or NONE */
    uint32_t run;              /* or NONE: it waits */
};

/* Bits of sched.job_flags. */
enum {
    JOB_AVOIDS = 1,      /* it has an avoid list */
    JOB_PLANNED = 2,     /* leased or failed by the plan in the making */
    JOB_ADMITTED = 4,    /* of no gang, and in a pool's list of admitted ones */
    JOB_CHARGED = 8,     /* it has a charge */
    JOB_SWEPT_FAST = 16, /* no place for it in this sweep of fast rounds */
    JOB_SWEPT_BALANCE = 32, /* the like */
    JOB_COOLDOWN = 64, /* of no gang, and under a cooldown; see cooldown.h */
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
    bool is_borrowed; /* of work whose home is elsewhere; see borrowed.h */
};

/* What is first in a list; see list_heap.h. */
struct front {
    int64_t submitted_ms; /* of the job, or that which the gang is listed by */
    uint32_t priority;    /* likewise */
    uint32_t list;
    uint32_t item;
    uint32_t class_index, pool; /* as in the list */
    uint8_t level;              /* likewise */
    bool is_borrowed;           /* likewise */
};

/* Beside a level, in what list_get() is asked for: borrowed work. */
enum { LIST_BORROWED = 1 << 8 };

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
    uint32_t position;      /* the job it is listed by, or NONE: not listed */
    uint32_t started_count; /* members that have had a run */
    uint32_t sweep[2];      /* by round_kind: no place in this one */
    uint32_t cut[2];        /* likewise: a try of it was left */
    uint32_t fitted_no;     /* when empty nodes might have held it, by the
                               asker's count; 0: never; fit.c */
    uint64_t planned; /* the last plan (sched.plan_count) that starts members
                         of it or preempts it: it does not do both */
    bool is_live;
    bool is_admitted;  /* in a pool's list */
    bool is_protected; /* in the round of protected_stamp: gang_protection.h */
    uint32_t protected_stamp;
    int64_t scaled_ms;      /* the last time; INT64_MIN: never */
    int64_t starting_ms;    /* found to be starting then; see scale.c */
    uint32_t elastic_place; /* in sched.elastic, or NONE */
    uint64_t work_plan;     /* the plan in which its work was summed up: */
    u128 work;              /* see scale_work() */
    u128 cost;              /* in the round of: affordable.c */
    uint32_t cost_stamp;
    struct sub_groups *subs; /* owned; or NULL: it has no terms.  Then waiting
                                and its sum are what it asks for, not all that
                                waits: see sub_groups.h */
};

/* Whether a gang has terms: sub-groups, and what else sub_groups.h tells. */
static inline bool gang_has_terms(const struct gang *gang)
{
    return gang->subs;
}

/* What a job was charged; see sched_job_charge(). */
struct charge {
    int64_t amount;
    uint32_t pool;
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
    int64_t started_ms; /* its age counts from then; INT64_MAX: not started */
    int64_t yields_from_ms;   /* to whom it yields; not before */
    uint32_t revocable_for;   /* serial number of an admitted gang; 0: nobody */
    uint32_t revocable_place; /* in sched.revocables */
    uint8_t level;
    uint8_t state;               /* enum run_state; STEADY between plans */
    bool is_urgency_preemptible; /* a more urgent class may take its place */
    bool yields_at_once;         /* to whom it yields, whatever its lifetime */
    bool is_protected;           /* by a disruption budget; see budgets.h */
    bool is_spared;              /* by the last full round; see loss_limit.h */
    bool is_held;                /* counts in its node's held_count */
    bool has_loss;            /* its job had a row as it got it; see losses.h */
    uint32_t evicted_run;     /* in the round that evicted it; or NONE */
    uint32_t evictable_place; /* in its account's memory, if that has one:
                                 evictable.h */
};

/* The nodes that a job avoids. */
struct avoid_list {
    uint32_t nodes[SCHED_AVOIDED_NODES_MAX];
    uint32_t count;
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
 * LIST_BORROWED. */
uint32_t list_get(struct sched *sched, uint32_t queue, uint32_t class_index,
                  uint32_t level, uint32_t pool, uint32_t app);
/* What to ask list_get() for, to get a list like this one. */
static inline uint32_t list_level(const struct list *list)
{
    return list->level | (list->is_borrowed ? (uint32_t)LIST_BORROWED : 0);
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
/* The pool that a gang keeps to: its own, or where it may be in any that of the
 * first of what runs of it (of those that plans are made for); NONE: any. */
uint32_t gang_pool(const struct sched *sched, const struct gang *gang);
/* Whether nobody knows why a gang could never start on the nodes that are here
 * (fit.c), whatever was found out of it before: for decisions, which may
 * not go by who was asked what when. */
bool gang_could_start(struct sched *sched, struct gang *gang,
                      uint32_t *ret_looks);
/* Free all jobs, lists, gangs, runs. */
void jobs_fini(struct sched *sched);
