#include "elog/elog_sqlite_file.h"

#include <stdio.h>

#include "elog/elog_sqlite_tail.h"
#include "elog/sq_sums.h"

static const char schema[] = "CREATE TABLE head ("
                             " id INTEGER PRIMARY KEY CHECK (id = 1),"
                             " epoch INTEGER NOT NULL,"
                             " first INTEGER NOT NULL,"
                             " next INTEGER NOT NULL);"
                             "INSERT INTO head VALUES (1, 0, 1, 1);"
                             "CREATE TABLE record ("
                             " seq INTEGER PRIMARY KEY,"
                             " epoch INTEGER NOT NULL,"
                             " time_ms INTEGER NOT NULL,"
                             " format_version INTEGER NOT NULL,"
                             " checksum INTEGER NOT NULL,"
                             " payload BLOB NOT NULL);"
                             "CREATE TABLE checkpoint ("
                             " id INTEGER PRIMARY KEY,"
                             " seq INTEGER NOT NULL,"
                             " format_version INTEGER NOT NULL,"
                             " byte_count INTEGER NOT NULL,"
                             " piece_count INTEGER NOT NULL,"
                             " checksum INTEGER NOT NULL);"
                             "CREATE TABLE checkpoint_piece ("
                             " id INTEGER PRIMARY KEY,"
                             " bytes BLOB NOT NULL);";

static const struct sq_format format = {ELOG_SQLITE_APPLICATION_ID,
                                        ELOG_SQLITE_VERSION, "a log of Berth"};

int elog_sqlite_check_version(sqlite3 *db, struct err *err)
{
    int64_t version;

    int rc = sq_check_format(db, &format, &version, err);
    if (rc < 0) {
        return rc;
    }
    if (version > ELOG_SQLITE_VERSION_PLAIN && !sq_sums_are_kept(db)) {
        return err_set(err, -ERR_CORRUPT,
                       "%s is damaged: its first page should tell of "
                       "checksums; restore the newest backup",
                       sqlite3_db_filename(db, "main"));
    }
    return 0;
}

/* From now on no older release may open it: it would take our records or pages
 * for damaged ones. */
static int set_version(sqlite3 *db, struct err *err)
{
    char sql[64];
    int64_t version = 0;
    int64_t right =
        sq_sums_are_kept(db) ? ELOG_SQLITE_VERSION : ELOG_SQLITE_VERSION_PLAIN;

    int rc = sq_get_int(db, "PRAGMA user_version", &version, err);
    if (rc < 0 || version >= right) {
        return rc < 0 ? rc : 0;
    }
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", (int)right);
    return sq_exec(db, sql, err);
}

bool elog_sqlite_get_record(sqlite3_stmt *row, struct elog_record *ret_record)
{
    *ret_record = (struct elog_record){
        .seq = (uint64_t)sqlite3_column_int64(row, 0),
        .epoch = (uint64_t)sqlite3_column_int64(row, 1),
        .time_ms = sqlite3_column_int64(row, 2),
        .format_version = (uint32_t)sqlite3_column_int64(row, 3),
        .checksum = (uint64_t)sqlite3_column_int64(row, 4),
        .payload = sq_column_str(row, 5),
    };
    return elog_record_is_whole(ret_record);
}

int elog_sqlite_get_head(sqlite3_stmt *select, struct elog_sqlite_head *ret,
                         struct err *err)
{
    int rc = sq_step(select, err);

    if (rc == 0) {
        return err_set(err, -ERR_CORRUPT, "%s has lost its head row",
                       sqlite3_db_filename(sqlite3_db_handle(select), "main"));
    }
    if (rc == 1) {
        ret->epoch = (uint64_t)sqlite3_column_int64(select, 0);
        ret->first_seq = (uint64_t)sqlite3_column_int64(select, 1);
        ret->next_seq = (uint64_t)sqlite3_column_int64(select, 2);
        sqlite3_reset(select);
    }
    return rc < 0 ? rc : 0;
}

int elog_sqlite_prepare(const struct elog_sqlite_tail *tail, char *note,
                        struct err *err)
{
    sqlite3 *db = tail->db;
    int64_t table_count = 0;

    /* The page size counts for a new file only, and before WAL is on. */
    int rc = sq_exec(db, "PRAGMA page_size = 8192", err);
    if (rc == 0) {
        rc = sq_get_int(db, "SELECT count(*) FROM sqlite_master", &table_count,
                        err);
    }
    if (rc >= 0 && table_count > 0) {
        rc = elog_sqlite_check_version(db, err);
    } else if (rc >= 0) {
        sq_sums_begin(db);
        rc = elog_sqlite_tail_new(tail, note, err);
    }
    if (rc >= 0) {
        rc = sq_exec(db,
                     "PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL;"
                     "PRAGMA wal_autocheckpoint = 4000;"
                     "PRAGMA journal_size_limit = 67108864",
                     err);
    }
    if (rc == 0 && table_count == 0) {
        return sq_create_tables(db, &format, schema, err);
    }
    rc = rc < 0 ? rc : elog_sqlite_tail_check(tail, note, err);
    return rc < 0 ? rc : set_version(db, err);
}
