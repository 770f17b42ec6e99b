#include "elog/elog_sqlite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "elog/elog_signal.h"
#include "elog/elog_sqlite_checkpoint.h"
#include "elog/elog_sqlite_private.h"
#include "elog/elog_sqlite_reader.h"
#include "elog/elog_sqlite_tail.h"

enum {
    /* Payloads that are read at once to check a copy. */
    READ_BYTES = 1 << 20,
    /* Payloads that one step of trimming forgets, about. */
    TRIM_BYTES_MAX = 8 << 20,
};

struct elog_sqlite *elog_sqlite_of(struct elog *elog)
{
    return container_of(elog, struct elog_sqlite, elog);
}

static int sqlite_acquire(struct elog *elog, uint64_t *ret_epoch,
                          struct err *err)
{
    struct elog_sqlite *log = elog_sqlite_of(elog);
    uint64_t epoch = 0;

    int rc = elog_sqlite_begin(log, err);
    if (rc < 0) {
        return rc;
    }
    rc = elog_sqlite_update_epoch(log, &epoch, err);
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

static int sqlite_checkpoint_put(struct elog *elog,
                                 const struct elog_checkpoint *about,
                                 elog_piece_fn *next, void *ctx,
                                 struct err *err)
{
    struct elog_sqlite *log = elog_sqlite_of(elog);
    struct sq_open how = {.path = log->path, .vfs = log->vfs};
    struct elog_checkpoint stored = *about;
    sqlite3 *db = NULL;

    int rc = elog_sqlite_settle(log, err);
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
    struct elog_sqlite *log = elog_sqlite_of(elog);
    uint64_t first_seq = 0;

    int rc = elog_sqlite_begin(log, err);
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
        if (log->recent) {
            elog_recent_trim(log->recent, first_seq);
        }
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
    struct elog_sqlite *log = elog_sqlite_of(elog);
    struct sq_open how = {
        .path = log->path, .vfs = log->vfs, .is_read_only = true};
    sqlite3 *db = NULL;

    int rc = elog_sqlite_settle(log, err);
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
    struct elog_sqlite *log = elog_sqlite_of(elog);
    struct elog_sqlite_reader_options options = {
        .path = log->path,
        .vfs = log->vfs,
        .signal = &log->signal,
        .recent = log->recent,
        .has_strangers = log->lock_fd < 0,
    };

    int rc = elog_sqlite_settle(log, err);
    return rc < 0 ? rc : elog_sqlite_reader_create(&options, ret, err);
}

static void sqlite_close(struct elog *elog)
{
    struct elog_sqlite *log = elog_sqlite_of(elog);

    elog_pending_tell(&log->pending, 0, -ERR_UNAVAILABLE,
                      &elog->in_flight_count);
    elog_pending_fini(&log->pending);
    (void)!elog_sqlite_settle(log, NULL);
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
    if (log->recent) {
        elog_recent_fini(log->recent);
        mem_free(log->recent);
    }
    if (log->lock_fd >= 0) {
        close(log->lock_fd);
    }
    mem_free(log->path);
    mem_free(log->vfs);
    mem_free(log);
}

static const struct elog_ops sqlite_ops = {
    .acquire = sqlite_acquire,
    .submit = elog_sqlite_submit,
    .poll = elog_sqlite_poll,
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

/* Nobody else appends: what the log has is known from now on. */
static int begin_recent(struct elog_sqlite *log, struct err *err)
{
    struct elog_sqlite_head head;

    int rc = elog_sqlite_get_head(log->select_head, &head, err);
    if (rc < 0) {
        return rc;
    }
    log->recent = mem_alloc(sizeof(*log->recent));
    elog_recent_init(log->recent, head.first_seq, head.next_seq);
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
    rc = rc < 0 ? rc : prepare_statements(log, err);
    return rc < 0 || options->is_unlocked || options->is_bulk
               ? rc
               : begin_recent(log, err);
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
