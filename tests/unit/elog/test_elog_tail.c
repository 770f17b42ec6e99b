/*
 * elog_sqlite: a log that has lost its last records is refused, by the mark of
 * its end; and no other one is.
 *
 * Method: a log is copied while it is open, so that its WAL is full, and the
 * copy is damaged and opened.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog/sq.h"
#include "file_fixture.h"
#include "unit.h"

enum { PLACE_BYTES = 4096 }; /* of the file that marks the end */

static const char *const endings[] = {"", "-wal", "-end"};

static const char *path_of(const struct file_fixture *f, const char *copy,
                           const char *ending, char *path)
{
    int byte_count =
        snprintf(path, TMPDIR_PATH_BYTES_MAX, "%s%s%s", f->path, copy, ending);
    assert_true(byte_count < TMPDIR_PATH_BYTES_MAX);
    return path;
}

static void copy_file(const char *from, const char *to)
{
    char command[3 * TMPDIR_PATH_BYTES_MAX];

    snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* Copy all files of the log as they are now; f->path is the copy's then. */
static void go_to_copy(struct file_fixture *f)
{
    char from[TMPDIR_PATH_BYTES_MAX], to[TMPDIR_PATH_BYTES_MAX];

    for (size_t i = 0; i < ARRAY_COUNT(endings); i++) {
        copy_file(path_of(f, "", endings[i], from),
                  path_of(f, "-copy", endings[i], to));
    }
    file_close(f);
    path_of(f, "-copy", "", to);
    memcpy(f->path, to, sizeof(to));
}

static off_t size_of(const struct file_fixture *f, const char *ending)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    struct stat about;

    assert_int_equal(stat(path_of(f, "", ending, path), &about), 0);
    return about.st_size;
}

static void flip(const struct file_fixture *f, const char *ending, off_t at)
{
    char path[TMPDIR_PATH_BYTES_MAX];
    unsigned char byte;

    int fd = open(path_of(f, "", ending, path), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void remove_file(const struct file_fixture *f, const char *ending)
{
    char path[TMPDIR_PATH_BYTES_MAX];

    assert_int_equal(unlink(path_of(f, "", ending, path)), 0);
}

static void assert_whole(struct file_fixture *f, uint32_t record_count)
{
    struct err err;
    uint32_t count;

    file_open(f);
    assert_string_equal(elog_note(f->log), "");
    assert_int_equal(file_read_all(f->log, &count, &err), record_count);
    assert_int_equal(count, record_count);
}

static void assert_short(struct file_fixture *f)
{
    struct err err;

    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "ends with record"));
    assert_non_null(strstr(err.text, "had record 40"));
    assert_non_null(strstr(err.text, "restore the newest backup"));
}

static void a_log_of_a_killed_writer_is_whole(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    go_to_copy(f);
    assert_whole(f, 40);
}

static void a_flipped_bit_anywhere_in_the_wal_is_refused(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    go_to_copy(f);
    off_t size = size_of(f, "-wal");
    for (int i = 0; i < 20; i++) {
        off_t at = size - 1 - i * (size / 20);
        flip(f, "-wal", at);
        assert_short(f);
        flip(f, "-wal", at);
    }
    assert_whole(f, 40);
}

static void a_refused_log_is_as_it_was(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    go_to_copy(f);
    off_t at = size_of(f, "-wal") / 2;
    flip(f, "-wal", at);
    assert_short(f);
    assert_short(f);
    flip(f, "-wal", at);
    assert_whole(f, 40);
}

static void a_log_without_its_wal_is_refused(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 30);
    file_close(f);
    file_open(f);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    file_append(f, 10);
    go_to_copy(f);
    remove_file(f, "-wal");
    assert_short(f);
}

static void a_log_that_is_gone_is_refused(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    file_close(f);
    remove_file(f, "");
    assert_short(f);
    assert_short(f);
    file_accept_loss(f);
    assert_non_null(strstr(elog_note(f->log), "up to 40 are lost"));
}

static void an_older_copy_is_refused_unless_its_end_comes_along(void **state)
{
    struct file_fixture *f = *state;
    char older[TMPDIR_PATH_BYTES_MAX];

    file_append(f, 30);
    path_of(f, "-older", "", older);
    assert_int_equal(elog_backup(f->log, older, NULL), 0);
    file_append(f, 10);
    file_close(f);
    copy_file(older, f->path);
    assert_short(f);
    remove_file(f, "-end");
    assert_whole(f, 30);
}

static void a_log_of_another_origin_is_refused(void **state)
{
    struct file_fixture *f = *state;
    char first[TMPDIR_PATH_BYTES_MAX], end[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    file_append(f, 40);
    file_close(f);
    path_of(f, "", "-end", first);
    path_of(f, "-other", "", end);
    memcpy(f->path, end, sizeof(end));
    file_open(f);
    /* The second epoch: the same records have other checksums. */
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    f->next_seq = 1;
    file_append(f, 41);
    file_close(f);
    copy_file(first, path_of(f, "", "-end", end));
    assert_int_equal(file_open_code(f, &err), -ERR_CORRUPT);
    assert_non_null(strstr(err.text, "record 40 is not the one"));
}

static void a_lost_mark_is_made_again(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    file_close(f);
    remove_file(f, "-end");
    assert_whole(f, 40);
    assert_int_equal(elog_acquire(f->log, &f->epoch, NULL), 0);
    file_append(f, 1);
    go_to_copy(f);
    remove_file(f, "-wal");
    assert_int_equal(file_open_code(f, &(struct err){""}), -ERR_CORRUPT);
}

static void one_damaged_place_leaves_the_other(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 41);
    go_to_copy(f);
    flip(f, "-end", PLACE_BYTES + 16); /* that of record 41 */
    remove_file(f, "-wal");
    assert_short(f);
}

static void two_damaged_places_are_told(void **state)
{
    struct file_fixture *f = *state;

    file_append(f, 40);
    file_close(f);
    flip(f, "-end", 16);
    flip(f, "-end", PLACE_BYTES + 16);
    file_open(f);
    assert_non_null(strstr(elog_note(f->log), "cannot tell whether"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_log_of_a_killed_writer_is_whole),
        FILE_TEST(a_flipped_bit_anywhere_in_the_wal_is_refused),
        FILE_TEST(a_refused_log_is_as_it_was),
        FILE_TEST(a_log_without_its_wal_is_refused),
        FILE_TEST(a_log_that_is_gone_is_refused),
        FILE_TEST(an_older_copy_is_refused_unless_its_end_comes_along),
        FILE_TEST(a_log_of_another_origin_is_refused),
        FILE_TEST(a_lost_mark_is_made_again),
        FILE_TEST(one_damaged_place_leaves_the_other),
        FILE_TEST(two_damaged_places_are_told),
    };

    return RUN_TESTS(tests);
}
