/*
 * reader_pool - readers of the store and the log, lent to threads.
 *
 * A reader serves one thread at a time; opening one is expensive.  The pool
 * opens them as needed and keeps them, so there are never more than threads
 * that need one at once.
 *
 * Threads: lend and give back from any thread.
 */
#pragma once

#include "elog/elog.h"
#include "store/store.h"

enum {
    READER_POOL_MAX = 128,
    READERS_WAITS_MAX = 200, /* of readers_await(), a millisecond each */
};

struct reader_pool;

/* A pair of readers, the borrower's until it is given back. */
struct readers {
    struct store_reader *store;
    struct elog_reader *log;
};

/* An empty pool over store and log.  The caller owns it. */
struct reader_pool *reader_pool_create(struct store *store,
                                       struct elog *log) must_check;
/* All readers must have been given back.  NULL is fine. */
void reader_pool_destroy(struct reader_pool *pool);

/* Borrow a pair.  -ERR_LIMIT, or what opening one failed with. */
int reader_pool_lend(struct reader_pool *pool, struct readers **ret_readers,
                     struct err *err) must_check;
/* Give a pair back.  NULL is fine. */
void reader_pool_give_back(struct reader_pool *pool, struct readers *readers);

/* Whether the store has yet to see what was in the log when it was asked first
 * (`*log_seq` 0 at first); waits a moment if so. */
bool readers_are_behind(struct readers *readers, uint64_t *log_seq);
/* Who submits and then reads must see it: wait, within bounds, until the store
 * has what the log has now. */
void readers_await(struct readers *readers);
