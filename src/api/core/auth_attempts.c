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

static int64_t *bucket_of(struct attempts *attempts, struct str place)
{
    uint64_t hash = hash_bytes(place.p, place.byte_count, attempts->seed);

    return &attempts->until_ms[hash % ATTEMPT_BUCKETS];
}

/* Until what was tried is so long ago that `burst` attempts are left, each of
 * which is forgotten after `each_ms`. */
static int64_t wait_of(int64_t until_ms, int64_t burst, int64_t each_ms,
                       int64_t now_ms)
{
    int64_t wait_ms = until_ms - now_ms - (burst - 1) * each_ms;

    return wait_ms > 0 ? wait_ms : 0;
}

int64_t attempts_wait_ms(struct attempts *attempts, struct str place,
                         bool is_local, int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    int64_t wait_ms = wait_of(*bucket_of(attempts, place), ATTEMPTS_BURST,
                              ATTEMPT_MS, now_ms);
    int64_t local_ms = wait_of(attempts->local_until_ms, ATTEMPTS_LOCAL_BURST,
                               ATTEMPT_LOCAL_MS, now_ms);
    pthread_mutex_unlock(&attempts->lock);
    return is_local && local_ms > wait_ms ? local_ms : wait_ms;
}

static void add(int64_t *until_ms, int64_t each_ms, int64_t now_ms)
{
    *until_ms = (*until_ms > now_ms ? *until_ms : now_ms) + each_ms;
}

void attempts_failed(struct attempts *attempts, struct str place, bool is_local,
                     int64_t now_ms)
{
    pthread_mutex_lock(&attempts->lock);
    add(bucket_of(attempts, place), ATTEMPT_MS, now_ms);
    if (is_local) {
        add(&attempts->local_until_ms, ATTEMPT_LOCAL_MS, now_ms);
    }
    pthread_mutex_unlock(&attempts->lock);
}
