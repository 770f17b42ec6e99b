/*
 * sq: the lock of a database says who keeps it from this process.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elog/sq.h"
#include "tmpdir.h"
#include "unit.h"

enum { OTHER_USER = 4242 };

static void one_process_has_it(void **state)
{
    auto_tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    struct err err;

    (void)state;
    tmpdir_init(&dir);
    tmpdir_path(&dir, "a.db", path);
    int fd = sq_lock(path, &err);
    assert_true(fd >= 0);
    assert_int_equal(sq_lock(path, &err), -ERR_CONFLICT);
    assert_non_null(strstr(err.text, "is in use by process"));
    close(fd);
}

/* Root may open whatever there is, so it becomes somebody else for a while. */
static void whose_it_is_is_told(void **state)
{
    auto_tmpdir dir;
    char path[TMPDIR_PATH_BYTES_MAX];
    char expected[64];
    struct err err;
    bool is_root = geteuid() == 0;

    (void)state;
    tmpdir_init(&dir);
    tmpdir_path(&dir, "a.db", path);
    int fd = sq_lock(path, &err);
    assert_true(fd >= 0);
    close(fd);
    tmpdir_path(&dir, "a.db-lock", path);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(dir.path, 0755), 0);
    tmpdir_path(&dir, "a.db", path);
    if (is_root) {
        assert_int_equal(seteuid(OTHER_USER), 0);
    }
    int rc = sq_lock(path, &err);
    if (is_root) {
        assert_int_equal(seteuid(0), 0);
    }
    assert_int_equal(rc, -ERR_IO);
    assert_non_null(strstr(err.text, "a.db-lock: Permission denied"));
    if (is_root) {
        snprintf(expected, sizeof(expected), "runs as user %d", OTHER_USER);
        assert_non_null(strstr(err.text, "it belongs to root (user 0)"));
        assert_non_null(strstr(err.text, expected));
    } else {
        assert_non_null(strstr(err.text, "as whom this program runs"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_process_has_it),
        TEST(whose_it_is_is_told),
    };

    return RUN_TESTS(tests);
}
