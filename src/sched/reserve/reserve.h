/*
 * reserve - a promise of nodes and amounts to a gang that has no room yet, and
 * who may use them in the meantime (model.md 2.9).
 *
 * What runs is expected to be gone at its *release bound*: the end of its
 * deadline, or of its lifetime if it would be preempted for the gang then;
 * not the latter, for fairness, where that would leave it room at once, for it
 * has just found none.
 * The reservation is where the gang would go at the first time t* at which
 * the bounds that have passed leave it room; without such a time, where most
 * of its room is free or bounded.  It belongs to nodes and amounts, not to a
 * total.  Others may take of a reserved node what is left beside the gang at
 * t*, or what they give back by then.
 *
 * It is made anew in each round and lives in the round's arena.  A round has
 * the pool's (round.reserve.hold); queues may have further ones of their own,
 * to be asked about in the same way.
 *
 * Private to src/sched.
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
    int64_t start_ms; /* t*; SCHED_START_UNKNOWN: no bound tells */
    int64_t fair_ms;  /* from when on yields what took a place for fairness */
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

/* Who may have a place. */
enum pass {
    BACKFILL_NO,
    BACKFILL_BESIDE, /* the node is not reserved, or has enough beside the gang
                      */
    BACKFILL_ENDS_IN_TIME, /* it ends in time */
    BACKFILL_REVOCABLE,    /* it can be preempted in time */
};

/* Reserve for a claim; false when it would not even fit in empty nodes.
 * `ret` lives as long as the round. */
bool reserve_make(struct round *round, const struct claim *claim,
                  struct reservation *ret_reservation);
/* Whether reserve_make() would find nodes for a claim; cheap for gangs of like
 * members. */
bool reserve_is_possible(struct round *round, const struct claim *claim);
/* Whether anything is reserved on a node in this round; where nothing is, all
 * pass beside it. */
static inline bool reserve_is_at(const struct sched *sched, uint32_t node)
{
    return sched->nodes.items[node].reserved_stamp == sched->stamp;
}

/* How a job of a class may take its place on a node, as far as a reservation
 * goes; NULL reserves nothing. */
enum pass reserve_pass(const struct round *round,
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

/* Between plans (kept.c): what the last one reserved. */

/* Keep a pool's reservation; NULL: there is none. */
void reserve_keep(struct sched *sched, uint32_t pool,
                  const struct reservation *reservation);
/* Whether a node is closed to a job of a class by it, and for whom; NONE: the
 * job is of another state. */
bool reserve_keeps_from(const struct sched *sched, uint32_t pool, uint32_t job,
                        const struct class *class, uint32_t node,
                        int64_t now_ms, uint32_t *ret_for_job);
/* The job that nodes are kept for, or NONE, and when it starts. */
uint32_t reserve_kept_for(const struct sched *sched, uint32_t pool,
                          int64_t *ret_start_ms);
/* A run comes to its node, or goes (`sign` -1), which changes the node once:
 * what is remembered of it is brought along where that is simple.  Before the
 * change. */
void reserve_note_run(struct sched *sched, const struct run *run,
                      const struct class *class, int sign);
/* For tests: whether what is remembered of nodes is what is there. */
bool reserve_is_right(const struct sched *sched);
/* Forget what is remembered of a pool's nodes. */
void reserve_forget(struct pool *pool);
/* Forget them, and all that is remembered of nodes. */
void reserve_fini(struct sched *sched);
