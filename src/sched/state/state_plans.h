/*
 * state_plans - what one plan passes to the next, and what is undone after it:
 * penalties, cooldowns, losses, sweeps, the journal.
 *
 * A part of state.h; private to src/sched.
 */
#pragma once

#include "base/vec.h"
#include "sched/data/amounts.h"
#include "sched/state/state_links.h"

/* Why a round refused what waits. */
enum refusal_why {
    /* The turn of a queue, or of all, ended because of a job: */
    REFUSAL_STARTS,     /* a limit on starts refused it */
    REFUSAL_SHARE,      /* a limit on what is above the share did */
    REFUSAL_LOOKBACK,   /* so many of the queue had been looked at */
    REFUSAL_ADMITTED,   /* it is admitted, and its pool lets nobody past */
    REFUSAL_CANDIDATES, /* so many that fit were not let past what is reserved
                           for it, which is admitted */
    /* A gang, or jobs of a class: */
    REFUSAL_ROOM, /* found no place */
    REFUSAL_HELD, /* may not have what limits leave, which is held for a job of
                     the queue that is admitted */
};

/* Which it was; see refusals.h. */
struct refusal {
    uint8_t why;    /* enum refusal_why */
    uint32_t queue; /* NONE: all queues */
    uint32_t
        columns;   /* only of those that ask for one of them (bits); 0: all */
    uint32_t item; /* only of this gang, or class; or NONE */
    bool is_gang;
    uint32_t job; /* as long as its id is this */
    struct job_id id;
    uint64_t version; /* of the state, then */
};

/* A job that ended too soon, and still counts; see penalty.h. */
struct penalty {
    int64_t until_ms;
    uint32_t queue, pool;
    struct resource_vec sum;
};

/* Who takes nothing for fairness for a while; see cooldown.h. */
struct cooldown {
    uint32_t item; /* a job, or a gang; or NONE: it is over */
    bool is_gang;
    int64_t since_ms;
    uint64_t news_count; /* when it began */
};

/* A job that was requeued, and what it has lost; see losses.h. */
struct loss {
    uint32_t job; /* or NONE: the slot is free */
    int64_t since_ms, lost_ms;
    int64_t longest_ms; /* of the runs that count in loss_limit.h */
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

/* What a plan did to the state, to be undone. */
struct journal_entry {
    uint32_t node;
    uint32_t class_index;
    uint32_t count; /* placed; 0: `job` was preempted */
    uint32_t job;
};
