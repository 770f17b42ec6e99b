/*
 * gang_protection - gangs that are protected although their queue is over its
 * share.
 *
 * A gang is preempted whole.  If that takes more from its queue than the queue
 * has too much, the queue may end further from its share than before, and a
 * whole run is lost.  So the gang is *protected* while
 *
 *     its queue would be no nearer to its share without it, and
 *     every queue has half of what it is due and wants, or the gang is
 *     younger than the pool's `starved_after_ms`.
 *
 * Where that is 0 no gang is protected. docs/decisions/0012.
 *
 * Private to src/sched.
 */
#pragma once

#include "sched/order/round.h"

/* For how long a gang of a pool is protected where others have too little; 0:
 * none is. */
int64_t gang_protection_ms(const struct sched *sched, uint32_t pool);
/* Whether a queue that is due so much is no nearer to that with `rest` of its
 * pool than with `all`. */
bool gang_protection_is_as_near(double due, double all, double rest);
/* Whether a gang of the share's queue is protected in the round; if it is only
 * for its youth, the pool is planned again when that ends. */
bool gang_protection_holds(struct round *round, const struct share *share,
                           struct gang *gang);
