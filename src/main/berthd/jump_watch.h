/*
 * jump_watch - whether the clock can be believed, for what it would delete.
 *
 * base/jump.h decides, from the last record of the log on; here the server says
 * what changes, and several threads ask.
 *
 * Threads: any.
 */
#pragma once

#include <pthread.h>

#include "base/jump.h"
#include "elog/elog.h"

struct jump_watch {
    const struct clock *clock; /* borrowed */
    pthread_mutex_t lock;
    struct jump jump;
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
