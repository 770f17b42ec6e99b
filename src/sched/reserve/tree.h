/*
 * tree - finds the node on which a single job would have room first, without
 * examining all nodes again in each round.
 *
 * Over what is remembered of a pool's nodes for a request (struct
 * profile_memory) stands a tree of winners: by node, then of each two the
 * better.  A question looks again only at nodes that changed since the last
 * one, at those of which the plan has taken or given something, and at those
 * whose time has come. Where these are many it asks all nodes, as it does when
 * too many of the best do not allow the job; the answer is the same.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/reserve/private.h"

/* The best node that allows the claim's job, or NONE; what is known of it is
 * right then. */
uint32_t reserve_tree_first(struct reserving *r, struct profile_memory *m);
/* What is known of a node changed without a change of the node. */
void reserve_tree_note(struct profile_memory *m, uint32_t node);
/* Forget the tree. */
void reserve_tree_forget(struct profile_memory *m);
