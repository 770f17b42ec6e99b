/*
 * shim: the program itself, in directories made by hand, and its log.
 */
#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"
#include "executor/shim/shim_log.h"
#include "support.h"
#include "unit.h"

/* A run's directory with a spec whose one container is `sh -c script`. */
static int make_run(const char *dir, const char *script)
{
    auto_strbuf spec = {0};
    struct err err;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(mkdirat(fd, RUN_LOG_NAME, 0700), 0);
    assert_int_equal(mkdirat(fd, RUN_WORK_NAME, 0755), 0);
    kv_add_int(&spec, "berth_spec", RUN_FILE_VERSION);
    kv_add_text(&spec, "run_id", "by-hand");
    kv_add_int(&spec, "log_byte_count_max", 1000);
    kv_add_text(&spec, "container", "main");
    kv_add_int(&spec, "kind", RUN_MAIN);
    kv_add_text(&spec, "arg", "/bin/sh");
    kv_add_text(&spec, "arg", "-c");
    kv_add_text(&spec, "arg", script);
    assert_int_equal(
        file_replace(fd, RUN_SPEC_NAME, strbuf_str(&spec), 0600, &err), 0);
    return fd;
}

/* Run the shim with these arguments and wait; its exit code. */
static int run_shim(const char *argument)
{
    char *shim = getenv("BERTH_SHIM");
    char *argv[] = {shim, (char *)(uintptr_t)argument, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    assert_int_equal(posix_spawn(&pid, shim, &actions, NULL, argv, NULL), 0);
    posix_spawn_file_actions_destroy(&actions);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void it_runs_a_directory_to_its_end_and_only_once(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = make_run(dir, "echo once >> all");
    struct run_state run_state;
    struct err err;

    assert_int_equal(run_shim(dir), 0);
    assert_int_equal(run_shim(dir), 1);

    assert_int_equal(run_state_read(fd, &run_state, &err), 0);
    assert_int_equal(run_state.phase, RUN_SUCCEEDED);
    assert_int_equal(run_state.ended.count, 1);
    auto_mem char *all = read_file("%s/work/all", dir);
    assert_string_equal(all, "once\n");
    run_state_fini(&run_state);
    close(fd);
    remove_dir(dir);
}

static void it_leaves_a_run_that_another_has(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = make_run(dir, "touch started");
    int lock = openat(fd, RUN_LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);

    assert_int_equal(run_shim(dir), 1);

    assert_int_equal(faccessat(fd, "work/started", F_OK, 0), -1);
    close(lock);
    close(fd);
    remove_dir(dir);
}

static void a_stop_that_came_first_starts_nothing(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = make_run(dir, "touch started");
    struct run_state run_state;
    struct err err;
    assert_int_equal(file_replace(fd, RUN_STOP_NAME, STR(""), 0600, &err), 0);

    assert_int_equal(run_shim(dir), 0);

    assert_int_equal(run_state_read(fd, &run_state, &err), 0);
    assert_int_equal(run_state.cause, RUN_CAUSE_STOPPED);
    assert_int_equal(faccessat(fd, "work/started", F_OK, 0), -1);
    run_state_fini(&run_state);
    close(fd);
    remove_dir(dir);
}

static void it_says_how_it_is_called(void **state)
{
    (void)state;
    assert_int_equal(run_shim("--help"), 2);
    assert_int_equal(run_shim("--version"), 0);
    assert_int_equal(run_shim("/nowhere/at/all"), 1);
}

static void long_lines_are_broken_and_the_last_is_written(void **state)
{
    (void)state;
    char *dir = make_dir();
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    static char many[SHIM_LOG_LINE_BYTES_MAX + 10];
    struct shim_log *log = mem_alloc(sizeof(*log));
    struct err err;
    memset(many, 'x', sizeof(many));

    assert_int_equal(shim_log_open(log, fd, "log", 1 << 20, &err), 0);
    shim_log_take(log, 0, str_make(many, sizeof(many)));
    shim_log_take(log, 1, STR("one\ntw"));
    shim_log_take(log, 1, STR("o"));
    shim_log_close(log);

    auto_mem char *text = read_file("%s/log", dir);
    int lines = 0;
    for (const char *p = text; (p = strchr(p, '\n')); p++) {
        lines++;
    }
    assert_int_equal(lines, 4);
    assert_non_null(strstr(text, "Z one\n"));
    assert_non_null(strstr(text, "Z two\n"));
    assert_int_equal(log->tail_byte_count, 7);
    assert_memory_equal(log->tail, "one\ntwo", 7);
    mem_free(log);
    close(fd);
    remove_dir(dir);
}

static void times_are_rfc_3339_with_nanoseconds(void **state)
{
    (void)state;
    char text[40];

    assert_string_equal(shim_log_time(1767323045123456789, text),
                        "2026-01-02T03:04:05.123456789Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_runs_a_directory_to_its_end_and_only_once),
        TEST(it_leaves_a_run_that_another_has),
        TEST(a_stop_that_came_first_starts_nothing),
        TEST(it_says_how_it_is_called),
        TEST(long_lines_are_broken_and_the_last_is_written),
        TEST(times_are_rfc_3339_with_nanoseconds),
    };
    return RUN_TESTS(tests);
}
