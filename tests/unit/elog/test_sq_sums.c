/* sq_sums: a page that is not what was written, or not where, is noticed. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "elog/sq.h"
#include "elog/sq_sums.h"
#include "tmpdir.h"
#include "unit.h"

enum { PAGE_BYTES = 8192, ROWS = 40 };

struct fixture {
    struct tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
};

static sqlite3 *open_db(const char *path)
{
    struct sq_open how = {.path = path, .may_create = true};
    struct err err = {""};
    sqlite3 *db = NULL;

    if (sq_open(&how, &db, &err) < 0) {
        fail_msg("%s", err.text);
    }
    return db;
}

/* Rows with blobs that take more than a page, and an index. */
static void fill(sqlite3 *db)
{
    char sql[200];

    assert_int_equal(sq_exec(db,
                             "PRAGMA journal_mode = WAL;"
                             "CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB,"
                             " w TEXT); CREATE INDEX i ON t (w)",
                             NULL),
                     0);
    for (int k = 1; k <= ROWS; k++) {
        snprintf(sql, sizeof(sql),
                 "INSERT INTO t VALUES (%d, randomblob(%d), 'row %d')", k,
                 k * 900, k);
        assert_int_equal(sq_exec(db, sql, NULL), 0);
    }
}

static int set_up(void **state)
{
    struct fixture *f = mem_alloc(sizeof(*f));

    tmpdir_init(&f->dir);
    tmpdir_path(&f->dir, "db", f->path);
    sqlite3 *db = open_db(f->path);
    assert_int_equal(sq_exec(db, "PRAGMA page_size = 8192", NULL), 0);
    sq_sums_begin(db);
    fill(db);
    sq_close(db);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    tmpdir_fini(&f->dir);
    mem_free(f);
    return 0;
}

/* What reading all of it says. */
static int read_all(const char *path)
{
    struct sq_open how = {.path = path, .is_read_only = true};
    sqlite3 *db = NULL;
    int64_t sum;

    int rc = sq_open(&how, &db, NULL);
    if (rc == 0) {
        rc = sq_get_int(db, "SELECT sum(length(hex(v))) FROM t", &sum, NULL);
        sq_close(db);
    }
    return rc;
}

static uint64_t bad_page(const char *path)
{
    struct sq_sums_scan scan;

    assert_int_equal(sq_sums_scan(path, 0, 1000000, &scan, NULL), 0);
    return scan.bad_page;
}

static void flip(const char *path, off_t at)
{
    unsigned char byte;

    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 16;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static void copy_page(const char *path, off_t from, off_t to)
{
    static char page[PAGE_BYTES];

    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, page, PAGE_BYTES, from * PAGE_BYTES),
                     PAGE_BYTES);
    assert_int_equal(pwrite(fd, page, PAGE_BYTES, to * PAGE_BYTES), PAGE_BYTES);
    close(fd);
}

static void a_file_that_is_whole_has_no_bad_page(void **state)
{
    struct fixture *f = *state;
    sqlite3 *db = open_db(f->path);

    assert_int_equal(bad_page(f->path), 0);
    assert_int_equal(read_all(f->path), 1);
    assert_int_equal(sq_exec(db, "SELECT count(*) FROM t", NULL), 0);
    assert_true(sq_sums_are_kept(db));
    sq_close(db);
}

static void a_flipped_bit_in_any_page_is_found(void **state)
{
    struct fixture *f = *state;

    for (int page = 0; page < ROWS; page++) {
        off_t at = page * PAGE_BYTES + 100 + page * 97;

        flip(f->path, at);
        assert_int_equal(bad_page(f->path), page + 1);
        flip(f->path, at);
    }
    assert_int_equal(read_all(f->path), 1);
}

/* The head says that a page has so many bytes: all that 16 bits may say. */
static void a_size_of_pages_that_cannot_be_is_found(void **state)
{
    struct fixture *f = *state;
    static const unsigned char sizes[][2] = {{0, 0}, {0, 2},   {0, 7},
                                             {0, 8}, {0, 100}, {0xff, 0xff}};
    unsigned char right[2];
    int fd = open(f->path, O_RDWR | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(pread(fd, right, sizeof(right), 16), sizeof(right));
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        assert_int_equal(pwrite(fd, sizes[i], 2, 16), 2);
        assert_int_equal(bad_page(f->path), 1);
    }
    assert_int_equal(pwrite(fd, right, sizeof(right), 16), sizeof(right));
    close(fd);
}

static void what_reads_a_damaged_page_fails(void **state)
{
    struct fixture *f = *state;

    /* The middle of a blob, which SQLite has no other check for. */
    flip(f->path, 20 * PAGE_BYTES + 5000);
    assert_int_equal(read_all(f->path), -ERR_CORRUPT);
}

/* SQLite takes what is missing for zeros. */
static void a_page_that_is_cut_short_is_found(void **state)
{
    struct fixture *f = *state;
    struct stat about;

    assert_int_equal(stat(f->path, &about), 0);
    assert_int_equal(about.st_size % PAGE_BYTES, 0);
    assert_int_equal(truncate(f->path, about.st_size - 1000), 0);
    assert_int_equal(bad_page(f->path), about.st_size / PAGE_BYTES);
    assert_int_equal(read_all(f->path), -ERR_CORRUPT);
    /* Without the whole of it SQLite itself notices. */
    assert_int_equal(truncate(f->path, about.st_size - PAGE_BYTES), 0);
    assert_int_equal(read_all(f->path), -ERR_CORRUPT);
}

/* Give each page the checksum that older releases wrote. */
static void make_former(const char *path)
{
    static char page[PAGE_BYTES];
    uint64_t number = 1;

    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (; pread(fd, page, PAGE_BYTES, (off_t)(number - 1) * PAGE_BYTES) ==
           PAGE_BYTES;
         number++) {
        uint64_t sum = hash_bytes(page, PAGE_BYTES - sizeof(sum), number);
        assert_int_equal(pwrite(fd, &sum, sizeof(sum),
                                (off_t)(number * PAGE_BYTES - sizeof(sum))),
                         sizeof(sum));
    }
    assert_true(number > ROWS);
    close(fd);
}

static void pages_of_older_releases_are_read_and_guarded(void **state)
{
    struct fixture *f = *state;

    make_former(f->path);
    assert_int_equal(bad_page(f->path), 0);
    assert_int_equal(read_all(f->path), 1);
    sqlite3 *db = open_db(f->path);
    assert_int_equal(
        sq_exec(db, "UPDATE t SET v = randomblob(7000) WHERE k < 9", NULL), 0);
    sq_close(db);
    assert_int_equal(bad_page(f->path), 0);
    assert_int_equal(read_all(f->path), 1);
    flip(f->path, 20 * PAGE_BYTES + 5000);
    assert_int_equal(bad_page(f->path), 21);
    assert_int_equal(read_all(f->path), -ERR_CORRUPT);
}

static void a_page_in_the_wrong_place_is_found(void **state)
{
    struct fixture *f = *state;

    copy_page(f->path, 20, 21);
    assert_int_equal(bad_page(f->path), 22);
    assert_int_equal(read_all(f->path), -ERR_CORRUPT);
}

static void a_copy_has_checksums_and_a_damaged_file_gives_none(void **state)
{
    struct fixture *f = *state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;
    sqlite3 *db = open_db(f->path);

    /* Some of it is in the write-ahead file only. */
    assert_int_equal(sq_exec(db, "UPDATE t SET v = randomblob(7000)", NULL), 0);
    assert_int_equal(sq_backup(db, tmpdir_path(&f->dir, "copy", path), NULL),
                     0);
    assert_int_equal(bad_page(path), 0);
    assert_int_equal(read_all(path), 1);
    sq_close(db);
    flip(f->path, 20 * PAGE_BYTES + 5000);
    db = open_db(f->path);
    assert_int_equal(sq_backup(db, tmpdir_path(&f->dir, "other", path), &err),
                     -ERR_CORRUPT);
    assert_int_equal(access(path, F_OK), -1);
    sq_close(db);
}

static void a_file_without_checksums_is_read_as_ever(void **state)
{
    struct fixture *f = *state;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct sq_sums_scan scan;

    sqlite3 *db = open_db(tmpdir_path(&f->dir, "plain", path));
    fill(db);
    assert_false(sq_sums_are_kept(db));
    sq_close(db);
    assert_int_equal(read_all(path), 1);
    assert_int_equal(sq_sums_scan(path, 0, 10, &scan, NULL), 0);
    assert_true(scan.is_at_end);
    assert_int_equal(scan.page_count, 0);
}

/* Whether another process sees that somebody has the database locked. */
static bool is_locked(const char *path)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int fd = open(path, O_RDWR | O_CLOEXEC);
        _exit(fd < 0 || fcntl(fd, F_GETLK, &lock) < 0 ||
              lock.l_type == F_UNLCK);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status == 0;
}

/* Else another process that closes the database takes itself for the last one,
 * and removes the write-ahead file. */
static void a_scan_leaves_the_locks_of_its_process(void **state)
{
    struct fixture *f = *state;
    int64_t rows;

    sqlite3 *db = open_db(f->path);
    assert_true(sq_get_int(db, "SELECT count(*) FROM t", &rows, NULL) >= 0);
    assert_true(is_locked(f->path));
    assert_int_equal(bad_page(f->path), 0);
    assert_true(is_locked(f->path));
    sq_close(db);
    assert_false(is_locked(f->path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CASE(a_file_that_is_whole_has_no_bad_page),
        CASE(a_flipped_bit_in_any_page_is_found),
        CASE(a_size_of_pages_that_cannot_be_is_found),
        CASE(what_reads_a_damaged_page_fails),
        CASE(a_page_that_is_cut_short_is_found),
        CASE(pages_of_older_releases_are_read_and_guarded),
        CASE(a_page_in_the_wrong_place_is_found),
        CASE(a_copy_has_checksums_and_a_damaged_file_gives_none),
        CASE(a_file_without_checksums_is_read_as_ever),
        CASE(a_scan_leaves_the_locks_of_its_process),
    };

    return RUN_TESTS(tests);
}
