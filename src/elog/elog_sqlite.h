/*
 * elog_sqlite - the log in one SQLite file: the default for a server on one
 * machine.
 *
 * What was submitted since the last poll is one transaction (WAL,
 * synchronous=FULL).  Beside the file lie SQLite's own `-wal` and `-shm`;
 * `-lock`, which names the process that has the log open; and `-end`, which
 * tells where the log ended (log_end.h).
 *
 * Threads: as in elog.h.
 */
#pragma once

#include "elog/elog.h"

struct elog_sqlite_options {
    /* Do not take the lock, nor keep the end.  For tests of what fencing does
     * without it. */
    bool is_unlocked;
    /* Where records are lost or damaged, let the log end before the first of
     * them instead of refusing it; elog_note() names them. */
    bool accepts_loss;
    /* Tell records before they are durable: commit one transaction for many
     * polls, and do not wait for the disk.  For a log that is worth nothing if
     * its writer dies, such as a simulation's.  Readers see what was appended
     * before the last elog_reader_open(), and the rest when the log is closed;
     * a commit that fails then is told to that call, but for the closing.
     * All calls are the writer's thread's. */
    bool is_bulk;
    /* SQLite's virtual file system; NULL: the usual one. */
    const char *vfs;
};

/* Open the log in the file `path`, made if missing; `options` may be NULL.
 * The caller closes it.
 *     -ERR_CONFLICT  another process has it open; the text has its pid
 *     -ERR_VERSION   written by a newer release
 *     -ERR_CORRUPT   not a log, or it ends before a record that was durable,
 *                    or with a damaged one: nothing has been changed; restore
 *                    the newest backup, or accept the loss */
int elog_sqlite_open(const char *path,
                     const struct elog_sqlite_options *options,
                     struct elog **ret_log, struct err *err) must_check;

/* A reader of the log in `path`, which another process may have open.  It
 * learns of new records by looking, every few milliseconds.  -ERR_NOT_FOUND
 * if there is no such file. */
int elog_sqlite_reader_open(const char *path, struct elog_reader **ret_reader,
                            struct err *err) must_check;
