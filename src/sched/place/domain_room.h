/*
 * domain_room - how many members of a class each domain of a pool's topology
 * holds in free space, and how much of it would be left over.
 *
 * Counted once a round for a class, and then kept up with the nodes that
 * moved: so a gang costs a look at each node only once, however many of its
 * kind wait.
 *
 * What is reserved is counted as far as it forbids.  What a single job avoids
 * is not.  Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"
#include "sched/state/topology.h"

struct domain_room {
    const struct topology *topology;
    uint32_t *counts;      /* by place: members that the node holds */
    uint64_t *keys;        /* by place: what the node has free, weighted; only
                              where it holds any */
    uint64_t *domain_sums; /* by domain: the counts of its nodes */
    uint64_t *domain_keys; /* by domain: the keys of its nodes */
    uint32_t count_max;    /* no node holds more */
    uint32_t moved_seen;   /* of round.watch.moved */
    uint32_t reserved_by;  /* what it was counted beside */
    uint32_t gang;         /* of domain_room_held(): whose nodes count */
};

/* The room that a class has now, in a pool with a topology. */
const struct domain_room *domain_room_of(struct round *round,
                                         uint32_t class_index);
/* The same for a member of a gang that has its nodes whole.  One that has
 * nodes already is alone in that, and all are counted at each call. */
const struct domain_room *domain_room_whole(struct round *round,
                                            uint32_t class_index, uint32_t job,
                                            bool has_nodes);

/* The same for one that grows pod by pod: counted at its first call, and right
 * until the class is asked for about another gang. */
const struct domain_room *domain_room_held(struct round *round,
                                           uint32_t class_index, uint32_t job);

/* For rooms of another time: one in which nothing is counted. */
struct domain_room *domain_room_make(struct round *round);
/* Sum up what domains hold, once nodes are counted. */
void domain_room_sum(struct domain_room *room);
