/*
 * repack - chooses an equal node for a leased pod when its node has no room
 * left (model.md 2.10, BK-11).
 *
 * The server chose the node, by what it knew then.  When others have taken
 * room there since, an equal node will do as well: of the same pool and type,
 * with the same capacity, taints and labels but for the host's name, and so in
 * the same domains of the topology.  Of those that have room the one is taken
 * that is left with the least, then the first by name, as the server would.
 *
 * Pure.  Threads: none of its own; what is passed in is borrowed.
 */
#pragma once

#include "model/node.h"

enum { REPACK_NONE = UINT32_MAX };

/* What pods of ours have of node `index`, of a resource, in thousandths. */
typedef int64_t repack_used_fn(void *ctx, uint32_t index, struct str resource);

/* A cluster's nodes, and what is known of their use. */
struct repack {
    const struct node_record *nodes;
    uint32_t node_count;
    repack_used_fn *used;
    void *ctx;
};

/* Whether a pod may run in the place of another's node. */
bool repack_is_equal(const struct node_record *a, const struct node_record *b);
/* Whether node `index` has room for a request beside what others and pods of
 * ours have.  What the node does not list at all is not the node's to give,
 * and is not asked about. */
bool repack_has_room(const struct repack *repack, uint32_t index,
                     const struct resource_list *request);
/* Where a pod that was leased for node `index` goes: there, if it has room;
 * else to an equal node; REPACK_NONE: none has room. */
uint32_t repack_choose(const struct repack *repack, uint32_t index,
                       const struct resource_list *request);
