/*
 * rates - the limits on starts: their rules from the policy, and their state
 * in checkpoints.  The buckets themselves are in bucket.h.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/state/history.h"

/* A job rate limit as a bucket's rule. */
struct bucket_rule rate_rule(const struct rate_limit *limit);
/* What a pool may start of a column (AR-11). */
struct bucket_rule start_rule(const struct sched *sched, uint32_t pool,
                              uint32_t column);

/* The state of all limits on starts; see history.h. */
void rates_pack(const struct sched *sched, struct strbuf *buf);
/* Take it back. */
void rates_unpack(struct sched *sched, struct history_reader *reader);
