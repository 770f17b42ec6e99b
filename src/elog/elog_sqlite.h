/*
 * elog_sqlite - the log in one SQLite file: the default of a Berth that lives
 * on one machine.
 *
 * What was submitted since the last poll is one transaction (WAL,
 * synchronous=FULL).  Beside the file lie SQLite's own `-wal` and `-shm`, and
 * `-lock`, which names the process that has the log open.
 */
#pragma once

#include "elog/elog.h"

struct elog_sqlite_options {
    /* Do not take the lock.  For tests of what fencing does without it. */
    bool is_unlocked;
    /* SQLite's virtual file system; NULL: the usual one. */
    const char *vfs;
};

/* Open the log in the file `path`, made if missing; `options` may be NULL.
 * The caller closes it.
 *     -ERR_CONFLICT  another process has it open; the text has its pid
 *     -ERR_VERSION   written by a newer release
 *     -ERR_CORRUPT   damaged in the middle, or not a log
 * A last record that is torn or damaged is passed over: elog_note() says
 * so. */
int elog_sqlite_open(const char *path,
                     const struct elog_sqlite_options *options,
                     struct elog **ret_log, struct err *err) must_check;

/* A reader of the log in `path`, which another process may have open.  It
 * learns of new records by looking, every few milliseconds.  -ERR_NOT_FOUND
 * if there is no such file. */
int elog_sqlite_reader_open(const char *path, struct elog_reader **ret_reader,
                            struct err *err) must_check;
