#include "store/store_sqlite.h"

#include <stdio.h>
#include <unistd.h>

#include "elog/sq_sums.h"
#include "store/labels.h"
#include "store/store_sqlite_query.h"
#include "store/store_sqlite_writer.h"

/* Rows of a job set's index that one step of pruning deletes at most. */
enum { PRUNE_SET_RECORDS_MAX = 10000 };

struct store {
    struct store_writer writer;
    struct projection projection;
    char *path;
    int lock_fd; /* -1: none */
    uint64_t seq;
    uint64_t checksum; /* of that record */
    int64_t next_job_number;
};

void store_close(struct store *store)
{
    if (!store) {
        return;
    }
    projection_fini(&store->projection);
    store_writer_fini(&store->writer);
    if (store->lock_fd >= 0) {
        close(store->lock_fd);
    }
    mem_free(store->path);
    mem_free(store);
}

static int load_progress(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = NULL;

    int rc = sq_prepare(store->writer.db,
                        "SELECT seq, checksum, next_job_number FROM progress",
                        &stmt, err);
    if (rc == 0) {
        rc = sq_step(stmt, err);
    }
    if (rc == 1) {
        store->seq = (uint64_t)sqlite3_column_int64(stmt, 0);
        store->checksum = (uint64_t)sqlite3_column_int64(stmt, 1);
        store->next_job_number = sqlite3_column_int64(stmt, 2);
    }
    sqlite3_finalize(stmt);
    if (rc == 0) {
        return err_set(err, -ERR_CORRUPT,
                       "%s has lost its progress; if it is deleted, it is "
                       "rebuilt from the log",
                       store->path);
    }
    return rc < 0 ? rc : 0;
}

static int open_file(struct store *store, struct err *err)
{
    struct sq_open how = {.path = store->path, .may_create = true};
    sqlite3 *db = NULL;

    store->lock_fd = sq_lock(store->path, err);
    if (store->lock_fd < 0) {
        return store->lock_fd;
    }
    int rc = store_sqlite_prepare(&how, &db, err);
    if (rc == 0) {
        rc = store_writer_init(&store->writer, db, err);
    }
    return rc < 0 ? rc : load_progress(store, err);
}

int store_sqlite_open(const char *path, struct store **ret_store,
                      struct err *err)
{
    auto_ptr(store) store = mem_alloc(sizeof(*store));

    store->path = mem_strdup(path);
    store->lock_fd = -1;
    projection_init(&store->projection, &store->writer.source);
    int rc = open_file(store, err);
    if (rc < 0) {
        return rc;
    }
    *ret_store = steal_ptr(store);
    return 0;
}

int store_sqlite_remove(const char *path, struct err *err)
{
    static const char *const endings[] = {"-wal", "-shm", ""};

    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        size_t byte_count = strlen(path) + sizeof("-wal");
        auto_mem char *name = mem_alloc(byte_count);

        snprintf(name, byte_count, "%s%s", path, endings[i]);
        if (unlink(name) < 0 && access(name, F_OK) == 0) {
            return err_set(err, -ERR_IO, "%s cannot be removed", name);
        }
    }
    return 0;
}

uint64_t store_seq(const struct store *store)
{
    return store->seq;
}

static int keep_checksum(void *ctx, const struct elog_record *record)
{
    *(uint64_t *)ctx = record->checksum;
    return 0;
}

/* Whether the log's record at the store's place is the one it was. */
static int check_same(struct store *store, struct elog_reader *reader,
                      struct err *err)
{
    struct elog_range range = {.from_seq = store->seq, .record_count_max = 1};
    uint64_t checksum = 0;

    int rc = elog_read(reader, &range, keep_checksum, &checksum, err);
    if (rc == 1 && checksum != store->checksum) {
        return err_set(err, -ERR_CONFLICT,
                       "%s was made from another log: record %llu differs",
                       store->path, (unsigned long long)store->seq);
    }
    return rc < 0 ? rc : 0;
}

int store_check(struct store *store, struct elog_reader *reader,
                struct err *err)
{
    struct elog_bounds bounds;

    int rc = elog_bounds(reader, &bounds, err);
    if (rc < 0 || store->seq == 0) {
        return rc;
    }
    if (store->seq > bounds.head_seq) {
        return err_set(err, -ERR_CONFLICT,
                       "%s is ahead of the log: it has record %llu, the log "
                       "ends with %llu",
                       store->path, (unsigned long long)store->seq,
                       (unsigned long long)bounds.head_seq);
    }
    if (store->seq + 1 < bounds.first_seq) {
        return err_set(err, -ERR_NOT_FOUND,
                       "%s ends with record %llu, but the log begins only "
                       "with %llu: restore the newest backup, or delete it "
                       "and lose what is older than the log",
                       store->path, (unsigned long long)store->seq,
                       (unsigned long long)bounds.first_seq);
    }
    return store->seq >= bounds.first_seq ? check_same(store, reader, err) : 0;
}

/* In a transaction: forget that records behind `seq` were folded. */
static int rewind_to(struct store *store, uint64_t seq, uint64_t checksum,
                     struct err *err)
{
    char sql[240];

    snprintf(sql, sizeof(sql),
             "DELETE FROM set_record WHERE seq > %llu;"
             "UPDATE progress SET seq = %llu, checksum = %lld",
             (unsigned long long)seq, (unsigned long long)seq,
             (long long)checksum);
    return sq_exec(store->writer.db, sql, err);
}

int store_rewind(struct store *store, struct elog_reader *reader,
                 struct err *err)
{
    struct elog_bounds bounds;
    uint64_t checksum = 0;

    int rc = elog_bounds(reader, &bounds, err);
    if (rc < 0 || store->seq <= bounds.head_seq) {
        return rc;
    }
    if (bounds.first_seq <= bounds.head_seq) {
        struct elog_range last = {.from_seq = bounds.head_seq,
                                  .record_count_max = 1};
        rc = elog_read(reader, &last, keep_checksum, &checksum, err);
    }
    rc = rc < 0 ? rc : sq_run(store->writer.statements[WRITER_BEGIN], err);
    if (rc == 0) {
        rc = rewind_to(store, bounds.head_seq, checksum, err);
        rc = rc < 0 ? rc : sq_commit(store->writer.db, err);
        sq_rollback(store->writer.db);
    }
    if (rc < 0) {
        return rc;
    }
    store->seq = bounds.head_seq;
    store->checksum = checksum;
    return 1;
}

static int update_progress(struct store *store, const struct elog_record *last,
                           struct err *err)
{
    sqlite3_stmt *stmt = store->writer.statements[WRITER_UPDATE_PROGRESS];

    sq_bind_int(stmt, 1, (int64_t)last->seq);
    sq_bind_int(stmt, 2, (int64_t)last->checksum);
    sq_bind_int(stmt, 3, store->projection.next_job_number);
    return sq_run(stmt, err);
}

/* In a transaction. */
static int fold(struct store *store, const struct elog_record *records,
                uint32_t record_count, struct err *err)
{
    for (uint32_t i = 0; i < record_count; i++) {
        int rc = projection_add(&store->projection, &records[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    int rc = store_writer_flush(&store->writer, &store->projection, err);
    if (rc < 0) {
        return rc;
    }
    return update_progress(store, &records[record_count - 1], err);
}

static int check_next(const struct store *store,
                      const struct elog_record *records, uint32_t record_count,
                      struct err *err)
{
    for (uint32_t i = 0; i < record_count; i++) {
        uint64_t next_seq =
            i > 0 || store->seq == 0 ? records[0].seq + i : store->seq + 1;

        if (records[i].seq != next_seq) {
            return err_set(err, -ERR_CONFLICT,
                           "%s: record %llu is not the next one, %llu is",
                           store->path, (unsigned long long)records[i].seq,
                           (unsigned long long)next_seq);
        }
    }
    return 0;
}

int store_apply(struct store *store, const struct elog_record *records,
                uint32_t record_count, store_changed_fn *changed, void *ctx,
                struct err *err)
{
    struct store_writer *writer = &store->writer;
    struct projection *projection = &store->projection;

    ASSERT(record_count > 0 && record_count <= STORE_APPLY_RECORDS_MAX);
    int rc = check_next(store, records, record_count, err);
    if (rc == 0) {
        rc = sq_run(writer->statements[WRITER_BEGIN], err);
    }
    if (rc < 0) {
        return rc;
    }
    projection_reset(projection, store->next_job_number);
    rc = fold(store, records, record_count, err);
    if (rc < 0) {
        sq_rollback(writer->db);
        return rc;
    }
    rc = sq_commit(writer->db, err);
    if (rc < 0) {
        return rc;
    }
    store->seq = records[record_count - 1].seq;
    store->checksum = records[record_count - 1].checksum;
    store->next_job_number = projection->next_job_number;
    for (size_t i = 0; changed && i < projection->sets.count; i++) {
        const struct set_row *set = &projection->sets.items[i];
        changed(ctx, set->queue, set->name, set->seq);
    }
    return 0;
}

/* A job that may go. */
struct victim {
    struct job_id id;
    int64_t number;
    int64_t set_key;
    int64_t state;
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
                        "SELECT id, number, set_key, state FROM job"
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
    return sq_exec(db, sql, err);
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

/* A copy of an older store, whose pages have no checksums, must at least be
 * sound. */
static int check_copy(const char *path, struct err *err)
{
    struct sq_open how = {.path = path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t count = 0;

    int rc = sq_open(&how, &db, err);
    if (rc < 0) {
        return rc;
    }
    rc = sq_get_int(db,
                    "SELECT count(*) FROM pragma_quick_check"
                    " WHERE quick_check <> 'ok'",
                    &count, err);
    sq_close(db);
    if (rc >= 0 && count > 0) {
        unlink(path);
        return err_set(err, -ERR_CORRUPT,
                       "the query store is damaged: stop, move it away, and "
                       "it is rebuilt from the log");
    }
    return rc < 0 ? rc : 0;
}

int store_backup(struct store *store, const char *path, struct err *err)
{
    struct sq_open how = {.path = store->path, .is_read_only = true};
    sqlite3 *db = NULL;

    int rc = sq_open(&how, &db, err);
    if (rc < 0) {
        return rc;
    }
    rc = sq_backup(db, path, err);
    bool has_sums = rc == 0 && sq_sums_are_kept(db);
    sq_close(db);
    return rc < 0 || has_sums ? rc : check_copy(path, err);
}

int store_reader_open(struct store *store, struct store_reader **ret_reader,
                      struct err *err)
{
    return store_sqlite_reader_create(store->path, ret_reader, err);
}
