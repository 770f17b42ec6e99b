/*
 * gang_spots - which nodes the members of a gang take at a time to come: one
 * after the other, each the fullest that has room for it, as gang_place.c does.
 *
 * Private to gang.c; all memory is the round's.
 */
#pragma once

#include "sched/reserve/private.h"

/* A waiting member. */
struct member {
    uint32_t job, class_index;
    uint32_t ordinal;    /* in the gang's own order */
    uint32_t kind_first; /* the ordinal of the first of its class */
};

/* A node, and what it has to give. */
struct spot {
    uint32_t node;
    struct resource_vec room;  /* at the time in question */
    struct resource_vec taken; /* by the gang */
    uint64_t key;
    uint32_t release_first, release_count; /* of r->releases */
};

/* The nodes of the pool, or of one value of a label. */
struct spots {
    struct reserving *r;
    const struct gang *gang;
    struct member *members; /* those of a class stand together */
    uint32_t member_count;
    struct spot *items; /* all of them */
    uint32_t count;
    uint32_t *place; /* by node: in items, or NONE */
    uint32_t *order; /* those tried, in order */
    uint32_t *spare;
    uint32_t order_count;
    const struct label_group *only; /* or NULL: all */
    uint32_t needed, skipped_max;
    bool is_on_empty; /* the most room first, and up to the capacity */
    struct reserve_locality *locality; /* the topology says where members go; or
                                  NULL: it does not, or that is spent */
    /* By node, whether members that are all alike may go there, and the time
     * that is asked about; NULL: any node, at any time. */
    const uint8_t *allowed;
    int64_t at_ms;
};

/* List the members; how many orders of the nodes they will ask for.  Classes
 * stand in the order of their first members: their numbers depend on
 * history. */
uint32_t spots_list_members(struct spots *spots);
/* Whether the gang has room at a time; leaves its places in `taken`. */
bool spots_fit_at(struct spots *spots, int64_t at_ms);
