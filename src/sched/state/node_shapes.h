/*
 * node_shapes - groups nodes that are equal for all classes.
 *
 * A node's kind is the number of its taints, of its labels that some class asks
 * about, and of whether it has GPUs: so a class asks about each kind once a
 * round, not about each node.  Which labels those are is kept up with classes
 * and nodes; a new one makes all kinds anew, at the next plan.  Labels that no
 * node has do not count, and so no user can make kinds by asking for them.
 * Those with GPUs or with taints that keep pods away have odd numbers, all
 * others even ones: most classes are kept from the former.
 *
 * A class that asks for nodes by name asks about each node itself.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

enum {
    /* What classes may remember of kinds in one round; beyond, they ask. */
    NODE_SHAPES_BYTES_MAX = 1 << 27,
};

/* Start with none. */
void node_shapes_init(struct sched *sched);
/* Free them. */
void node_shapes_fini(struct sched *sched);
/* A class asks about these labels; returns whether it asks for names too. */
bool node_shapes_note_class(struct sched *sched,
                            const struct requirement *requirement);
/* A node has another record. */
void node_shapes_note_node(struct sched *sched, uint32_t node);
/* All kinds are right after this. */
void node_shapes_sync(struct sched *sched);
/* All kinds are smaller than this. */
size_t node_shapes_count(const struct sched *sched);
/* What each node of a kind has at least, also when empty. */
static inline const struct resource_vec *
node_shapes_least(const struct sched *sched, uint32_t kind)
{
    ASSERT(kind / 2 < sched->kind_least.count);
    return &sched->kind_least.items[kind / 2];
}
/* The words that a class needs to note two bits for each kind. */
size_t node_shapes_word_count(const struct sched *sched);
