/*
 * token_file: what berthd writes, and berthctl finds.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shared/token.h"
#include "main/berthd/token_file.h"
#include "tmpdir.h"
#include "unit.h"

/* A working directory with a data directory in it. */
static void begin(struct tmpdir *directory)
{
    char path[TMPDIR_PATH_BYTES_MAX];

    tmpdir_init(directory);
    assert_int_equal(chdir(directory->path), 0);
    tmpdir_path(directory, "berth-data", path);
    assert_int_equal(mkdir(path, 0711), 0);
}

static void end(struct tmpdir *directory)
{
    assert_int_equal(chdir("/"), 0);
    tmpdir_fini(directory);
}

static void it_is_found_for_its_server_alone(void **state)
{
    auto_arena arena = {0};
    struct tmpdir directory;
    struct stat about;
    struct err err;

    (void)state;
    begin(&directory);
    assert_null(token_find("localhost:5", &arena));
    /* What stood there before is not written into, whosever it is. */
    assert_int_equal(symlink("/dev/null", "berth-data/token"), 0);
    assert_int_equal(
        token_file_write("berth-data/token", "127.0.0.1:5", "abc", &err), 0);
    assert_int_equal(lstat("berth-data/token", &about), 0);
    assert_true(S_ISREG(about.st_mode));
    assert_int_equal(about.st_mode & 0777, 0600);
    assert_string_equal(token_find("localhost:5", &arena), "Bearer abc");
    assert_string_equal(token_find("[::1]:5", &arena), "Bearer abc");
    assert_null(token_find("localhost:6", &arena));
    assert_null(token_find("localhost.example.org:5", &arena));
    assert_int_equal(token_file_remove("berth-data/token", &err), 0);
    assert_int_equal(token_file_remove("berth-data/token", &err), 0);
    assert_null(token_find("localhost:5", &arena));
    end(&directory);
}

/* One that others can read is no secret, and may be theirs. */
static void one_that_others_can_read_is_left_alone(void **state)
{
    auto_arena arena = {0};
    struct tmpdir directory;
    struct err err;

    (void)state;
    begin(&directory);
    assert_int_equal(
        token_file_write("berth-data/token", "127.0.0.1:5", "abc", &err), 0);
    assert_int_equal(chmod("berth-data/token", 0640), 0);
    assert_null(token_find("localhost:5", &arena));
    end(&directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_found_for_its_server_alone),
        TEST(one_that_others_can_read_is_left_alone),
    };

    return RUN_TESTS(tests);
}
