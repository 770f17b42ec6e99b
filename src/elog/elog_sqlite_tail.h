/*
 * elog_sqlite_tail - checks whether a log still has all its durable records,
 * and cuts it where it has not.  Private to src/elog.
 *
 * SQLite treats the first damaged frame of its WAL as the WAL's end, so a log
 * may be consistent and too short; log_end shows that.
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
