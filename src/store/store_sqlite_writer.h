/*
 * store_sqlite_writer - the projector's half of a query store in SQLite: its
 * connection, its statements and what they write.  Private to src/store.
 */
#pragma once

#include "store/arrays.h"
#include "store/projection.h"
#include "store/set_counts.h"
#include "store/store_sqlite_file.h"

/* What the writer does over and over.  Kept prepared. */
enum writer_statement {
    WRITER_BEGIN,
    WRITER_SELECT_SET,
    WRITER_INSERT_SET,
    WRITER_SELECT_JOB,
    WRITER_INSERT_JOB,
    WRITER_UPDATE_JOB,
    WRITER_UPDATE_OPEN_JOB,
    WRITER_INSERT_SPEC,
    WRITER_SELECT_SPEC,
    WRITER_INSERT_LABEL,
    WRITER_DELETE_LABEL,
    WRITER_SELECT_RUN,
    WRITER_INSERT_RUN,
    WRITER_UPDATE_RUN,
    WRITER_INSERT_SET_RECORD,
    WRITER_UPSERT_CLIENT_ID,
    WRITER_UPSERT_ACTIVE,
    WRITER_DELETE_INACTIVE,
    WRITER_UPSERT_USAGE,
    WRITER_UPSERT_OBJECT,
    WRITER_FORGET_OBJECTS,
    WRITER_UPDATE_PROGRESS,
    WRITER_STATEMENT_COUNT,
};

struct store_writer {
    sqlite3 *db;
    sqlite3_stmt *statements[WRITER_STATEMENT_COUNT];
    sqlite3_stmt *set_counts[SET_COUNTS_STATEMENTS];
    sqlite3_stmt *array_counts[SET_COUNTS_STATEMENTS];
    struct arrays arrays;
    struct projection_source source; /* reads by way of this writer */
};

/* Prepare all for `db`, which becomes the writer's.  It must not move. */
int store_writer_init(struct store_writer *writer, sqlite3 *db,
                      struct err *err) must_check;
/* Finalize all and close the connection.  Zeroed memory is fine. */
void store_writer_fini(struct store_writer *writer);

/* In a transaction: write all rows of a projection. */
int store_writer_flush(struct store_writer *writer,
                       const struct projection *projection,
                       struct err *err) must_check;
