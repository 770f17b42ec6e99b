/*
 * ways - the ways to a place for one job, in the order in which every part of
 * a round tries them: a free place here, a free one away (away.h), a place here
 * by preemption, one away by preemption.
 *
 * So no run is preempted while there is a free place elsewhere.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/place/place.h"

/* A way; several, as a set, are those that may be tried. */
enum way {
    WAY_NONE = 0,
    WAY_HERE = 1,
    WAY_AWAY = 2,
    WAY_PREEMPTING = 4,
    WAY_AWAY_PREEMPTING = 8,
    WAYS_FREE = WAY_HERE | WAY_AWAY,
    WAYS_PREEMPTING = WAY_PREEMPTING | WAY_AWAY_PREEMPTING,
};

/* The first way of the set `ways` that leads to a node, which goes into
 * `ret_node`; what must go from there is preempted.  WAY_NONE: none does, and
 * `ret_node` is NONE.  After a way that leads away the search is that of the
 * class's variant. */
enum way ways_find(struct search *search, unsigned ways, uint32_t *ret_node);
