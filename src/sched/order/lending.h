/*
 * lending - places for borrowed work (borrowed.h) in a round.
 *
 * A round considers it last, after all work that is at home here, whatever its
 * class; it gets what is then free and not reserved, preempts nothing, and is
 * not admitted.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/state/borrowed.h"

/* Whether borrowed work may go, for what a round places now. */
static inline bool lending_may_recall(const struct round *round)
{
    return borrowed_gives_way(round->sched) && !round->is_lending;
}

/* `count` more of a class are in a lane, borrowed or not. */
static inline void lending_count_usage(struct usage *usage,
                                       const struct resource_vec *request,
                                       int64_t count, bool is_borrowed)
{
    amounts_add_times(&usage->used, request, count);
    if (is_borrowed) {
        amounts_add_times(&usage->borrowed, request, count);
    }
}

/* Whether the limits of queue and class let `request` start. */
static inline bool lending_is_within(const struct round *round,
                                     const struct usage *usage,
                                     const struct resource_vec *request)
{
    bool may_recall = lending_may_recall(round);

    for (uint32_t r = 0; r < RESOURCE_COLUMNS_MAX; r++) {
        if (class_limit_refuses(usage, may_recall, request, r)) {
            return false;
        }
    }
    return true;
}

/* Whether a class found no place for borrowed work in this sweep. */
bool lending_missed(const struct round *round, const struct class *class);
/* Place the borrowed work that waits; all else is done. */
void lending_begin(struct round *round);
/* It found none. */
void lending_miss(const struct round *round, struct class *class);
