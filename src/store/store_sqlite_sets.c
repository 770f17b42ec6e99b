/* Questions to the store about job sets, queues and their usage. */
#include "store/store_reader.h"
#include "store/store_sqlite_row.h"

int store_active_queues(struct store_reader *reader, struct arena *arena,
                        struct stored_active_queue **ret_pairs, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_ACTIVE_QUEUES];
    VEC(struct stored_active_queue) pairs = {0};
    int rc;

    while ((rc = sq_step(stmt, err)) == 1) {
        struct stored_active_queue pair = {
            .pool = arena_str(arena, sq_column_str(stmt, 0)),
            .queue = arena_str(arena, sq_column_str(stmt, 1)),
        };
        VEC_PUSH(&pairs, pair);
    }
    if (rc == 0) {
        *ret_pairs = store_reader_str(arena, pairs.items, pairs.count,
                                      sizeof(*pairs.items));
        rc = (int)pairs.count;
    }
    VEC_FREE(&pairs);
    return rc;
}

int store_objects(struct store_reader *reader, uint64_t after_seq,
                  struct arena *arena, struct stored_object **ret_objects,
                  struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_OBJECTS];
    VEC(struct stored_object) objects = {0};
    int rc;

    sq_bind_int(stmt, 1, (int64_t)after_seq);
    while ((rc = sq_step(stmt, err)) == 1) {
        struct stored_object object = {
            .kind = (enum event_type)sqlite3_column_int(stmt, 0),
            .name = arena_str(arena, sq_column_str(stmt, 1)),
            .queue = arena_str(arena, sq_column_str(stmt, 2)),
            .job_set = arena_str(arena, sq_column_str(stmt, 3)),
            .user = arena_str(arena, sq_column_str(stmt, 4)),
            .event = arena_str(arena, sq_column_str(stmt, 5)),
            .seq = (uint64_t)sqlite3_column_int64(stmt, 6),
        };
        VEC_PUSH(&objects, object);
    }
    if (rc == 0) {
        *ret_objects = store_reader_str(arena, objects.items, objects.count,
                                        sizeof(*objects.items));
        rc = (int)objects.count;
    }
    VEC_FREE(&objects);
    return rc;
}

int store_job_set(struct store_reader *reader, struct str queue,
                  struct str job_set, int64_t *ret_key, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_JOB_SET];

    sq_bind_text(stmt, 1, queue);
    sq_bind_text(stmt, 2, job_set);
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        *ret_key = sqlite3_column_int64(stmt, 0);
        sqlite3_reset(stmt);
    }
    return rc;
}

int store_job_set_seqs(struct store_reader *reader, int64_t key,
                       uint64_t after_seq, uint64_t *ret_seqs,
                       uint32_t seq_count_max, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_JOB_SET_SEQS];
    uint32_t count = 0;
    int rc = 0;

    if (after_seq > INT64_MAX) {
        return 0;
    }
    sq_bind_int(stmt, 1, key);
    sq_bind_int(stmt, 2, (int64_t)after_seq);
    sq_bind_int(stmt, 3, seq_count_max);
    while ((rc = sq_step(stmt, err)) == 1) {
        ret_seqs[count++] = (uint64_t)sqlite3_column_int64(stmt, 0);
    }
    return rc < 0 ? rc : (int)count;
}

int store_client_id(struct store_reader *reader, struct str queue,
                    struct str client_id, struct job_id *ret_job,
                    struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_CLIENT_ID];

    sq_bind_text(stmt, 1, queue);
    sq_bind_text(stmt, 2, client_id);
    int rc = sq_step(stmt, err);
    if (rc == 1) {
        ret_job->v = store_id_column(stmt, 0);
        sqlite3_reset(stmt);
    }
    return rc;
}

/* What of the list of job sets comes before the first that is wanted: nothing
 * of another queue. */
static void bind_after(sqlite3_stmt *stmt, struct str queue,
                       struct str after_queue, struct str after_name)
{
    bool is_inside = str_compare(queue, after_queue) <= 0;

    sq_bind_text(stmt, 1, is_inside ? after_queue : queue);
    sq_bind_text(stmt, 2, is_inside ? after_name : STR(""));
}

int store_job_sets(struct store_reader *reader, struct str queue,
                   struct str after_queue, struct str after_name,
                   uint32_t count_max, struct arena *arena,
                   struct stored_job_set **ret_sets, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_JOB_SETS];
    VEC(struct stored_job_set) sets = {0};
    int64_t key = 0;
    int rc;

    bind_after(stmt, queue, after_queue, after_name);
    while ((rc = sq_step(stmt, err)) == 1) {
        bool is_new = sqlite3_column_int64(stmt, 0) != key;
        struct stored_job_set set = {
            .queue = sq_column_str(stmt, 1),
            .name = sq_column_str(stmt, 2),
            .changed_ms = sqlite3_column_int64(stmt, 5),
        };
        if ((is_new && sets.count == count_max) ||
            (queue.byte_count > 0 && !str_equal(set.queue, queue))) {
            sqlite3_reset(stmt);
            rc = 0;
            break;
        }
        if (is_new) {
            key = sqlite3_column_int64(stmt, 0);
            set.queue = arena_str(arena, set.queue);
            set.name = arena_str(arena, set.name);
            VEC_PUSH(&sets, set);
        }
        sets.items[sets.count - 1].counts[sqlite3_column_int(stmt, 3)] =
            (uint64_t)sqlite3_column_int64(stmt, 4);
    }
    if (rc == 0) {
        *ret_sets = store_reader_str(arena, sets.items, sets.count,
                                     sizeof(*sets.items));
        rc = (int)sets.count;
    }
    VEC_FREE(&sets);
    return rc;
}

int store_job_set_counts(struct store_reader *reader, struct str queue,
                         struct str name, struct arena *arena,
                         struct stored_job_set *ret_set, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_SET_COUNTS];
    int is_there = 0, rc;

    sq_bind_text(stmt, 1, queue);
    sq_bind_text(stmt, 2, name);
    *ret_set = (struct stored_job_set){
        .queue = arena_str(arena, queue),
        .name = arena_str(arena, name),
    };
    while ((rc = sq_step(stmt, err)) == 1) {
        is_there = 1;
        ret_set->counts[sqlite3_column_int(stmt, 3)] =
            (uint64_t)sqlite3_column_int64(stmt, 4);
        ret_set->changed_ms = sqlite3_column_int64(stmt, 5);
    }
    return rc < 0 ? rc : is_there;
}

static struct stored_usage usage_row(sqlite3_stmt *row, struct arena *arena)
{
    enum { FIRST_AMOUNT = 3 };
    struct stored_usage usage = {
        .day = sqlite3_column_int64(row, 0),
        .queue = arena_str(arena, sq_column_str(row, 1)),
        .owner = arena_str(arena, sq_column_str(row, 2)),
    };

    for (int i = 0; i < STORED_USAGE_AMOUNTS; i++) {
        usage.amounts[i] = sqlite3_column_int64(row, FIRST_AMOUNT + i);
    }
    return usage;
}

int store_usage(struct store_reader *reader,
                const struct store_usage_filter *filter, struct arena *arena,
                struct stored_usage **ret_rows, struct err *err)
{
    sqlite3_stmt *stmt = reader->statements[QUERY_USAGE];
    VEC(struct stored_usage) rows = {0};
    int rc;

    ASSERT(filter->count_max > 0 && filter->count_max <= STORE_LIST_MAX);
    sq_bind_int(stmt, 1, filter->from_day);
    sq_bind_int(stmt, 2, filter->to_day);
    sq_bind_text(stmt, 3, filter->queue);
    sq_bind_text(stmt, 4, filter->owner);
    sq_bind_int(stmt, 5, filter->by_day);
    sq_bind_int(stmt, 6, filter->by_queue);
    sq_bind_int(stmt, 7, filter->by_owner);
    sq_bind_int(stmt, 8, filter->count_max);
    while ((rc = sq_step(stmt, err)) == 1) {
        VEC_PUSH(&rows, usage_row(stmt, arena));
    }
    if (rc == 0) {
        *ret_rows = store_reader_str(arena, rows.items, rows.count,
                                     sizeof(*rows.items));
        rc = (int)rows.count;
    }
    VEC_FREE(&rows);
    return rc;
}
