/*
 * elog_sqlite_private - the log, for elog_sqlite.c, which opens, trims and
 * copies it, and elog_sqlite_append.c, which writes to it.
 */
#pragma once

#include <stdatomic.h>

#include "elog/elog_backend.h"
#include "elog/elog_recent.h"
#include "elog/elog_signal.h"
#include "elog/elog_sqlite.h"
#include "elog/log_end.h"
#include "elog/sq.h"

struct elog_sqlite {
    struct elog elog;
    sqlite3 *db;         /* the writer's connection */
    struct log_end *end; /* NULL: none is kept */
    sqlite3_stmt *begin;
    sqlite3_stmt *select_head;
    sqlite3_stmt *insert_record;
    sqlite3_stmt *update_next;
    struct elog_pending pending;
    struct elog_signal signal;  /* readers of this process wait on it */
    struct elog_recent *recent; /* owned; NULL: others append as well, or in
                                   bulk */
    char *path;
    char *vfs;    /* NULL: the usual one */
    int lock_fd;  /* -1: not locked */
    bool has_led; /* acquired by this handle */
    bool is_broken;
    bool is_bulk;
    bool is_open;           /* bulk: a transaction is */
    size_t open_byte_count; /* in it */
    /* The newest checkpoint that was seen to be valid. */
    atomic_uint_fast64_t valid_checkpoint_seq;
};

/* The log behind the port. */
struct elog_sqlite *elog_sqlite_of(struct elog *elog);
/* Commit what bulk appending has left open. */
int elog_sqlite_settle(struct elog_sqlite *log, struct err *err);
/* Begin a transaction that is not open yet. */
int elog_sqlite_begin(struct elog_sqlite *log, struct err *err);
/* Write the epoch of a new leader, in the transaction that is open. */
int elog_sqlite_update_epoch(struct elog_sqlite *log, uint64_t *ret_epoch,
                             struct err *err);
/* elog_submit() and elog_poll(). */
int elog_sqlite_submit(struct elog *elog, const struct elog_record *record,
                       elog_done_fn *done, void *ctx);
/* See there. */
int elog_sqlite_poll(struct elog *elog, int timeout_ms);
