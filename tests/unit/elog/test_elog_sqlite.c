/*
 * elog_sqlite: readers, trimming, backups and bulk of a log in a file, by
 * example.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "elog/sq.h"
#include "file_fixture.h"
#include "patience.h"
#include "unit.h"

static void a_log_in_use_is_refused_and_the_user_named(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct elog *second = NULL;
    struct err err;
    char pid[32];

    assert_int_equal(elog_sqlite_open(f->path, NULL, &second, &err),
                     -ERR_CONFLICT);

    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    file_close(f);
    file_open(f);
}

static void a_missing_folder_is_an_error_with_its_name(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;

    file_close(f);
    tmpdir_path(&f->dir, "no/such", f->path);

    assert_int_equal(file_open_code(f, &err), -ERR_IO);
    assert_non_null(strstr(err.text, "no/such"));
}

static void half_a_checkpoint_is_removed_by_the_next(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct sq_open how = {.path = f->path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t count = 0;

    file_append(f, 2);
    assert_int_equal(elog_checkpoint_put(f->log, 1, 1, STR("one"), NULL), 0);
    file_close(f);
    file_tamper(f, "INSERT INTO checkpoint_piece VALUES (99 << 24, x'01'),"
                   " ((99 << 24) + 1, x'02')");
    file_open(f);
    assert_int_equal(elog_checkpoint_put(f->log, 2, 1, STR("two"), NULL), 0);

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(
        sq_get_int(db, "SELECT count(*) FROM checkpoint_piece", &count, NULL),
        1);
    assert_int_equal(count, 2);
    sq_close(db);
}

static void old_checkpoints_are_forgotten(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct sq_open how = {.path = f->path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t count = 0;

    file_append(f, 5);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        assert_int_equal(elog_checkpoint_put(f->log, seq, 1, STR("x"), NULL),
                         0);
    }

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(
        sq_get_int(db, "SELECT count(*) FROM checkpoint_piece", &count, NULL),
        1);
    assert_int_equal(count, ELOG_CHECKPOINT_COUNT_MAX);
    sq_close(db);
}

static void big_records_are_trimmed_a_few_at_a_time(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    auto_mem char *bytes = mem_alloc(4 << 20);
    uint64_t first_seq = 0;
    uint64_t last_first_seq;
    int step_count = 0;

    for (uint64_t seq = 1; seq <= 6; seq++) {
        struct elog_record record = {
            .seq = seq, .epoch = f->epoch, .payload = str_make(bytes, 4 << 20)};
        assert_int_equal(elog_submit(f->log, &record, file_on_done, NULL), 0);
        elog_poll(f->log, 0);
    }
    assert_int_equal(elog_checkpoint_put(f->log, 5, 1, STR("x"), NULL), 0);
    do {
        last_first_seq = first_seq;
        assert_int_equal(elog_trim(f->log, 7, &first_seq, NULL), 0);
        step_count++;
    } while (first_seq != last_first_seq);

    assert_int_equal(first_seq, 6);
    assert_true(step_count > 2);
}

static void a_reader_of_another_process_follows(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;
    struct err err;

    assert_int_equal(elog_sqlite_reader_open(f->path, &reader, &err), 0);
    assert_int_equal(elog_wait(reader, 0, 20, &err), 0);
    file_append(f, 3);

    assert_int_equal(elog_wait(reader, 2, patient_ms(10000), &err), 1);
    assert_int_equal(elog_bounds(reader, &bounds, &err), 0);
    assert_int_equal(bounds.head_seq, 3);
}

static void a_reader_makes_no_log(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct elog_reader *reader = NULL;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    tmpdir_path(&f->dir, "missing", path);
    assert_int_equal(elog_sqlite_reader_open(path, &reader, &err),
                     -ERR_NOT_FOUND);
    assert_int_equal(access(path, F_OK), -1);
}

/* A backup that goes on while records are appended. */
struct backup {
    struct elog *log;
    const char *path;
    int result;
    atomic_bool is_done;
};

static void *back_up(void *ctx)
{
    struct backup *backup = (struct backup *)ctx;

    backup->result = elog_backup(backup->log, backup->path, NULL);
    backup->is_done = true;
    return NULL;
}

static void a_backup_is_a_log_and_does_not_stop_appends(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct backup backup = {.log = f->log};
    pthread_t thread;
    struct err err;
    uint32_t count;
    auto_ptr(elog) copy = NULL;

    backup.path = tmpdir_path(&f->dir, "copy", path);
    file_append(f, 50);
    assert_int_equal(elog_checkpoint_put(f->log, 40, 1, STR("state"), NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, back_up, &backup), 0);
    for (int i = 0; i < 10000 && !backup.is_done; i++) {
        file_append(f, 1);
    }
    pthread_join(thread, NULL);

    assert_int_equal(backup.result, 0);
    assert_int_equal(elog_backup(f->log, path, &err), -ERR_CONFLICT);
    assert_int_equal(elog_sqlite_open(path, NULL, &copy, &err), 0);
    assert_string_equal(elog_note(copy), "");
    assert_true(file_read_all(copy, &count, &err) >= 50);
}

enum { CHASED_RECORDS = 2000 };

struct chase {
    struct elog_reader *reader;
    uint64_t next_seq;
    int code;
    struct err err;
};

static int take_chased(void *ctx, const struct elog_record *record)
{
    struct chase *c = ctx;

    c->next_seq = record->seq + 1;
    return 0;
}

/* Read at the end of the log, again and again, until all is there. */
static void *chase(void *ctx)
{
    struct chase *c = ctx;

    while (c->code >= 0 && c->next_seq <= CHASED_RECORDS) {
        struct elog_range range = {.from_seq = c->next_seq};
        c->code = elog_read(c->reader, &range, take_chased, c, &c->err);
    }
    return NULL;
}

/* What is written between two looks of a reader is not missing. */
static void a_reader_at_the_end_is_not_surprised_by_appends(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct chase c = {.next_seq = 1};
    pthread_t thread;

    assert_int_equal(elog_reader_open(f->log, &c.reader, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, chase, &c), 0);
    file_append(f, CHASED_RECORDS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (c.code < 0) {
        fail_msg("%s", c.err.text);
    }
    elog_reader_close(c.reader);
}

/* Open the log anew for bulk appends. */
static void open_in_bulk(struct file_fixture *f)
{
    struct elog_sqlite_options bulk = {.is_bulk = true};

    file_close(f);
    assert_int_equal(elog_sqlite_open(f->path, &bulk, &f->log, NULL), 0);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
}

static void in_bulk_a_reader_sees_what_was_there_when_it_opened(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    open_in_bulk(f);
    file_append(f, 100);
    assert_int_equal(file_read_all(f->log, &count, &err), 100);
    file_append(f, 50);
    assert_int_equal(file_read_all(f->log, &count, &err), 150);
}

static void in_bulk_all_is_there_once_the_log_is_closed(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    open_in_bulk(f);
    file_append(f, 1000);
    file_close(f);
    file_open(f);
    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(file_read_all(f->log, &count, &err), 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_log_in_use_is_refused_and_the_user_named),
        FILE_TEST(a_missing_folder_is_an_error_with_its_name),
        FILE_TEST(half_a_checkpoint_is_removed_by_the_next),
        FILE_TEST(old_checkpoints_are_forgotten),
        FILE_TEST(big_records_are_trimmed_a_few_at_a_time),
        FILE_TEST(a_reader_of_another_process_follows),
        FILE_TEST(a_reader_at_the_end_is_not_surprised_by_appends),
        FILE_TEST(a_reader_makes_no_log),
        FILE_TEST(a_backup_is_a_log_and_does_not_stop_appends),
        FILE_TEST(in_bulk_a_reader_sees_what_was_there_when_it_opened),
        FILE_TEST(in_bulk_all_is_there_once_the_log_is_closed),
    };

    return RUN_TESTS(tests);
}
