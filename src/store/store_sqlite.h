/*
 * store_sqlite - the query store in one SQLite file, beside the log's.
 *
 * WAL with synchronous=NORMAL: what a power loss takes is replayed from the
 * log.
 *
 * Threads: as in store.h.
 */
#pragma once

#include "store/store.h"

/* Open or create the store at `path` for writing.
 * -ERR_VERSION: made by a newer release; -ERR_CORRUPT: not a store: delete it
 * and it is rebuilt; -ERR_CONFLICT: another process writes it. */
int store_sqlite_open(const char *path, struct store **ret_store,
                      struct err *err) must_check;

/* Remove the store at `path`, which nobody has open: the next opening makes an
 * empty one, to be rebuilt from the log. */
int store_sqlite_remove(const char *path, struct err *err) must_check;
