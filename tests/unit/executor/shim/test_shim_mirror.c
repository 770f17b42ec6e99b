/*
 * shim_mirror: what is made for a pod is made for it alone, whatever others do
 * to the way there meanwhile.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "executor/shim/shim_mirror.h"
#include "unit.h"

enum { TRIES = 100, ENTRIES = 40, PATH_BYTES = 256, RENAME_SWAP = 2 };

/* Not below /tmp, which is a pod's own. */
static const char *const roots[] = {"/run", "/var/cache", "/opt"};

static const char *path_in(const char *dir, const char *name,
                           char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.150s/%s", dir, name);
    return path;
}

/* Where anybody may write; false: nowhere. */
static bool make_scratch(char dir[PATH_BYTES])
{
    char path[PATH_BYTES], name[32];

    for (size_t i = 0; geteuid() == 0 && i < ARRAY_COUNT(roots); i++) {
        snprintf(dir, PATH_BYTES, "%s/berth-mirror-%d", roots[i], getpid());
        if (mkdir(dir, 0700) == 0) {
            assert_int_equal(mkdir(path_in(dir, "good", path), 0755), 0);
            assert_int_equal(mkdir(path_in(dir, "bad", path), 0755), 0);
            assert_int_equal(symlink("good", path_in(dir, "one", path)), 0);
            assert_int_equal(symlink("bad", path_in(dir, "two", path)), 0);
            for (int k = 0; k < ENTRIES; k++) {
                snprintf(name, sizeof(name), "good/link%d", k);
                assert_int_equal(symlink("x", path_in(dir, name, path)), 0);
            }
            return true;
        }
    }
    return false;
}

/* Exchange two names again and again, until ended. */
static pid_t swap(const char *one, const char *two)
{
    pid_t pid = fork();

    while (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, two, RENAME_SWAP);
    }
    return pid;
}

/* As the shim does it, in a mount namespace that goes with its process. */
static int make_apart(const char *target)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0) {
        struct shim_mirrors mirrors = {.count = 0};
        if (unshare(CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
            _exit(2);
        }
        int rc = shim_mirror_make(&mirrors, target,
                                  shim_mirror_existing(target), true);
        rc = rc < 0 ? rc : shim_mirror_close(&mirrors);
        _exit(rc == 0 && access(target, X_OK) == 0 ? 0 : 1);
    }
    (void)waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* How many entries it has, but for itself and the one above. */
static int count_entries(const char *dir, const char *name)
{
    char path[PATH_BYTES], command[PATH_BYTES + 32];
    int count = -1;

    snprintf(command, sizeof(command), "ls -A '%s' | wc -l",
             path_in(dir, name, path));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static void remove_scratch(const char *dir)
{
    char command[PATH_BYTES + 32];

    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

/* `target` is made below `one`, which is exchanged with `two` meanwhile. */
static void check_race(const char *one, const char *two, const char *target)
{
    char dir[PATH_BYTES], path[3][PATH_BYTES];
    int status;

    if (!make_scratch(dir)) {
        print_message("skipped: only root makes mount namespaces\n");
        skip();
    }
    if (make_apart(path_in(dir, target, path[2])) == 2) {
        remove_scratch(dir);
        skip();
    }
    pid_t pid = swap(path_in(dir, one, path[0]), path_in(dir, two, path[1]));
    for (int i = 0; i < TRIES; i++) {
        (void)make_apart(path[2]);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    int count = count_entries(dir, "good") + count_entries(dir, "bad");
    remove_scratch(dir);
    assert_int_equal(count, ENTRIES);
}

static void a_link_on_the_way_leads_nowhere_else(void **state)
{
    (void)state;
    check_race("one", "two", "one/new");
}

static void a_directory_that_is_exchanged_stays_as_it_was(void **state)
{
    (void)state;
    check_race("good", "bad", "good/new");
}

static void what_is_missing_is_made_in_a_copy(void **state)
{
    char dir[PATH_BYTES], path[PATH_BYTES];

    (void)state;
    if (!make_scratch(dir)) {
        skip();
    }
    int code = make_apart(path_in(dir, "good/a/b/c", path));
    int count = count_entries(dir, "good");
    remove_scratch(dir);
    assert_true(code == 0 || code == 2);
    assert_int_equal(count, ENTRIES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_made_in_a_copy),
        TEST(a_link_on_the_way_leads_nowhere_else),
        TEST(a_directory_that_is_exchanged_stays_as_it_was),
    };

    return RUN_TESTS(tests);
}
