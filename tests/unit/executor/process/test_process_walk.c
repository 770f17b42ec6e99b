/*
 * process_walk: its bounds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/process/process_walk.h"
#include "support.h"
#include "unit.h"

enum { FOLDERS = 5, NS_PER_MS = 1000000 };

/* Each look at it costs as much as a slow disk. */
struct slow_clock {
    struct clock clock;
    uint64_t now_ns, step_ns;
};

static uint64_t slow_mono_ns(const struct clock *clock)
{
    struct slow_clock *slow = container_of((struct clock *)(uintptr_t)clock,
                                           struct slow_clock, clock);

    return slow->now_ns += slow->step_ns;
}

/* A directory with FOLDERS folders, a file in each. */
static int make_folders(char **ret_path)
{
    char *path = *ret_path = make_dir();
    char name[512];

    for (int i = 0; i < FOLDERS; i++) {
        (void)snprintf(name, sizeof(name), "%s/%d", path, i);
        assert_int_equal(mkdir(name, 0700), 0);
        (void)snprintf(name, sizeof(name), "%s/%d/file", path, i);
        int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static bool count_one(void *ctx, struct str path, const struct stat *st)
{
    (void)path;
    (void)st;
    ++*(int *)ctx;
    return true;
}

static void a_walk_ends_when_its_time_is_up(void **state)
{
    struct slow_clock slow = {.clock = {.mono_ns = slow_mono_ns}};
    struct process_walk_rest rest;
    int count = 0;
    char *path;

    (void)state;
    int fd = make_folders(&path);
    slow.step_ns = (uint64_t)PROCESS_WALK_MS_MAX * NS_PER_MS / 4;
    process_walk(fd, STR(""), &slow.clock, count_one, &count, &rest);
    assert_true(rest.is_cut);
    assert_int_equal(count, 3);
    assert_int_equal(rest.visit_count, 3);
    close(fd);
    remove_dir(path);
}

static void a_walk_in_time_is_whole(void **state)
{
    struct slow_clock slow = {.clock = {.mono_ns = slow_mono_ns}};
    struct process_walk_rest rest;
    int count = 0;
    char *path;

    (void)state;
    int fd = make_folders(&path);
    slow.step_ns = NS_PER_MS;
    process_walk(fd, STR(""), &slow.clock, count_one, &count, &rest);
    assert_false(rest.is_cut);
    assert_int_equal(count, 2 * FOLDERS);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    process_walk(fd, STR(""), NULL, count_one, &count, &rest);
    assert_false(rest.is_cut);
    assert_int_equal(count, 4 * FOLDERS);
    close(fd);
    remove_dir(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_ends_when_its_time_is_up),
        cmocka_unit_test(a_walk_in_time_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
