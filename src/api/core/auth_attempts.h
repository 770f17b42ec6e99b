/*
 * auth_attempts - limits attempts with wrong passwords from one place
 * (caller_place.h): some at once, then one per ATTEMPT_MS.
 *
 * Local users count each for himself, so that none keeps the others out, and
 * all together, at one per ATTEMPT_LOCAL_MS: jobs may have many users.
 *
 * Places share their count with others of the same hash, which nobody can
 * choose.  Threads: any.
 */
#pragma once

#include <pthread.h>

#include "base/str.h"

enum {
    ATTEMPT_BUCKETS = 4096,
    ATTEMPTS_BURST = 10,
    ATTEMPT_MS = 2000,
    ATTEMPT_LOCAL_MS = 100,
    ATTEMPTS_LOCAL_BURST = 200,
};

struct attempts {
    pthread_mutex_t lock;
    uint64_t seed;
    /* By bucket: when all its attempts will be forgotten; 0: there are none. */
    int64_t until_ms[ATTEMPT_BUCKETS];
    int64_t local_until_ms; /* the same of all local users together */
};

/* `seed` is not to be guessed. */
void attempts_init(struct attempts *attempts, uint64_t seed);
void attempts_fini(struct attempts *attempts);

/* Milliseconds until who is at `place` may try again; 0: now. */
int64_t attempts_wait_ms(struct attempts *attempts, struct str place,
                         bool is_local, int64_t now_ms) must_check;

/* It tried in vain. */
void attempts_failed(struct attempts *attempts, struct str place, bool is_local,
                     int64_t now_ms);
