/*
 * private - a reservation in the making, and the functions that its files
 * share.
 *
 * reserve.c makes one: for a single job (job.c, by tree.h) or
 * for a gang (gang.c): of members that are alike (alike.c, by
 * the steps of reserve/steps.c), that has its nodes whole (exclusive.c) or
 * that the topology tells where to go (locality.c).  What it finds out of
 * nodes is remembered from one round to the next (struct profile_memory); where
 * that is simple, by sums (queue_sums.c).
 *
 * All lives in the round's arena, but for the memory.  Private to these files;
 * what others ask of reservations is in reserve.h.
 */
#pragma once

#include "sched/data/profile.h"
#include "sched/reserve/reserve.h"
#include "sched/state/borrowed.h"

struct label_group;
struct exclusive_room;

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
    struct profile_memory *memory; /* see reserve_recall() */
    /* Of what was gathered since they were set: whether a bound is overdue,
     * and the first bound that moves since its run has not started
     * (INT64_MAX: none does). */
    bool is_moving;
    int64_t moving_ms;
    uint64_t queues; /* whose lifetimes were asked about; as in node_profile */
    VEC(struct release) releases;
};

/* What of a node's room is there now: none of it where a gang has the node
 * whole, or would have to and others are there. */
struct resource_vec reserve_room(const struct reserving *r, uint32_t node);
/* Append what becomes free on a node, when it is known. */
void reserve_gather(struct reserving *r, uint32_t node);
/* Gather that of this node alone, afresh: a walk over its room. */
struct profile reserve_profile(struct reserving *r, uint32_t node);
/* Whether what is less urgent on a node makes room at once, and nothing else
 * there has a bound but lifetimes: then the sums tell, and it need not be asked
 * one by one. */
bool reserve_goes_by_level(const struct reserving *r, uint32_t node);
/* Whether any run may have to be asked where that is so: the node has
 * urgency-preemptible work of that level, the claim's own, or something yields.
 */
bool reserve_must_ask(const struct sched *sched, uint32_t level, uint32_t node);
/* Of which of a node's change_counts that is which is remembered of it. */
static inline uint32_t *reserve_seen(struct profile_memory *m, uint32_t node)
{
    return m->is_of_gang ? &m->counts.items[node].seen
                         : &m->nodes.items[node].seen;
}
/* Whether a run gives way to an admitted gang whatever its age. */
bool reserve_goes_at_once(const struct run *run, uint32_t serial);
/* Whether a run is a borrower's, whom all of the pool's own work may take the
 * place of, however urgent it is. */
static inline bool reserve_is_recalled(const struct sched *sched,
                                       const struct run *run)
{
    return borrowed_gives_way(sched) && borrowed_has(sched, run->job);
}
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
/* Reserve for a single job (job.c); false as in reserve_make(). */
bool reserve_for_job(struct reserving *r);
/* What is remembered of the pool's nodes, in line with the claim and the nodes
 * there are; `memory` from then on. */
struct profile_memory *reserve_recall(struct reserving *r,
                                      const struct resource_vec *request);
/* What is known of a node for a single job now. */
const struct node_profile *reserve_profile_of(struct reserving *r,
                                              struct profile_memory *m,
                                              uint32_t node);
/* Whether a single job would rather have `node` than the other, of two that
 * reserve_profile_of() was asked about. */
bool reserve_is_better(const struct reserving *r,
                       const struct profile_memory *m, uint32_t node,
                       uint32_t than);
/* Put back what was set aside for a plan's own work. */
void reserve_put_back(struct profile_memory *m);
/* Remember what each queue's work would make free on a node, where all of it
 * may go at once or never (queue_sums.c); false where it is not so simple.
 * Then the node's time and key are right as well. */
bool reserve_sum_queues(struct reserving *r, struct profile_memory *m,
                        uint32_t node);
/* Bring a summed node's time and key in line with the queues that may go now.
 */
void reserve_sum_again(const struct reserving *r, struct profile_memory *m,
                       uint32_t node);
/* The same with what the plan has put on the node, for the moment; false when
 * that goes at another time. */
bool reserve_sum_planned(const struct reserving *r, struct profile_memory *m,
                         uint32_t node);
/* The first time at which `needed` members of a gang that are all alike have
 * room (reserve/steps.c), or SCHED_START_UNKNOWN; in which group of nodes
 * (NULL: there are none), and on which nodes at all, by node. */
int64_t reserve_first_time(struct reserving *r, const struct gang *gang,
                           uint32_t needed,
                           const struct label_group **ret_group,
                           const uint8_t **ret_allowed);
/* How many of them have room on an allowed node at a time. */
uint32_t reserve_count_on(const struct profile_memory *m, uint32_t node,
                          int64_t at_ms);
/* The places of a gang whose members are all alike (alike.c): at a time
 * at which they have room, in one group if there is one; SCHED_START_UNKNOWN:
 * where most of their room is.  False when even empty nodes lack it. */
bool reserve_alike(struct reserving *r, const struct gang *gang,
                   uint32_t needed, int64_t at_ms,
                   const struct label_group *group, const uint8_t *allowed);
/* Likewise, of a gang that has its nodes whole (exclusive.c): by the rule
 * of exclusive_node.h, at a known time. */
bool reserve_exclusive(struct reserving *r, const struct gang *gang,
                       int64_t at_ms, const struct label_group *group,
                       const uint8_t *allowed);
/* Whether the topology says where a gang goes, at whatever time. */
bool reserve_locality_matters(const struct round *round,
                              const struct gang *gang);
/* Such a gang in the making, in the round's arena (locality.c). */
struct reserve_locality;
struct reserve_locality *reserve_locality_begin(struct round *round,
                                                const struct gang *gang);
/* What nodes have at the time that is asked about next, by their places in
 * topology.nodes: nothing, until the caller sets `left`. */
struct exclusive_room *
reserve_locality_rooms(struct reserve_locality *locality);
/* Whether the gang has room there, within its caps and as near as can be; it
 * moves from `left` to `taken`.  False also once that is spent. */
bool reserve_locality_fits(struct reserve_locality *locality);
/* Whether all questions together have cost half of what one gang may cost a
 * round, so that times should be chosen with care; and all of it. */
bool reserve_locality_is_long(const struct reserve_locality *locality);
/* See reserve_locality_is_long(). */
bool reserve_locality_is_spent(const struct reserve_locality *locality);
/* Reserve for a whole gang; false as in reserve_make(). */
bool reserve_for_gang(struct reserving *r);
/* Whether that can be said without making one: its members are alike.  Then
 * whether empty nodes would hold it. */
bool reserve_gang_is_plain(struct reserving *r, bool *ret_is_possible);

/* Note whether what queues have says that their work would be preempted for the
 * claim: they are over their share, and further than the claim would be.  True
 * where it says so of any. */
bool reserve_mark_queues(struct reserving *r, bool is_by_share);
/* Whether nobody new has room on a node before all that is there is gone: a
 * gang has it whole, or would have to. */
bool reserve_opens_whole(const struct reserving *r, uint32_t node);
