/*
 * elog_sqlite_reader - a reader of a log in SQLite.  Private to src/elog.
 */
#pragma once

#include "elog/elog_backend.h"
#include "elog/elog_recent.h"
#include "elog/elog_signal.h"

struct elog_sqlite_reader_options {
    const char *path;
    const char *vfs; /* NULL: the usual one */
    /* Of the log in this process; NULL if there is none. */
    struct elog_signal *signal;
    struct elog_recent *recent; /* NULL: ask the file for everything */
    /* Others append as well: look from time to time. */
    bool has_strangers;
};

/* Open a reader; the contract is elog_reader_open()'s. */
int elog_sqlite_reader_create(const struct elog_sqlite_reader_options *options,
                              struct elog_reader **ret_reader,
                              struct err *err) must_check;
