/*
 * cover - the nodes that a gang takes whole: the least that holds so many
 * pods (model.md 2.10, BK-14).
 *
 * Given nodes with room for some of the pods each and a cost each (what is
 * free there, all of which is the gang's then), choose a set that holds all
 * with the least cost; of those with equal costs the one with the fewest
 * nodes, and of those the one whose first node in order is the earliest, then
 * the second, and so on.  The choice is exact: a knapsack over the number of
 * pods, after what cannot be in the best set, and what must be, were set
 * aside.
 *
 * Pure, and knows nothing of the scheduler.
 */
#pragma once

#include "base/arena.h"

/* Nodes times pods that are looked at; beyond it the set may not be the best,
 * but holds all. */
enum { COVER_STEPS_MAX = 1 << 27 };

/* A node that may be chosen. */
struct cover_item {
    uint64_t cost;
    uint32_t pod_count; /* that it holds */
    uint32_t rank;      /* settles ties; no two are equal */
};

/* Choose among `items` so that `pod_count` pods have room: ret_chosen[i] says
 * whether items[i] is.  False: all together have not the room.  Scratch comes
 * from `arena`. */
bool cover_choose(const struct cover_item *items, uint32_t item_count,
                  uint32_t pod_count, struct arena *arena, bool *ret_chosen);
