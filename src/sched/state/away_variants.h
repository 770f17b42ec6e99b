/*
 * away_variants - a priority class may let its jobs run on nodes of a type
 * whose taints they do not tolerate, at a lower priority (model.md 6.10b,
 * AR-13).
 *
 * For each such type a scheduling class has a *variant*: a class of its own
 * that asks for the same, tolerates the type's taints, is only for nodes that
 * have them, and has the level of the lower priority.  Searches take it for
 * any other class, so that it has caches and victims of its own.  A variant
 * has no jobs: what runs there is told by its priority.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Make the variants of a class that was just resolved. */
void away_resolve(struct sched *sched, uint32_t class_index);
/* Give them back. */
void away_drop(struct sched *sched, uint32_t class_index);
/* What a variant's jobs ask for, with the tolerations of its type. */
void away_extend(const struct sched *sched, const struct class *class,
                 struct requirement *requirement, struct arena *arena);
/* Whether a node is of the type of a variant. */
bool away_is_of_type(const struct sched *sched, const struct class *class,
                     uint32_t node);
