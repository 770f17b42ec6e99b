/*
 * elog_sqlite_tail - whether a log still has all that was durable in it, and
 * how it is ended where it has not.  Private to src/elog.
 *
 * SQLite takes the first damaged frame of its WAL for the WAL's end, so a log
 * may be whole and too short: that is seen by its log_end.
 */
#pragma once

#include "elog/elog_sqlite_file.h"
#include "elog/log_end.h"

struct elog_sqlite_tail {
    sqlite3 *db;
    struct log_end *end; /* NULL: nothing is known of where it ended */
    bool accepts_loss;
};

/* A log without tables: -ERR_CORRUPT if there were records in it once. */
int elog_sqlite_tail_new(const struct elog_sqlite_tail *tail, char *note,
                         struct err *err) must_check;

/* The last record must be whole, and none missing behind it: else
 * -ERR_CORRUPT, and nothing is changed.  Where loss is accepted, the log is
 * made to end before the first record that is not whole and that no checkpoint
 * covers, and `note` (ERR_TEXT_BYTES_MAX) says which are lost. */
int elog_sqlite_tail_check(const struct elog_sqlite_tail *tail, char *note,
                           struct err *err) must_check;
