/*
 * topology - the distances between the nodes of a pool, by their labels.
 *
 * A pool may name labels from the leaf to the core (model.md 2.11), its
 * *levels*, numbered from 1.  Nodes of one cluster with the same values from
 * the top down to a level are one *domain* of that level; a cluster is the
 * domain above all levels.  So domains are nested, and a value that is found
 * under two others names two domains: it is the whole path that counts.  A
 * level whose label a node lacks is passed over in its path; a node that has
 * none of the labels is in its cluster only.
 *
 * Two pods on one node are 0 hops apart, on two nodes of a domain of level l,
 * and of none lower, 2 l; where nothing but the cluster is shared there is no
 * number, and no cap allows it.
 *
 * Pools that name no labels have no topology, and cost nothing, as long as no
 * gang has a cap; then they have one of clusters alone.  It is made anew when
 * nodes come, go or change one of the labels.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Nodes that are near to each other. */
struct domain {
    struct str value; /* of its label; a cluster's is the executor's name */
    uint32_t parent;  /* that it is part of, or NONE: a cluster */
    uint32_t first, count; /* its nodes, in topology.nodes */
    uint32_t level;        /* from 1; a cluster's is above all labels */
};

struct topology {
    uint32_t level_count;   /* labels */
    struct domain *domains; /* by level, each level in order of paths */
    uint32_t domain_count;
    /* The domains of level l are those from level_first[l] on, up to
     * level_first[l + 1]; of clusters, l is level_count + 1. */
    uint32_t level_first[GANG_LEVELS_MAX + 3];
    uint32_t *nodes; /* those of each domain stand together */
    uint32_t node_count;
    uint32_t *lowest;      /* by place in nodes: its lowest domain */
    uint32_t *place;       /* by node: in nodes, or NONE */
    uint32_t place_count;  /* of `place` */
    uint32_t split_count;  /* values that name several domains of a cluster */
    uint32_t bare_count;   /* nodes that lack a label */
    struct intern *values; /* owns what domains are called */
};

/* A pool's topology, right after nodes_sync(); NULL: it has none. */
const struct topology *topology_of(const struct sched *sched, uint32_t pool);
/* How far two nodes are from each other; HOPS_ANY where there is no number,
 * also for nodes that are not in it. */
uint32_t topology_hops(const struct topology *topology, uint32_t a, uint32_t b);
/* The lowest domain that a node is in; NONE: the node is not in it. */
uint32_t topology_lowest(const struct topology *topology, uint32_t node);
/* The lowest domain that both are in; NONE: there is none.  Either may be
 * NONE, then it is the other. */
uint32_t topology_common(const struct topology *topology, uint32_t a,
                         uint32_t b);
/* The highest level that a cap on hops allows; 0 is a single node. */
uint32_t topology_level_max(const struct topology *topology, uint32_t hops_max);

/* Whether a domain is of a level or below it, and none around it is. */
bool topology_is_highest(const struct topology *topology, uint32_t domain,
                         uint32_t level);

/* A node is about to have another record (NULL: none) and pool. */
void topology_note(struct sched *sched, uint32_t node, uint32_t pool,
                   const struct node_record *record);
/* The levels of a pool may be others: make it anew when asked next. */
void topology_forget(struct pool *pool);
/* It is right after this. */
void topology_sync(struct sched *sched, uint32_t pool);
