/*
 * reserve - reserves nodes and amounts for admitted work that has no room yet,
 * and decides which work may use them in the meantime (model.md 2.9).
 *
 * A run is expected to end at its *release bound*: the end of its deadline, or
 * the end of its lifetime if it could then be preempted for the reservation's
 * holder.  The lifetime does not count for preemption by fairness where that
 * would make room at once, because the holder has just found none.  The
 * reservation is where the holder would go at the shadow time t*: the first
 * time at which the releases until then leave it room.  Without such a time it
 * is where most of its room is free or has a release bound.  A reservation is
 * for nodes and amounts, not for a total.  Other work may use of a reserved
 * node what is left beside the holder at t*, and what it gives back by then.
 *
 * It is made anew in each round and lives in the round's arena.  A round has
 * the pool's (round.reserve.hold); queues may have more of their own, with the
 * same questions.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/reserved.h"

/* Reserve for a claim; false when it would not even fit in empty nodes.
 * `ret` lives as long as the round. */
bool reserve_make(struct round *round, const struct claim *claim,
                  struct reservation *ret_reservation);
/* Whether reserve_make() would find nodes for a claim; cheap for gangs of like
 * members. */
bool reserve_is_possible(struct round *round, const struct claim *claim);

/* Between plans (kept.c): what the last one reserved. */

/* Keep a round's reservation; NULL: there is none. */
void reserve_keep(struct round *round, const struct reservation *reservation);
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
bool reserve_is_right(const struct sched *sched, struct arena *scratch);
/* Forget what is remembered of nodes. */
void reserve_forget(struct reserve_memory *memory);
/* Free all that rounds passed on. */
void reserve_memory_fini(struct reserve_memory *memory);
/* The same of all pools. */
void reserve_fini(struct sched *sched);
