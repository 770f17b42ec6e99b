/*
 * sq_sums - a checksum on each page of a database, kept in the last eight bytes
 * of the page, which SQLite leaves free where it is asked to (sq_sums_begin()).
 *
 * A virtual file system over another one.  It writes the checksum of a page
 * with its number, when the page goes into the database file, and checks it
 * when the page comes from there: a page that is not what was written, or not
 * where it was written, fails the statement (SQLITE_IOERR_DATA, -ERR_CORRUPT of
 * sq.h).  Pages of older releases have another checksum, which counts as well
 * until they are written again.  The write-ahead file has checksums of SQLite's
 * own.  A database without that room is read and written as ever.
 *
 * Threads: a connection's file belongs to the thread of its connection; scans
 * may run on any, beside it.
 */
#pragma once

#include <sqlite3.h>

#include "base/base.h"

/* The name of the file system that does so over `base_vfs` (NULL: the usual
 * one); it is registered once.  NULL if there is no such file system. */
const char *sq_sums_vfs(const char *base_vfs);

/* A database in which nothing is yet is to have checksums. */
void sq_sums_begin(sqlite3 *db);

/* Whether it has them; of one that was read from, or written to. */
bool sq_sums_are_kept(sqlite3 *db);

/* All that is written to `to`, which is new, is to have checksums as `from`
 * has: for a copy of it, page by page. */
void sq_sums_copy(sqlite3 *from, sqlite3 *to);

/* How a part of a file stands. */
struct sq_sums_scan {
    uint64_t page_count; /* looked at */
    uint64_t byte_count; /* of them */
    uint64_t bad_page;   /* the first that is damaged; 0: none */
    bool is_at_end;      /* there are no more */
};

/* Look at up to `page_count_max` pages of the database file `path` from the
 * one behind `after_page` on, beside whoever uses it.  Where one is damaged it
 * is the last: it may be older than the one in the write-ahead file, so move
 * that into the database and look again.  A file without checksums has none
 * to look at. */
int sq_sums_scan(const char *path, uint64_t after_page, uint64_t page_count_max,
                 struct sq_sums_scan *ret_scan, struct err *err) must_check;

/* Whether a page that a scan found damaged is so: what the write-ahead file has
 * of it goes into the database first.  0 too while that cannot be done, since
 * somebody reads; 1 if it is damaged. */
int sq_sums_confirm(const char *path, uint64_t page,
                    struct err *err) must_check;
