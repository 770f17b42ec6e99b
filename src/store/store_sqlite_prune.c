/* Deletes from the store what is older than it keeps. */
#include <stdio.h>

#include "store/labels.h"
#include "store/store_sqlite_private.h"
#include "store/store_sqlite_writer.h"

/* Rows of a job set's index that one step of pruning deletes at most. */
enum { PRUNE_SET_RECORDS_MAX = 10000 };

/* A job that may go. */
struct victim {
    struct job_id id;
    int64_t number;
    int64_t set_key;
    int64_t state;
    int64_t array;
};

struct victims {
    struct victim items[STORE_PRUNE_ROWS_MAX];
    int count;
};

static int find_victims(sqlite3 *db, int64_t before_ms, struct victims *victims,
                        struct err *err)
{
    sqlite3_stmt *stmt = NULL;

    int rc = sq_prepare(db,
                        "SELECT id, number, set_key, state, array FROM job"
                        " WHERE ended_ms > 0 AND ended_ms < ?1"
                        " ORDER BY ended_ms LIMIT ?2",
                        &stmt, err);
    if (rc == 0) {
        sq_bind_int(stmt, 1, before_ms);
        sq_bind_int(stmt, 2, STORE_PRUNE_ROWS_MAX);
    }
    while (rc >= 0 && (rc = sq_step(stmt, err)) == 1) {
        victims->items[victims->count++] = (struct victim){
            .id.v = store_id_column(stmt, 0),
            .number = sqlite3_column_int64(stmt, 1),
            .set_key = sqlite3_column_int64(stmt, 2),
            .state = sqlite3_column_int64(stmt, 3),
            .array = sqlite3_column_int64(stmt, 4),
        };
    }
    sqlite3_finalize(stmt);
    return rc;
}

/* The labels stand in the spec, which is still there. */
static int delete_labels(struct store_writer *writer,
                         const struct victim *victim, struct err *err)
{
    sqlite3_stmt *stmt = writer->statements[WRITER_SELECT_SPEC];

    sq_bind_int(stmt, 1, victim->number);
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        rc = labels_run(sq_column_str(stmt, 0), victim->id,
                        writer->statements[WRITER_DELETE_LABEL], err);
        sqlite3_reset(stmt);
    }
    return rc;
}

/* Its array has one job less. */
static int leave_array(struct store_writer *writer, const struct victim *victim,
                       struct err *err)
{
    char sql[300];

    snprintf(sql, sizeof(sql),
             "UPDATE array_count SET job_count = job_count - 1"
             " WHERE hash = %lld AND state = %lld;"
             "DELETE FROM array_count WHERE hash = %lld AND job_count = 0",
             (long long)victim->array, (long long)victim->state,
             (long long)victim->array);
    int rc = sq_exec(writer->db, sql, err);
    return rc < 0 ? rc : arrays_remove(&writer->arrays, victim->id, err);
}

static int delete_job(struct store_writer *writer, const struct victim *victim,
                      struct err *err)
{
    sqlite3 *db = writer->db;
    char sql[600];

    int rc = delete_labels(writer, victim, err);
    if (rc < 0) {
        return rc;
    }
    snprintf(sql, sizeof(sql),
             "DELETE FROM job WHERE id = x'%016llx%016llx';"
             "DELETE FROM spec WHERE job_number = %lld;"
             "DELETE FROM run WHERE job_number = %lld;"
             "UPDATE set_count SET job_count = job_count - 1"
             " WHERE set_key = %lld AND state = %lld;"
             "DELETE FROM set_count WHERE set_key = %lld AND job_count = 0",
             (unsigned long long)victim->id.v.hi,
             (unsigned long long)victim->id.v.lo, (long long)victim->number,
             (long long)victim->number, (long long)victim->set_key,
             (long long)victim->state, (long long)victim->set_key);
    rc = sq_exec(db, sql, err);
    return rc < 0 || !victim->array ? rc : leave_array(writer, victim, err);
}

/* The index of a job set goes before its last job, in steps: what is left of
 * it is found again by that job.  1 when there is none any more, else 0. */
static int delete_set_records(sqlite3 *db, int64_t set_key, struct err *err)
{
    char sql[400];

    snprintf(sql, sizeof(sql),
             "DELETE FROM set_record WHERE set_key = %lld AND seq IN"
             " (SELECT seq FROM set_record WHERE set_key = %lld LIMIT %d)",
             (long long)set_key, (long long)set_key,
             (int)PRUNE_SET_RECORDS_MAX);
    int rc = sq_exec(db, sql, err);
    if (rc < 0 || sqlite3_changes(db) >= PRUNE_SET_RECORDS_MAX) {
        return rc;
    }
    snprintf(sql, sizeof(sql),
             "DELETE FROM job_set WHERE key = %lld;"
             "DELETE FROM set_count WHERE set_key = %lld",
             (long long)set_key, (long long)set_key);
    rc = sq_exec(db, sql, err);
    return rc < 0 ? rc : 1;
}

static int is_last_of_set(sqlite3 *db, int64_t set_key, struct err *err)
{
    char sql[160];
    int64_t job_count = 0;

    snprintf(sql, sizeof(sql),
             "SELECT count(*) FROM (SELECT 1 FROM job WHERE set_key = %lld"
             " LIMIT 2)",
             (long long)set_key);
    int rc = sq_get_int(db, sql, &job_count, err);
    return rc < 0 ? rc : job_count == 1;
}

/* Delete one job: 1; 0 if it has to stay for now, with part of its set. */
static int prune_job(struct store_writer *writer, const struct victim *victim,
                     struct err *err)
{
    sqlite3 *db = writer->db;

    int rc = is_last_of_set(db, victim->set_key, err);
    if (rc == 1) {
        rc = delete_set_records(db, victim->set_key, err);
        if (rc <= 0) {
            return rc;
        }
    }
    if (rc >= 0) {
        rc = delete_job(writer, victim, err);
    }
    return rc < 0 ? rc : 1;
}

/* In a transaction: as store_prune(). */
static int prune(struct store_writer *writer, int64_t before_ms,
                 int64_t client_ids_before_ms, struct err *err)
{
    sqlite3 *db = writer->db;
    auto_mem struct victims *victims = mem_alloc(sizeof(*victims));
    char sql[240];

    snprintf(sql, sizeof(sql),
             "DELETE FROM client_id WHERE (queue, client_id) IN"
             " (SELECT queue, client_id FROM client_id WHERE created_ms < %lld"
             " ORDER BY created_ms LIMIT %d)",
             (long long)client_ids_before_ms, (int)PRUNE_SET_RECORDS_MAX);
    int rc = sq_exec(db, sql, err);
    if (rc == 0) {
        rc = find_victims(db, before_ms, victims, err);
    }
    for (int i = 0; rc >= 0 && i < victims->count; i++) {
        rc = prune_job(writer, &victims->items[i], err);
        if (rc == 0) {
            break; /* a set with many records: go on in the next step */
        }
    }
    return rc < 0 ? rc : victims->count;
}

int store_prune(struct store *store, int64_t before_ms,
                int64_t client_ids_before_ms, struct err *err)
{
    struct store_writer *writer = &store->writer;

    int rc = sq_run(writer->statements[WRITER_BEGIN], err);
    if (rc < 0) {
        return rc;
    }
    int count = prune(writer, before_ms, client_ids_before_ms, err);
    if (count < 0) {
        sq_rollback(writer->db);
        return count;
    }
    rc = sq_commit(writer->db, err);
    return rc < 0 ? rc : count;
}
