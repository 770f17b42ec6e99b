/*
 * sched_lend - work that waits in another state, where it is borrowed (model.md
 * 5.5): which work may go, whether there is room, and what each state is told
 * about the others.
 *
 * Part of sched.h, whose rules apply.
 */
#pragma once

#include "sched/sched_explain.h"

/* Nodes that a job might be lent: those of another state. */
struct sched_elsewhere {
    struct sched *sched;
    struct str pool; /* that it would wait for there; "": any */
    /* The handle there of a class of the job's own state. */
    uint32_t (*class_of)(void *context, uint32_t class_index);
    void *context;
    const uint32_t *avoided; /* nodes there that the job avoids */
    uint32_t avoided_count;
    uint32_t fit_no; /* of sched_gang_may_fit() */
};

/* Whether a job's class may borrow. */
bool sched_job_may_borrow(const struct sched *sched, uint32_t job);
/* Whether some node elsewhere could hold a waiting job if it were empty, and
 * took new work; what the job avoids is not looked at.  Adds to `ret_looks` as
 * sched_has_place() does. */
bool sched_has_place_at(const struct sched *sched, uint32_t job,
                        const struct sched_elsewhere *there,
                        uint32_t *ret_looks);
/* As sched_gang_may_fit(), but false while there are no nodes. */
bool sched_gang_may_fit_at(struct sched *sched, uint32_t job,
                           const struct sched_elsewhere *there,
                           uint32_t *ret_looks);
/* Why a waiting job, with all that its gang needs, could not start elsewhere
 * as things are there: nodes, the quota and limits of its queue, rates.
 * TURN: nothing is known that keeps it.  Of nodes and pools the answer speaks
 * in the other state's words. */
void sched_explain_at(struct sched *sched, uint32_t job,
                      const struct sched_elsewhere *there, int64_t now_ms,
                      struct sched_explanation *ret_explanation);
/* The members of a job's gang that wait, in order, the optional ones last; in
 * the arena. */
uint32_t *sched_gang_waiting(const struct sched *sched, uint32_t job,
                             struct arena *arena, uint32_t *ret_count);
/* How many of these are required. */
uint32_t sched_gang_asked(const struct sched *sched, uint32_t job);

/* What a queue has in all other states together, which its quota counts too;
 * in columns of the policy's schema. */
void sched_quota_beside_set(struct sched *sched, uint32_t queue,
                            const struct resource_vec *amounts);
/* A job of a queue was leased in another state: limits on starts that are not
 * a pool's count it here too. */
void sched_start_note(struct sched *sched, uint32_t queue, int64_t now_ms);

/* Work that is at home here and waits, without what the last plan starts and
 * what may not borrow: jobs, and of a gang that does not run yet one; more
 * urgent first, the queues by turns, and within a queue the classes by turns,
 * that of the oldest work first; without the first `skip_count` of that order.
 * Their number, at most `count_max`. */
uint32_t sched_lend_candidates(struct sched *sched, uint32_t skip_count,
                               uint32_t count_max, uint32_t *ret_jobs);
/* Whether work that is at home here waits for room: not what a gang that runs
 * has to spare, nor what would not even fit on empty nodes; but to tell that
 * only so many nodes are looked at, and then what is left is taken to wait. */
bool sched_has_own_waiting(struct sched *sched);
/* Whether nodes have room for `count` of a class now, whoever else waits. */
bool sched_class_fits(const struct sched *sched, uint32_t class_index,
                      uint32_t count);
/* What is free on nodes that take new work. */
struct resource_vec sched_idle(const struct sched *sched);
