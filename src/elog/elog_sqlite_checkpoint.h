/*
 * elog_sqlite_checkpoint - checkpoints of a log in SQLite.  Private to
 * src/elog.
 *
 * Pieces are written by many small commits, so that appends go on in between;
 * the row that makes them a checkpoint comes last, and is synced.  Pieces
 * without such a row are left over from a checkpoint that was interrupted; the
 * next one removes them.
 */
#pragma once

#include "elog/elog_backend.h"
#include "elog/sq.h"

/* Store a checkpoint by way of `db`, a connection of its own; the contract is
 * elog_checkpoint_put_pieces()'s. */
int elog_sqlite_checkpoint_put(sqlite3 *db, struct elog_checkpoint *about,
                               elog_piece_fn *next, void *ctx,
                               struct err *err) must_check;

/* Show the newest valid one; the contract is elog_checkpoint_get()'s. */
int elog_sqlite_checkpoint_get(sqlite3 *db, struct elog_checkpoint *ret_about,
                               elog_checkpoint_fn *each, void *ctx,
                               struct err *err) must_check;

/* The seq of the newest valid checkpoint that the log continues, in a
 * transaction of the caller; 0 if none.  The one of `known_seq` is known to be
 * valid and not read again (0: none is). */
int elog_sqlite_checkpoint_find(sqlite3 *db, uint64_t known_seq,
                                uint64_t *ret_seq, struct err *err) must_check;
