/*
 * away - work on nodes that are not its home (model.md 6.10b, AR-13): a
 * priority class may let its jobs run on nodes of a type whose taints they do
 * not tolerate, at a lower priority.
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

struct search;

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
/* Whether labels and taints allow any variant of a class on a node. */
bool away_matches(const struct sched *sched, uint32_t class_index,
                  uint32_t node);

/* A free node for a job that finds none at home, or NONE; the search is then
 * the variant's. */
uint32_t away_find(struct search *search);
/* The like, by preemption: decides the victims. */
uint32_t away_find_victims(struct search *search);
/* Whether victims_may_be() says so of any variant of the search's class. */
bool away_victims_may_be(const struct search *search);
