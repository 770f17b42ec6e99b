/*
 * store_reader - a reader's connection and its statements, for
 * store_sqlite_query.c, which asks about jobs, and store_sqlite_sets.c, which
 * asks about all else.
 */
#pragma once

#include "elog/sq.h"
#include "store/store_sqlite_query.h"

/* Statements of a reader. */
enum query {
    QUERY_SEQ,
    QUERY_JOB,
    QUERY_JOB_STATE,
    QUERY_RUNS_OF_JOB,
    QUERY_RUN,
    QUERY_SPEC,
    QUERY_LIST,
    QUERY_LIST_OPEN,
    QUERY_LIST_ACTIVE,
    QUERY_LIST_BAD,
    QUERY_LIST_OF_OWNER,
    QUERY_LIST_OF_SET,
    QUERY_LIST_OF_QUEUE,
    QUERY_LIST_OF_SETS,
    QUERY_LIST_OF_LABEL,
    QUERY_LABEL_SINCE,
    QUERY_LABEL_NEWEST,
    QUERY_LABEL_OLDEST,
    QUERY_LABEL_STATES,
    QUERY_LABEL_SPAN,
    QUERY_ARRAY_STATES,
    QUERY_ARRAY_PIECE,
    QUERY_QUEUE_JOBS,
    QUERY_JOBS_BY_URI,
    QUERY_ACTIVE_QUEUES,
    QUERY_OBJECTS,
    QUERY_JOB_SET,
    QUERY_JOB_SET_SEQS,
    QUERY_CLIENT_ID,
    QUERY_JOB_SETS,
    QUERY_SET_COUNTS,
    QUERY_USAGE,
    QUERY_COUNT,
};

/* A connection that only reads. */
struct store_reader {
    sqlite3 *db;
    sqlite3_stmt *statements[QUERY_COUNT];
};

/* Hand over `count` items of `size` bytes in the arena. */
void *store_reader_str(struct arena *arena, const void *items, size_t count,
                       size_t size);
