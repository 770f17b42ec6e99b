/*
 * state_apps - the applications of a queue; see apps.h.
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "base/vec.h"
#include "sched/data/amounts.h"
#include "sched/data/seq.h"
#include "sched/state/state_links.h"

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
    enum sched_app_state state;
    int64_t since_ms;     /* in this state */
    int64_t submitted_ms; /* of its first job ... */
    struct job_id first;  /* ... with this id, which settles ties */
    uint32_t ask_count, allocation_count;
    uint32_t lent_count; /* of the asks, those that wait in another state */
    /* Borrowers that wait here, which ask at home: all of them by submission,
     * the first, and whether one says so; see app_state_shown(). */
    struct seq borrowers;
    int64_t borrower_submitted_ms;
    struct job_id borrower_first;
    bool is_borrower_opted_out;
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
