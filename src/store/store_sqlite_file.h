/*
 * store_sqlite_file - what the file of a query store in SQLite looks like.
 * Private to src/store.
 *
 *     progress     one row: the last record, and what the next job is numbered
 *     job          by id (made in the order of time), a small row each
 *     spec         by job number: big, and read one at a time
 *     run          by job number and index; run ids are random, and the index
 *                  on them is the only one that is
 *     job_set      keys of (queue, name)
 *     set_record   which records hold events of a job set
 *     client_id    for de-duplication, as long as configured
 *     active       how many jobs of a queue hold resources of a pool
 *     set_count    how many jobs of a job set are in a state
 *     label        which jobs have a label (labels.h)
 *     label_since  the last job that was there before that table, if any
 *     array_count  how many jobs of an array are in a state
 *     array_piece  where its jobs lie (arrays.h)
 *     array_since  the last job that was there before these two, if any
 *     page_sums    is there if the file's pages have checksums (sq_sums.h)
 *     usage        what queues and users have used, by day
 */
#pragma once

#include "elog/sq.h"
#include "model/id.h"

enum {
    STORE_SQLITE_VERSION = 12,
    STORE_SQLITE_APPLICATION_ID = 0x42655374, /* "BeSt" */
    /* Bytes of an id in a column: big-endian, so that blobs sort as ids. */
    STORE_ID_BYTES = 16,
};

/* Open the file and make it ready: settings, version, tables. */
int store_sqlite_prepare(const struct sq_open *how, sqlite3 **ret_db,
                         struct err *err) must_check;

/* Write an id as a column holds it; returns it as a str over `bytes`. */
struct str store_id_put(struct key128 id, unsigned char bytes[STORE_ID_BYTES]);

/* Read an id column; none if it is null or of another size. */
struct key128 store_id_column(sqlite3_stmt *row, int column) must_check;
