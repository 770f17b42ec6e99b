#include "api/core/auth_attempts.h"

#include "base/hash.h"

void attempts_init(struct attempts *attempts, uint64_t seed)
{
    *attempts = (struct attempts){.seed = seed};
    pthread_mutex_init(&attempts->lock, NULL);
}

void attempts_fini(struct attempts *attempts)
{
    pthread_mutex_destroy(&attempts->lock);
}

static int64_t *bucket_of(struct attempts *attempts, struct str address)
{
    uint64_t hash = hash_bytes(address.p, address.byte_count, attempts->seed);

    return &attempts->until_ms[hash % ATTEMPT_BUCKETS];
}

int64_t attempts_wait_ms(struct attempts *attempts, struct str address,
                         int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    int64_t left_ms = *bucket_of(attempts, address) - now_ms;
    pthread_mutex_unlock(&attempts->lock);
    int64_t wait_ms = left_ms - (ATTEMPTS_BURST - 1) * (int64_t)ATTEMPT_MS;
    return wait_ms > 0 ? wait_ms : 0;
}

void attempts_failed(struct attempts *attempts, struct str address,
                     int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    int64_t *until_ms = bucket_of(attempts, address);
    *until_ms = (*until_ms > now_ms ? *until_ms : now_ms) + ATTEMPT_MS;
    pthread_mutex_unlock(&attempts->lock);
}
