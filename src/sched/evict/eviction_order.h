/*
 * eviction_order - the order in which a round's evicted work would get its
 * places back if there were no other work: its units' ordinals, and the evicted
 * runs of each node.
 *
 * Private to src/sched; lives in the round's arena.
 */
#pragma once

#include "sched/order/round.h"

/* Number the units of all lanes, note their turns where a claim may ask for
 * them (evict_turn()), and give each node its evicted runs. */
void evict_order(struct round *round);
