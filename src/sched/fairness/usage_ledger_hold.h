/*
 * usage_ledger_hold - flows while nodes go from pool to pool with what runs
 * there.
 *
 * What a node brings, or takes along, is capacity as well as usage, and comes
 * bit by bit; measured in between, against a pool that has lost the one and
 * not yet the other, a queue would seem to have used more of it than it ever
 * did, and be told so for a half-life.  So between sched_flows_hold() and
 * sched_flows_keep() usages change alone, and each flow changes once: from the
 * fraction that the queue had of the pool before to that which it has after.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/fairness/usage_ledger.h"

/* Whether flows are held; then note that a usage ledger is about to change. */
bool usage_ledger_hold(struct sched *sched, struct usage_ledger *usage_ledger);
/* Free what is held. */
void usage_ledger_hold_fini(struct sched *sched);
