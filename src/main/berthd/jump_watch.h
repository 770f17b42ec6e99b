/*
 * jump_watch - whether the clock can be believed, for what it would delete.
 *
 * A clock that is wrong by months makes all history look old. So when the time
 * is more than JUMP_MS_MAX ahead of what it should be, by the last record of
 * the log or by the machine's monotonic clock, nothing is to be pruned for
 * JUMP_HOLD_MS: long enough to set it right, or to stop the server. Then it is
 * believed.
 *
 * Threads: any.
 */
#pragma once

#include <pthread.h>

#include "base/clock.h"
#include "elog/elog.h"

enum {
    JUMP_MS_MAX = 7 * 24 * 3600 * 1000,
    JUMP_HOLD_MS = 24 * 3600 * 1000,
};

struct jump_watch {
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;
    int64_t trusted_ms;     /* the time, as last believed, */
    uint64_t trusted_ns;    /* and when that was */
    uint64_t hold_until_ns; /* 0: nothing is held */
};

/* The time to begin with, by a log: that of its last record, or, where its time
 * jumped within the last JUMP_HOLD_MS, that of the record before: who starts
 * anew does not believe sooner.  0 if it cannot be told. */
int64_t jump_watch_last_ms(struct elog_reader *reader) must_check;

/* Begin.  `last_ms`: when the log was last written, or 0. */
void jump_watch_init(struct jump_watch *watch, const struct clock *clock,
                     int64_t last_ms);
/* End. */
void jump_watch_fini(struct jump_watch *watch);

/* Whether history may be pruned by the clock now.  What changes is said. */
bool jump_watch_may_prune(struct jump_watch *watch);
