/* What a database file is, by the numbers in its head. */
#include "base/strbuf.h"
#include "elog/sq.h"

int sq_check_format(sqlite3 *db, const struct sq_format *format,
                    int64_t *ret_version, struct err *err)
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
    if (application_id != format->application_id || version < 1) {
        return err_set(err, -ERR_CORRUPT, "%s is not %s", path, format->what);
    }
    if (version > format->version) {
        return err_set(err, -ERR_VERSION,
                       "%s has format %lld, written by a newer release; this "
                       "one knows formats up to %d: use the newer release, or "
                       "another data directory",
                       path, (long long)version, format->version);
    }
    *ret_version = version;
    return 0;
}

int sq_create_tables(sqlite3 *db, const struct sq_format *format,
                     const char *schema, struct err *err)
{
    auto_strbuf sql = {0};

    strbuf_addf(&sql,
                "BEGIN IMMEDIATE; %s PRAGMA application_id = %d;"
                "PRAGMA user_version = %d",
                schema, format->application_id, format->version);
    int rc = sq_exec(db, sql.bytes, err);
    if (rc < 0) {
        sq_rollback(db);
        return rc;
    }
    return sq_commit(db, err);
}
