/*
 * window - the list of admitted work in a round, and whether more may be
 * admitted (model.md 6.5).  admission.h fills it and tries what is in it.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* How the round's pool admits. */
static inline const struct pool_policy *window_policy(const struct round *round)
{
    return &round->sched->policy->pools[round->pool->policy_index];
}

/* Whether no new work of the lane is to be tried in this round. */
bool window_bars(const struct round *round, const struct lane *lane);
/* The job of the first admitted work that has no place yet, of a lane or of all
 * (NULL); or NONE. */
uint32_t window_first_of(const struct round *round, const struct lane *lane);
/* Whether some admitted work has no place yet.  It is tried before all else, so
 * what preemptions left since is for it in the next round, and for growth only
 * then. */
bool window_waits(const struct round *round);
/* Whether the next one that finds no room might be admitted. */
bool window_is_open(const struct round *round, const struct lane *lane);
/* Whether work of a level of the lane's may be admitted now. */
bool window_is_open_at(const struct round *round, const struct lane *lane,
                       uint32_t level);
/* Whether a job or gang is in the round's list. */
bool window_has(const struct round *round, uint32_t item, bool is_gang);
