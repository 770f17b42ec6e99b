/*
 * objects - the last event about each object that is no job: queues, retry
 * policies, pools, TrainingJobs, settings of executors and nodes.
 *
 * The store answers no question by them; they are the second copy of what else
 * only the log has (docs/decisions/0037-what-is-salvaged.md).
 *
 * Private to src/store.
 */
#pragma once

#include "base/vec.h"
#include "elog/sq.h"
#include "wire/log/log_codec.h"

enum {
    /* That one was deleted is forgotten so many records later: by then a log
     * that has lost the record is not what anybody would go on with. */
    OBJECT_DELETED_RECORDS_MAX = 1000000,
};

#define OBJECT_TABLE                                               \
    "CREATE TABLE object ("                                        \
    " kind INTEGER NOT NULL,"                                      \
    " scope_queue TEXT NOT NULL,"                                  \
    " name TEXT NOT NULL,"                                         \
    " part TEXT NOT NULL,"                                         \
    " scope_job_set TEXT NOT NULL,"                                \
    " user TEXT NOT NULL,"                                         \
    " seq INTEGER NOT NULL,"                                       \
    " is_deleted INTEGER NOT NULL,"                                \
    " event BLOB NOT NULL,"                                        \
    " PRIMARY KEY (kind, scope_queue, name, part)) WITHOUT ROWID;" \
    "CREATE INDEX object_deleted ON object (seq) WHERE is_deleted = 1;"

/* An object, as the event left it that made, changed or deleted it. */
struct object_row {
    enum event_type kind; /* of the event that makes one */
    struct str name, part;
    struct event_scope scope;
    struct str event; /* encoded */
    uint64_t seq;
    bool is_deleted;
};

/* Whether an event is about an object; its row, which borrows the item's. */
bool object_row_of(const struct log_item *item, uint64_t seq,
                   struct object_row *ret_row) must_check;

/* Puts a row in the place of the one before; forgets what was deleted long
 * ago. */
extern const char object_upsert_sql[], object_forget_sql[];

/* By these statements: write a row. */
int object_write(const struct object_row *row, sqlite3_stmt *upsert,
                 sqlite3_stmt *forget, struct err *err) must_check;
