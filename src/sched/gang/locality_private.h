/*
 * locality_private - a gang in the making whose sub-groups are to be near
 * together; for locality_*.c only.  locality_place.h says what is done.
 *
 *     locality_place.c  the whole gang, in one group of nodes after the other
 *     locality_free.c   a sub-group in free space
 *     locality_force.c  likewise where others must make way
 *     locality_find.c   one more member
 *     locality_caps.c   what caps say of all these
 *
 * Private to src/sched; lives as long as the try.
 */
#pragma once

#include "sched/gang/locality_place.h"

/* How near a gang came to be: the smaller the better. */
struct nearness {
    uint32_t levels;     /* summed up over sub-groups */
    uint64_t count, key; /* of what was picked, likewise */
};

/* A gang in the making. */
struct locality_attempt {
    struct attempt *attempt;
    const struct topology *topology;
    const struct label_group *outer; /* all of it in there; NULL: anywhere */
    bool *allowed;       /* by node, where a label decides too; or NULL */
    uint32_t first, end; /* places that may be used */
    uint32_t order[SUB_GROUPS_MAX]; /* sub-groups that ask, as they are tried */
    uint32_t level_max[SUB_GROUPS_MAX];
    uint32_t count;
    uint32_t try_count, tries_max; /* ways tried so far; no more than that */
    bool is_whole;                 /* its nodes serve nobody else */
    struct nearness nearness;
};

/* A point to come back to. */
struct locality_state {
    struct mark mark;
    uint32_t placed_count;
    struct resource_vec placed_sum;
    struct nearness nearness;
};

/* Place the sub-groups from one on, by its place in locality.order; false:
 * there is no room, and what was done since is taken back. */
typedef bool locality_fn(struct locality_attempt *locality, uint32_t index);

/* Where it is now. */
struct locality_state
locality_state_of(const struct locality_attempt *locality);
/* Take back all since. */
void locality_go_back(struct locality_attempt *locality,
                      const struct locality_state *state);
/* The nodes of a range of topology.nodes that may be used, as a group. */
struct label_group locality_group_of(const struct locality_attempt *locality,
                                     uint32_t first, uint32_t count);
/* Members one by one, each where it is best in a group (NULL: the pool). */
bool locality_place_members(struct locality_attempt *locality,
                            const struct seq *asked,
                            const struct label_group *group);
/* The places of a cluster's nodes in topology.nodes. */
void locality_cluster(const struct sched *sched,
                      const struct topology *topology, uint32_t executor,
                      uint32_t *ret_first, uint32_t *ret_end);
/* Place the sub-group at `index` in free space, and then the rest; picks are
 * tried until one does. */
bool locality_place_free(struct locality_attempt *locality, uint32_t index,
                         locality_fn *place_rest);
/* Place the sub-groups from the one at `index` on where others may have to make
 * way. */
bool locality_force(struct locality_attempt *locality, uint32_t index);
