/*
 * cgroup: what the kernel makes of limits, by the version that it has with
 * controllers.
 *
 *     BERTH_CGROUP    v1 or v2: it must be this one; else, without any, the
 *                     tests are skipped
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/files/cgroup.h"
#include "unit.h"

enum {
    MEMORY_BYTES = 32 << 20,
    PIDS_MAX = 8,
    CPU_MILLI = 100,
    CPU_SPENT_MS = 50, /* of which the kernel gives 10 in 100 ms */
    CPU_LEAST_MS = 250,
    EXIT_LET = 9,
};

static struct cgroup_layout layout;

static int set_up(void **state)
{
    const char *wanted = getenv("BERTH_CGROUP");
    struct err text = {""};
    char name[32];

    (void)state;
    snprintf(name, sizeof(name), "berth-test-%d", (int)getpid());
    cgroup_probe(name, &layout, &text);
    print_message("%s\n", text.text);
    return wanted && layout.kind !=
                         (strcmp(wanted, "v2") == 0 ? CGROUP_V2 : CGROUP_V1)
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    (void)state;
    cgroup_remove_all(&layout, "run.");
    cgroup_release(&layout);
    return 0;
}

/* Run `body` in a group of its own with a limit; the status with which it
 * ended. */
static int run(enum cgroup_controller controller,
               const struct cgroup_limits *limits, void (*body)(void))
{
    struct err refused = {""};
    int status;

    if (!cgroup_has(&layout, controller) || layout.kind == CGROUP_NONE) {
        print_message("skipped: no control group of this kind is writable\n");
        skip();
    }
    assert_int_equal(cgroup_add(&layout, "run.0", limits, &refused), 0);
    assert_string_equal(refused.text, "");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (cgroup_enter(&layout, "run.0") < 0) {
            _exit(EXIT_FAILURE);
        }
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void take_memory(void)
{
    size_t byte_count = (size_t)MEMORY_BYTES * 4;
    char *bytes = mmap(NULL, byte_count, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (bytes == MAP_FAILED) {
        _exit(EXIT_FAILURE);
    }
    memset(bytes, 1, byte_count);
    _exit(EXIT_LET);
}

static void who_takes_more_memory_is_killed_and_counted(void **state)
{
    (void)state;
    int status =
        run(CGROUP_MEMORY,
            &(struct cgroup_limits){.memory_bytes = MEMORY_BYTES}, take_memory);

    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_true(cgroup_oom_kill_count(&layout, "run.0") >= 1);
    cgroup_remove(&layout, "run.0");
}

/* Exits with how many children there could be. */
static void fork_on(void)
{
    int count = 0;
    pid_t pid;

    while ((pid = fork()) > 0 && count <= PIDS_MAX) {
        count++;
    }
    while (pid == 0) {
        pause();
    }
    _exit(pid < 0 && errno == EAGAIN ? count : PIDS_MAX + 1);
}

static void there_are_no_more_processes_than_the_limit(void **state)
{
    (void)state;
    int status = run(CGROUP_PIDS, &(struct cgroup_limits){.pids_max = PIDS_MAX},
                     fork_on);

    assert_true(WIFEXITED(status));
    /* A sanitizer has a thread in each. */
    assert_in_range(WEXITSTATUS(status), 1, PIDS_MAX - 1);
    /* They are left, and end with the group. */
    cgroup_remove(&layout, "run.0");
    assert_int_equal(cgroup_add(&layout, "run.0", &(struct cgroup_limits){0},
                                &(struct err){""}),
                     0);
    cgroup_remove(&layout, "run.0");
}

static int64_t ms_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void compute(void)
{
    int64_t begin_ms = ms_of(CLOCK_MONOTONIC);
    int64_t spent_ms = ms_of(CLOCK_PROCESS_CPUTIME_ID);

    while (ms_of(CLOCK_PROCESS_CPUTIME_ID) - spent_ms < CPU_SPENT_MS) {
    }
    _exit(ms_of(CLOCK_MONOTONIC) - begin_ms < CPU_LEAST_MS ? EXIT_LET : 0);
}

static void a_tenth_of_a_processor_is_no_more(void **state)
{
    (void)state;
    int status = run(CGROUP_CPU,
                     &(struct cgroup_limits){.cpu_milli = CPU_MILLI}, compute);

    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    cgroup_remove(&layout, "run.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(who_takes_more_memory_is_killed_and_counted),
        TEST(there_are_no_more_processes_than_the_limit),
        TEST(a_tenth_of_a_processor_is_no_more),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
