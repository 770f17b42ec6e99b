/*
 * secret: files that anybody may read or write are no place for secrets.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/secret.h"
#include "unit.h"

enum { SMALL = 8 };

static char folder[] = "/tmp/berth-test-XXXXXX";
static char path[64];

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/secret", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "sesame", 6), 6);
    return close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void what_others_reach_is_refused(void **state)
{
    static const struct {
        mode_t mode;
        bool is_public;
    } rows[] = {{0600, false}, {0640, false}, {0660, false}, {0400, false},
                {0644, true},  {0602, true},  {0666, true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        auto_strbuf buf = strbuf_make(SMALL);
        struct err err = {""};
        int expected = rows[i].is_public ? -ERR_INVALID : 0;

        assert_int_equal(chmod(path, rows[i].mode), 0);
        assert_int_equal(secret_check(path, &err), expected);
        assert_int_equal(secret_read(path, &buf, &err), expected);
        assert_int_equal(buf.byte_count, rows[i].is_public ? 0 : 6);
        assert_int_equal(strstr(err.text, path) != NULL, rows[i].is_public);
        assert_null(strstr(err.text, "sesame"));
    }
}

static void what_cannot_be_read_says_why(void **state)
{
    auto_strbuf buf = strbuf_make(SMALL / 2);
    struct err err;

    (void)state;
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(secret_read(path, &buf, &err), -ERR_LIMIT);
    assert_int_equal(secret_read(folder, &buf, &err), -ERR_IO);
    assert_int_equal(secret_read("/nowhere/secret", &buf, &err),
                     -ERR_NOT_FOUND);
    assert_int_equal(secret_check("/nowhere/secret", &err), 0);
}

static void a_fifo_is_not_waited_for(void **state)
{
    auto_strbuf buf = strbuf_make(SMALL);
    char name[80];
    struct err err;

    (void)state;
    (void)snprintf(name, sizeof(name), "%s/fifo", folder);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(secret_read(name, &buf, &err), 0);
    assert_int_equal(buf.byte_count, 0);
    assert_int_equal(unlink(name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_others_reach_is_refused),
        TEST(what_cannot_be_read_says_why),
        TEST(a_fifo_is_not_waited_for),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
