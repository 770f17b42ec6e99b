#include "store/store_sqlite.h"

#include <stdio.h>
#include <unistd.h>

#include "elog/sq_sums.h"
#include "store/store_sqlite_private.h"
#include "store/store_sqlite_query.h"
#include "store/store_sqlite_writer.h"

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
