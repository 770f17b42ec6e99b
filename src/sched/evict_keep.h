/*
 * evict_keep - gangs that stay though their queue is over its share.
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

#include "sched/round.h"

/* Whether a gang of the share's queue is kept in the round; if it is only for
 * its youth, the pool is planned again when that ends. */
bool evict_keeps_gang(struct round *round, const struct share *share,
                      struct gang *gang);
