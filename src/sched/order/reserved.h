/*
 * reserved - what a round reserved, what it admitted, and which work may use
 * reserved nodes in the meantime (model.md 2.9).
 *
 * A reservation belongs to nodes and amounts, not to a total.  Other work may
 * use the room of a reserved node that the gang does not need, or room that it
 * frees before the gang starts. reserve.h makes reservations.
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "sched/state/state.h"

struct round;
struct lane;

struct reservation {
    uint32_t job;    /* that stands for the gang */
    uint32_t serial; /* of its entry, 0: not yet in the list */
    uint8_t level;
    bool is_unlisted; /* nobody can yield to it */
    bool is_priced;   /* preemption has a price in its pool: nobody is let past
                         it for a promise, but who takes a place for fairness */
    int64_t start_ms; /* t*; SCHED_START_UNKNOWN: no bound tells */
    int64_t fair_ms;  /* from when on yields what took a place for fairness */
    int64_t promised_ms; /* the same where its own queue's runs keep it waiting:
                            not before it was promised to start */
    struct reserved_node *nodes; /* by index of node */
    uint32_t node_count;
};

/* For whom to reserve. */
struct claim {
    struct lane *lane;
    uint32_t job; /* that stands for it */
    uint32_t item;
    uint32_t serial; /* or 0 */
    uint8_t level;
    bool is_gang;
};

/* The list that a claim waits in. */
static inline uint32_t claim_list(const struct sched *sched,
                                  const struct claim *claim)
{
    return claim->is_gang ? sched->gangs.items[claim->item].list
                          : sched->jobs.items[claim->item].list;
}

/* Who may have a place. */
enum pass {
    BACKFILL_NO,
    BACKFILL_BESIDE, /* the node is not reserved, or has enough beside the gang
                      */
    BACKFILL_ENDS_IN_TIME, /* it ends in time */
    BACKFILL_REVOCABLE,    /* it can be preempted in time */
};

/* An entry of the pool's list of admitted work, in a round. */
struct admission_entry {
    struct claim claim;
    int64_t start_ms; /* promised */
    bool is_done;     /* placed, or sent back */
};

/* A round's admitted work; see admission.h. */
struct reserve {
    bool has_window;
    enum backfill_order order;       /* of what is tried from now on */
    struct admission_entry *entries; /* in the order in which they are tried */
    uint32_t count;
    struct reservation *hold; /* the pool's, or NULL: none (yet) */
    struct reservation made;
    /* The first waits until it may have one; nobody has any until then. */
    bool is_put_off;
    /* A further one, of the queue whose work is being tried; or NULL. */
    struct reservation *own;
    uint32_t candidate_count; /* that would fit, and failed to pass */
    bool has_refused;         /* since the last one that found no place */
    bool is_for_share; /* others are to go for what is searched for, since their
                          queues have more: see reserve_is_soon() */
    /* The job that the last search found a place for by nothing else than that,
     * or NONE; its lease promises to yield. */
    uint32_t owing;
    /* While an entry is tried: its serial, whose revocable runs may go, and the
     * first ordinal of evicted work that may. */
    uint32_t asking, ordinal_min;
    /* What it was charged with its admission, and for how many jobs. */
    int64_t asking_charge;
    uint32_t asking_count;
};

/* Whether anything is reserved on a node in this round; where nothing is, all
 * pass beside it. */
static inline bool reserve_is_at(const struct sched *sched, uint32_t node)
{
    return sched->nodes.items[node].reserved_stamp == sched->stamp;
}
/* Whether preemption has a price in a pool. */
bool reserve_is_priced(const struct sched *sched, uint32_t pool);
/* How a job of a class may take its place on a node, as far as a reservation
 * goes; NULL reserves nothing. */
enum pass reserve_pass(const struct round *round,
                       const struct reservation *reservation,
                       const struct class *class, uint32_t node);
/* The same of what took its place there for fairness. */
enum pass reserve_pass_for_share(const struct round *round,
                                 const struct reservation *reservation,
                                 const struct class *class, uint32_t node);
/* The same of a job whose gang has its nodes whole: as long as it is there the
 * node serves nobody else, so it leaves nothing beside it. */
enum pass reserve_pass_exclusive(const struct round *round,
                                 const struct reservation *reservation,
                                 const struct class *class, uint32_t node);
/* Whether what of a class takes a place for fairness on a node that the pool
 * reserves, and yields for it, would have to before a cooldown is over: for so
 * little nobody is to lose a run. */
bool reserve_is_soon(const struct round *round, const struct class *class,
                     uint32_t node);
/* Whether that is so on all such nodes, and not just on none. */
bool reserve_is_any_soon(const struct round *round, const struct class *class);
/* How many of `count` that fit on a node a reservation lets through. */
uint32_t reserve_pass_count(const struct round *round,
                            const struct reservation *reservation,
                            const struct class *class, uint32_t node,
                            uint32_t count);
/* The same at any time, whatever the round reserved, of one whose gang has its
 * nodes whole, or not. */
enum pass reserve_pass_at(const struct reservation *reservation,
                          const struct class *class, uint32_t node,
                          int64_t now_ms, bool is_whole);
/* A job of a class took `count` places on a node, or gave them back
 * (negative): what is left beside the gang changes, if that is what it uses. */
void reserve_charge(const struct round *round, struct reservation *reservation,
                    const struct class *class, uint32_t node, int64_t count);
