/*
 * elog_sqlite: files of other versions, damaged ones, and such as are no log,
 * by example.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strbuf.h"
#include "elog/sq.h"
#include "file_fixture.h"
#include "unit.h"

static void a_newer_version_is_refused(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct elog_reader *reader = NULL;
    struct err err;

    file_append(f, 1);
    file_close(f);
    file_tamper(f, "PRAGMA user_version = 999");

    assert_int_equal(file_open_code(f, &err), -ERR_VERSION);
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
static void make_former(struct file_fixture *f)
{
    auto_strbuf sql = {0};
    auto_ptr(elog_reader) reader = NULL;
    struct elog_range all = {.from_seq = 1};

    assert_int_equal(elog_reader_open(f->log, &reader, NULL), 0);
    assert_true(elog_read(reader, &all, write_former, &sql, NULL) > 0);
    elog_reader_close(steal_ptr(reader));
    file_close(f);
    strbuf_add_text(&sql, "PRAGMA user_version = 1");
    file_tamper(f, strbuf_text(&sql));
}

static int64_t version_of(const struct file_fixture *f)
{
    struct sq_open how = {.path = f->path, .is_read_only = true};
    int64_t version = 0;
    sqlite3 *db = NULL;

    assert_int_equal(sq_open(&how, &db, NULL), 0);
    assert_int_equal(sq_get_int(db, "PRAGMA user_version", &version, NULL), 1);
    sq_close(db);
    return version;
}

static void
a_log_of_version_1_goes_on_and_is_closed_to_older_releases(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    uint32_t count;
    struct err err;

    file_append(f, 3);
    make_former(f);
    file_open(f);
    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    file_append(f, 2);
    assert_int_equal(file_read_all(f->log, &count, &err), 5);
    file_close(f);
    assert_true(version_of(f) >= 2);
    file_open(f);
}

/* They would take the checksums of new pages for damage. */
static void
a_log_of_version_3_goes_on_and_is_closed_to_older_releases(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    uint32_t count;
    struct err err;

    file_append(f, 3);
    file_close(f);
    file_tamper(f, "PRAGMA user_version = 3");
    file_open(f);
    assert_int_equal(file_read_all(f->log, &count, &err), 3);
    file_close(f);
    assert_int_equal(version_of(f), 4);
    file_open(f);
}

static void damage_of_a_record_of_version_1_is_noticed(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    uint32_t count;
    struct err err;

    file_append(f, 3);
    make_former(f);
    file_tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 2");
    file_open(f);
    assert_int_equal(file_read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_int_equal(count, 1);
}

static void another_database_is_refused(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;

    file_close(f);
    file_tamper(f, "PRAGMA application_id = 7");

    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "not a log"));
}

static void a_file_that_is_no_database_is_refused(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;

    file_close(f);
    FILE *file = fopen(f->path, "w");
    for (int i = 0; i < 1000; i++) {
        fprintf(file, "this is not a database\n");
    }
    fclose(file);

    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, f->path));
}

static void
a_damaged_last_record_is_refused_unless_its_loss_is_accepted(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 5);
    file_close(f);
    file_tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 5;"
                   "UPDATE record SET time_ms = 7 WHERE seq = 4");
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "record 5"));
    assert_non_null(strstr(err.text, "--accept-loss"));
    file_accept_loss(f);

    assert_non_null(strstr(elog_note(f->log), "records 4 to 5 are lost"));
    assert_int_equal(file_read_all(f->log, &count, &err), 3);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    f->next_seq = 4;
    file_append(f, 1);
    assert_int_equal(file_read_all(f->log, &count, &err), 4);
    file_close(f);
    file_open(f);
    assert_string_equal(elog_note(f->log), "");
}

static void
a_missing_last_record_is_refused_unless_its_loss_is_accepted(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 3);
    file_close(f);
    file_tamper(f, "DELETE FROM record WHERE seq = 3");
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    file_accept_loss(f);

    assert_non_null(strstr(elog_note(f->log), "records 3 to 3 are lost"));
    assert_int_equal(file_read_all(f->log, &count, &err), 2);
}

static void accepting_loss_where_there_is_none_changes_nothing(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 3);
    file_close(f);
    file_accept_loss(f);

    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(file_read_all(f->log, &count, &err), 3);
}

static void damage_in_the_middle_is_said_when_read(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 5);
    file_close(f);
    file_tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 3");
    file_open(f);

    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(file_read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_int_equal(count, 2);
    assert_non_null(strstr(err.text, "record 3"));
    assert_non_null(strstr(err.text, "backup"));
}

static void accepting_loss_ends_the_log_before_damage_that_no_checkpoint_covers(
    void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 3);
    assert_int_equal(elog_checkpoint_put(f->log, 3, 1, STR("three"), NULL), 0);
    file_append(f, 4);
    file_close(f);
    file_tamper(f, "UPDATE record SET payload = x'00' WHERE seq IN (2, 6);"
                   "UPDATE head SET next = 99");
    file_accept_loss(f);

    assert_non_null(strstr(elog_note(f->log), "records 6 to 7 are lost"));
    assert_int_equal(file_read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_int_equal(count, 1);
    file_close(f);
    file_tamper(f, "DELETE FROM record WHERE seq = 2");
    file_accept_loss(f);
    assert_string_equal(elog_note(f->log), "");
}

static void a_backup_of_a_damaged_record_fails_and_names_it(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    file_append(f, 5);
    file_close(f);
    file_tamper(f, "UPDATE record SET payload = x'00' WHERE seq = 3");
    file_open(f);
    tmpdir_path(&f->dir, "copy", path);
    assert_int_equal(elog_backup(f->log, path, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "record 3"));
    assert_int_equal(access(path, F_OK), -1);
}

static void a_hole_in_the_middle_is_said_when_read(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;
    uint32_t count;

    file_append(f, 5);
    file_close(f);
    file_tamper(f, "DELETE FROM record WHERE seq IN (1, 4)");
    file_open(f);

    assert_int_equal(file_read_all(f->log, &count, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "record 1"));
}

static void a_head_row_that_does_not_fit_is_refused(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    struct err err;

    file_append(f, 5);
    file_close(f);
    file_tamper(f, "UPDATE head SET next = 4");
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    file_tamper(f, "UPDATE head SET next = 6, epoch = 0");
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    file_tamper(f, "UPDATE head SET epoch = 1, first = 3");
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    file_tamper(f, "UPDATE head SET first = 1");

    file_open(f);
}

static void damage_that_a_checkpoint_covers_is_left_alone(void **state)
{
    struct file_fixture *f = (struct file_fixture *)*state;
    auto_ptr(elog_reader) reader = NULL;
    struct elog_bounds bounds;

    file_append(f, 5);
    assert_int_equal(elog_checkpoint_put(f->log, 5, 1, STR("five"), NULL), 0);
    file_close(f);
    file_tamper(f, "UPDATE record SET checksum = 0 WHERE seq = 5");
    file_open(f);

    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(elog_reader_open(f->log, &reader, NULL), 0);
    assert_int_equal(elog_bounds(reader, &bounds, NULL), 0);
    assert_int_equal(bounds.head_seq, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_newer_version_is_refused),
        FILE_TEST(a_log_of_version_1_goes_on_and_is_closed_to_older_releases),
        FILE_TEST(a_log_of_version_3_goes_on_and_is_closed_to_older_releases),
        FILE_TEST(damage_of_a_record_of_version_1_is_noticed),
        FILE_TEST(another_database_is_refused),
        FILE_TEST(a_file_that_is_no_database_is_refused),
        FILE_TEST(a_damaged_last_record_is_refused_unless_its_loss_is_accepted),
        FILE_TEST(a_missing_last_record_is_refused_unless_its_loss_is_accepted),
        FILE_TEST(accepting_loss_where_there_is_none_changes_nothing),
        FILE_TEST(
            accepting_loss_ends_the_log_before_damage_that_no_checkpoint_covers),
        FILE_TEST(damage_in_the_middle_is_said_when_read),
        FILE_TEST(a_backup_of_a_damaged_record_fails_and_names_it),
        FILE_TEST(a_hole_in_the_middle_is_said_when_read),
        FILE_TEST(a_head_row_that_does_not_fit_is_refused),
        FILE_TEST(damage_that_a_checkpoint_covers_is_left_alone),
    };

    return RUN_TESTS(tests);
}
