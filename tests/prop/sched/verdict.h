/*
 * verdict - whether the planner plans what the oracle says, decision by
 * decision; with $PROP_SHOW set, both are printed with their instance where
 * they differ.
 */
#pragma once

#include "built.h"

/* Whether the plan of a planner that was told an instance is the oracle's, and
 * making it changed nothing; the plan. */
bool verdict_is_same(const struct instance *instance, struct built *built,
                     enum round_kind kind, int now, struct sched_plan *plan);
