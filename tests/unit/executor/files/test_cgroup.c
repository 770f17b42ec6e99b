/*
 * cgroup: version 2, whose limits are tried on a directory that stands for it
 * (a fake: it shows what is written, not what the kernel makes of it), and
 * whose end of all processes is tried on the kernel's own, where there is one.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "executor/files/cgroup.h"
#include "executor/files/file.h"
#include "patience.h"
#include "tmpdir.h"
#include "unit.h"

enum { CHILDREN = 5, READ_BYTES = 4096 };

#define ALL_MISSING (1 << CGROUP_MEMORY | 1 << CGROUP_CPU | 1 << CGROUP_PIDS)

static const struct cgroup_limits limits = {.memory_bytes = 1 << 20,
                                            .cpu_milli = 1500,
                                            .cpu_request_milli = 1000,
                                            .pids_max = 77};

static void put(const struct cgroup_layout *layout, const char *name,
                const char *text)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/run.0/%s", layout->parents[CGROUP_MEMORY],
             name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static char *get(const struct cgroup_layout *layout, const char *name,
                 char text[READ_BYTES])
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/run.0/%s", layout->parents[CGROUP_MEMORY],
             name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 ? read(fd, text, READ_BYTES - 1) : 0;
    text[count > 0 ? count : 0] = '\0';
    if (fd >= 0) {
        close(fd);
    }
    return text;
}

static const char *const files[] = {
    "memory.max", "memory.swap.max", "memory.oom.group", "cpu.max",
    "cpu.weight", "pids.max",        "cgroup.kill",      "cgroup.procs",
};

/* A directory with the files of a group of version 2. */
static void make_fake(const struct tmpdir *dir, int64_t missing,
                      struct cgroup_layout *layout)
{
    char path[TMPDIR_PATH_BYTES_MAX];

    *layout = (struct cgroup_layout){.kind = CGROUP_V2, .missing = missing};
    snprintf(layout->parents[CGROUP_MEMORY], CGROUP_PATH_BYTES_MAX, "%s",
             dir->path);
    assert_int_equal(mkdir(tmpdir_path(dir, "run.0", path), 0700), 0);
    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        put(layout, files[i], "");
    }
}

static void each_limit_has_its_file(void **state)
{
    struct cgroup_layout layout;
    struct err refused = {""};
    char text[READ_BYTES];
    auto_tmpdir dir;

    (void)state;
    tmpdir_init(&dir);
    make_fake(&dir, 0, &layout);
    assert_int_equal(cgroup_add(&layout, "run.0", &limits, &refused), 0);
    assert_string_equal(refused.text, "");
    assert_string_equal(get(&layout, "memory.max", text), "1048576");
    assert_string_equal(get(&layout, "memory.swap.max", text), "0");
    assert_string_equal(get(&layout, "memory.oom.group", text), "1");
    assert_string_equal(get(&layout, "cpu.max", text), "150000 100000");
    assert_string_equal(get(&layout, "cpu.weight", text), "39");
    assert_string_equal(get(&layout, "pids.max", text), "77");
    put(&layout, "memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n");
    assert_int_equal(cgroup_oom_kill_count(&layout, "run.0"), 2);
    cgroup_kill(&layout, "run.0");
    assert_string_equal(get(&layout, "cgroup.kill", text), "1");
    assert_int_equal(cgroup_enter(&layout, "run.0"), 0);
    assert_string_equal(get(&layout, "cgroup.procs", text), "0");
}

static void what_is_missing_is_not_asked_for(void **state)
{
    struct cgroup_layout layout;
    struct err refused = {""};
    char text[READ_BYTES];
    auto_tmpdir dir;

    (void)state;
    tmpdir_init(&dir);
    make_fake(&dir, 1 << CGROUP_MEMORY | 1 << CGROUP_CPU, &layout);
    assert_int_equal(cgroup_add(&layout, "run.0", &limits, &refused), 0);
    assert_string_equal(refused.text, "");
    assert_string_equal(get(&layout, "memory.max", text), "");
    assert_string_equal(get(&layout, "cpu.max", text), "");
    assert_string_equal(get(&layout, "cpu.weight", text), "");
    assert_string_equal(get(&layout, "pids.max", text), "77");
    assert_false(cgroup_has(&layout, CGROUP_MEMORY));
    assert_false(cgroup_has(&layout, CGROUP_CPU));
    assert_true(cgroup_has(&layout, CGROUP_PIDS));
}

static void a_limit_that_is_refused_is_told(void **state)
{
    struct cgroup_layout layout;
    struct err refused = {""};
    char path[TMPDIR_PATH_BYTES_MAX];
    auto_tmpdir dir;

    (void)state;
    tmpdir_init(&dir);
    make_fake(&dir, 0, &layout);
    assert_int_equal(unlink(tmpdir_path(&dir, "run.0/pids.max", path)), 0);
    assert_int_equal(cgroup_add(&layout, "run.0", &limits, &refused), 0);
    assert_non_null(strstr(refused.text, "process count limit was refused"));
}

/* A group of ours in the kernel's hierarchy of version 2; false: there is none
 * that we may write. */
static bool find_real(struct cgroup_layout *layout)
{
    char line[4096], point[256];
    bool is_found = false;
    FILE *file = fopen("/proc/self/mountinfo", "re");

    while (file && !is_found && fgets(line, sizeof(line), file)) {
        is_found = strstr(line, " - cgroup2 ") &&
                   sscanf(line, "%*s %*s %*s %*s %255s", point) == 1;
    }
    if (file) {
        fclose(file);
    }
    *layout = (struct cgroup_layout){.kind = CGROUP_V2, .missing = ALL_MISSING};
    snprintf(layout->parents[CGROUP_MEMORY], CGROUP_PATH_BYTES_MAX,
             "%s/berth-test-%d", point, (int)getpid());
    return is_found && mkdir(layout->parents[CGROUP_MEMORY], 0755) == 0;
}

/* Processes in the group, some in sessions of their own. */
static pid_t fill(const struct cgroup_layout *layout)
{
    pid_t pid = fork();

    if (pid == 0) {
        if (cgroup_enter(layout, "run.0") < 0) {
            _exit(1);
        }
        for (int i = 1; i < CHILDREN && fork() == 0; i++) {
            (void)setsid();
        }
        for (;;) {
            pause();
        }
    }
    return pid;
}

static int count_lines(const char *text)
{
    int count = 0;

    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

static void all_of_a_real_group_ends_at_once(void **state)
{
    struct cgroup_layout layout;
    struct err refused = {""};
    char text[READ_BYTES], path[1024];
    int status;

    (void)state;
    if (!find_real(&layout)) {
        print_message("skipped: no control group of version 2 is writable\n");
        skip();
    }
    assert_int_equal(cgroup_add(&layout, "run.0", &limits, &refused), 0);
    assert_string_equal(refused.text, "");
    pid_t pid = fill(&layout);
    for (int i = 0; i < patient_ms(20000) &&
                    count_lines(get(&layout, "cgroup.procs", text)) < CHILDREN;
         i++) {
        (void)usleep(1000);
    }
    assert_int_equal(count_lines(text), CHILDREN);
    assert_non_null(strstr(get(&layout, "cgroup.events", text), "populated 1"));
    cgroup_kill(&layout, "run.0");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    cgroup_remove_all(&layout, "run.");
    snprintf(path, sizeof(path), "%s/run.0", layout.parents[CGROUP_MEMORY]);
    assert_int_equal(access(path, F_OK), -1);
    cgroup_release(&layout);
    assert_int_equal(access(layout.parents[CGROUP_MEMORY], F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_limit_has_its_file),
        TEST(what_is_missing_is_not_asked_for),
        TEST(a_limit_that_is_refused_is_told),
        TEST(all_of_a_real_group_ends_at_once),
    };

    return RUN_TESTS(tests);
}
