/*
 * gang_protection - gangs that stay though their queue is over its share.
 *
 * A gang goes whole.  One that is taken from a queue for what that has too
 * much leaves it with too little, maybe by more: then both are further from
 * their shares than before, and a whole run is lost.  So it is *kept* while
 *
 *     its queue would be no nearer to its share without it, and
 *     every queue has half of what it is due and wants, or the gang is
 *     younger than the pool's `starved_after_ms`.
 *
 * Where that is 0 nothing is kept.  docs/decisions/0012.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* For how long a gang of a pool is kept where others have too little; 0: none
 * is kept. */
int64_t gang_protection_ms(const struct sched *sched, uint32_t pool);
/* Whether a queue that is due so much is no nearer to that with `rest` of its
 * pool than with `all`. */
bool gang_protection_is_as_near(double due, double all, double rest);
/* Whether a gang of the share's queue is kept in the round; if it is only for
 * its youth, the pool is planned again when that ends. */
bool gang_protection_holds(struct round *round, const struct share *share,
                           struct gang *gang);
