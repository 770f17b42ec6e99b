#include "elog/sq.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "elog/sq_sums.h"

static int code_of(int rc)
{
    if (rc == SQLITE_IOERR_DATA) { /* a page without its checksum */
        return -ERR_CORRUPT;
    }
    switch (rc & 0xff) {
    case SQLITE_FULL:
        return -ERR_FULL;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return -ERR_CORRUPT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -ERR_UNAVAILABLE;
    case SQLITE_TOOBIG:
        return -ERR_LIMIT;
    default:
        return -ERR_IO;
    }
}

int sq_fail(sqlite3 *db, const char *what, struct err *err)
{
    int rc = sqlite3_extended_errcode(db);
    int system_errno = rc == SQLITE_IOERR_DATA ? 0 : sqlite3_system_errno(db);

    return err_set(err, code_of(rc), "%s: %s (%d%s%s)", what,
                   rc == SQLITE_IOERR_DATA
                       ? "a page of the file is damaged: restore the newest "
                         "backup"
                       : sqlite3_errmsg(db),
                   rc, system_errno ? ", " : "",
                   system_errno ? strerrordesc_np(system_errno) : "");
}

void sq_start(void)
{
    int rc = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);

    ASSERT(rc == SQLITE_OK); /* else a connection was there before */
}

int sq_open(const struct sq_open *how, sqlite3 **ret_db, struct err *err)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
                (how->may_create ? SQLITE_OPEN_CREATE : 0);

    if (sqlite3_open_v2(how->path, &db, flags, sq_sums_vfs(how->vfs)) !=
        SQLITE_OK) {
        int rc = sq_fail(db, how->path, err);
        sqlite3_close(db);
        return rc;
    }
    sqlite3_extended_result_codes(db, 1);
    sqlite3_busy_timeout(db, SQ_BUSY_TIMEOUT_MS);
    if (how->is_read_only) {
        int rc = sq_exec(db, "PRAGMA query_only = 1", err);
        if (rc < 0) {
            sqlite3_close(db);
            return rc;
        }
    }
    *ret_db = db;
    return 0;
}

void sq_close(sqlite3 *db)
{
    int rc = sqlite3_close(db);

    ASSERT(rc != SQLITE_BUSY); /* a statement was left behind */
}

int sq_exec(sqlite3 *db, const char *sql, struct err *err)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        return sq_fail(db, sqlite3_db_filename(db, "main"), err);
    }
    return 0;
}

int sq_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt,
               struct err *err)
{
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_stmt,
                           NULL) != SQLITE_OK) {
        return sq_fail(db, sqlite3_db_filename(db, "main"), err);
    }
    return 0;
}

int sq_step(sqlite3_stmt *stmt, struct err *err)
{
    int rc = sqlite3_step(stmt);

    if (rc == SQLITE_ROW) {
        return 1;
    }
    if (rc != SQLITE_DONE) {
        sqlite3 *db = sqlite3_db_handle(stmt);
        rc = sq_fail(db, sqlite3_db_filename(db, "main"), err);
        sqlite3_reset(stmt);
        return rc;
    }
    sqlite3_reset(stmt);
    return 0;
}

int sq_run(sqlite3_stmt *stmt, struct err *err)
{
    int rc = sq_step(stmt, err);

    ASSERT(rc <= 0);
    return rc;
}

int sq_get_int(sqlite3 *db, const char *sql, int64_t *ret_value,
               struct err *err)
{
    sqlite3_stmt *stmt = NULL;

    int rc = sq_prepare(db, sql, &stmt, err);
    if (rc == 0) {
        rc = sq_step(stmt, err);
    }
    if (rc == 1 && sqlite3_column_type(stmt, 0) == SQLITE_NULL) {
        rc = 0;
    }
    if (rc == 1) {
        *ret_value = sqlite3_column_int64(stmt, 0);
    }
    sqlite3_finalize(stmt);
    return rc;
}

void sq_rollback(sqlite3 *db)
{
    if (!sqlite3_get_autocommit(db)) {
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    }
}

int sq_commit(sqlite3 *db, struct err *err)
{
    int rc = sq_exec(db, "COMMIT", err);

    if (rc < 0) {
        sq_rollback(db);
    }
    return rc;
}

/* Copy in one step: it holds one snapshot, so that a busy writer cannot make
 * it start over again and again. */
static int copy_all(sqlite3 *from, sqlite3 *to, const char *path,
                    struct err *err)
{
    sq_sums_copy(from, to);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");

    if (!backup) {
        return sq_fail(to, path, err);
    }
    sqlite3_backup_step(backup, -1);
    if (sqlite3_backup_finish(backup) != SQLITE_OK) {
        return sq_fail(to, path, err);
    }
    return 0;
}

static int sync_path(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0) {
        int rc = err_set(err, -ERR_IO, "%s: %s", path, strerrordesc_np(errno));
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    close(fd);
    return 0;
}

/* Make the name durable: sync the folder it is in. */
static int sync_folder_of(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    struct str folder = STR(".");

    if (slash) {
        folder = str_make(path, slash == path ? 1 : (size_t)(slash - path));
    }
    auto_mem char *name = str_dup(folder);
    return sync_path(name, err);
}

static int backup_to(sqlite3 *db, const char *temporary, struct err *err)
{
    sqlite3 *to = NULL;
    struct sq_open how = {.path = temporary, .may_create = true};

    unlink(temporary);
    int rc = sq_open(&how, &to, err);
    if (rc == 0) {
        rc = copy_all(db, to, temporary, err);
        sq_close(to);
    }
    return rc < 0 ? rc : sync_path(temporary, err);
}

int sq_backup(sqlite3 *db, const char *path, struct err *err)
{
    if (access(path, F_OK) == 0) {
        return err_set(err, -ERR_CONFLICT, "%s exists already", path);
    }
    size_t byte_count = strlen(path) + sizeof(".partial");
    auto_mem char *temporary = mem_alloc(byte_count);
    snprintf(temporary, byte_count, "%s.partial", path);
    int rc = backup_to(db, temporary, err);
    if (rc == 0 && rename(temporary, path) < 0) {
        rc = err_set(err, -ERR_IO, "%s: %s", path, strerrordesc_np(errno));
    }
    if (rc < 0) {
        unlink(temporary);
        return rc;
    }
    return sync_folder_of(path, err);
}

struct str sq_column_str(sqlite3_stmt *stmt, int column)
{
    const void *p = sqlite3_column_blob(stmt, column);

    return str_make(p, (size_t)sqlite3_column_bytes(stmt, column));
}

void sq_bind_blob(sqlite3_stmt *stmt, int index, struct str bytes)
{
    int rc = bytes.byte_count > 0
                 ? sqlite3_bind_blob64(stmt, index, bytes.p, bytes.byte_count,
                                       SQLITE_STATIC)
                 : sqlite3_bind_zeroblob(stmt, index, 0);

    ASSERT(rc == SQLITE_OK);
}

void sq_bind_text(sqlite3_stmt *stmt, int index, struct str text)
{
    int rc = sqlite3_bind_text64(stmt, index, text.p ? text.p : "",
                                 text.byte_count, SQLITE_STATIC, SQLITE_UTF8);

    ASSERT(rc == SQLITE_OK);
}

void sq_bind_int(sqlite3_stmt *stmt, int index, int64_t value)
{
    int rc = sqlite3_bind_int64(stmt, index, value);

    ASSERT(rc == SQLITE_OK);
}
