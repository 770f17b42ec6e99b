/*
 * elog_sqlite: what only a log in a file can meet, by example.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "elog/elog_sqlite.h"
#include "elog/sq.h"
#include "tmpdir.h"
#include "unit.h"

enum { WAIT_MS_MAX = 10000 };

struct fixture {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct elog *log;
    uint64_t epoch;
    uint64_t next_seq;
};

static void on_done(void *ctx, int result, uint64_t seq)
{
    (void)ctx;
    (void)seq;
    assert_int_equal(result, 0);
}

/* Append `count` records that hold their numbers as text. */
static void append(struct fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "record %llu",
                 (unsigned long long)f->next_seq);
        struct elog_record record = {
            .seq = f->next_seq++, .epoch = f->epoch, .payload = str_of(text)};

        assert_int_equal(elog_submit(f->log, &record, on_done, NULL), 0);
        elog_poll(f->log, 0);
    }
}

static void open_log(struct fixture *f)
{
    struct err err = {""};

    if (elog_sqlite_open(f->path, NULL, &f->log, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(sizeof(*f));

    tmpdir_init(&f->dir);
    tmpdir_path(&f->dir, "log", f->path);
    f->next_seq = 1;
    open_log(f);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = (struct fixture *)*state;

    elog_close(f->log);
    tmpdir_fini(&f->dir);
    mem_free(f);
    return 0;
}

static void close_log(struct fixture *f)
{
    elog_close(f->log);
    f->log = NULL;
}

/* Change the file behind the log's back; the log is closed. */
static void tamper(struct fixture *f, const char *sql)
{
    struct sq_open how = {.path = f->path};
    sqlite3 *db = NULL;

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(sq_exec(db, sql, NULL), 0);
    sq_close(db);
}

static int open_code(struct fixture *f, struct err *err)
{
    *err = (struct err){""};
    return elog_sqlite_open(f->path, NULL, &f->log, err);
}

static int count_one(void *ctx, const struct elog_record *record)
{
    (void)record;
    ++*(uint32_t *)ctx;
    return 0;
}

/* Read all there is; `*ret_count` records were good. */
static int read_all(struct elog *log, uint32_t *ret_count, struct err *err)
{
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range all = {.from_seq = 1};

    *ret_count = 0;
    *err = (struct err){""};
    assert_int_equal(elog_reader_open(log, &reader, NULL), 0);
    return elog_read(reader, &all, count_one, ret_count, err);
}

static void a_log_in_use_is_refused_and_the_user_named(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog *second = NULL;
    struct err err;
    char pid[32];

    assert_int_equal(elog_sqlite_open(f->path, NULL, &second, &err),
                     -ERR_CONFLICT);

    snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
    assert_non_null(strstr(err.text, pid));
    close_log(f);
    open_log(f);
}

static void a_newer_version_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct elog_reader *reader = NULL;
    struct err err;

    append(f, 1);
    close_log(f);
    tamper(f, "PRAGMA user_version = 999");

    assert_int_equal(open_code(f, &err), -ERR_VERSION);
    assert_non_null(strstr(err.text, "999"));
    assert_non_null(strstr(err.text, "newer release"));
    assert_int_equal(elog_sqlite_reader_open(f->path, &reader, &err),
                     -ERR_VERSION);
}

/* The checksum of files of version 1. */
static uint64_t former_checksum(const struct elog_record *record)
{
    uint64_t fields[] = {record->seq, record->epoch, (uint64_t)record->time_ms,
                         record->format_version};

    return hash_bytes(record->payload.p, record->payload.byte_count,
                      hash_bytes(fields, sizeof(fields), 0));
}

static int write_former(void *ctx, const struct elog_record *record)
{
    strbuf_addf(ctx, "UPDATE record SET checksum = %lld WHERE seq = %llu;",
                (long long)former_checksum(record),
                (unsigned long long)record->seq);
    return 0;
}

/* Give all records the checksums of version 1. */
static void make_former(struct fixture *f)
{
    auto_strbuf sql = {0};
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range all = {.from_seq = 1};

    assert_int_equal(elog_reader_open(f->log, &reader, NULL), 0);
    assert_true(elog_read(reader, &all, write_former, &sql, NULL) > 0);
    elog_reader_close(steal_ptr(reader));
    close_log(f);
    strbuf_add_text(&sql, "PRAGMA user_version = 1");
    tamper(f, strbuf_text(&sql));
}

static void
a_log_of_version_1_goes_on_and_is_closed_to_older_releases(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct sq_open how = {.path = f->path, .is_read_only = true};
    int64_t version = 0;
    sqlite3 *db = NULL;
    uint32_t count;
    struct err err;

    append(f, 3);
    make_former(f);
    open_log(f);
    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    append(f, 2);
    assert_int_equal(read_all(f->log, &count, &err), 5);
    close_log(f);

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(sq_get_int(db, "PRAGMA user_version", &version, NULL), 1);
    assert_int_equal(version, 2);
    sq_close(db);
    open_log(f);
}

static void damage_of_a_record_of_version_1_is_noticed(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    uint32_t count;
    struct err err;

    append(f, 3);
    make_former(f);
    tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 2");
    open_log(f);
    assert_int_equal(read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_int_equal(count, 1);
}

static void another_database_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;

    close_log(f);
    tamper(f, "PRAGMA application_id = 7");

    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "not a log"));
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;

    close_log(f);
    FILE *file = fopen(f->path, "w");
    for (int i = 0; i < 1000; i++) {
        fprintf(file, "this is not a database\n");
    }
    fclose(file);

    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, f->path));
}

static void a_missing_folder_is_an_error_with_its_name(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;

    close_log(f);
    tmpdir_path(&f->dir, "no/such", f->path);

    assert_int_equal(open_code(f, &err), -ERR_IO);
    assert_non_null(strstr(err.text, "no/such"));
}

static void a_damaged_last_record_is_passed_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    append(f, 5);
    close_log(f);
    tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 5;"
              "UPDATE record SET time_ms = 7 WHERE seq = 4");
    open_log(f);

    assert_non_null(strstr(elog_note(f->log), "last 2 records, from 4 on"));
    assert_int_equal(read_all(f->log, &count, &err), 3);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    f->next_seq = 4;
    append(f, 1);
    assert_int_equal(read_all(f->log, &count, &err), 4);
    close_log(f);
    open_log(f);
    assert_string_equal(elog_note(f->log), "");
}

static void a_missing_last_record_is_passed_over(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    append(f, 3);
    close_log(f);
    tamper(f, "DELETE FROM record WHERE seq = 3");
    open_log(f);

    assert_true(strlen(elog_note(f->log)) > 0);
    assert_int_equal(read_all(f->log, &count, &err), 2);
}

static void damage_in_the_middle_is_said_when_read(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    append(f, 5);
    close_log(f);
    tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 3");
    open_log(f);

    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_int_equal(count, 2);
    assert_non_null(strstr(err.text, "record 3"));
    assert_non_null(strstr(err.text, "backup"));
}

static void a_hole_in_the_middle_is_said_when_read(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    append(f, 5);
    close_log(f);
    tamper(f, "DELETE FROM record WHERE seq IN (1, 4)");
    open_log(f);

    assert_int_equal(read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "record 1"));
}

static void a_head_row_that_does_not_fit_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;

    append(f, 5);
    close_log(f);
    tamper(f, "UPDATE head SET next = 4");
    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    tamper(f, "UPDATE head SET next = 6, epoch = 0");
    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    tamper(f, "UPDATE head SET epoch = 1, first = 3");
    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    tamper(f, "UPDATE head SET first = 1");

    open_log(f);
}

static void more_damage_than_a_commit_explains_is_refused(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;

    append(f, ELOG_IN_FLIGHT_COUNT_MAX + 2);
    close_log(f);
    tamper(f, "UPDATE record SET checksum = 0 WHERE seq > 1");

    assert_int_equal(open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "backup"));
}

static void damage_that_a_checkpoint_covers_is_left_alone(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;

    append(f, 5);
    assert_int_equal(elog_checkpoint_put(f->log, 5, 1, STR("five"), NULL), 0);
    close_log(f);
    tamper(f, "UPDATE record SET checksum = 0 WHERE seq = 5");
    open_log(f);

    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(elog_reader_open(f->log, &reader, NULL), 0);
    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    assert_int_equal(bounds.head_seq, 5);
}

static void half_a_checkpoint_is_removed_by_the_next(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct sq_open how = {.path = f->path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t count = 0;

    append(f, 2);
    assert_int_equal(elog_checkpoint_put(f->log, 1, 1, STR("one"), NULL), 0);
    close_log(f);
    tamper(f, "INSERT INTO checkpoint_piece VALUES (99 << 24, x'01'),"
              " ((99 << 24) + 1, x'02')");
    open_log(f);
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
    struct fixture *f = (struct fixture *)*state;
    struct sq_open how = {.path = f->path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t count = 0;

    append(f, 5);
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
    struct fixture *f = (struct fixture *)*state;
    auto_mem char *bytes = mem_alloc(4 << 20);
    uint64_t first_seq = 0;
    uint64_t last_first_seq;
    int step_count = 0;

    for (uint64_t seq = 1; seq <= 6; seq++) {
        struct elog_record record = {
            .seq = seq, .epoch = f->epoch, .payload = str_make(bytes, 4 << 20)};
        assert_int_equal(elog_submit(f->log, &record, on_done, NULL), 0);
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
    struct fixture *f = (struct fixture *)*state;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;
    struct err err;

    assert_int_equal(elog_sqlite_reader_open(f->path, &reader, &err), 0);
    assert_int_equal(elog_wait(reader, 0, 20, &err), 0);
    append(f, 3);

    assert_int_equal(elog_wait(reader, 2, WAIT_MS_MAX, &err), 1);
    assert_int_equal(elog_bounds(reader, &bounds, &err), 0);
    assert_int_equal(bounds.head_seq, 3);
}

static void a_reader_makes_no_log(void **state)
{
    struct fixture *f = (struct fixture *)*state;
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
    struct fixture *f = (struct fixture *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct backup backup = {.log = f->log};
    pthread_t thread;
    struct err err;
    uint32_t count;
    auto_ptr(elog) copy = NULL;

    backup.path = tmpdir_path(&f->dir, "copy", path);
    append(f, 50);
    assert_int_equal(elog_checkpoint_put(f->log, 40, 1, STR("state"), NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, back_up, &backup), 0);
    for (int i = 0; i < 10000 && !backup.is_done; i++) {
        append(f, 1);
    }
    pthread_join(thread, NULL);

    assert_int_equal(backup.result, 0);
    assert_int_equal(elog_backup(f->log, path, &err), -ERR_CONFLICT);
    assert_int_equal(elog_sqlite_open(path, NULL, &copy, &err), 0);
    assert_string_equal(elog_note(copy), "");
    assert_true(read_all(copy, &count, &err) >= 50);
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
    struct fixture *f = (struct fixture *)*state;
    struct chase c = {.next_seq = 1};
    pthread_t thread;

    assert_int_equal(elog_reader_open(f->log, &c.reader, NULL), 0);
    assert_int_equal(pthread_create(&thread, NULL, chase, &c), 0);
    append(f, CHASED_RECORDS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (c.code < 0) {
        fail_msg("%s", c.err.text);
    }
    elog_reader_close(c.reader);
}

/* Open the log anew for bulk appends. */
static void open_in_bulk(struct fixture *f)
{
    struct elog_sqlite_options bulk = {.is_bulk = true};

    close_log(f);
    assert_int_equal(elog_sqlite_open(f->path, &bulk, &f->log, NULL), 0);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
}

static void in_bulk_a_reader_sees_what_was_there_when_it_opened(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    open_in_bulk(f);
    append(f, 100);
    assert_int_equal(read_all(f->log, &count, &err), 100);
    append(f, 50);
    assert_int_equal(read_all(f->log, &count, &err), 150);
}

static void in_bulk_all_is_there_once_the_log_is_closed(void **state)
{
    struct fixture *f = (struct fixture *)*state;
    struct err err;
    uint32_t count;

    open_in_bulk(f);
    append(f, 1000);
    close_log(f);
    open_log(f);
    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(read_all(f->log, &count, &err), 1000);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_log_in_use_is_refused_and_the_user_named),
        CASE(a_newer_version_is_refused),
        CASE(a_log_of_version_1_goes_on_and_is_closed_to_older_releases),
        CASE(damage_of_a_record_of_version_1_is_noticed),
        CASE(another_database_is_refused),
        CASE(a_file_that_is_no_database_is_refused),
        CASE(a_missing_folder_is_an_error_with_its_name),
        CASE(a_damaged_last_record_is_passed_over),
        CASE(a_missing_last_record_is_passed_over),
        CASE(damage_in_the_middle_is_said_when_read),
        CASE(a_hole_in_the_middle_is_said_when_read),
        CASE(a_head_row_that_does_not_fit_is_refused),
        CASE(more_damage_than_a_commit_explains_is_refused),
        CASE(damage_that_a_checkpoint_covers_is_left_alone),
        CASE(half_a_checkpoint_is_removed_by_the_next),
        CASE(old_checkpoints_are_forgotten),
        CASE(big_records_are_trimmed_a_few_at_a_time),
        CASE(a_reader_of_another_process_follows),
        CASE(a_reader_at_the_end_is_not_surprised_by_appends),
        CASE(a_reader_makes_no_log),
        CASE(a_backup_is_a_log_and_does_not_stop_appends),
        CASE(in_bulk_a_reader_sees_what_was_there_when_it_opened),
        CASE(in_bulk_all_is_there_once_the_log_is_closed),
    };
    return RUN_TESTS(tests);
}
