/*
 * elog_sqlite_file - the tables of a log in SQLite, and the checks before it is
 * used.  Private to src/elog.
 *
 *     head              one row: the newest epoch, the first and the next seq
 *     record            a row per record, with its checksum
 *     checkpoint        a row per complete checkpoint, written last
 *     checkpoint_piece  id = checkpoint id * 2^24 + index
 */
#pragma once

#include "elog/elog_backend.h"
#include "elog/sq.h"

enum {
    /* 1: other checksums of records; such a file becomes one of version 2 when
     * it is opened for writing, and what is in it stays as it is. */
    ELOG_SQLITE_VERSION_PLAIN = 2,
    /* 3: its pages have checksums (sq_sums.h), such as files made since have;
     * it becomes one of version 4 when it is opened for writing, whose pages
     * may have other ones, which older releases do not know. */
    ELOG_SQLITE_VERSION = 4,
    ELOG_SQLITE_APPLICATION_ID = 0x42657274, /* "Bert" */
};

/* What the file says of itself. */
struct elog_sqlite_head {
    uint64_t epoch;
    uint64_t first_seq;
    uint64_t next_seq;
};

struct elog_sqlite_tail;

/* Make the log's database ready to write: settings, version, tables, and the
 * check of its tail, of which `note` is told. */
int elog_sqlite_prepare(const struct elog_sqlite_tail *tail, char *note,
                        struct err *err) must_check;

/* Check that `db` is a log of a version that is known. */
int elog_sqlite_check_version(sqlite3 *db, struct err *err) must_check;

/* The statement that reads the columns of a record from a seq on. */
#define ELOG_SQLITE_SELECT_RECORDS                                  \
    "SELECT seq, epoch, time_ms, format_version, checksum, payload" \
    " FROM record WHERE seq >= ? ORDER BY seq"

/* The record in the row that such a statement stands on, borrowed until its
 * next step; false if its checksum does not fit. */
bool elog_sqlite_get_record(sqlite3_stmt *row,
                            struct elog_record *ret_record) must_check;

/* Read the head row with a statement of ELOG_SQLITE_SELECT_HEAD. */
int elog_sqlite_get_head(sqlite3_stmt *select, struct elog_sqlite_head *ret,
                         struct err *err) must_check;
#define ELOG_SQLITE_SELECT_HEAD \
    "SELECT epoch, first, next FROM head WHERE id = 1"
