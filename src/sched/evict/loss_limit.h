/*
 * loss_limit - what fairness destroys in all stays below what is useful
 * (docs/fairness.md: "Bounded loss", rule 3).
 *
 * A pool with a limit keeps two sums of each resource, over all its jobs:
 *
 *     lost:   the run time of runs that were preempted for fairness, or since
 *             they had promised to give way;
 *     useful: the longest run of each job, whether it was lost or ended well.
 *             No job that ends needs less than its longest run.
 *
 * and `lost` never passes the limit times `useful`.  The first run that a job
 * loses adds to both alike.  So with a limit of 1 or more only jobs that have
 * lost a run before can break it: of these as many may be preempted in a round
 * as the sums have left, the cheapest first, and the others are *spared*.  One
 * that has lost a run promises nothing for a place that it takes for fairness,
 * for nobody knows how much it would lose by that.
 *
 * Amounts are those of requests, times ms.  The sums are history: they follow
 * from what is decided and ends, and a checkpoint has them.
 *
 * Private to src/sched; the sums belong to their pool.
 */
#pragma once

#include "sched/order/round.h"

/* Mark the runs of a round's pool that are spared in it. */
void loss_limit_spare(struct round *round);
/* Whether a job, or one of its gang, may promise nothing where it takes a place
 * for fairness. */
bool loss_limit_bars(const struct round *round, uint32_t job);
/* The section `useful` of the history: the sums, and the longest runs. */
void loss_limit_pack(const struct sched *sched, struct strbuf *buf);
/* See loss_limit_pack(). */
void loss_limit_unpack(struct sched *sched, struct history_reader *reader);
/* Free all. */
void loss_limit_fini(struct sched *sched);
