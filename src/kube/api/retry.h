/*
 * retry - when to try again: after a pause that doubles with each failure, up
 * to a bound, spread at random so that clients do not come at once; never
 * before the server said, but that is bounded too.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/base.h"
#include "base/rng.h"

enum {
    RETRY_FIRST_MS = 200,
    RETRY_MS_MAX = 30000,
    RETRY_AFTER_MS_MAX = 600000, /* of what the server said */
};

/* Zeroed memory is no failure yet. */
struct retry {
    uint32_t failure_count;
};

/* A failure: in how many ms to try again.  `after_ms`: what the server said;
 * < 0: nothing. */
int64_t retry_failed(struct retry *retry, const struct rng *rng,
                     int64_t after_ms) must_check;
/* It went well: the next failure is the first again. */
static inline void retry_succeeded(struct retry *retry)
{
    retry->failure_count = 0;
}
