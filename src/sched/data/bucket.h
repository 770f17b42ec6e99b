/*
 * bucket - a token bucket in whole numbers: what a rate limit has left.
 *
 * It holds `size` tokens when full and refills evenly, `refill` tokens per
 * `period_ms`.  Levels are kept in tokens x period_ms, so nothing is ever
 * rounded.  A bucket that was never used is full.
 *
 * Pure.  Threads: none of its own; values.
 */
#pragma once

#include "base/base.h"

/* The rule; size 0: no limit. */
struct bucket_rule {
    int64_t size, refill, period_ms;
};

/* The state. */
struct bucket {
    i128 missing; /* below full, in tokens x period_ms; at `at_ms` */
    int64_t at_ms;
};

/* Take `tokens`, which may overdraw it.  Time that runs back counts as none. */
void bucket_take(struct bucket *bucket, const struct bucket_rule *rule,
                 int64_t tokens, int64_t now_ms);

/* Whether `tokens` may be taken now: they are there, or the bucket is full
 * and could never hold that many. */
bool bucket_has(const struct bucket *bucket, const struct bucket_rule *rule,
                int64_t tokens, int64_t now_ms);

/* When bucket_has() becomes true, INT64_MAX for never. */
int64_t bucket_when(const struct bucket *bucket, const struct bucket_rule *rule,
                    int64_t tokens, int64_t now_ms);
