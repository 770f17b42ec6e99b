#include "store/store_sqlite_writer.h"

#include "store/labels.h"
#include "store/store_sqlite_row.h"

#define UPDATE_JOB(ended)                                                  \
    "UPDATE job SET state = ?8, priority = ?9, transition_ms = ?10," ended \
    " cancelled_ms = ?12, cancel_reason = ?13, cancel_user = ?14,"         \
    " latest_run = ?15, run_count = ?16, pool = ?17, error = ?18"          \
    " WHERE id = ?1"

static const char *const sql[WRITER_STATEMENT_COUNT] = {
    [WRITER_BEGIN] = "BEGIN IMMEDIATE",
    [WRITER_SELECT_SET] = "SELECT key FROM job_set WHERE queue = ?"
                          " AND name = ?",
    [WRITER_INSERT_SET] = "INSERT INTO job_set (queue, name) VALUES (?, ?)"
                          " RETURNING key",
    [WRITER_SELECT_JOB] =
        "SELECT " STORE_JOB_COLUMNS " FROM " STORE_JOB_TABLES " WHERE j.id = ?",
    [WRITER_INSERT_JOB] = "INSERT INTO job VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
                          " ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
                          " ?18, ?19, ?20, ?21)",
    [WRITER_UPDATE_JOB] = UPDATE_JOB("ended_ms = ?11,"),
    /* Of a job that had not ended and has not: two indexes stay as they are. */
    [WRITER_UPDATE_OPEN_JOB] = UPDATE_JOB(""),
    [WRITER_INSERT_SPEC] = "INSERT INTO spec VALUES (?, ?)",
    [WRITER_SELECT_SPEC] = "SELECT bytes FROM spec WHERE job_number = ?",
    [WRITER_INSERT_LABEL] = "INSERT OR IGNORE INTO label VALUES (?, ?)",
    [WRITER_DELETE_LABEL] = "DELETE FROM label WHERE hash = ? AND job = ?",
    [WRITER_SELECT_RUN] = "SELECT " STORE_RUN_COLUMNS " FROM run"
                          /* By the job: the index by run id is random. */
                          " WHERE job_number = ? AND +id = ?",
    [WRITER_INSERT_RUN] = "INSERT INTO run (" STORE_RUN_COLUMNS ") VALUES (?1,"
                          " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
                          " ?13, ?14, ?15, ?16)",
    [WRITER_UPDATE_RUN] = "UPDATE run SET state = ?5, cluster = ?6,"
                          " node = ?7, pool = ?8, leased_ms = ?9,"
                          " pending_ms = ?10, started_ms = ?11,"
                          " finished_ms = ?12, exit_code = ?13, error = ?14,"
                          " debug = ?15, ingress = ?16 WHERE job_number = ?1"
                          " AND run_index = ?2",
    [WRITER_INSERT_SET_RECORD] = "INSERT INTO set_record VALUES (?, ?)",
    /* The later one wins: a second job under a client id means that the
     * first has expired, or stood in the same request. */
    [WRITER_UPSERT_CLIENT_ID] = "INSERT OR REPLACE INTO client_id"
                                " VALUES (?, ?, ?, ?)",
    [WRITER_UPSERT_ACTIVE] = "INSERT INTO active VALUES (?1, ?2, ?3)"
                             " ON CONFLICT DO UPDATE SET"
                             " job_count = job_count + ?3",
    [WRITER_DELETE_INACTIVE] = "DELETE FROM active WHERE job_count <= 0",
    [WRITER_UPSERT_USAGE] = usage_upsert_sql,
    [WRITER_UPSERT_OBJECT] = object_upsert_sql,
    [WRITER_FORGET_OBJECTS] = object_forget_sql,
    [WRITER_UPDATE_PROGRESS] = "UPDATE progress SET seq = ?, checksum = ?,"
                               " next_job_number = ?",
};

/* A change of `active`, before it is written. */
struct active_change {
    struct str pool, queue;
    int64_t delta;
};

/* All changes of counts: of `active`, one per pool and queue, and of jobs by
 * their set and state. */
struct count_changes {
    struct intern *names; /* "pool\0queue" -> index into items */
    struct strbuf scratch;
    VEC(struct active_change) items;
    struct set_counts sets, arrays;
};

static int source_set(void *ctx, struct str queue, struct str name,
                      int64_t *ret_key, struct err *err)
{
    struct store_writer *writer = (struct store_writer *)ctx;
    sqlite3_stmt *stmt = writer->statements[WRITER_SELECT_SET];

    sq_bind_text(stmt, 1, queue);
    sq_bind_text(stmt, 2, name);
    int rc = sq_step(stmt, err);
    if (rc == 0) {
        stmt = writer->statements[WRITER_INSERT_SET];
        sq_bind_text(stmt, 1, queue);
        sq_bind_text(stmt, 2, name);
        rc = sq_step(stmt, err);
    }
    if (rc < 0) {
        return rc;
    }
    ASSERT(rc == 1);
    *ret_key = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return 1;
}

static int source_job(void *ctx, struct job_id id, struct arena *arena,
                      struct job_row *ret_row, struct err *err)
{
    struct store_writer *writer = (struct store_writer *)ctx;
    sqlite3_stmt *stmt = writer->statements[WRITER_SELECT_JOB];
    unsigned char bytes[STORE_ID_BYTES];

    sq_bind_blob(stmt, 1, store_id_put(id.v, bytes));
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_row = store_job_row(stmt, arena);
        sqlite3_reset(stmt);
    }
    return rc;
}

static int source_run(void *ctx, const struct job_row *job, struct run_id id,
                      struct arena *arena, struct run_row *ret_row,
                      struct err *err)
{
    struct store_writer *writer = (struct store_writer *)ctx;
    sqlite3_stmt *stmt = writer->statements[WRITER_SELECT_RUN];
    unsigned char bytes[STORE_ID_BYTES];

    if (job->is_new) {
        return 0;
    }
    sq_bind_int(stmt, 1, job->number);
    sq_bind_blob(stmt, 2, store_id_put(id.v, bytes));
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_row = store_run_row(stmt, arena);
        sqlite3_reset(stmt);
    }
    return rc;
}

/* Prepare some texts; those that are NULL stay NULL. */
static int prepare_all(sqlite3 *db, const char *const *texts, int count,
                       sqlite3_stmt **ret_statements, struct err *err)
{
    int rc = 0;

    for (int i = 0; i < count && rc == 0; i++) {
        if (texts[i]) {
            rc = sq_prepare(db, texts[i], &ret_statements[i], err);
        }
    }
    return rc;
}

int store_writer_init(struct store_writer *writer, sqlite3 *db, struct err *err)
{
    *writer = (struct store_writer){
        .db = db,
        .source = {.ctx = writer,
                   .set = source_set,
                   .job = source_job,
                   .run = source_run},
    };
    int rc =
        prepare_all(db, sql, WRITER_STATEMENT_COUNT, writer->statements, err);
    if (rc == 0) {
        rc = prepare_all(db, set_counts_sql, SET_COUNTS_STATEMENTS,
                         writer->set_counts, err);
    }
    if (rc == 0) {
        rc = prepare_all(db, set_counts_of_arrays_sql, SET_COUNTS_STATEMENTS,
                         writer->array_counts, err);
    }
    return rc < 0 ? rc
                  : prepare_all(db, arrays_sql, ARRAYS_STATEMENTS,
                                writer->arrays.statements, err);
}

static void finalize_all(sqlite3_stmt **statements, int count)
{
    for (int i = 0; i < count; i++) {
        sqlite3_finalize(statements[i]);
    }
}

void store_writer_fini(struct store_writer *writer)
{
    finalize_all(writer->arrays.statements, ARRAYS_STATEMENTS);
    finalize_all(writer->array_counts, SET_COUNTS_STATEMENTS);
    finalize_all(writer->set_counts, SET_COUNTS_STATEMENTS);
    finalize_all(writer->statements, WRITER_STATEMENT_COUNT);
    sq_close(writer->db);
}

/* What has ended does not go on, so what has not never had. */
static enum writer_statement job_statement(const struct job_row *row)
{
    if (row->is_new) {
        return WRITER_INSERT_JOB;
    }
    ASSERT(row->ended_ms > 0 || !stored_job_has_ended(row->old_state));
    return row->ended_ms > 0 ? WRITER_UPDATE_JOB : WRITER_UPDATE_OPEN_JOB;
}

static int write_job(struct store_writer *writer, const struct job_row *row,
                     struct err *err)
{
    const struct stored_job *job = &row->job;
    unsigned char id[STORE_ID_BYTES];
    unsigned char run[STORE_ID_BYTES];
    sqlite3_stmt *stmt = writer->statements[job_statement(row)];

    sq_bind_blob(stmt, 1, store_id_put(job->id.v, id));
    if (row->is_new) {
        sq_bind_int(stmt, 2, row->number);
        sq_bind_int(stmt, 3, row->set_key);
        sq_bind_text(stmt, 4, job->namespace_);
        sq_bind_text(stmt, 5, job->owner);
        sq_bind_text(stmt, 6, job->external_job_uri);
        sq_bind_int(stmt, 7, job->submitted_ms);
        sq_bind_int(stmt, 19, row->request.core_milli);
        sq_bind_int(stmt, 20, row->request.gpu_milli);
        sq_bind_int(stmt, 21, row->array);
    }
    sq_bind_int(stmt, 8, job->state);
    sq_bind_int(stmt, 9, job->priority);
    sq_bind_int(stmt, 10, job->last_transition_ms);
    sq_bind_int(stmt, 11, row->ended_ms);
    sq_bind_int(stmt, 12, job->cancelled_ms);
    sq_bind_text(stmt, 13, job->cancel_reason);
    sq_bind_text(stmt, 14, job->cancel_user);
    if (key128_is_none(job->latest_run.v)) {
        sqlite3_bind_null(stmt, 15);
    } else {
        sq_bind_blob(stmt, 15, store_id_put(job->latest_run.v, run));
    }
    sq_bind_int(stmt, 16, job->run_count);
    sq_bind_text(stmt, 17, row->pool);
    sq_bind_text(stmt, 18, job->error);
    return sq_run(stmt, err);
}

static int write_run(struct store_writer *writer, const struct run_row *row,
                     struct err *err)
{
    const struct stored_run *run = &row->run;
    unsigned char id[STORE_ID_BYTES];
    unsigned char job[STORE_ID_BYTES];
    sqlite3_stmt *stmt =
        writer->statements[row->is_new ? WRITER_INSERT_RUN : WRITER_UPDATE_RUN];

    sq_bind_int(stmt, 1, row->job_number);
    sq_bind_int(stmt, 2, row->index);
    if (row->is_new) {
        sq_bind_blob(stmt, 3, store_id_put(run->id.v, id));
        sq_bind_blob(stmt, 4, store_id_put(run->job.v, job));
    }
    sq_bind_int(stmt, 5, run->state);
    sq_bind_text(stmt, 6, run->cluster);
    sq_bind_text(stmt, 7, run->node);
    sq_bind_text(stmt, 8, run->pool);
    sq_bind_int(stmt, 9, run->leased_ms);
    sq_bind_int(stmt, 10, run->pending_ms);
    sq_bind_int(stmt, 11, run->started_ms);
    sq_bind_int(stmt, 12, run->finished_ms);
    sq_bind_int(stmt, 13, run->exit_code);
    sq_bind_text(stmt, 14, run->error);
    sq_bind_text(stmt, 15, run->debug);
    sq_bind_blob(stmt, 16, run->ingress);
    return sq_run(stmt, err);
}

static void note_active(struct count_changes *changes, struct str pool,
                        struct str queue, int64_t delta)
{
    strbuf_clear(&changes->scratch);
    strbuf_add_str(&changes->scratch, pool);
    strbuf_add_char(&changes->scratch, '\0');
    strbuf_add_str(&changes->scratch, queue);
    uint32_t index = intern_add(changes->names, strbuf_str(&changes->scratch));
    if (index == changes->items.count) {
        struct active_change change = {.pool = pool, .queue = queue};
        VEC_PUSH(&changes->items, change);
    }
    changes->items.items[index].delta += delta;
}

/* Note what a row changes of all counts. */
static void note_counts(const struct job_row *row,
                        struct count_changes *changes)
{
    if (!row->is_new && stored_job_is_active(row->old_state)) {
        note_active(changes, row->old_pool, row->job.queue, -1);
    }
    if (stored_job_is_active(row->job.state)) {
        note_active(changes, row->pool, row->job.queue, 1);
    }
    int old_state = row->is_new ? 0 : (int)row->old_state;
    set_counts_note(&changes->sets, row->set_key, row->job.state, old_state,
                    row->job.last_transition_ms);
    if (row->array) {
        set_counts_note(&changes->arrays, row->array, row->job.state, old_state,
                        row->job.last_transition_ms);
    }
}

static int write_jobs(struct store_writer *writer,
                      const struct projection *projection,
                      struct count_changes *changes, struct err *err)
{
    for (size_t i = 0; i < projection->jobs.count; i++) {
        const struct job_row *row = projection->jobs.items[i];

        if (!row->is_new && !row->is_changed) {
            continue;
        }
        int rc = write_job(writer, row, err);
        if (rc < 0) {
            return rc;
        }
        note_counts(row, changes);
    }
    return 0;
}

/* Where the new jobs lie among those of arrays; all of them are stored. */
static int write_arrays(struct store_writer *writer,
                        const struct projection *projection, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < projection->specs.count && rc == 0; i++) {
        const struct job_row *row = projection->specs.items[i].job;

        rc = arrays_add(&writer->arrays, row->job.id, row->array, err);
    }
    return rc;
}

static int write_active(struct store_writer *writer,
                        const struct count_changes *changes, struct err *err)
{
    sqlite3_stmt *stmt = writer->statements[WRITER_UPSERT_ACTIVE];

    for (size_t i = 0; i < changes->items.count; i++) {
        const struct active_change *change = &changes->items.items[i];

        if (change->delta == 0) {
            continue;
        }
        sq_bind_text(stmt, 1, change->pool);
        sq_bind_text(stmt, 2, change->queue);
        sq_bind_int(stmt, 3, change->delta);
        int rc = sq_run(stmt, err);
        if (rc < 0) {
            return rc;
        }
    }
    return sq_run(writer->statements[WRITER_DELETE_INACTIVE], err);
}

static int write_jobs_and_counts(struct store_writer *writer,
                                 const struct projection *projection,
                                 struct err *err)
{
    struct count_changes changes = {.names = intern_create()};

    int rc = write_jobs(writer, projection, &changes, err);
    if (rc == 0 && changes.items.count > 0) {
        rc = write_active(writer, &changes, err);
    }
    if (rc == 0) {
        rc = set_counts_write(&changes.sets, writer->set_counts, err);
    }
    if (rc == 0) {
        rc = set_counts_write(&changes.arrays, writer->array_counts, err);
    }
    set_counts_fini(&changes.arrays);
    set_counts_fini(&changes.sets);
    VEC_FREE(&changes.items);
    strbuf_fini(&changes.scratch);
    intern_destroy(changes.names);
    return rc;
}

static int write_runs(struct store_writer *writer,
                      const struct projection *projection, struct err *err)
{
    for (size_t i = 0; i < projection->runs.count; i++) {
        const struct run_row *row = projection->runs.items[i];

        if (row->is_new || row->is_changed) {
            int rc = write_run(writer, row, err);
            if (rc < 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int write_specs(struct store_writer *writer,
                       const struct projection *projection, struct err *err)
{
    sqlite3_stmt *stmt = writer->statements[WRITER_INSERT_SPEC];

    for (size_t i = 0; i < projection->specs.count; i++) {
        const struct spec_row *row = &projection->specs.items[i];

        sq_bind_int(stmt, 1, row->job->number);
        sq_bind_blob(stmt, 2, row->bytes);
        int rc = sq_run(stmt, err);
        if (rc == 0) {
            rc = labels_run(row->bytes, row->job->job.id,
                            writer->statements[WRITER_INSERT_LABEL], err);
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int write_client_ids(struct store_writer *writer,
                            const struct projection *projection,
                            struct err *err)
{
    sqlite3_stmt *stmt = writer->statements[WRITER_UPSERT_CLIENT_ID];
    unsigned char job[STORE_ID_BYTES];

    for (size_t i = 0; i < projection->client_ids.count; i++) {
        const struct client_id_row *row = &projection->client_ids.items[i];

        sq_bind_text(stmt, 1, row->queue);
        sq_bind_text(stmt, 2, row->client_id);
        sq_bind_blob(stmt, 3, store_id_put(row->job.v, job));
        sq_bind_int(stmt, 4, row->created_ms);
        int rc = sq_run(stmt, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int write_set_records(struct store_writer *writer,
                             const struct projection *projection,
                             struct err *err)
{
    sqlite3_stmt *stmt = writer->statements[WRITER_INSERT_SET_RECORD];

    for (size_t i = 0; i < projection->set_records.count; i++) {
        const struct set_record_row *row = &projection->set_records.items[i];

        sq_bind_int(stmt, 1, row->set_key);
        sq_bind_int(stmt, 2, (int64_t)row->seq);
        int rc = sq_run(stmt, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int write_usage(struct store_writer *writer,
                       const struct projection *projection, struct err *err)
{
    struct usage_changes changes = {0};

    for (size_t i = 0; i < projection->usage.count; i++) {
        usage_changes_add(&changes, &projection->usage.items[i]);
    }
    int rc = usage_changes_write(&changes,
                                 writer->statements[WRITER_UPSERT_USAGE], err);
    usage_changes_fini(&changes);
    return rc;
}

static int write_objects(struct store_writer *writer,
                         const struct projection *projection, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < projection->objects.count; i++) {
        rc = object_write(&projection->objects.items[i],
                          writer->statements[WRITER_UPSERT_OBJECT],
                          writer->statements[WRITER_FORGET_OBJECTS], err);
    }
    return rc;
}

int store_writer_flush(struct store_writer *writer,
                       const struct projection *projection, struct err *err)
{
    int rc = write_jobs_and_counts(writer, projection, err);
    if (rc == 0) {
        rc = write_usage(writer, projection, err);
    }
    if (rc == 0) {
        rc = write_specs(writer, projection, err);
    }
    if (rc == 0) {
        rc = write_arrays(writer, projection, err);
    }
    if (rc == 0) {
        rc = write_runs(writer, projection, err);
    }
    if (rc == 0) {
        rc = write_client_ids(writer, projection, err);
    }
    if (rc == 0) {
        rc = write_objects(writer, projection, err);
    }
    return rc < 0 ? rc : write_set_records(writer, projection, err);
}
