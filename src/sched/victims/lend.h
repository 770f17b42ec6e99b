/*
 * lend - work whose home is another pool (model.md 5.4 to 5.6, 6.6 rule a).
 *
 * Foreign work waits in lists of its own.  A round comes to it last, after
 * all that is at home here, whatever its class is; it gets what is free then
 * and not reserved, preempts nobody, and is not admitted.
 *
 * Where it runs it goes before all else when work that is at home here needs
 * the room, unless the pool's preemption is off: it counts as
 * urgency-preemptible, at the lowest level, and what is evicted for fairness it
 * never is.  Of the nodes where foreign work alone makes room, that with the
 * fewest victims is taken, then that where least is lost: the order of
 * model.md 6.6 for them.
 *
 * A shard without foreign work pays nothing but the looks at two counters.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/victims/victims.h"

/* Whether a job's home is elsewhere. */
static inline bool lend_is_borrowed(const struct sched *sched, uint32_t job)
{
    return sched->lists.items[sched->jobs.items[job].list].is_borrowed;
}

/* A run came to (+1) or left (-1) its node. */
void lend_count_run(struct sched *sched, const struct run *run, int sign);

/* Whether foreign work may go, for what a round places now. */
static inline bool lend_may_recall(const struct round *round)
{
    return round->sched->borrowed_run_count &&
           !round->sched->is_preemption_off && !round->is_lending;
}

/* Whether a limit of queue and class lets `request` start.  What may be taken
 * back does not keep a queue's own work from its place. */
static inline bool lend_is_within(const struct round *round,
                                  const struct usage *usage,
                                  const struct resource_vec *request)
{
    bool may_recall = lend_may_recall(round);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        int64_t used =
            usage->used.v[r] - (may_recall ? usage->foreign.v[r] : 0);
        if (request->v[r] > 0 && used + request->v[r] > usage->limit.v[r]) {
            return false;
        }
    }
    return true;
}

/* Whether this run may go because it is foreign. */
bool lend_is_victim(const struct round *round, const struct run *run);
/* Add what may go so on a node. */
void lend_add_room(const struct round *round, uint32_t node,
                   struct resource_vec *room);
/* The best node on which foreign work alone makes room, or NONE; the rules by
 * which it is chosen who goes there. */
uint32_t lend_find(const struct search *search, struct victim_rules *ret_rules);

/* Place the foreign work that waits; all else is done. */
void lend_begin(struct round *round);
/* Whether a class found no place for foreign work in this sweep. */
bool lend_missed(const struct round *round, const struct class *class);
/* It found none. */
void lend_miss(const struct round *round, struct class *class);
