/*
 * reserve - a promise of nodes and amounts to a gang that has no room yet, and
 * who may use them in the meantime (model.md 2.9).
 *
 * What runs is expected to be gone at its *release bound*: the end of its
 * deadline, or of its lifetime if it would be preempted for the gang then.
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

#include "sched/state.h"

struct label_group;
struct whole_room;
struct round;
struct lane;
struct search;

struct reservation {
    uint32_t job;    /* that stands for the gang */
    uint32_t serial; /* of its entry, 0: not yet in the list */
    uint8_t level;
    bool is_unlisted;            /* nobody can yield to it */
    int64_t start_ms;            /* t*; SCHED_START_UNKNOWN: no bound tells */
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
    PASS_NO,
    PASS_BESIDE, /* the node is not reserved, or has enough beside the gang */
    PASS_BOUND,  /* it ends in time */
    PASS_YIELDS, /* it can be preempted in time */
};

/* Reserve for a claim; false when it would not even fit in empty nodes.
 * `ret` lives as long as the round. */
bool reserve_make(struct round *round, const struct claim *claim,
                  struct reservation *ret_reservation);
/* Whether reserve_make() would find nodes for a claim; cheap for gangs of like
 * members. */
bool reserve_is_possible(struct round *round, const struct claim *claim);
/* How a job of a class may take its place on a node, as far as a reservation
 * goes; NULL reserves nothing. */
enum pass reserve_pass(const struct round *round,
                       const struct reservation *reservation,
                       const struct class *class, uint32_t node);
/* The same of a job whose gang has its nodes whole: as long as it is there the
 * node serves nobody else, so it leaves nothing beside it. */
enum pass reserve_pass_whole(const struct round *round,
                             const struct reservation *reservation,
                             const struct class *class, uint32_t node);
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

/* Between plans (reserve_kept.c): what the last one reserved. */

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
/* Forget them, and all that is remembered of nodes. */
void reserve_fini(struct sched *sched);

/* Parts of the making, shared with reserve_gang.c. */

/* Amounts that become free on a node. */
struct release {
    int64_t at_ms;
    uint32_t node;
    const struct resource_vec *request;
};

/* What a plan did to a node. */
enum { TOUCH_PLACED = 1, TOUCH_PREEMPTED = 2 };

/* A reservation in the making. */
struct reserving {
    struct round *round;
    const struct claim *claim;
    struct reservation *reservation;
    uint32_t holder; /* 1 + its gang, if that has its nodes whole; else 0 */
    uint32_t *planned_first; /* by node: the last of its new jobs' entries of
                                the journal, or NONE; NULL: there are none */
    uint32_t *planned_next;  /* by entry */
    uint8_t *is_touched;     /* by node: what the journal has; or NULL */
    uint8_t *may_go;         /* by queue: a lifetime of its work is a bound */
    struct ready_memory *memory; /* see reserve_recall() */
    /* Of what was gathered since they were set: whether a bound is overdue,
     * and the first bound that moves since its run has not started
     * (INT64_MAX: none does). */
    bool is_moving;
    int64_t moving_ms;
    uint64_t queues; /* whose lifetimes were asked about; as in ready_node */
    VEC(struct release) releases;
};

/* What of a node's room is there now: none of it where a gang has the node
 * whole, or would have to and others are there. */
struct resource_vec reserve_room(const struct reserving *r, uint32_t node);
/* Append what becomes free on a node, when it is known. */
void reserve_gather(struct reserving *r, uint32_t node);
/* Whether what is less urgent on a node makes room at once, and nothing else
 * there has a bound but lifetimes: then the sums tell, and it need not be asked
 * one by one. */
bool reserve_goes_by_level(const struct reserving *r, uint32_t node);
/* Whether any run may have to be asked where that is so: the node has
 * preemptible work of that level, the claim's own, or something yields. */
bool reserve_must_ask(const struct sched *sched, uint32_t level, uint32_t node);
/* Of which of a node's change_counts that is which is remembered of it. */
static inline uint32_t *reserve_seen(struct ready_memory *m, uint32_t node)
{
    return m->is_of_gang ? &m->counts.items[node].seen
                         : &m->nodes.items[node].seen;
}
/* Whether a run gives way to an admitted gang whatever its age. */
bool reserve_goes_at_once(const struct run *run, uint32_t serial);
/* The bit of a queue in a set of queues, which it may share with others. */
static inline uint64_t reserve_queue_bit(uint32_t queue)
{
    return UINT64_C(1) << (queue % 64);
}
/* Add a node to the reservation: `room` is what is free there at t*. */
void reserve_add(struct reserving *r, uint32_t node,
                 const struct resource_vec *taken,
                 const struct resource_vec *room);
/* Whether the claim's job `job` may use a node at all; empty nodes too. */
bool reserve_matches(const struct reserving *r, uint32_t job, uint32_t node);
/* Reserve for a single job (reserve_job.c); false as in reserve_make(). */
bool reserve_for_job(struct reserving *r);
/* What is remembered of the pool's nodes, in line with the claim and the nodes
 * there are; `memory` from then on. */
struct ready_memory *reserve_recall(struct reserving *r,
                                    const struct resource_vec *request);
/* What is known of a node for a single job now. */
const struct ready_node *
reserve_ready_of(struct reserving *r, struct ready_memory *m, uint32_t node);
/* Whether a single job would rather have `node` than the other, of two that
 * reserve_ready_of() was asked about. */
bool reserve_is_better(const struct reserving *r, const struct ready_memory *m,
                       uint32_t node, uint32_t than);
/* Put back what was set aside for a plan's own work. */
void reserve_put_back(struct ready_memory *m);
/* Remember what each queue's work would make free on a node, where all of it
 * may go at once or never (reserve_piles.c); false where it is not so simple.
 * Then the node's time and key are right as well. */
bool reserve_pile(struct reserving *r, struct ready_memory *m, uint32_t node);
/* Bring a piled node's time and key in line with the queues that may go now. */
void reserve_sum_piles(const struct reserving *r, struct ready_memory *m,
                       uint32_t node);
/* The same with what the plan has put on the node, for the moment; false when
 * that goes at another time. */
bool reserve_sum_planned(const struct reserving *r, struct ready_memory *m,
                         uint32_t node);
/* The first time at which `needed` members of a gang that are all alike have
 * room (reserve_steps.c), or SCHED_START_UNKNOWN; in which group of nodes
 * (NULL: there are none), and on which nodes at all, by node. */
int64_t reserve_first_time(struct reserving *r, const struct gang *gang,
                           uint32_t needed,
                           const struct label_group **ret_group,
                           const uint8_t **ret_allowed);
/* How many of them have room on an allowed node at a time. */
uint32_t reserve_count_on(const struct ready_memory *m, uint32_t node,
                          int64_t at_ms);
/* The places of a gang whose members are all alike (reserve_alike.c): at a time
 * at which they have room, in one group if there is one; SCHED_START_UNKNOWN:
 * where most of their room is.  False when even empty nodes lack it. */
bool reserve_alike(struct reserving *r, const struct gang *gang,
                   uint32_t needed, int64_t at_ms,
                   const struct label_group *group, const uint8_t *allowed);
/* Likewise, of a gang that has its nodes whole (reserve_whole.c): by the rule
 * of whole_node.h, at a known time. */
bool reserve_whole(struct reserving *r, const struct gang *gang, int64_t at_ms,
                   const struct label_group *group, const uint8_t *allowed);
/* Whether the topology says where a gang goes, at whatever time. */
bool reserve_goes_near(const struct round *round, const struct gang *gang);
/* Such a gang in the making, in the round's arena (reserve_near.c). */
struct reserve_near;
struct reserve_near *reserve_near_begin(struct round *round,
                                        const struct gang *gang);
/* What nodes have at the time that is asked about next, by their places in
 * topology.nodes: nothing, until the caller sets `left`. */
struct whole_room *reserve_near_rooms(struct reserve_near *near);
/* Whether the gang has room there, within its caps and as near as can be; it
 * moves from `left` to `taken`.  False also once that is spent. */
bool reserve_fits_near(struct reserve_near *near);
/* Whether all questions together have cost half of what one gang may cost a
 * round, so that times should be chosen with care; and all of it. */
bool reserve_near_is_long(const struct reserve_near *near);
/* See reserve_near_is_long(). */
bool reserve_near_is_spent(const struct reserve_near *near);
/* Forget what is remembered of a pool's nodes. */
void reserve_forget(struct pool *pool);
/* Reserve for a whole gang; false as in reserve_make(). */
bool reserve_for_gang(struct reserving *r);
/* Whether that can be said without making one: its members are alike.  Then
 * whether empty nodes would hold it. */
bool reserve_gang_is_plain(struct reserving *r, bool *ret_is_possible);
