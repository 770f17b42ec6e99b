/*
 * verdict - whether the planner plans what the oracle says, decision by
 * decision; with $PROP_SHOW set, both are printed with their instance where
 * they differ.
 */
#pragma once

#include "built.h"

/* Whether the plan of a planner that was told an instance is the oracle's, and
 * making it changed nothing; the plan.  Where they differ and a flow that has
 * decayed decides it by less than sums differ that are made in another order,
 * the run is noted as open. */
bool verdict_is_same(struct tape *tape, const struct instance *instance,
                     struct built *built, enum round_kind kind, int now,
                     struct sched_plan *plan);
