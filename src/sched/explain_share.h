/*
 * explain_share - whether it is what its queue holds above its share that
 * keeps a job waiting.  Private to src/sched.
 */
#pragma once

#include "sched/state.h"

/* Whether in every pool that a waiting job might go to, a limit of limits.h
 * refuses it, or the job that is its queue's first; then fills in the answer.
 * What the round would find at `now_ms`. */
bool explain_share(struct sched *sched, uint32_t job, int64_t now_ms,
                   struct sched_explanation *answer);
