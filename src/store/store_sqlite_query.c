#include "store/store_sqlite_query.h"

#include "store/arrays.h"
#include "store/labels.h"
#include "store/store_reader.h"
#include "store/store_sqlite_row.h"

/* A queue with so few jobs is read as a whole, rather than all that is newer
 * than they are; or a page of each of its job sets, if these are as few. */
enum { SPARSE_JOBS_MAX = 20000 };

/* What all lists share: the filter, the order and the limit. */
#define LIST_FILTER                                          \
    "(?1 = '' OR s.queue = ?1) AND (?2 = '' OR s.name = ?2)" \
    " AND (?3 = 0 OR ((?3 >> j.state) & 1)) AND j.id < ?4"   \
    " AND (?6 = '' OR j.owner = ?6)"
#define LIST_CONDITION LIST_FILTER " ORDER BY j.id DESC LIMIT ?5"

static const char *const sql[QUERY_COUNT] = {
    [QUERY_SEQ] = "SELECT seq FROM progress",
    [QUERY_JOB] =
        "SELECT " STORE_JOB_COLUMNS " FROM " STORE_JOB_TABLES " WHERE j.id = ?",
    [QUERY_JOB_STATE] = "SELECT state FROM job WHERE id = ?",
    [QUERY_RUNS_OF_JOB] =
        "SELECT " STORE_RUN_COLUMNS " FROM run WHERE job_number ="
        " (SELECT number FROM job WHERE id = ?) ORDER BY run_index DESC",
    [QUERY_RUN] = "SELECT " STORE_RUN_COLUMNS " FROM run WHERE id = ?",
    [QUERY_SPEC] = "SELECT spec.bytes FROM job JOIN spec"
                   " ON spec.job_number = job.number WHERE job.id = ?",
    /* CROSS JOIN keeps the jobs outside: newest first, until enough. */
    [QUERY_LIST] = "SELECT " STORE_JOB_COLUMNS " FROM job j CROSS JOIN"
                   " job_set s ON s.key = j.set_key WHERE " LIST_CONDITION,
    /* Those that have not ended, and those that ended badly, are few among
     * many that succeeded. */
    [QUERY_LIST_OPEN] = "SELECT " STORE_JOB_COLUMNS " FROM job j"
                        " INDEXED BY job_open CROSS JOIN"
                        " job_set s ON s.key = j.set_key"
                        " WHERE j.ended_ms = 0 AND " LIST_CONDITION,
    [QUERY_LIST_ACTIVE] = "SELECT " STORE_JOB_COLUMNS " FROM job j"
                          " INDEXED BY job_active CROSS JOIN"
                          " job_set s ON s.key = j.set_key"
                          " WHERE (j.state BETWEEN 2 AND 3 OR j.state = 8)"
                          " AND " LIST_CONDITION,
    [QUERY_LIST_BAD] = "SELECT " STORE_JOB_COLUMNS " FROM job j"
                       " INDEXED BY job_bad CROSS JOIN"
                       " job_set s ON s.key = j.set_key"
                       " WHERE (j.state BETWEEN 5 AND 7 OR j.state = 9)"
                       " AND " LIST_CONDITION,
    [QUERY_LIST_OF_OWNER] = "SELECT " STORE_JOB_COLUMNS " FROM job j"
                            " INDEXED BY job_by_owner CROSS JOIN"
                            " job_set s ON s.key = j.set_key"
                            " WHERE j.owner = ?6 AND " LIST_CONDITION,
    /* The key as a value: the index of a set's jobs is in their order. */
    [QUERY_LIST_OF_SET] =
        "SELECT " STORE_JOB_COLUMNS " FROM job j INDEXED BY job_by_set"
        " CROSS JOIN job_set s ON s.key = j.set_key WHERE j.set_key ="
        " (SELECT key FROM job_set WHERE queue = ?1 AND name = ?2)"
        " AND " LIST_CONDITION,
    /* All jobs of a queue that has few. */
    [QUERY_LIST_OF_QUEUE] =
        "SELECT " STORE_JOB_COLUMNS " FROM job_set s CROSS JOIN job j"
        " WHERE s.queue = ?1 AND j.set_key = s.key AND " LIST_CONDITION,
    /* The newest of each job set of a queue, and of those the newest. */
    [QUERY_LIST_OF_SETS] =
        "SELECT " STORE_JOB_COLUMNS " FROM job j"
        " CROSS JOIN job_set s ON s.key = j.set_key WHERE j.id IN"
        " (SELECT n.id FROM job_set q CROSS JOIN job n ON n.id IN"
        " (SELECT o.id FROM job o INDEXED BY job_by_set WHERE o.set_key = q.key"
        " AND o.id < ?4 AND (?3 = 0 OR ((?3 >> o.state) & 1))"
        " AND (?6 = '' OR o.owner = ?6) ORDER BY o.id DESC LIMIT ?5)"
        " WHERE q.queue = ?1) AND " LIST_CONDITION,
    [QUERY_LIST_OF_LABEL] =
        "SELECT " STORE_JOB_COLUMNS " FROM label l CROSS JOIN job j"
        " ON j.id = l.job CROSS JOIN job_set s ON s.key = j.set_key"
        " WHERE l.hash = ?7 AND l.job < ?4 AND " LIST_FILTER
        " ORDER BY l.job DESC LIMIT ?5",
    [QUERY_LABEL_SINCE] = "SELECT job FROM label_since WHERE job IS NOT NULL",
    [QUERY_LABEL_NEWEST] = "SELECT max(job) FROM label WHERE hash = ?",
    [QUERY_LABEL_OLDEST] = "SELECT min(job) FROM label WHERE hash = ?",
    [QUERY_LABEL_STATES] = "SELECT j.state, count(*) FROM label l CROSS JOIN"
                           " job j ON j.id = l.job WHERE l.hash = ?"
                           " GROUP BY j.state",
    /* How many there are, and how many jobs between the first and the last. */
    [QUERY_LABEL_SPAN] =
        "WITH span(first, last, held) AS (SELECT min(job), max(job), count(*)"
        " FROM label WHERE hash = ?) SELECT first, held = (SELECT count(*)"
        " FROM job WHERE id BETWEEN first AND last) FROM span",
    /* Nothing where a part of the array was there before its counts. */
    [QUERY_ARRAY_STATES] =
        "SELECT state, job_count FROM array_count WHERE hash = ?1 AND"
        " (SELECT min(job) FROM label WHERE hash = ?1) >"
        " coalesce((SELECT job FROM array_since), x'')",
    [QUERY_ARRAY_PIECE] = ARRAY_PIECE_SELECT,
    [QUERY_QUEUE_JOBS] = "SELECT coalesce(sum(c.job_count), 0),"
                         " count(DISTINCT s.key) FROM job_set s"
                         " CROSS JOIN set_count c ON c.set_key = s.key"
                         " WHERE s.queue = ?",
    [QUERY_JOBS_BY_URI] =
        "SELECT id FROM job WHERE set_key ="
        " (SELECT key FROM job_set WHERE queue = ?1 AND name = ?2)"
        " AND uri = ?3 AND uri <> '' ORDER BY id LIMIT ?4",
    [QUERY_ACTIVE_QUEUES] = "SELECT pool, queue FROM active"
                            " WHERE job_count > 0 ORDER BY pool, queue",
    [QUERY_OBJECTS] = "SELECT kind, name, scope_queue, scope_job_set, user,"
                      " event, seq FROM object WHERE seq > ? ORDER BY seq,"
                      " kind, scope_queue, name",
    [QUERY_JOB_SET] = "SELECT key FROM job_set WHERE queue = ? AND name = ?",
    [QUERY_JOB_SET_SEQS] = "SELECT seq FROM set_record WHERE set_key = ?"
                           " AND seq > ? ORDER BY seq LIMIT ?",
    [QUERY_CLIENT_ID] = "SELECT job FROM client_id WHERE queue = ?"
                        " AND client_id = ?",
    /* A set's states follow one another. */
    [QUERY_JOB_SETS] =
        "SELECT s.key, s.queue, s.name, c.state, c.job_count, s.changed_ms"
        " FROM job_set s CROSS JOIN set_count c ON c.set_key = s.key"
        " WHERE (s.queue, s.name) > (?1, ?2)"
        " ORDER BY s.queue, s.name, c.state",
    [QUERY_SET_COUNTS] =
        "SELECT s.key, s.queue, s.name, c.state, c.job_count, s.changed_ms"
        " FROM job_set s CROSS JOIN set_count c ON c.set_key = s.key"
        " WHERE s.queue = ?1 AND s.name = ?2 ORDER BY c.state",
    [QUERY_USAGE] =
        "SELECT CASE WHEN ?5 THEN day ELSE -1 END AS d,"
        " CASE WHEN ?6 THEN queue ELSE '' END AS q,"
        " CASE WHEN ?7 THEN owner ELSE '' END AS o,"
        " sum(submitted), sum(succeeded), sum(failed),"
        " sum(cancelled), sum(preempted), sum(runs), sum(waited_ms),"
        " sum(ran_ms), sum(core_used), sum(core_wasted),"
        " sum(core_cancelled), sum(core_preempted), sum(gpu_used),"
        " sum(gpu_wasted), sum(gpu_cancelled), sum(gpu_preempted)"
        " FROM usage WHERE day BETWEEN ?1 AND ?2"
        " AND (?3 = '' OR queue = ?3) AND (?4 = '' OR owner = ?4)"
        " GROUP BY d, q, o ORDER BY d, q, o LIMIT ?8",
};

void store_reader_close(struct store_reader *reader)
{
    if (!reader) {
        return;
    }
    for (int i = 0; i < QUERY_COUNT; i++) {
        sqlite3_finalize(reader->statements[i]);
    }
    sq_close(reader->db);
    mem_free(reader);
}

int store_sqlite_reader_create(const char *path,
                               struct store_reader **ret_reader,
                               struct err *err)
{
    auto_ptr(store_reader) reader = mem_alloc(sizeof(*reader));
    struct sq_open how = {.path = path, .is_read_only = true};

    int rc = sq_open(&how, &reader->db, err);
    for (int i = 0; rc == 0 && i < QUERY_COUNT; i++) {
        rc = sq_prepare(reader->db, sql[i], &reader->statements[i], err);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_reader = steal_ptr(reader);
    return 0;
}

/* The statement of a query whose first parameter is an id. */
static sqlite3_stmt *query_by_id(struct store_reader *reader, enum query query,
                                 struct key128 id)
{
    sqlite3_stmt *stmt = reader->statements[query];
    unsigned char bytes[STORE_ID_BYTES];
    struct str blob = store_id_put(id, bytes);

    /* Copied: the array does not outlive this function. */
    int rc =
        sqlite3_bind_blob(stmt, 1, blob.p, STORE_ID_BYTES, SQLITE_TRANSIENT);
    ASSERT(rc == SQLITE_OK);
    return stmt;
}

int store_reader_seq(struct store_reader *reader, uint64_t *ret_seq,
                     struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_SEQ];

    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_seq = (uint64_t)sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
        return 0;
    }
    return rc < 0 ? rc : err_set(err, -ERR_CORRUPT, "no progress is stored");
}

int store_job(struct store_reader *reader, struct job_id id,
              struct arena *arena, struct stored_job *ret_job, struct err *err)
{
    sqlite3_stmt *stmt = query_by_id(reader, QUERY_JOB, id.v);

    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_job = store_job_row(stmt, arena).job;
        sqlite3_reset(stmt);
    }
    return rc;
}

int store_job_state(struct store_reader *reader, struct job_id id,
                    enum stored_job_state *ret_state, struct err *err)
{
    sqlite3_stmt *stmt = query_by_id(reader, QUERY_JOB_STATE, id.v);

    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_state = (enum stored_job_state)sqlite3_column_int(stmt, 0);
        sqlite3_reset(stmt);
    }
    return rc;
}

void *store_reader_str(struct arena *arena, const void *items, size_t count,
                       size_t size)
{
    void *copy = arena_alloc_array(arena, count, size);

    if (count > 0) {
        memcpy(copy, items, count * size);
    }
    return copy;
}

int store_runs_of_job(struct store_reader *reader, struct job_id id,
                      struct arena *arena, struct stored_run **ret_runs,
                      struct err *err)
{
    sqlite3_stmt *stmt = query_by_id(reader, QUERY_RUNS_OF_JOB, id.v);
    VEC(struct stored_run) runs = {0};
    int rc;

    while ((rc = sq_step(stmt, err)) == 1) {
        VEC_PUSH(&runs, store_run_row(stmt, arena).run);
    }
    if (rc == 0) {
        *ret_runs = store_reader_str(arena, runs.items, runs.count,
                                     sizeof(*runs.items));
        rc = (int)runs.count;
    }
    VEC_FREE(&runs);
    return rc;
}

int store_run(struct store_reader *reader, struct run_id id,
              struct arena *arena, struct stored_run *ret_run, struct err *err)
{
    sqlite3_stmt *stmt = query_by_id(reader, QUERY_RUN, id.v);

    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_run = store_run_row(stmt, arena).run;
        sqlite3_reset(stmt);
    }
    return rc;
}

int store_spec(struct store_reader *reader, struct job_id id,
               struct arena *arena, struct str *ret_spec, struct err *err)
{
    sqlite3_stmt *stmt = query_by_id(reader, QUERY_SPEC, id.v);

    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_spec = arena_str(arena, sq_column_str(stmt, 0));
        sqlite3_reset(stmt);
    }
    return rc;
}

/* What the ids of a list are less than; without a bound, more than any id, so
 * that the search is one by key either way. */
static struct str upper_bound(struct job_id older_than,
                              unsigned char bytes[STORE_ID_BYTES + 1])
{
    if (!key128_is_none(older_than.v)) {
        return store_id_put(older_than.v, bytes);
    }
    memset(bytes, 0xff, STORE_ID_BYTES + 1);
    return str_make(bytes, STORE_ID_BYTES + 1);
}

/* The query for the jobs of a queue: by how many it has, and how many job
 * sets; or a negative code. */
static int choose_of_queue(struct store_reader *reader,
                           const struct store_filter *filter, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_QUEUE_JOBS];
    int64_t job_count = 0, set_count = 0;

    sq_bind_text(stmt, 1, filter->queue);
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        job_count = sqlite3_column_int64(stmt, 0);
        set_count = sqlite3_column_int64(stmt, 1);
        sqlite3_reset(stmt);
    }
    return rc < 0                         ? rc
           : job_count <= SPARSE_JOBS_MAX ? QUERY_LIST_OF_QUEUE
           : set_count <= SPARSE_JOBS_MAX / filter->count_max
               ? QUERY_LIST_OF_SETS
           : filter->owner.byte_count > 0 ? QUERY_LIST_OF_OWNER
                                          : QUERY_LIST;
}

/* The query that looks at fewest jobs which do not match; or a negative
 * code. */
static int choose_list(struct store_reader *reader,
                       const struct store_filter *filter, struct err *err)
{
    static const uint32_t open =
        1u << STORED_JOB_QUEUED | 1u << STORED_JOB_LEASED |
        1u << STORED_JOB_PENDING | 1u << STORED_JOB_RUNNING;
    static const uint32_t active = 1u << STORED_JOB_LEASED |
                                   1u << STORED_JOB_PENDING |
                                   1u << STORED_JOB_RUNNING;
    static const uint32_t bad =
        1u << STORED_JOB_FAILED | 1u << STORED_JOB_CANCELLED |
        1u << STORED_JOB_PREEMPTED | 1u << STORED_JOB_REJECTED;

    if (filter->label_key.byte_count > 0) {
        return QUERY_LIST_OF_LABEL;
    }
    if (filter->states && !(filter->states & ~active)) {
        return QUERY_LIST_ACTIVE;
    }
    if (filter->states && !(filter->states & ~open)) {
        return QUERY_LIST_OPEN;
    }
    if (filter->states && !(filter->states & ~bad)) {
        return QUERY_LIST_BAD;
    }
    if (filter->queue.byte_count > 0 && filter->job_set.byte_count > 0) {
        return QUERY_LIST_OF_SET;
    }
    if (filter->queue.byte_count > 0) {
        return choose_of_queue(reader, filter, err);
    }
    return filter->owner.byte_count > 0 ? QUERY_LIST_OF_OWNER : QUERY_LIST;
}

int store_list(struct store_reader *reader, const struct store_filter *filter,
               struct arena *arena, struct stored_job **ret_jobs,
               struct err *err)
{
    unsigned char older_than[STORE_ID_BYTES + 1];
    VEC(struct stored_job) jobs = {0};

    ASSERT(filter->count_max > 0 && filter->count_max <= STORE_LIST_MAX);
    int rc = choose_list(reader, filter, err);
    if (rc < 0) {
        return rc;
    }
    sqlite3_stmt *stmt = reader->statements[rc];
    sq_bind_text(stmt, 1, filter->queue);
    sq_bind_text(stmt, 2, filter->job_set);
    sq_bind_int(stmt, 3, filter->states);
    sq_bind_blob(stmt, 4, upper_bound(filter->older_than, older_than));
    sq_bind_int(stmt, 5, filter->count_max);
    sq_bind_text(stmt, 6, filter->owner);
    if (rc == QUERY_LIST_OF_LABEL) {
        sq_bind_int(stmt, 7,
                    label_hash(filter->label_key, filter->label_value));
    }
    while ((rc = sq_step(stmt, err)) == 1) {
        VEC_PUSH(&jobs, store_job_row(stmt, arena).job);
    }
    if (rc == 0) {
        *ret_jobs = store_reader_str(arena, jobs.items, jobs.count,
                                     sizeof(*jobs.items));
        rc = (int)jobs.count;
    }
    VEC_FREE(&jobs);
    return rc;
}

/* One id that a statement answers with; none where it has no row, or NULL. */
static int read_id(sqlite3_stmt *stmt, struct job_id *ret_id, struct err *err)
{
    int rc = sq_step(stmt, err);

    *ret_id = (struct job_id){{0, 0}};
    if (rc == 1) {
        ret_id->v = store_id_column(stmt, 0);
        sqlite3_reset(stmt);
    }
    return rc < 0 ? rc : 0;
}

int store_label_since(struct store_reader *reader, struct job_id *ret_id,
                      struct err *err)
{
    return read_id(reader->statements[QUERY_LABEL_SINCE], ret_id, err);
}

int store_label_newest(struct store_reader *reader, struct str key,
                       struct str value, struct job_id *ret_id, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_LABEL_NEWEST];

    sq_bind_int(stmt, 1, label_hash(key, value));
    return read_id(stmt, ret_id, err);
}

int store_label_oldest(struct store_reader *reader, struct str key,
                       struct str value, struct job_id *ret_id, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_LABEL_OLDEST];

    sq_bind_int(stmt, 1, label_hash(key, value));
    return read_id(stmt, ret_id, err);
}

int store_label_whole(struct store_reader *reader, struct str key,
                      struct str value, struct job_id *ret_oldest,
                      struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_LABEL_SPAN];
    int is_whole = 0;

    sq_bind_int(stmt, 1, label_hash(key, value));
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        is_whole = sqlite3_column_type(stmt, 0) != SQLITE_NULL &&
                   sqlite3_column_int(stmt, 1);
        if (is_whole) {
            ret_oldest->v = store_id_column(stmt, 0);
        }
        sqlite3_reset(stmt);
    }
    return rc < 0 ? rc : is_whole;
}

int store_array_piece(struct store_reader *reader, struct job_id id,
                      struct job_id *ret_oldest, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_ARRAY_PIECE];
    unsigned char bytes[STORE_ID_BYTES];
    bool is_inside = false;

    sq_bind_blob(stmt, 1, store_id_put(id.v, bytes));
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        is_inside = key128_compare(store_id_column(stmt, 1), id.v) >= 0;
        if (is_inside) {
            ret_oldest->v = store_id_column(stmt, 0);
        }
        sqlite3_reset(stmt);
    }
    return rc < 0 ? rc : is_inside;
}

/* Read rows of a state and a count: how many there are. */
static int read_states(sqlite3_stmt *stmt, int64_t hash,
                       uint32_t ret_counts[STORED_JOB_STATES], struct err *err)
{
    int row_count = 0;
    int rc;

    memset(ret_counts, 0, STORED_JOB_STATES * sizeof(*ret_counts));
    sq_bind_int(stmt, 1, hash);
    for (; (rc = sq_step(stmt, err)) == 1; row_count++) {
        int64_t state = sqlite3_column_int64(stmt, 0);
        if (state > 0 && state < STORED_JOB_STATES) {
            ret_counts[state] = (uint32_t)sqlite3_column_int64(stmt, 1);
        }
    }
    return rc < 0 ? rc : row_count;
}

int store_label_states(struct store_reader *reader, struct str key,
                       struct str value, uint32_t ret_counts[STORED_JOB_STATES],
                       struct err *err)
{
    int64_t hash = label_hash(key, value);

    int rc = read_states(reader->statements[QUERY_ARRAY_STATES], hash,
                         ret_counts, err);
    if (rc == 0) {
        rc = read_states(reader->statements[QUERY_LABEL_STATES], hash,
                         ret_counts, err);
    }
    return rc < 0 ? rc : 0;
}

int store_jobs_by_uri(struct store_reader *reader, struct str queue,
                      struct str job_set, struct str uri, struct arena *arena,
                      struct job_id **ret_ids, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_JOBS_BY_URI];
    VEC(struct job_id) ids = {0};
    int rc;

    sq_bind_text(stmt, 1, queue);
    sq_bind_text(stmt, 2, job_set);
    sq_bind_text(stmt, 3, uri);
    sq_bind_int(stmt, 4, STORE_LIST_MAX);
    while ((rc = sq_step(stmt, err)) == 1) {
        struct job_id id = {store_id_column(stmt, 0)};
        VEC_PUSH(&ids, id);
    }
    if (rc == 0) {
        *ret_ids =
            store_reader_str(arena, ids.items, ids.count, sizeof(*ids.items));
        rc = (int)ids.count;
    }
    VEC_FREE(&ids);
    return rc;
}
