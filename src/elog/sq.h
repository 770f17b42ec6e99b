/*
 * sq - helpers for SQLite: each call that can fail returns an error code of
 * base and a text for people.
 *
 * Used by src/elog and src/store.  Threads: a connection belongs to one.
 */
#pragma once

#include <sqlite3.h>

#include "base/str.h"

enum { SQ_BUSY_TIMEOUT_MS = 10000 };

/* The code for what `db` failed of last, with a text: `what` names the file
 * or the work.  -ERR_FULL, -ERR_CORRUPT, -ERR_UNAVAILABLE (locked for long)
 * or -ERR_IO. */
int sq_fail(sqlite3 *db, const char *what, struct err *err);

/* Have the library keep no account of its memory, which all threads would
 * share a lock for.  By a program's main, before anything else here; not
 * calling it costs time only. */
void sq_start(void);

/* What to open and how. */
struct sq_open {
    const char *path;
    const char *vfs; /* NULL: the usual one */
    bool may_create;
    bool is_read_only; /* statements that write will fail */
};

/* Open a connection for one thread.  The caller closes it. */
int sq_open(const struct sq_open *how, sqlite3 **ret_db,
            struct err *err) must_check;
/* Close a connection of which all statements are finalized.  NULL is fine. */
void sq_close(sqlite3 *db);

/* Run statements that give nothing back. */
int sq_exec(sqlite3 *db, const char *sql, struct err *err) must_check;

/* Prepare a statement that is kept for long. */
int sq_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt,
               struct err *err) must_check;

/* Step a statement: 1 for a row, 0 at the end (then it is reset), or a
 * negative code (reset as well). */
int sq_step(sqlite3_stmt *stmt, struct err *err) must_check;

/* Step a statement that gives nothing back, and reset it. */
int sq_run(sqlite3_stmt *stmt, struct err *err) must_check;

/* The integer in the first row and column of `sql`: 1; 0 if there is none or
 * it is null. */
int sq_get_int(sqlite3 *db, const char *sql, int64_t *ret_value,
               struct err *err) must_check;

/* Undo the transaction that goes on, if one does. */
void sq_rollback(sqlite3 *db);

/* Commit, or undo what could not be committed. */
int sq_commit(sqlite3 *db, struct err *err) must_check;

/* What a database file is, by the numbers in its head. */
struct sq_format {
    int application_id;
    int version;      /* the newest that this release knows; from 1 on */
    const char *what; /* for people: "a log of Berth" */
};

/* Whether a file is of a format, and of which version of it.  -ERR_CORRUPT: it
 * is something else; -ERR_VERSION: a newer release has written it. */
int sq_check_format(sqlite3 *db, const struct sq_format *format,
                    int64_t *ret_version, struct err *err) must_check;
/* Make the tables of a new file, all or none, and say what it is. */
int sq_create_tables(sqlite3 *db, const struct sq_format *format,
                     const char *schema, struct err *err) must_check;

/* Copy the whole database as it is now to the new file `path`, atomically.
 * -ERR_CONFLICT if it exists. */
int sq_backup(sqlite3 *db, const char *path, struct err *err) must_check;

/* Take the lock of the database `path`, which is the file `path`-lock: a file
 * descriptor to close at the end, or -ERR_CONFLICT with a text that names the
 * process that holds it; -ERR_IO: if it may not be opened, the text names whose
 * it is. */
int sq_lock(const char *path, struct err *err) must_check;

/* Bytes and text of a column, borrowed until the next step. */
struct str sq_column_str(sqlite3_stmt *stmt, int column);

/* Bind bytes that stay where they are until the statement is reset; empty
 * ones are an empty blob, not null. */
void sq_bind_blob(sqlite3_stmt *stmt, int index, struct str bytes);
/* The same as text. */
void sq_bind_text(sqlite3_stmt *stmt, int index, struct str text);
/* Bind an integer. */
void sq_bind_int(sqlite3_stmt *stmt, int index, int64_t value);
