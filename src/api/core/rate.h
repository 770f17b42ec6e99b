/*
 * rate - limits a caller's requests and bytes per second: each is a bucket that
 * refills evenly and holds RATE_BURST_S seconds' worth.
 *
 * A caller with anything left may send any request: a large one leaves a debt.
 * Callers share their buckets with others of the same hash, which nobody can
 * choose.  Threads: any.
 */
#pragma once

#include <pthread.h>

#include "base/str.h"

enum { RATE_BUCKETS = 4096, RATE_BURST_S = 4 };

/* What a second brings; 0: no limit. */
struct rate_limits {
    int64_t requests_per_s, bytes_per_s;
};

/* What a caller has left, in thousandths. */
struct rate_bucket {
    int64_t requests_milli, bytes_milli;
    int64_t at_ms; /* as of then; 0: never asked */
};

struct rate {
    pthread_mutex_t lock;
    uint64_t seed;
    struct rate_limits limits;
    struct rate_bucket buckets[RATE_BUCKETS];
};

/* `seed` is not to be guessed. */
void rate_init(struct rate *rate, const struct rate_limits *limits,
               uint64_t seed);
void rate_fini(struct rate *rate);

/* Take so much of what `caller` may ask: 0, or for how many milliseconds it has
 * to wait, and nothing was taken. */
int64_t rate_take(struct rate *rate, struct str caller, int64_t request_count,
                  int64_t byte_count, int64_t now_ms) must_check;
