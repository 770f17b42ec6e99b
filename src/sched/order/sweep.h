/*
 * sweep - bounds the work of a plan, and lets the next plan continue where the
 * last one stopped.
 *
 * A plan may examine so many nodes and jobs (policy.round_work_max) and then
 * ends; its decisions are valid.  Work that found no place is remembered, and
 * the next plan skips it and examines what comes behind it: a *sweep* is as
 * many plans as it takes to examine everything, pool after pool.  Then a new
 * sweep begins.  So no expensive work keeps other work from its turn for longer
 * than a sweep.
 *
 * A gang is tried as a whole.  One that costs as much again as a plan may is
 * left in mid-try, and the plan ends; the next one takes more time for it,
 * but not without end: a gang for which that is too little finds no place.
 *
 * Admitted work is tried first in each plan, what was missed not again in the
 * same sweep; nodes are reserved for it all the same.
 *
 * Work is counted, not timed: a plan must depend on state and policy alone.
 * An open sweep is history: a checkpoint carries it.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/state.h"

struct round;

enum {
    SWEEP_STEP_WORK = 32, /* of a decision, in nodes looked at */
    /* What a gang may cost that is tried at last, if that is more than a
     * plan may. */
    SWEEP_GANG_WORK = 5000 * (int)POLICY_WORK_PER_MS,
};

/* The flag of jobs that a sweep of that kind missed. */
static inline uint8_t sweep_bit(enum round_kind kind)
{
    return kind == ROUND_FAST ? JOB_SWEPT_FAST : JOB_SWEPT_BALANCE;
}

/* Begin a plan: the place in the policy's pools where it starts. */
uint32_t sweep_open(struct sched *sched, enum round_kind kind,
                    bool *ret_is_resumed);
/* Set up a round of it. */
void sweep_begin_pool(struct round *round, bool is_resumed);
/* Its pool is done, or not (`is_spent`), and is the policy's `pool_at`. */
void sweep_end_pool(struct round *round, uint32_t pool_at);
/* All pools are done; true when nothing has changed since the sweep began. */
bool sweep_close(struct sched *sched, enum round_kind kind);

/* Whether a full round ended before it came to a job, and the next may. */
bool sweep_is_before(const struct sched *sched, uint32_t job);

/* Count a search: a job or gang that was placed, or missed.  What is refused
 * without one costs little, and would be refused again.  Notes in the round
 * when the plan's work is used up. */
void sweep_step(struct round *round);
/* What has been done so far, in nodes looked at. */
uint64_t sweep_work(const struct sched_counters *counters);
/* At which work of the plan the try of a gang that begins now is over. */
uint64_t sweep_gang_end(const struct round *round, const struct gang *gang);
/* Whether that much has been done. */
bool sweep_is_past(const struct round *round, uint64_t work);
/* The try of a gang was over before it came to an end.  True: it is tried
 * again, and the plan's work is used up; false: it is missed. */
bool sweep_gang_is_cut(struct round *round, struct gang *gang);

/* A class has no place in this round's pool; or a job of it, by itself; or a
 * gang. */
void sweep_miss_class(const struct round *round, struct class *class);
/* None of a class can be admitted in this round. */
void sweep_bar_class(const struct round *round, struct class *class);
/* The like. */
void sweep_miss_job(struct round *round, uint32_t job);
/* The like. */
void sweep_miss_gang(const struct round *round, struct gang *gang);
/* For checkpoints (history.h). */
void sweep_pack(const struct sched *sched, struct strbuf *buf);
struct history_reader;
/* Take it back. */
void sweep_unpack(struct sched *sched, struct history_reader *reader);

/* Whether this sweep has found so before. */
bool sweep_missed_class(const struct round *round, const struct class *class);
/* Whether it has found that none of a class can be admitted. */
bool sweep_barred_class(const struct round *round, const struct class *class);
/* The like. */
bool sweep_missed_job(const struct round *round, uint32_t job);
/* The like. */
bool sweep_missed_gang(const struct round *round, const struct gang *gang);
