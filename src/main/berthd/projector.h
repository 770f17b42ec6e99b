/*
 * projector - the thread that follows the log and writes the query store.
 *
 * Threads: start and stop from one; the work is on a thread of its own, which
 * also calls `changed`.
 */
#pragma once

#include "base/clock.h"
#include "elog/elog.h"
#include "main/berthd/jump_watch.h"
#include "store/store.h"

struct projector;

/* All borrowed until projector_stop(). */
struct projector_options {
    struct elog *log;
    struct store *store;
    const struct clock *clock;
    store_changed_fn *changed; /* told which job sets have news */
    void *ctx;
    struct jump_watch *jumps;
    int64_t retention_ms;      /* of jobs that have ended */
    int64_t deduplication_ms;  /* of client ids */
    void (*failed)(void *ctx); /* told once if it cannot go on */
};

/* Begin to follow.  NULL with `err` set. */
struct projector *projector_start(const struct projector_options *options,
                                  struct err *err) must_check;

/* Stop after the transaction under way, and free.  NULL is fine. */
void projector_stop(struct projector *projector);

/* The last record in the store; from any thread. */
uint64_t projector_seq(const struct projector *projector);
