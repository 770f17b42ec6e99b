#include "elog/elog_sqlite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "elog/elog_signal.h"
#include "elog/elog_sqlite_checkpoint.h"
#include "elog/elog_sqlite_reader.h"
#include "elog/elog_sqlite_tail.h"

enum {
    /* Payloads of one transaction; more are a second one. */
    COMMIT_BYTES_MAX = ELOG_PAYLOAD_BYTES_MAX,
    /* Payloads of one transaction in bulk. */
    BULK_BYTES = 4 << 20,
    /* Payloads that are read at once to check a copy. */
    READ_BYTES = 1 << 20,
    /* Payloads that one step of trimming forgets, about. */
    TRIM_BYTES_MAX = 8 << 20,
};

struct elog_sqlite {
    struct elog elog;
    sqlite3 *db;         /* the writer's connection */
    struct log_end *end; /* NULL: none is kept */
    sqlite3_stmt *begin;
    sqlite3_stmt *select_head;
    sqlite3_stmt *insert_record;
    sqlite3_stmt *update_next;
    struct elog_pending pending;
    struct elog_signal signal; /* readers of this process wait on it */
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

static struct elog_sqlite *sqlite_of(struct elog *elog)
{
    return container_of(elog, struct elog_sqlite, elog);
}

/* Commit what bulk appending has left open. */
static int settle(struct elog_sqlite *log, struct err *err)
{
    if (!log->is_open) {
        return 0;
    }
    log->is_open = false;
    log->open_byte_count = 0;
    int rc = sq_commit(log->db, err);
    if (rc < 0) {
        sq_rollback(log->db);
        log->is_broken = true;
    }
    return rc;
}

/* Begin a transaction that is not open yet. */
static int begin(struct elog_sqlite *log, struct err *err)
{
    int rc = settle(log, err);

    return rc < 0 ? rc : sq_run(log->begin, err);
}

static int update_epoch(struct elog_sqlite *log, uint64_t *ret_epoch,
                        struct err *err)
{
    struct elog_sqlite_head head;

    int rc = elog_sqlite_get_head(log->select_head, &head, err);
    if (rc == 0) {
        rc = sq_exec(log->db, "UPDATE head SET epoch = epoch + 1", err);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_epoch = head.epoch + 1;
    return 0;
}

static int sqlite_acquire(struct elog *elog, uint64_t *ret_epoch,
                          struct err *err)
{
    struct elog_sqlite *log = sqlite_of(elog);
    uint64_t epoch = 0;

    int rc = begin(log, err);
    if (rc < 0) {
        return rc;
    }
    rc = update_epoch(log, &epoch, err);
    if (rc < 0) {
        sq_rollback(log->db);
        return rc;
    }
    rc = sq_commit(log->db, err);
    if (rc < 0) {
        return rc;
    }
    log->has_led = true;
    *ret_epoch = epoch;
    return 0;
}

static int sqlite_submit(struct elog *elog, const struct elog_record *record,
                         elog_done_fn *done, void *ctx)
{
    struct elog_sqlite *log = sqlite_of(elog);

    elog_pending_add(&log->pending, record, done, ctx);
    elog->in_flight_count++;
    return 0;
}

static int insert(struct elog_sqlite *log, struct elog_record *record)
{
    sqlite3_stmt *stmt = log->insert_record;

    record->checksum = elog_record_checksum(record);
    sq_bind_int(stmt, 1, (int64_t)record->seq);
    sq_bind_int(stmt, 2, (int64_t)record->epoch);
    sq_bind_int(stmt, 3, record->time_ms);
    sq_bind_int(stmt, 4, record->format_version);
    sq_bind_int(stmt, 5, (int64_t)record->checksum);
    sq_bind_blob(stmt, 6, record->payload);
    int rc = sq_run(stmt, NULL);
    sqlite3_clear_bindings(stmt); /* the payload is borrowed no longer */
    return rc;
}

/* In a transaction: insert those that fit from `from` on, as far as one
 * commit may go.  The number inserted; what else there is, is in
 * `*ret_result`. */
static int insert_some(struct elog_sqlite *log, uint32_t from, int *ret_result)
{
    struct elog_pending rest = {.items = log->pending.items + from,
                                .count = log->pending.count - from};
    struct elog_sqlite_head head;
    size_t byte_count = 0;
    uint32_t count = 0;

    int rc = elog_sqlite_get_head(log->select_head, &head, NULL);
    if (rc < 0) {
        return rc;
    }
    uint32_t fit_count =
        elog_pending_fit(&rest, head.epoch, head.next_seq, ret_result);
    while (count < fit_count) {
        struct elog_record *record = &rest.items[count].record;

        byte_count += record->payload.byte_count;
        if (count > 0 && byte_count > COMMIT_BYTES_MAX) {
            *ret_result = 0;
            break;
        }
        rc = insert(log, record);
        if (rc < 0) {
            return rc;
        }
        count++;
    }
    sq_bind_int(log->update_next, 1, (int64_t)(head.next_seq + count));
    rc = sq_run(log->update_next, NULL);
    return rc < 0 ? rc : (int)count;
}

/* What was not inserted or committed is undone: what it is told. */
static uint32_t give_up(struct elog_sqlite *log, int rc, int *ret_result)
{
    *ret_result = rc == -ERR_FULL ? rc : -ERR_IO;
    /* In bulk, records that were told are undone with it. */
    log->is_broken = *ret_result == -ERR_IO || log->is_bulk;
    return 0;
}

/* Insert pending records from `from` on in the transaction that is open for
 * many polls; as commit_some(). */
static uint32_t append_some(struct elog_sqlite *log, uint32_t from,
                            int *ret_result)
{
    int rc = log->is_open ? 0 : sq_run(log->begin, NULL);

    if (rc == 0) {
        log->is_open = true;
        rc = insert_some(log, from, ret_result);
    }
    for (int i = 0; i < rc; i++) {
        log->open_byte_count +=
            log->pending.items[from + (uint32_t)i].record.payload.byte_count;
    }
    if (rc >= 0 && log->open_byte_count >= BULK_BYTES) {
        int committed = settle(log, NULL);
        rc = committed < 0 ? committed : rc;
    }
    if (rc >= 0) {
        return (uint32_t)rc;
    }
    sq_rollback(log->db);
    log->is_open = false;
    return give_up(log, rc, ret_result);
}

/* One commit of pending records from `from` on: the number appended.  When
 * none of the rest can be, `*ret_result` says why. */
static uint32_t commit_some(struct elog_sqlite *log, uint32_t from,
                            int *ret_result)
{
    int rc = sq_run(log->begin, NULL);
    if (rc == 0) {
        rc = insert_some(log, from, ret_result);
        int committed = 0;
        if (rc > 0) {
            committed = sq_commit(log->db, NULL);
        }
        rc = committed < 0 ? committed : rc;
        sq_rollback(log->db);
    }
    return rc >= 0 ? (uint32_t)rc : give_up(log, rc, ret_result);
}

/* The first `count` pending records, at least 1, are durable. */
static void mark_end(struct elog_sqlite *log, uint32_t count)
{
    const struct elog_record *last = &log->pending.items[count - 1].record;

    if (log->end) {
        log_end_put(log->end, (struct log_end_mark){last->seq, last->checksum});
    }
}

static int sqlite_poll(struct elog *elog, int timeout_ms)
{
    struct elog_sqlite *log = sqlite_of(elog);
    uint32_t good_count = 0;
    int result = log->is_broken ? -ERR_IO : 0;

    (void)timeout_ms; /* nothing is decided later than now */
    if (log->pending.count == 0) {
        return 0;
    }
    while (result == 0 && good_count < log->pending.count) {
        good_count += log->is_bulk ? append_some(log, good_count, &result)
                                   : commit_some(log, good_count, &result);
    }
    if (good_count > 0) {
        mark_end(log, good_count);
        elog_signal_wake(&log->signal);
    }
    return elog_pending_tell(&log->pending, good_count, result,
                             &elog->in_flight_count);
}

static int sqlite_checkpoint_put(struct elog *elog,
                                 const struct elog_checkpoint *about,
                                 elog_piece_fn *next, void *ctx,
                                 struct err *err)
{
    struct elog_sqlite *log = sqlite_of(elog);
    struct sq_open how = {.path = log->path, .vfs = log->vfs};
    struct elog_checkpoint stored = *about;
    sqlite3 *db = NULL;

    int rc = settle(log, err);
    if (rc == 0) {
        rc = sq_open(&how, &db, err);
    }
    if (rc < 0) {
        return rc;
    }
    rc = elog_sqlite_checkpoint_put(db, &stored, next, ctx, err);
    sq_close(db);
    if (rc == 0) {
        atomic_store(&log->valid_checkpoint_seq, stored.seq);
        if (log->end) {
            log_end_write_out(log->end);
        }
    }
    return rc;
}

/* In a transaction: forget records before `end_seq`. */
static int forget(struct elog_sqlite *log, uint64_t end_seq, struct err *err)
{
    char sql[160];

    snprintf(sql, sizeof(sql),
             "DELETE FROM record WHERE seq < %llu;"
             "UPDATE head SET first = %llu",
             (unsigned long long)end_seq, (unsigned long long)end_seq);
    return sq_exec(log->db, sql, err);
}

/* The end of what one step may forget, from `first_seq` on and not beyond
 * `end_seq`: to free a record its pages are read, so big ones count. */
static int bound_trim(struct elog_sqlite *log, uint64_t first_seq,
                      uint64_t *end_seq, struct err *err)
{
    sqlite3_stmt *select = NULL;
    uint64_t seq = first_seq;
    int64_t byte_count = 0;

    int rc = sq_prepare(log->db,
                        "SELECT seq, length(payload) FROM record"
                        " WHERE seq >= ? AND seq < ? ORDER BY seq LIMIT ?",
                        &select, err);
    if (rc == 0) {
        sq_bind_int(select, 1, (int64_t)first_seq);
        sq_bind_int(select, 2, (int64_t)*end_seq);
        sq_bind_int(select, 3, ELOG_TRIM_COUNT_MAX);
    }
    while (rc >= 0 && byte_count < TRIM_BYTES_MAX &&
           (rc = sq_step(select, err)) == 1) {
        seq = (uint64_t)sqlite3_column_int64(select, 0) + 1;
        byte_count += sqlite3_column_int64(select, 1);
    }
    sqlite3_finalize(select);
    if (rc < 0) {
        return rc;
    }
    *end_seq = seq;
    return 0;
}

/* In a transaction: as elog_trim(). */
static int trim(struct elog_sqlite *log, uint64_t before_seq,
                uint64_t *ret_first_seq, struct err *err)
{
    struct elog_sqlite_head head;
    uint64_t covered_seq;

    int rc = elog_sqlite_get_head(log->select_head, &head, err);
    if (rc == 0) {
        rc = elog_sqlite_checkpoint_find(
            log->db, atomic_load(&log->valid_checkpoint_seq), &covered_seq,
            err);
    }
    if (rc < 0) {
        return rc;
    }
    atomic_store(&log->valid_checkpoint_seq, covered_seq);
    uint64_t end_seq = covered_seq > 0 ? covered_seq + 1 : head.first_seq;
    end_seq = end_seq < before_seq ? end_seq : before_seq;
    if (end_seq <= head.first_seq) {
        *ret_first_seq = head.first_seq;
        return 0;
    }
    rc = bound_trim(log, head.first_seq, &end_seq, err);
    if (rc == 0) {
        rc = forget(log, end_seq, err);
    }
    if (rc == 0) {
        *ret_first_seq = end_seq;
    }
    return rc;
}

static int sqlite_trim(struct elog *elog, uint64_t before_seq,
                       uint64_t *ret_first_seq, struct err *err)
{
    struct elog_sqlite *log = sqlite_of(elog);
    uint64_t first_seq = 0;

    int rc = begin(log, err);
    if (rc < 0) {
        return rc;
    }
    rc = trim(log, before_seq, &first_seq, err);
    if (rc < 0) {
        sq_rollback(log->db);
        return rc;
    }
    rc = sq_commit(log->db, err);
    if (rc == 0) {
        *ret_first_seq = first_seq;
    }
    return rc;
}

static int look_at(void *ctx, const struct elog_record *record)
{
    *(uint64_t *)ctx = record->seq;
    return 0;
}

/* Read all records of a copy. */
static int check_copy(const char *path, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds = {1, 0};
    struct elog_range range = {.byte_count_max = READ_BYTES};

    int rc = elog_sqlite_reader_open(path, &reader, err);
    if (rc == 0) {
        rc = elog_bounds(reader, &bounds, err);
    }
    uint64_t seq = bounds.first_seq - 1;
    while (rc >= 0 && seq < bounds.head_seq) {
        range.from_seq = seq + 1;
        rc = elog_read(reader, &range, look_at, &seq, err);
    }
    return rc < 0 ? rc : 0;
}

static int sqlite_backup(struct elog *elog, const char *path, struct err *err)
{
    struct elog_sqlite *log = sqlite_of(elog);
    struct sq_open how = {
        .path = log->path, .vfs = log->vfs, .is_read_only = true};
    sqlite3 *db = NULL;

    int rc = settle(log, err);
    if (rc == 0) {
        rc = sq_open(&how, &db, err);
    }
    if (rc < 0) {
        return rc;
    }
    rc = sq_backup(db, path, err);
    sq_close(db);
    rc = rc < 0 ? rc : check_copy(path, err);
    if (rc == -ERR_CORRUPT) {
        unlink(path);
    }
    return rc;
}

static int sqlite_reader_open(struct elog *elog, struct elog_reader **ret,
                              struct err *err)
{
    struct elog_sqlite *log = sqlite_of(elog);
    struct elog_sqlite_reader_options options = {
        .path = log->path,
        .vfs = log->vfs,
        .signal = &log->signal,
        .has_strangers = log->lock_fd < 0,
    };

    int rc = settle(log, err);
    return rc < 0 ? rc : elog_sqlite_reader_create(&options, ret, err);
}

static void sqlite_close(struct elog *elog)
{
    struct elog_sqlite *log = sqlite_of(elog);

    elog_pending_tell(&log->pending, 0, -ERR_UNAVAILABLE,
                      &elog->in_flight_count);
    elog_pending_fini(&log->pending);
    (void)!settle(log, NULL);
    sqlite3_finalize(log->begin);
    sqlite3_finalize(log->select_head);
    sqlite3_finalize(log->insert_record);
    sqlite3_finalize(log->update_next);
    if (log->db && !log->has_led) {
        /* Looked at only: what lies behind a damaged part of the WAL stays
         * there, for whoever wants to save it. */
        sqlite3_db_config(log->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    sq_close(log->db);
    if (log->end && log->has_led) {
        log_end_write_out(log->end);
    }
    log_end_close(log->end);
    elog_signal_fini(&log->signal);
    if (log->lock_fd >= 0) {
        close(log->lock_fd);
    }
    mem_free(log->path);
    mem_free(log->vfs);
    mem_free(log);
}

static const struct elog_ops sqlite_ops = {
    .acquire = sqlite_acquire,
    .submit = sqlite_submit,
    .poll = sqlite_poll,
    .checkpoint_put = sqlite_checkpoint_put,
    .trim = sqlite_trim,
    .backup = sqlite_backup,
    .reader_open = sqlite_reader_open,
    .close = sqlite_close,
};

static int prepare_statements(struct elog_sqlite *log, struct err *err)
{
    const struct {
        const char *sql;
        sqlite3_stmt **stmt;
    } statements[] = {
        {"BEGIN IMMEDIATE", &log->begin},
        {ELOG_SQLITE_SELECT_HEAD, &log->select_head},
        {"INSERT INTO record VALUES (?, ?, ?, ?, ?, ?)", &log->insert_record},
        {"UPDATE head SET next = ?", &log->update_next},
    };

    for (size_t i = 0; i < ARRAY_COUNT(statements); i++) {
        int rc =
            sq_prepare(log->db, statements[i].sql, statements[i].stmt, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* SQLite takes an empty file for a new database, and deletes the WAL that lies
 * beside it: then it must not be opened. */
static int check_wal(const struct elog_sqlite *log, struct err *err)
{
    auto_strbuf wal = {0};
    struct stat about;

    strbuf_addf(&wal, "%s-wal", log->path);
    bool is_empty = stat(log->path, &about) != 0 || about.st_size == 0;
    if (is_empty && stat(strbuf_text(&wal), &about) == 0 && about.st_size > 0) {
        return err_set(err, -ERR_CORRUPT,
                       "%s is missing or empty, but %s is not: restore the "
                       "newest backup, or move the latter away to begin anew",
                       log->path, strbuf_text(&wal));
    }
    return 0;
}

/* The lock first: what another process has open is not even looked at. */
static int open_file(struct elog_sqlite *log,
                     const struct elog_sqlite_options *options, struct err *err)
{
    struct sq_open how = {
        .path = log->path, .vfs = log->vfs, .may_create = true};

    if (!options->is_unlocked) {
        log->lock_fd = sq_lock(log->path, err);
        if (log->lock_fd < 0) {
            return log->lock_fd;
        }
    }
    int rc = check_wal(log, err);
    rc = rc < 0 ? rc : sq_open(&how, &log->db, err);
    if (rc == 0 && !options->is_unlocked && !options->is_bulk) {
        rc = log_end_open(log->path, &log->end, err);
    }
    if (rc == 0) {
        struct elog_sqlite_tail tail = {log->db, log->end,
                                        options->accepts_loss};
        rc = elog_sqlite_prepare(&tail, log->elog.note, err);
    }
    if (rc == 0 && log->is_bulk) {
        rc = sq_exec(log->db, "PRAGMA synchronous = OFF", err);
    }
    return rc < 0 ? rc : prepare_statements(log, err);
}

int elog_sqlite_open(const char *path,
                     const struct elog_sqlite_options *options,
                     struct elog **ret_log, struct err *err)
{
    const struct elog_sqlite_options usual = {0};
    struct elog_sqlite *log = mem_alloc(sizeof(*log));
    auto_ptr(elog) owned = &log->elog;

    options = options ? options : &usual;
    log->elog.ops = &sqlite_ops;
    log->path = mem_strdup(path);
    log->vfs = mem_strdup(options->vfs);
    log->lock_fd = -1;
    log->is_bulk = options->is_bulk;
    elog_signal_init(&log->signal);
    int rc = open_file(log, options, err);
    if (rc < 0) {
        return rc;
    }
    *ret_log = steal_ptr(owned);
    return 0;
}
