/*
 * store_sqlite_query - the queries of readers of a query store in SQLite.
 * Private to src/store.
 */
#pragma once

#include "store/store.h"

/* Open a reader of the store in `path`; the contract is
 * store_reader_open()'s. */
int store_sqlite_reader_create(const char *path,
                               struct store_reader **ret_reader,
                               struct err *err) must_check;
