/*
 * sets - what a place costs others, and which place costs least (model.md
 * 6.6).  Places are compared by these keys, one after the other:
 *
 *     how many victims are protected by a disruption budget (budgets.h)
 *     the highest rank among the victims, the sum of their ranks, their number
 *     how near to each other the gang's pods would be, where a whole gang is
 *         priced (price.h)
 *     whose victims would be the last to win their places back
 *     what is lost on the node
 *     the node's name
 *
 * Surplus wins no place back.  So a place that costs only surplus is better
 * than one that costs evicted work.  Of two that cost only surplus, the better
 * one leaves the worthier surplus alone (surplus_order.h): that is 003's
 * "biggest over-share" of 6.6, and within a `cfs` queue "the rightmost gives
 * first".  A place is judged by the best of its victims, the one that would
 * keep its place longest.  If places still cost the same, those with surplus of
 * one gang come first, by the gang's first member and then by the highest id
 * that is preempted.
 *
 * Each key belongs to a set alone.  So the order of sets has no circles, does
 * not depend on which is examined first, and does not know where a node stands
 * in the state.
 *
 * A victim without which its gang would break counts with all of that gang.
 * Where no gang with terms and nothing protected runs, victims.c finds places
 * by faster searches, in an order of its own.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/place/place.h"
#include "sched/victims/victims.h"

/* The price of a place. */
struct victim_set {
    uint32_t protected_count; /* of `count` */
    uint64_t rank_max; /* 0: borrowed; else 2^31 + priority; 0: no victims */
    uint64_t rank_sum;
    uint32_t count;
    /* The levels over which a gang's sub-groups would be spread; see
     * price.h.  0 for the place of one job. */
    uint32_t hops;
    /* Of the victim that would win its place back first; UINT32_MAX: none
     * would, as of surplus that goes alone, which won it from nobody. */
    uint32_t ordinal;
    /* All victims are surplus that goes alone, and this gang would keep its
     * own best (surplus_order.h); NONE: not so. */
    uint32_t surplus_of;
    uint64_t lost;  /* what would be left on the node, weighted */
    uint32_t group; /* all victims are surplus of it; or NONE */
    uint32_t pod;   /* of it, the one with the highest id */
    uint32_t node, node_rank;
    bool spares_groups; /* it was found so; see struct victim_rules */
    bool breaks_gang;   /* some victim takes all of its gang */
};

/* Nobody goes, to no node. */
#define VICTIM_SET_NONE   \
    ((struct victim_set){ \
        .ordinal = UINT32_MAX, .surplus_of = NONE, .group = NONE})

/* Which of two sets is better: below 0 the first, 0 never for two nodes.
 * Nothing that a round does changes how two sets compare. */
int victim_set_compare(struct round *round, const struct victim_set *a,
                       const struct victim_set *b);
/* Whether a job may have its place on the set's node, with those of the set
 * gone. */
bool victim_set_is_allowed(const struct search *search,
                           const struct victim_set *set);
/* Whether `a` is worse, whatever comes to it. */
bool victim_set_is_dearer(const struct victim_set *a,
                          const struct victim_set *b);
/* Add what a victim costs, with all that goes with it. */
void victim_set_add(struct round *round, struct victim_set *set,
                    const struct victim *victim);
/* The best way to make room for a job on a node; false: there is none. */
bool victim_sets_judge(const struct search *search, uint32_t node,
                       const struct victim_rules *rules,
                       struct victim_set *ret_set);
/* The best place for a job with victims; false: there is none. */
bool victim_sets_find(const struct search *search, struct victim_rules *rules,
                      struct victim_set *ret_set);
/* The price of all that runs on a node; false: some of it may not go. */
bool victim_sets_of_node(const struct search *search, uint32_t node,
                         const struct victim_rules *rules,
                         struct victim_set *ret_set);
