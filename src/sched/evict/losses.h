/*
 * losses - the run time that each job has lost by preemption, and since when it
 * waits, or had waited for its run.
 *
 * A job that never was requeued has no row: it waits, or had waited, since its
 * submission, and has lost nothing.  What counts as lost is how long the runs
 * had run that were preempted for fairness, or since they had promised to give
 * way (rules c, d and e of model.md 6.6).  All times are wall-clock ms.
 *
 * A run knows whether its job had a row, since searches ask: most have none.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"

/* Since when a job waits, or had waited for its run: it was requeued, or
 * submitted. */
int64_t losses_since_ms(const struct sched *sched, uint32_t job);
/* Since when the job of a run had waited for it. */
static inline int64_t losses_since_of_run_ms(const struct sched *sched,
                                             const struct run *run)
{
    return run->has_loss ? losses_since_ms(sched, run->job)
                         : sched->jobs.items[run->job].submitted_ms;
}
/* The longest of its runs that it lost in a pool with a limit
 * (loss_limit.h); 0: it lost none. */
int64_t losses_longest_ms(const struct sched *sched, uint32_t job);
/* It lost a run, in a pool with a limit or not. */
void losses_add(struct sched *sched, uint32_t job, int64_t length_ms,
                bool is_counted);
/* A part of a section: these. */
void losses_pack_longest(const struct sched *sched, struct strbuf *buf);
/* See losses_pack_longest(). */
void losses_unpack_longest(struct sched *sched, struct history_reader *reader);
/* What the job of a run has lost before. */
int64_t losses_of_run_ms(const struct sched *sched, const struct run *run);
/* Whether a job has a row. */
bool losses_has(const struct sched *sched, uint32_t job);
/* From when on a run is not protected for what its job has lost: INT64_MIN if
 * it has lost nothing, INT64_MAX while that is not known, or while it is spared
 * (loss_limit.h). */
int64_t losses_protect_until_ms(const struct sched *sched,
                                const struct run *run);
/* A job waits again, from now on. */
void losses_requeue(struct sched *sched, uint32_t job);
/* A job is no longer there. */
void losses_forget(struct sched *sched, uint32_t job);
/* The section `losses` of the history. */
void losses_pack(const struct sched *sched, struct strbuf *buf);
/* See losses_pack(). */
void losses_unpack(struct sched *sched, struct history_reader *reader);
/* Whether each row is of a job that is there and finds it; for checks. */
bool losses_are_right(const struct sched *sched, struct arena *scratch);
/* Free all. */
void losses_fini(struct sched *sched);
