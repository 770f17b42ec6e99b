/*
 * watch - records what a round changes, for searches that remember what nodes
 * would cost or hold.
 *
 * Nothing is noted before a search says that it remembers something; each
 * keeps how far in the lists it has read.  Zeroed memory has noted nothing.
 *
 * Private to src/sched; lives with the round.
 */
#pragma once

#include "base/vec.h"

struct round;

/* Another number of a gang's pods is surplus than before, or (`sub_group` is
 * NONE) they may go for other reasons. */
struct surplus_change {
    uint32_t gang, sub_group;
    uint32_t surplus_min; /* of before and after */
};

struct watch {
    uint32_t *counts;    /* by node: of what it has free and who is evicted */
    VEC(uint32_t) moved; /* nodes whose place in the index changed */
    VEC(uint32_t) grown; /* nodes that got room by preemption */
    bool is_of_rooms;    /* somebody remembers what nodes would have free */
    bool is_of_costs;    /* or what they would cost */
    VEC(uint32_t) rooms; /* nodes whose evicted work has its place again */
    VEC(uint32_t) costs; /* the same, and nodes with another free amount */
    VEC(struct surplus_change) surplus;
};

/* A round begins. */
void watch_begin(struct round *round);
/* What a node has free is another now. */
void watch_free(struct round *round, uint32_t node);
/* Evicted work has its place on a node again. */
void watch_return(struct round *round, uint32_t node);
/* The plan preempts a member of a gang with terms (+1), or undoes it (-1). */
void watch_member(struct round *round, uint32_t job, int sign);
/* A gang with terms was joined, or its minimums have their places again. */
void watch_gang(struct round *round, uint32_t gang);
/* The round is over. */
void watch_fini(struct watch *watch);
