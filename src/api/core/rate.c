#include "api/core/rate.h"

#include "base/hash.h"

enum { MILLI = 1000 };

void rate_init(struct rate *rate, const struct rate_limits *limits,
               uint64_t seed)
{
    *rate = (struct rate){.seed = seed, .limits = *limits};
    pthread_mutex_init(&rate->lock, NULL);
}

void rate_fini(struct rate *rate)
{
    pthread_mutex_destroy(&rate->lock);
}

/* What is left after a time; a second brings `per_s`, and a millisecond as many
 * thousandths. */
static int64_t refilled(int64_t left_milli, int64_t per_s, int64_t passed_ms)
{
    int64_t most_milli = per_s * RATE_BURST_S * MILLI;
    int64_t missing_milli = most_milli - left_milli;

    return per_s == 0 || passed_ms > missing_milli / per_s
               ? most_milli
               : left_milli + passed_ms * per_s;
}

static void refill(const struct rate *rate, struct rate_bucket *bucket,
                   int64_t now_ms)
{
    const struct rate_limits *limits = &rate->limits;
    int64_t passed_ms = now_ms - bucket->at_ms;

    if (bucket->at_ms == 0) {
        passed_ms = INT64_MAX;
    } else if (passed_ms < 0) {
        passed_ms = 0;
    }
    bucket->requests_milli =
        refilled(bucket->requests_milli, limits->requests_per_s, passed_ms);
    bucket->bytes_milli =
        refilled(bucket->bytes_milli, limits->bytes_per_s, passed_ms);
    bucket->at_ms = now_ms;
}

/* Milliseconds until something is left; 0: there is. */
static int64_t wait_for(int64_t left_milli, int64_t per_s)
{
    return per_s == 0 || left_milli > 0 ? 0 : -left_milli / per_s + 1;
}

int64_t rate_take(struct rate *rate, struct str caller, int64_t request_count,
                  int64_t byte_count, int64_t now_ms)
{
    const struct rate_limits *limits = &rate->limits;
    uint64_t hash = hash_bytes(caller.p, caller.byte_count, rate->seed);
    struct rate_bucket *bucket = &rate->buckets[hash % RATE_BUCKETS];

    pthread_mutex_lock(&rate->lock);
    refill(rate, bucket, now_ms);
    int64_t requests_ms = request_count == 0 ? 0
                                             : wait_for(bucket->requests_milli,
                                                        limits->requests_per_s);
    int64_t bytes_ms = wait_for(bucket->bytes_milli, limits->bytes_per_s);
    int64_t wait_ms = requests_ms > bytes_ms ? requests_ms : bytes_ms;
    if (wait_ms == 0) {
        bucket->requests_milli -= request_count * MILLI;
        bucket->bytes_milli -= byte_count * MILLI;
    }
    pthread_mutex_unlock(&rate->lock);
    return wait_ms;
}
