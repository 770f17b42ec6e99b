/*
 * data_dir - what lies where in a data directory:
 *
 *     log.db      the log (elog_sqlite); its lock is the directory's lock
 *     store.db    the query store; rebuilt from the log if it is missing,
 *                 and never deleted
 *     jobs/       runs of the process runtime
 *     notified    how far targets of notifications have been told
 *     backup/     copies under way
 *
 * Threads: main's, at the start; the paths are only read after that.
 */
#pragma once

#include "base/arena.h"

/* Absolute paths, all in the arena. */
struct data_dir {
    const char *path;
    const char *log, *store, *jobs, *token, *notified;
};

/* Make `path` if it is not there (mode 0711: jobs under another user reach
 * their folders, nobody lists ours).  -ERR_IO. */
int data_dir_open(const char *path, struct arena *arena,
                  struct data_dir *ret_dir, struct err *err) must_check;
