/*
 * auth_attempts - limits an address's attempts with wrong passwords: some at
 * once, then one per ATTEMPT_MS.
 *
 * Addresses share their count with others of the same hash, which nobody can
 * choose, and those of IPv6 with their network of 64 bits.  Threads: any.
 */
#pragma once

#include <pthread.h>

#include "base/str.h"

enum {
    ATTEMPT_BUCKETS = 4096,
    ATTEMPTS_BURST = 10,
    ATTEMPT_MS = 2000,
};

struct attempts {
    pthread_mutex_t lock;
    uint64_t seed;
    /* By bucket: when all its attempts will be forgotten; 0: there are none. */
    int64_t until_ms[ATTEMPT_BUCKETS];
};

/* `seed` is not to be guessed. */
void attempts_init(struct attempts *attempts, uint64_t seed);
void attempts_fini(struct attempts *attempts);

/* Milliseconds until `address` may try again; 0: now. */
int64_t attempts_wait_ms(struct attempts *attempts, struct str address,
                         int64_t now_ms) must_check;

/* It tried in vain. */
void attempts_failed(struct attempts *attempts, struct str address,
                     int64_t now_ms);
