/* The query store as a file that follows a log. */
#include <stdio.h>
#include <unistd.h>

#include "elog/elog_memory.h"
#include "elog/sq.h"
#include "store_fixture.h"

/* A copy is made what format 1 was: without the addresses. */
static void a_store_of_format_1_is_brought_up_to_date(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    char path[TMPDIR_PATH_BYTES_MAX];
    struct stored_job_set *sets;
    struct stored_run run;
    struct store *copy = NULL;
    struct store_reader *reader = NULL;
    struct err err;
    struct job_id since;
    sqlite3 *db;

    store_submit_plain(world, 1);
    store_add_lease(world, 1, 0, T0 + 10);
    store_world_apply(world);
    tmpdir_path(&world->dir, "old", path);
    assert_int_equal(store_backup(world->store, path, &err), 0);
    assert_int_equal(sq_open(&(struct sq_open){.path = path}, &db, &err), 0);
    assert_int_equal(sq_exec(db,
                             "DROP INDEX job_open;"
                             "DROP INDEX job_active;"
                             "DROP INDEX job_bad;"
                             "DROP INDEX job_by_owner;"
                             "ALTER TABLE run DROP COLUMN ingress;"
                             "DROP TABLE set_count;"
                             "ALTER TABLE job_set DROP COLUMN changed_ms;"
                             "ALTER TABLE job DROP COLUMN core_milli;"
                             "ALTER TABLE job DROP COLUMN gpu_milli;"
                             "DROP TABLE usage;"
                             "DROP TABLE object;"
                             "DROP TABLE label;"
                             "DROP TABLE label_since;"
                             "ALTER TABLE job DROP COLUMN array;"
                             "DROP TABLE array_count;"
                             "DROP TABLE array_piece;"
                             "DROP TABLE array_since;"
                             "PRAGMA user_version = 1",
                             &err),
                     0);
    sq_close(db);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_sqlite_open(path, &copy, &err), 0);
        assert_int_equal(store_reader_open(copy, &reader, &err), 0);
        assert_int_equal(store_run(reader, run_id_make(store_job_at(1), 0),
                                   &arena, &run, NULL),
                         1);
        assert_int_equal(run.ingress.byte_count, 0);
        assert_int_equal(store_job_sets(reader, STR(""), STR(""), STR(""), 9,
                                        &arena, &sets, NULL),
                         1);
        assert_int_equal(sets[0].counts[STORED_JOB_LEASED], 1);
        assert_int_equal(sets[0].changed_ms, T0 + 10);
        /* Labels of older jobs are not indexed, and it is known of which. */
        assert_int_equal(store_label_since(reader, &since, NULL), 0);
        assert_int_equal(key128_compare(since.v, store_job_at(1).v), 0);
        store_reader_close(reader);
        store_close(copy);
        reader = NULL;
        copy = NULL;
    }
}

/* SQLite keeps a list of values (IN) in a table of its own, which it makes and
 * drops at each change of a row whose index asks for one of them. */
static void a_change_of_a_job_makes_no_table_of_its_own(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    sqlite3_stmt *plan = NULL;
    struct err err;
    sqlite3 *db;
    int step_count = 0;

    tmpdir_path(&world->dir, "copy", path);
    assert_int_equal(store_backup(world->store, path, &err), 0);
    assert_int_equal(sq_open(&(struct sq_open){.path = path}, &db, &err), 0);
    assert_int_equal(sq_prepare(db,
                                "EXPLAIN UPDATE job SET state = ?1,"
                                " ended_ms = ?2 WHERE id = ?3",
                                &plan, &err),
                     0);
    for (; sq_step(plan, &err) == 1; step_count++) {
        assert_string_not_equal(sqlite3_column_text(plan, 1), "OpenEphemeral");
    }
    assert_true(step_count > 0);
    sqlite3_finalize(plan);
    sq_close(db);
}

struct told {
    uint32_t count;
    uint64_t seq;
};

static void on_changed(void *ctx, struct str queue, struct str job_set,
                       uint64_t seq)
{
    struct told *told = (struct told *)ctx;

    assert_str(queue, "q");
    assert_true(job_set.byte_count > 0);
    told->count++;
    told->seq = seq;
}

static void each_touched_job_set_is_told_once(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct told told = {0};

    store_submit_as(world, 1, "a", "", "");
    store_submit_as(world, 2, "b", "", "");
    store_submit_as(world, 3, "a", "", "");
    struct str payload = log_batch_finish(&world->batch);
    struct elog_record records[] = {{.seq = 1, .payload = payload},
                                    {.seq = 2, .payload = payload}};
    assert_int_equal(
        store_apply(world->store, records, 2, on_changed, &told, NULL), 0);

    assert_int_equal(told.count, 2);
    assert_int_equal(told.seq, 2);
}

static void records_come_in_order(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct elog_record record = {.seq = 3};
    struct err err;

    store_submit_plain(world, 1);
    store_world_apply(world);

    assert_int_equal(store_apply(world->store, &record, 1, NULL, NULL, &err),
                     -ERR_CONFLICT);
    assert_int_equal(store_seq(world->store), 1);
}

static void a_damaged_record_changes_nothing(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job job;
    struct err err;

    store_submit_plain(world, 1);
    struct elog_record records[] = {
        {.seq = 1, .payload = log_batch_finish(&world->batch)},
        {.seq = 2, .payload = STR("\xff\xff\xff")}};

    assert_int_equal(store_apply(world->store, records, 2, NULL, NULL, &err),
                     -ERR_CORRUPT);
    assert_int_equal(store_seq(world->store), 0);
    assert_int_equal(
        store_job(world->reader, store_job_at(1), &arena, &job, NULL), 0);
    assert_int_equal(store_apply(world->store, records, 1, NULL, NULL, &err),
                     0);
    assert_int_equal(
        store_job(world->reader, store_job_at(1), &arena, &job, NULL), 1);
}

static void a_reopened_store_goes_on(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    uint64_t seq;

    store_submit_plain(world, 1);
    store_world_apply(world);
    store_world_reopen(world);
    assert_int_equal(store_seq(world->store), 1);
    store_add_lease(world, 1, 0, T0 + 9);
    store_submit_plain(world, 2);
    store_world_apply(world);

    assert_int_equal(store_job_of(world, 1, &arena).state, STORED_JOB_LEASED);
    assert_int_equal(store_reader_seq(world->reader, &seq, NULL), 0);
    assert_int_equal(seq, 2);
}

static void prune_all(struct store_world *world, int64_t before_ms)
{
    int rc;

    for (int i = 0; i < 100; i++) {
        rc = store_prune(world->store, before_ms, before_ms, NULL);
        assert_true(rc >= 0);
        if (rc == 0) {
            return;
        }
    }
    fail_msg("pruning does not end");
}

static void pruning_takes_what_ended_long_ago(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_arena arena = {0};
    struct stored_job job;
    struct str spec;
    struct stored_job_set *sets;
    struct job_id found;
    int64_t key;

    for (int64_t n = 1; n <= 3; n++) {
        store_submit_as(world, n, "set", n == 1 ? "c1" : "c2", "");
        store_add_lease(world, n, 0, T0 + 10);
    }
    store_submit_as(world, 4, "gone", "", "");
    store_world_apply(world);
    store_add_event(world, store_event_about(EVENT_SUCCEEDED, 1, T0 + 20));
    store_add_event(world, store_event_about(EVENT_SUCCEEDED, 2, T0 + 40));
    struct event gone = store_event_about(EVENT_CANCELLED, 4, T0 + 20);
    store_world_add(world, "gone", &gone);
    store_world_apply(world);
    prune_all(world, T0 + 30);

    struct store_reader *r = world->reader;
    assert_int_equal(store_job(r, store_job_at(1), &arena, &job, NULL), 0);
    assert_int_equal(store_spec(r, store_job_at(1), &arena, &spec, NULL), 0);
    assert_int_equal(store_job(r, store_job_at(2), &arena, &job, NULL), 1);
    assert_int_equal(store_job(r, store_job_at(3), &arena, &job, NULL), 1);
    assert_int_equal(store_client_id(r, STR("q"), STR("c1"), &found, NULL), 0);
    assert_int_equal(store_job_set(r, STR("q"), STR("set"), &key, NULL), 1);
    /* The last job of its set takes the set along. */
    assert_int_equal(store_job_set(r, STR("q"), STR("gone"), &key, NULL), 0);
    assert_int_equal(
        store_job_sets(r, STR(""), STR(""), STR(""), 9, &arena, &sets, NULL),
        1);
    assert_int_equal(sets[0].counts[STORED_JOB_SUCCEEDED], 1);
    assert_int_equal(sets[0].counts[STORED_JOB_LEASED], 1);
}

static void a_backup_is_a_store(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    auto_ptr(store) copy = NULL;
    struct err err;

    store_submit_plain(world, 1);
    store_world_apply(world);
    tmpdir_path(&world->dir, "copy", path);
    assert_int_equal(store_backup(world->store, path, &err), 0);

    assert_int_equal(store_backup(world->store, path, &err), -ERR_CONFLICT);
    assert_int_equal(store_sqlite_open(path, &copy, &err), 0);
    assert_int_equal(store_seq(copy), 1);
}

static void a_second_writer_is_refused_by_name(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    struct store *second = NULL;
    struct err err;
    char pid[32];

    assert_int_equal(store_sqlite_open(world->path, &second, &err),
                     -ERR_CONFLICT);
    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(err.text, pid));
}

static void append(struct elog *log, uint64_t epoch, uint64_t seq,
                   elog_done_fn *done)
{
    struct elog_record record = {.seq = seq, .epoch = epoch, .time_ms = 1};

    assert_int_equal(elog_submit(log, &record, done, NULL), 0);
    elog_poll(log, 0);
}

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

struct applied {
    struct store *store;
};

static int apply_one(void *ctx, const struct elog_record *record)
{
    struct applied *applied = (struct applied *)ctx;

    return store_apply(applied->store, record, 1, NULL, NULL, NULL);
}

static void a_store_that_is_not_of_this_log_is_noticed(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog_memory_storage) other = elog_memory_storage_create();
    struct elog *log = elog_memory_open(storage);
    struct elog *other_log = elog_memory_open(other);
    struct elog_reader *reader = NULL;
    struct elog_reader *other_reader = NULL;
    struct applied applied = {world->store};
    struct elog_range all = {.from_seq = 1};
    uint64_t epoch;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    append(log, epoch, 1, on_done);
    append(log, epoch, 2, on_done);
    assert_int_equal(elog_acquire(other_log, &epoch, NULL), 0);
    assert_int_equal(elog_acquire(other_log, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    assert_int_equal(elog_reader_open(other_log, &other_reader, NULL), 0);
    assert_int_equal(store_check(world->store, reader, NULL), 0);
    assert_int_equal(elog_read(reader, &all, apply_one, &applied, NULL), 2);

    assert_int_equal(store_check(world->store, reader, NULL), 0);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_CONFLICT); /* ahead */
    append(other_log, epoch, 1, on_done);
    append(other_log, epoch, 2, on_done);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_CONFLICT); /* another record 2 */
    append(other_log, epoch, 3, on_done);
    append(other_log, epoch, 4, on_done);
    assert_int_equal(elog_checkpoint_put(other_log, 4, 1, STR("x"), NULL), 0);
    uint64_t first;
    assert_int_equal(elog_trim(other_log, 4, &first, NULL), 0);
    assert_int_equal(store_check(world->store, other_reader, NULL),
                     -ERR_NOT_FOUND); /* record 3 is gone */
    elog_reader_close(reader);
    elog_reader_close(other_reader);
    elog_close(log);
    elog_close(other_log);
}

static void a_store_ahead_of_its_log_keeps_its_rows_when_rewound(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog) log = elog_memory_open(storage);
    auto_ptr(elog_reader) reader = NULL;
    auto_arena arena = {0};
    struct err err;
    uint64_t epoch, seqs[8];
    int64_t key;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    store_submit_plain(world, 1);
    store_world_apply(world);
    store_submit_plain(world, 2);
    store_world_apply(world);
    append(log, epoch, 1, on_done);
    assert_int_equal(store_check(world->store, reader, &err), -ERR_CONFLICT);

    assert_int_equal(store_rewind(world->store, reader, &err), 1);
    assert_int_equal(store_seq(world->store), 1);
    assert_int_equal(store_check(world->store, reader, &err), 0);
    assert_int_equal(store_rewind(world->store, reader, &err), 0);
    (void)store_job_of(world, 2, &arena);
    append(log, epoch, 2, on_done);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 1);
    assert_int_equal(
        store_job_set(world->reader, STR("q"), STR("set"), &key, NULL), 1);
    assert_int_equal(store_job_set_seqs(world->reader, key, 0, seqs, 8, NULL),
                     1);
    assert_int_equal(seqs[0], 1);
}

static void following_ends_at_the_head(void **state)
{
    struct store_world *world = (struct store_world *)*state;
    auto_ptr(elog_memory_storage) storage = elog_memory_storage_create();
    auto_ptr(elog) log = elog_memory_open(storage);
    auto_ptr(elog_reader) reader = NULL;
    struct err err;
    uint64_t epoch;
    uint64_t first;

    assert_int_equal(elog_acquire(log, &epoch, NULL), 0);
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 0);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        append(log, epoch, seq, on_done);
    }
    /* An empty store begins with what there is. */
    assert_int_equal(elog_checkpoint_put(log, 4, 1, STR("x"), NULL), 0);
    assert_int_equal(elog_trim(log, 3, &first, NULL), 0);

    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 3);
    assert_int_equal(store_seq(world->store), 5);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 0);
    append(log, epoch, 6, on_done);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err), 1);
    append(log, epoch, 7, on_done);
    append(log, epoch, 8, on_done);
    assert_int_equal(elog_checkpoint_put(log, 8, 1, STR("x"), NULL), 0);
    assert_int_equal(elog_trim(log, 8, &first, NULL), 0);
    assert_int_equal(store_follow(world->store, reader, NULL, NULL, &err),
                     -ERR_NOT_FOUND);
}

int main(void)
{
#define CASE(name) \
    cmocka_unit_test_setup_teardown(name, store_set_up, store_tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_store_of_format_1_is_brought_up_to_date),
        CASE(a_change_of_a_job_makes_no_table_of_its_own),
        CASE(each_touched_job_set_is_told_once),
        CASE(records_come_in_order),
        CASE(a_damaged_record_changes_nothing),
        CASE(a_reopened_store_goes_on),
        CASE(pruning_takes_what_ended_long_ago),
        CASE(a_backup_is_a_store),
        CASE(a_second_writer_is_refused_by_name),
        CASE(a_store_that_is_not_of_this_log_is_noticed),
        CASE(a_store_ahead_of_its_log_keeps_its_rows_when_rewound),
        CASE(following_ends_at_the_head),
    };
    return RUN_TESTS(tests);
}
