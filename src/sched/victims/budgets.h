/*
 * budgets - runs whose eviction would violate a disruption budget (model.md
 * 5.6, 6.6).  They lose their places last: of places those cost most that need
 * one of them, but for their number nothing else counts, and on a node they
 * win theirs back before all others.  Who has no other place takes theirs
 * nevertheless.
 *
 * A state without such a run pays nothing but the looks at a counter; as long
 * as there is one in a pool, places there are compared by what they cost
 * (sets.h).
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

struct victim;

/* Set `protected_count` of the victims of one node, if any run is protected. */
void budgets_mark(const struct sched *sched, struct victim *victims,
                  uint32_t count);
