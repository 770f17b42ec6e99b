/*
 * locality - which domains of a pool with a topology a sub-group may use, the
 * best first (model.md 2.11).
 *
 * The lowest level goes first, level 0 being single nodes; of one level the
 * domain with the smallest room that is enough; of equals the one that has
 * least free, then the first by name.  A cap on hops ends it at a level.  What
 * runs of the sub-group already has to be in the domain too, and may be
 * further apart than the cap if it always was.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/place/domain_room.h"

/* Where what runs of a sub-group is; zeroed memory has nothing running. */
struct locality_anchor {
    uint32_t node_count; /* 0, 1, or 2 for more */
    uint32_t node;       /* of 1 */
    uint32_t domain;     /* the lowest that holds all; NONE: there is none */
};

/* What is asked for. */
struct locality_query {
    const struct domain_room *room;
    const uint32_t *ranks; /* of nodes, by name */
    uint32_t needed;       /* members at once */
    uint32_t level_max;    /* what the cap allows */
    uint32_t first, end;   /* places in topology.nodes that may be used */
    struct locality_anchor anchor; /* of what runs */
};

/* Nodes that hold enough. */
struct locality_pick {
    uint32_t level;        /* UINT32_MAX: before the first */
    uint64_t count, key;   /* members that fit, and what is free there */
    uint32_t order;        /* by name, among those of its level */
    uint32_t first, nodes; /* places in topology.nodes */
};

/* Before the first pick. */
#define LOCALITY_NO_PICK ((struct locality_pick){.level = UINT32_MAX})

/* Count a node in. */
void locality_anchor_add(const struct topology *topology,
                         struct locality_anchor *anchor, uint32_t node);
/* The level that an anchor is spread over; 0 is one node. */
uint32_t locality_anchor_level(const struct topology *topology,
                               const struct locality_anchor *anchor);
/* Where a sub-group runs in a pool, as far as it is not preempted by a plan in
 * the making. */
void locality_anchor_of(const struct sched *sched, uint32_t pool,
                        const struct gang *gang, uint32_t sub_group,
                        struct locality_anchor *ret_anchor);
/* The highest domain, or node, around an anchor that a level allows, but no
 * lower than it is spread: its places in topology.nodes.  False: there is
 * none. */
bool locality_around(const struct topology *topology, uint32_t level_max,
                     const struct locality_anchor *anchor, uint32_t *ret_first,
                     uint32_t *ret_count);
/* The pick after `pick`; false: there is none. */
bool locality_next(const struct locality_query *query,
                   struct locality_pick *pick);
