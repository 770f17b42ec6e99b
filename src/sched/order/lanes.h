/*
 * lanes - the next job of each queue in a round.
 *
 * Private to src/sched.  The types are in round.h.
 */
#pragma once

#include "sched/order/round.h"

/* The round's part of a class, fresh in each round. */
struct class *class_round(struct round *round, uint32_t class_index);
/* Add the lane of an active queue. */
struct lane *lane_add(struct round *round, uint32_t queue);
/* Gather the lists that a lane may draw from. */
void lane_fill(struct round *round, struct lane *lane);
/* What a lane's new work with `request` is ordered by; see cost_set(). */
void lane_set_new_cost(const struct round *round, const struct lane *lane,
                       const struct resource_vec *request,
                       struct cost *ret_cost);
/* The same, as a value. */
static inline struct cost lane_new_cost(const struct round *round,
                                        const struct lane *lane,
                                        const struct resource_vec *request)
{
    struct cost cost;

    lane_set_new_cost(round, lane, request, &cost);
    return cost;
}
/* Find a lane's next new work and put its stream in order. */
void lane_refresh_new(struct round *round, struct lane *lane);
/* Find a lane's next evicted work and put its stream in order. */
void lane_refresh_evicted(struct round *round, struct lane *lane);
/* Both streams of a lane, after its costs changed from outside. */
void lane_refresh(struct round *round, struct lane *lane);
/* Preemptions were undone: evicted work that was passed over counts again. */
void lane_rewind(struct round *round, struct lane *lane);
/* The lane's sums of a priority class against its limits; NULL: no limits. */
struct usage *lane_usage(struct round *round, struct lane *lane,
                         uint32_t priority_class);
/* Whether limits and quota let the lane's queue have `request` more of work of
 * a class. */
bool lane_is_within(struct round *round, struct lane *lane,
                    uint32_t class_index, const struct resource_vec *request);
/* Whether the lane's first list goes on with the item at its cursor, which is
 * then its first new work; false changes nothing but `item`. */
bool lane_goes_on(const struct round *round, struct lane *lane);
/* Draw from what comes behind the first list too; before its cursor moves. */
void lane_unfold(struct round *round, struct lane *lane);
/* The cursor of the first list moved: put the lists in order again. */
void lane_settle(struct round *round, struct lane *lane);
/* The order of the lane's work is another now. */
void lane_reorder(struct round *round, struct lane *lane);
/* Go past the item at the lane's head. */
void lane_skip(struct round *round, struct lane *lane);
/* Draw from another list, whose application has this rank. */
void lane_push_list(struct round *round, struct lane *lane, uint32_t list,
                    const struct app_rank *rank);
/* The rank of the first list came to be later. */
void lane_sink_first(struct round *round, struct lane *lane);
/* Pass over the rest of the lane's first list. */
void lane_drop_list(struct round *round, struct lane *lane);
/* Whether a head goes before another one of its queue. */
bool lane_head_less(const struct round *round, const struct head *a,
                    const struct head *b);
/* Put the first list of a lane that goes by applications off, until
 * lane_take_up(). */
void lane_put_off(struct round *round, struct lane *lane);
/* Draw from the lists that were put off again, each from where it was. */
void lane_take_up(struct round *round, struct lane *lane);
