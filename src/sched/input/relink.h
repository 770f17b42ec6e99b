/*
 * relink - takes all jobs out of every sum and adds them again: accounts, nodes
 * and lists depend on the policy's classes and resources.
 *
 * Between the two calls the caller changes the policy and what follows of it
 * (classes, levels, what nodes have free).  Both are linear in all jobs.
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

/* Take all jobs out.  What nodes have free is not put right: nodes_rebuild()
 * does that. */
void relink_take_off(struct sched *sched);
/* Put all of them in again. */
void relink_put_on(struct sched *sched);
