/*
 * arrays - where the jobs of arrays lie, so that a list may pass over them.
 *
 * The jobs of an array are mostly neighbours in the order of ids.  A piece is a
 * span of ids in which no stored job is of anything else; each job of an array
 * lies in one, and pieces do not overlap.
 *
 * Private to src/store.  Threads: one owner.
 */
#pragma once

#include "elog/sq.h"
#include "model/id.h"

/* `hash` is that of the array's label (labels.h). */
#define ARRAY_PIECE_TABLE        \
    "CREATE TABLE array_piece (" \
    " first BLOB PRIMARY KEY,"   \
    " last BLOB NOT NULL,"       \
    " hash INTEGER NOT NULL)"    \
    " WITHOUT ROWID;"

/* The piece in which an id (?) lies, if one does: it begins at or before. */
#define ARRAY_PIECE_SELECT                                       \
    "SELECT first, last, hash FROM array_piece WHERE first <= ?" \
    " ORDER BY first DESC LIMIT 1"

/* What finds and writes pieces. */
enum arrays_statement {
    ARRAYS_FIND,
    ARRAYS_OLDER,
    ARRAYS_NEWER,
    ARRAYS_INSERT,
    ARRAYS_END_AT,
    ARRAYS_DELETE,
    ARRAYS_NEWEST,
    ARRAYS_STATEMENTS,
};

/* Their texts. */
extern const char *const arrays_sql[ARRAYS_STATEMENTS];

/* The pieces of a store; its statements are prepared. */
struct arrays {
    sqlite3_stmt *statements[ARRAYS_STATEMENTS];
    bool is_read;
    struct job_id newest; /* no piece ends later; none: there is none */
};

/* A new job, which is stored as all others of its transaction are: of an array
 * by its hash, or 0. */
int arrays_add(struct arrays *arrays, struct job_id id, int64_t hash,
               struct err *err) must_check;

/* A job of an array is deleted: a piece without jobs goes with it. */
int arrays_remove(struct arrays *arrays, struct job_id id,
                  struct err *err) must_check;
