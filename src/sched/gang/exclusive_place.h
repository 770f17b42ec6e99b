/*
 * exclusive_place - placing gangs that have their nodes exclusively, by the
 * holders that exclusive_node.h tells.
 *
 * Where a minimum goes: sub-group after sub-group, those with the largest
 * pods first (equals in their order).  First what is left on nodes that the
 * gang holds already is used, in the order of names, for it costs nothing
 * more; the rest by the least costly cover of empty nodes (cover.h), filled
 * in the order of names.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/gang/attempt.h"

/* Place all that the attempt's gang asks for, on the nodes of its group.
 * False: there is no room for all; what was placed is the caller's to take
 * back.  Where the attempt may preempt, nodes on which all may go are cleared,
 * if empty ones do not suffice (exclusive_clear.h). */
bool exclusive_node_place(struct attempt *attempt);
/* The same of one sub-group. */
bool exclusive_node_place_sub_group(struct attempt *attempt,
                                    uint32_t sub_group);
/* What a node has to give to a gang at a time to come. */
struct exclusive_room {
    uint32_t node;
    struct resource_vec left, taken;
};

/* Whether what a gang's sub-groups ask for has room there by the same rule; it
 * moves from `left` to `taken`.  The rooms are in order of names.  Nodes that
 * the gang holds may be among them, and those of which it has `taken` some are
 * like these. */
bool exclusive_node_fits(struct round *round, const struct gang *gang,
                         struct exclusive_room *rooms, uint32_t room_count);
/* The same of one sub-group. */
bool exclusive_node_fits_one(struct round *round, const struct gang *gang,
                             uint32_t sub_group, struct exclusive_room *rooms,
                             uint32_t room_count);
/* Hold again what the attempt has leased so far, for to take a part of it back
 * lets go of all its nodes. */
void exclusive_node_retake(struct attempt *attempt);
