/*
 * exclusive_clear - which nodes to clear for a gang with exclusive nodes.
 *
 * Of the nodes on which all that runs may go, and of empty ones, those are
 * taken that cost others least (sets.h), one after the other, until all pods
 * have room; then those that are not needed after all are left out, the dearest
 * first.  So it clears no node that is not needed; but another set may cost
 * less in all.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/victims/sets.h"

/* A node that may be taken. */
struct clear_item {
    struct victim_set set; /* no victims: it is empty */
    uint32_t pod_count;    /* that it holds */
    uint32_t room;         /* the caller's */
    bool is_chosen;
};

/* Choose among `items`, whose order changes, so that `pod_count` pods have
 * room.  False: all together have not. */
bool exclusive_clear_choose(struct round *round, struct clear_item *items,
                            uint32_t count, uint32_t pod_count);
