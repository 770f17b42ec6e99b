/*
 * penalty - jobs that ended soon after they started count on in their queue
 * (model.md 2.15): else a queue of short jobs would have its share and the
 * next, as it has nothing whenever it is asked.
 *
 * What such a job asked for counts until its start plus the pool's
 * shortJobPenalty, where new work is ordered by cost, and nowhere else: not in
 * shares, limits or evictions.  Jobs that were preempted, lost or given back
 * are exempt.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"
#include "sched/state/state.h"

enum { PENALTIES_MAX = 1 << 17 }; /* at a time; the oldest go first */

/* A run goes: if it ended too soon, it counts on. */
void penalty_take(struct sched *sched, const struct run *run);
/* A queue goes. */
void penalty_drop_queue(struct sched *sched, uint32_t queue);
/* Append all. */
void penalty_pack(const struct sched *sched, struct strbuf *buf);
/* Read them back. */
void penalty_unpack(struct sched *sched, struct history_reader *reader);
