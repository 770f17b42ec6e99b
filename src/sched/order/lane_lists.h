/*
 * lane_lists - the lists that a lane draws from: a heap by what comes first in
 * each, which is unfolded no further than it is looked at.
 *
 * A lane's `slots` are a heap of its heads, each of which stays where it is.
 * A slot's key is most of what its head is ordered by, so that an order of
 * hundreds of lists is kept with few looks at anything else.  Where the lane is
 * folded, so is the heap of its queue (list_heap.h): a head at a place of
 * its (`front`) stands for all that lies below it too, until it is unfolded.
 *
 * Private to src/sched, for the lanes alone; what others ask of the lists of a
 * lane is in lanes.h.  Heads live in the round's arena.
 */
#pragma once

#include "sched/order/lanes.h"

/* The head at a place of the heap. */
static inline struct head *lane_lists_at(const struct lane *lane, uint32_t at)
{
    return &lane->heads[lane->slots[at].head];
}

/* Exchange two heads; lane_lists_order() is to follow. */
static inline void lane_lists_swap(struct lane *lane, uint32_t a, uint32_t b)
{
    struct head_slot slot = lane->slots[a];

    lane->slots[a] = lane->slots[b];
    lane->slots[b] = slot;
}

/* Whether a head's item was already dealt with by this plan, or is a gang that
 * goes on in another pool. */
bool lane_lists_has_planned(const struct round *round, const struct head *head);
/* Move a head to an item that is still to be planned; false at the end. */
bool lane_lists_move(const struct round *round, struct head *head);
/* Note what the item at the cursor is ordered by. */
void lane_lists_note(const struct round *round, struct head *head);
/* The head of a list as it lies in the queue's heap; false when the lane has
 * nothing to draw from there. */
bool lane_lists_head_of(const struct round *round, const struct front *front,
                        struct head *ret_head);
/* Draw from what lies at a place of the queue's heap: from its list, or if
 * that is no longer what lies there, from all that are below it too. */
void lane_lists_draw(struct round *round, struct lane *lane, uint32_t place);
/* Add a head behind all others; lane_lists_order() is to follow. */
void lane_lists_append(struct round *round, struct lane *lane,
                       const struct head *head);
/* Make a heap of the heads in whatever order they are. */
void lane_lists_order(const struct round *round, struct lane *lane);

/* The first bits of what a head is ordered by: smaller goes first, equal says
 * nothing. */
uint64_t lane_lists_key(const struct round *round, const struct head *head);
