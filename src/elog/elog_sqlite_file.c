#include "elog/elog_sqlite_file.h"

#include <stdio.h>

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

int elog_sqlite_check_version(sqlite3 *db, struct err *err)
{
    const char *path = sqlite3_db_filename(db, "main");
    int64_t application_id = 0;
    int64_t version = 0;

    int rc = sq_get_int(db, "PRAGMA application_id", &application_id, err);
    if (rc >= 0) {
        rc = sq_get_int(db, "PRAGMA user_version", &version, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (application_id != ELOG_SQLITE_APPLICATION_ID || version < 1) {
        return err_set(err, -ERR_CORRUPT, "%s is not a log of Berth", path);
    }
    if (version > ELOG_SQLITE_VERSION) {
        return err_set(err, -ERR_VERSION,
                       "%s has format %lld, written by a newer release; this "
                       "one knows formats up to %d: use the newer release, or "
                       "another data directory",
                       path, (long long)version, (int)ELOG_SQLITE_VERSION);
    }
    return 0;
}

/* Make the tables of a new file; one transaction, so all or nothing. */
static int create_tables(sqlite3 *db, struct err *err)
{
    char sql[sizeof(schema) + 200];

    snprintf(sql, sizeof(sql),
             "BEGIN IMMEDIATE; %s PRAGMA application_id = %d;"
             "PRAGMA user_version = %d",
             schema, (int)ELOG_SQLITE_APPLICATION_ID, (int)ELOG_SQLITE_VERSION);
    int rc = sq_exec(db, sql, err);
    if (rc < 0) {
        sq_rollback(db);
        return rc;
    }
    return sq_commit(db, err);
}

/* From now on no older release may open it: it would take our records for
 * damaged ones, and pass over them. */
static int set_version(sqlite3 *db, struct err *err)
{
    char sql[64];
    int64_t version = 0;

    int rc = sq_get_int(db, "PRAGMA user_version", &version, err);
    if (rc < 0 || version == ELOG_SQLITE_VERSION) {
        return rc < 0 ? rc : 0;
    }
    snprintf(sql, sizeof(sql), "PRAGMA user_version = %d",
             (int)ELOG_SQLITE_VERSION);
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

/* Where the good part of the log ends: the seq after the newest record that
 * is whole, going back from `next_seq` to `floor_seq` at most. */
static int find_good_end(sqlite3 *db, uint64_t floor_seq, uint64_t *next_seq,
                         struct err *err)
{
    sqlite3_stmt *select = NULL;
    uint64_t end = *next_seq;

    int rc =
        sq_prepare(db, ELOG_SQLITE_SELECT_RECORDS " LIMIT 1", &select, err);
    while (rc >= 0 && end > floor_seq) {
        struct elog_record record;

        sq_bind_int(select, 1, (int64_t)end - 1);
        rc = sq_step(select, err);
        bool is_good = rc == 1 && elog_sqlite_get_record(select, &record) &&
                       record.seq == end - 1;
        sqlite3_reset(select);
        if (is_good) {
            break;
        }
        end--;
    }
    sqlite3_finalize(select);
    if (rc < 0) {
        return rc;
    }
    *next_seq = end;
    return 0;
}

/* Forget the records from `next_seq` on. */
static int cut_tail(sqlite3 *db, uint64_t next_seq, struct err *err)
{
    char sql[200];

    snprintf(sql, sizeof(sql),
             "BEGIN IMMEDIATE; DELETE FROM record WHERE seq >= %llu;"
             "UPDATE head SET next = %llu",
             (unsigned long long)next_seq, (unsigned long long)next_seq);
    int rc = sq_exec(db, sql, err);
    if (rc < 0) {
        sq_rollback(db);
        return rc;
    }
    return sq_commit(db, err);
}

/* The head row has no checksum: see that it fits the records. */
static int check_head(sqlite3 *db, struct err *err)
{
    int64_t wrong_count = 0;

    int rc = sq_get_int(
        db,
        "SELECT count(*) FROM head h WHERE"
        " coalesce((SELECT max(seq) FROM record), 0) >= h.next"
        " OR coalesce((SELECT min(seq) FROM record), h.first) < h.first"
        " OR (SELECT epoch FROM record ORDER BY seq DESC LIMIT 1) > h.epoch",
        &wrong_count, err);
    if (rc >= 0 && wrong_count > 0) {
        return err_set(err, -ERR_CORRUPT,
                       "%s: the head row does not fit the records: restore "
                       "the newest backup",
                       sqlite3_db_filename(db, "main"));
    }
    return rc < 0 ? rc : 0;
}

/* Look at the end of the log, and pass over what is torn there.  Records that
 * a checkpoint covers are not looked at: nobody needs them to go on. */
static int check_tail(sqlite3 *db, char *note, struct err *err)
{
    const char *path = sqlite3_db_filename(db, "main");
    int64_t first_seq = 1;
    int64_t next_seq = 1;
    int64_t covered_seq = 0;

    int rc = sq_get_int(db, "SELECT first FROM head", &first_seq, err);
    if (rc == 1) {
        rc = sq_get_int(db, "SELECT next FROM head", &next_seq, err);
    }
    if (rc == 0) {
        return err_set(err, -ERR_CORRUPT, "%s has lost its head row", path);
    }
    if (rc > 0) {
        rc = sq_get_int(db, "SELECT max(seq) FROM checkpoint", &covered_seq,
                        err);
    }
    if (rc < 0) {
        return rc;
    }
    int64_t floor_seq =
        covered_seq + 1 > first_seq ? covered_seq + 1 : first_seq;
    uint64_t end = (uint64_t)next_seq;
    rc = find_good_end(db, (uint64_t)floor_seq, &end, err);
    uint64_t torn_count = (uint64_t)next_seq - end;
    if (rc < 0 || torn_count == 0) {
        return rc;
    }
    if (torn_count > ELOG_SQLITE_TORN_COUNT_MAX) {
        return err_set(err, -ERR_CORRUPT,
                       "%s: the last %llu records are damaged, more than one "
                       "broken commit explains: restore the newest backup",
                       path, (unsigned long long)torn_count);
    }
    snprintf(note, ERR_TEXT_BYTES_MAX,
             "%s: the last %llu records, from %llu on, were torn or damaged "
             "and have been passed over",
             path, (unsigned long long)torn_count, (unsigned long long)end);
    return cut_tail(db, end, err);
}

int elog_sqlite_prepare(sqlite3 *db, char *note, struct err *err)
{
    int64_t table_count = 0;

    /* The page size counts for a new file only, and before WAL is on. */
    int rc = sq_exec(db, "PRAGMA page_size = 8192", err);
    if (rc == 0) {
        rc = sq_get_int(db, "SELECT count(*) FROM sqlite_master", &table_count,
                        err);
    }
    if (rc >= 0 && table_count > 0) {
        rc = elog_sqlite_check_version(db, err);
    }
    if (rc >= 0) {
        rc = sq_exec(db,
                     "PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = FULL;"
                     "PRAGMA wal_autocheckpoint = 4000;"
                     "PRAGMA journal_size_limit = 67108864",
                     err);
    }
    if (rc == 0) {
        rc = table_count == 0 ? create_tables(db, err) : set_version(db, err);
    }
    if (rc == 0) {
        rc = check_head(db, err);
    }
    return rc < 0 ? rc : check_tail(db, note, err);
}
