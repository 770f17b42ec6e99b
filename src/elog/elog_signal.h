/*
 * elog_signal - the signal on which readers wait for more records.  Private to
 * src/elog.
 *
 * Threads: everything may be called from any thread, but for init and fini.
 */
#pragma once

#include <pthread.h>

#include "base/base.h"

struct elog_signal {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    uint64_t generation; /* under mutex; grows with each wake */
};

/* One reader's wait. */
struct elog_signal_wait {
    bool *is_interrupted; /* under the mutex; cleared on the way out */
    /* 1 to end the wait, 0 to go on, negative to fail; called unlocked. */
    int (*is_ready)(void *ctx);
    void *ctx;
    int timeout_ms;
    int recheck_ms; /* ask is_ready at least that often; 0: only when woken */
};

/* Make it ready for use. */
void elog_signal_init(struct elog_signal *signal);
/* Nobody may wait any more. */
void elog_signal_fini(struct elog_signal *signal);
/* Let all who wait ask again. */
void elog_signal_wake(struct elog_signal *signal);
/* Set `*is_interrupted` and wake. */
void elog_signal_interrupt(struct elog_signal *signal, bool *is_interrupted);
/* Wait until is_ready says so: its answer; 0 when the time is over or the
 * wait was interrupted. */
int elog_signal_wait(struct elog_signal *signal,
                     const struct elog_signal_wait *wait);
