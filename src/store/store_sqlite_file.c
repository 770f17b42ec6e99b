#include "store/store_sqlite_file.h"

#include <stdio.h>

#include "elog/sq_sums.h"
#include "store/arrays.h"
#include "store/objects.h"

#define SET_COUNT_TABLE            \
    "CREATE TABLE set_count ("     \
    " set_key INTEGER NOT NULL,"   \
    " state INTEGER NOT NULL,"     \
    " job_count INTEGER NOT NULL," \
    " PRIMARY KEY (set_key, state)) WITHOUT ROWID;"

/* Which jobs have a label, by its hash; those up to `label_since` were there
 * before this table. */
#define LABEL_TABLES                           \
    "CREATE TABLE label ("                     \
    " hash INTEGER NOT NULL,"                  \
    " job BLOB NOT NULL,"                      \
    " PRIMARY KEY (hash, job)) WITHOUT ROWID;" \
    "CREATE TABLE label_since (job BLOB);"

/* Arrays by the hash of their label; those with a job up to `array_since` are
 * not counted. */
#define ARRAY_TABLES                             \
    "CREATE TABLE array_count ("                 \
    " hash INTEGER NOT NULL,"                    \
    " state INTEGER NOT NULL,"                   \
    " job_count INTEGER NOT NULL,"               \
    " PRIMARY KEY (hash, state)) WITHOUT ROWID;" \
    "CREATE TABLE array_since (job BLOB);" ARRAY_PIECE_TABLE

#define USAGE_TABLE                     \
    "CREATE TABLE usage ("              \
    " day INTEGER NOT NULL,"            \
    " queue TEXT NOT NULL,"             \
    " owner TEXT NOT NULL,"             \
    " submitted INTEGER NOT NULL,"      \
    " succeeded INTEGER NOT NULL,"      \
    " failed INTEGER NOT NULL,"         \
    " cancelled INTEGER NOT NULL,"      \
    " preempted INTEGER NOT NULL,"      \
    " runs INTEGER NOT NULL,"           \
    " waited_ms INTEGER NOT NULL,"      \
    " ran_ms INTEGER NOT NULL,"         \
    " core_used INTEGER NOT NULL,"      \
    " core_wasted INTEGER NOT NULL,"    \
    " core_cancelled INTEGER NOT NULL," \
    " core_preempted INTEGER NOT NULL," \
    " gpu_used INTEGER NOT NULL,"       \
    " gpu_wasted INTEGER NOT NULL,"     \
    " gpu_cancelled INTEGER NOT NULL,"  \
    " gpu_preempted INTEGER NOT NULL,"  \
    " PRIMARY KEY (day, queue, owner)) WITHOUT ROWID;"

/* For lists, the newest first: of those that have not ended, that ended badly,
 * of an owner.  SQLite would open a table of its own for a list of states (IN)
 * at each change of a job. */
#define BAD_INDEX                                                              \
    "CREATE INDEX job_bad ON job (id) WHERE state BETWEEN 5 AND 7 OR state = " \
    "9;"
#define LIST_INDEXES                                                  \
    "CREATE INDEX job_open ON job (id) WHERE ended_ms = 0;" BAD_INDEX \
    "CREATE INDEX job_by_owner ON job (owner, id);"

/* Those that have a node, which may be few among many that wait. */
#define ACTIVE_INDEX                                                      \
    "CREATE INDEX job_active ON job (id) WHERE state BETWEEN 2 AND 3 OR " \
    "state = 8;"

static const char schema[] =
    "CREATE TABLE progress ("
    " id INTEGER PRIMARY KEY CHECK (id = 1),"
    " seq INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL,"
    " next_job_number INTEGER NOT NULL);"
    "INSERT INTO progress VALUES (1, 0, 0, 1);"
    "CREATE TABLE job_set ("
    " key INTEGER PRIMARY KEY,"
    " queue TEXT NOT NULL,"
    " name TEXT NOT NULL,"
    " changed_ms INTEGER NOT NULL DEFAULT 0,"
    " UNIQUE (queue, name));"
    "CREATE TABLE job ("
    " id BLOB PRIMARY KEY,"
    " number INTEGER NOT NULL,"
    " set_key INTEGER NOT NULL,"
    " namespace TEXT NOT NULL,"
    " owner TEXT NOT NULL,"
    " uri TEXT NOT NULL,"
    " submitted_ms INTEGER NOT NULL,"
    " state INTEGER NOT NULL,"
    " priority INTEGER NOT NULL,"
    " transition_ms INTEGER NOT NULL,"
    " ended_ms INTEGER NOT NULL,"
    " cancelled_ms INTEGER NOT NULL,"
    " cancel_reason TEXT NOT NULL,"
    " cancel_user TEXT NOT NULL,"
    " latest_run BLOB,"
    " run_count INTEGER NOT NULL,"
    " pool TEXT NOT NULL,"
    " error TEXT NOT NULL,"
    " core_milli INTEGER NOT NULL DEFAULT 0,"
    " gpu_milli INTEGER NOT NULL DEFAULT 0,"
    " array INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;"
    "CREATE INDEX job_by_set ON job (set_key);"
    "CREATE INDEX job_by_end ON job (ended_ms) WHERE ended_ms > 0;" LIST_INDEXES
        ACTIVE_INDEX
    "CREATE INDEX job_by_uri ON job (set_key, uri) WHERE uri <> '';"
    "CREATE TABLE spec ("
    " job_number INTEGER PRIMARY KEY,"
    " bytes BLOB NOT NULL);"
    "CREATE TABLE run ("
    " job_number INTEGER NOT NULL,"
    " run_index INTEGER NOT NULL,"
    " id BLOB NOT NULL,"
    " job BLOB NOT NULL,"
    " state INTEGER NOT NULL,"
    " cluster TEXT NOT NULL,"
    " node TEXT NOT NULL,"
    " pool TEXT NOT NULL,"
    " leased_ms INTEGER NOT NULL,"
    " pending_ms INTEGER NOT NULL,"
    " started_ms INTEGER NOT NULL,"
    " finished_ms INTEGER NOT NULL,"
    " exit_code INTEGER NOT NULL,"
    " error TEXT NOT NULL,"
    " debug TEXT NOT NULL,"
    " ingress BLOB NOT NULL DEFAULT x'',"
    " PRIMARY KEY (job_number, run_index)) WITHOUT ROWID;"
    "CREATE INDEX run_by_id ON run (id);"
    "CREATE TABLE set_record ("
    " set_key INTEGER NOT NULL,"
    " seq INTEGER NOT NULL,"
    " PRIMARY KEY (set_key, seq)) WITHOUT ROWID;"
    "CREATE TABLE client_id ("
    " queue TEXT NOT NULL,"
    " client_id TEXT NOT NULL,"
    " job BLOB NOT NULL,"
    " created_ms INTEGER NOT NULL,"
    " PRIMARY KEY (queue, client_id)) WITHOUT ROWID;"
    "CREATE INDEX client_id_by_time ON client_id (created_ms);"
    "CREATE TABLE active ("
    " pool TEXT NOT NULL,"
    " queue TEXT NOT NULL,"
    " job_count INTEGER NOT NULL,"
    " PRIMARY KEY (pool, queue)) WITHOUT ROWID;" SET_COUNT_TABLE USAGE_TABLE
        OBJECT_TABLE LABEL_TABLES ARRAY_TABLES
    "CREATE TABLE page_sums (are_kept INTEGER);";

/* What brings a file of each format to the next. */
static const char *const steps[] = {
    [1] = "ALTER TABLE run ADD COLUMN ingress BLOB NOT NULL DEFAULT x'';",
    [2] = SET_COUNT_TABLE
    "INSERT INTO set_count SELECT set_key, state, count(*) FROM job"
    " GROUP BY set_key, state;"
    "ALTER TABLE job_set ADD COLUMN changed_ms INTEGER NOT NULL DEFAULT 0;"
    "UPDATE job_set SET changed_ms = coalesce((SELECT max(transition_ms)"
    " FROM job WHERE set_key = key), 0);",
    /* Releases that know no checksums of pages would leave wrong ones. */
    [3] = "",
    /* What ran before is not known, and asks for nothing. */
    [4] = "ALTER TABLE job ADD COLUMN core_milli INTEGER NOT NULL DEFAULT 0;"
          "ALTER TABLE job ADD COLUMN gpu_milli INTEGER NOT NULL DEFAULT "
          "0;" USAGE_TABLE,
    [5] = LIST_INDEXES,
    /* Objects that do not change any more stay unknown. */
    [6] = OBJECT_TABLE,
    [7] = LABEL_TABLES "INSERT INTO label_since SELECT max(id) FROM job;",
    [8] = ACTIVE_INDEX,
    /* By conditions that cost less. */
    [9] = "DROP INDEX job_bad; DROP INDEX job_active;" BAD_INDEX ACTIVE_INDEX,
    /* Releases before do not know the checksums that pages have since. */
    [10] = "",
    [11] = "ALTER TABLE job ADD COLUMN array INTEGER NOT NULL DEFAULT "
           "0;" ARRAY_TABLES "INSERT INTO array_since SELECT max(id) FROM job;",
};
_Static_assert(ARRAY_COUNT(steps) == STORE_SQLITE_VERSION,
               "a step from each format");

/* Bring a file of an older format up to date. */
static int upgrade(sqlite3 *db, int64_t version, struct err *err)
{
    int rc = sq_exec(db, "BEGIN IMMEDIATE", err);

    for (; rc == 0 && version < STORE_SQLITE_VERSION; version++) {
        char sql[80];
        rc = sq_exec(db, steps[version], err);
        snprintf(sql, sizeof(sql), "PRAGMA user_version = %d",
                 (int)version + 1);
        rc = rc == 0 ? sq_exec(db, sql, err) : rc;
    }
    if (rc < 0) {
        sq_rollback(db);
        return rc;
    }
    return sq_commit(db, err);
}

/* A file that was made with checksums of its pages must have them: the head of
 * the file, which tells, may be damaged. */
static int check_sums(sqlite3 *db, struct err *err)
{
    int64_t count = 0;

    int rc = sq_get_int(
        db, "SELECT count(*) FROM sqlite_master WHERE name = 'page_sums'",
        &count, err);
    if (rc >= 0 && count > 0 && !sq_sums_are_kept(db)) {
        rc = err_set(err, -ERR_CORRUPT,
                     "%s is damaged: its first page should tell of checksums",
                     sqlite3_db_filename(db, "main"));
    }
    return rc < 0 ? rc : 0;
}

static const struct sq_format format = {
    STORE_SQLITE_APPLICATION_ID, STORE_SQLITE_VERSION,
    "a query store of Berth; if it is deleted, it is rebuilt from the log"};

static int check_version(sqlite3 *db, struct err *err)
{
    int64_t version;

    int rc = sq_check_format(db, &format, &version, err);
    if (rc < 0) {
        return rc;
    }
    return version < STORE_SQLITE_VERSION ? upgrade(db, version, err) : 0;
}

static int prepare(sqlite3 *db, struct err *err)
{
    int64_t table_count = 0;

    int rc = sq_exec(db, "PRAGMA page_size = 8192", err);
    if (rc == 0) {
        rc = sq_get_int(db, "SELECT count(*) FROM sqlite_master", &table_count,
                        err);
    }
    if (rc >= 0 && table_count > 0) {
        rc = check_version(db, err);
        rc = rc < 0 ? rc : check_sums(db, err);
    } else if (rc >= 0) {
        sq_sums_begin(db);
    }
    if (rc >= 0) {
        rc = sq_exec(db,
                     "PRAGMA journal_mode = WAL;"
                     "PRAGMA synchronous = NORMAL;"
                     "PRAGMA wal_autocheckpoint = 4000;"
                     "PRAGMA journal_size_limit = 67108864;"
                     "PRAGMA cache_size = -65536",
                     err);
    }
    return rc < 0 || table_count > 0
               ? rc
               : sq_create_tables(db, &format, schema, err);
}

int store_sqlite_prepare(const struct sq_open *how, sqlite3 **ret_db,
                         struct err *err)
{
    sqlite3 *db = NULL;

    int rc = sq_open(how, &db, err);
    if (rc < 0) {
        return rc;
    }
    rc = prepare(db, err);
    if (rc < 0) {
        sq_close(db);
        return rc;
    }
    *ret_db = db;
    return 0;
}

struct str store_id_put(struct key128 id, unsigned char bytes[STORE_ID_BYTES])
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(id.hi >> (56 - 8 * i));
        bytes[8 + i] = (unsigned char)(id.lo >> (56 - 8 * i));
    }
    return str_make(bytes, STORE_ID_BYTES);
}

struct key128 store_id_column(sqlite3_stmt *row, int column)
{
    struct str bytes = sq_column_str(row, column);
    struct key128 id = {0, 0};

    if (bytes.byte_count != STORE_ID_BYTES) {
        return id;
    }
    for (int i = 0; i < 8; i++) {
        id.hi = id.hi << 8 | (unsigned char)bytes.p[i];
        id.lo = id.lo << 8 | (unsigned char)bytes.p[8 + i];
    }
    return id;
}
