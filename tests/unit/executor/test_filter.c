/*
 * filter: what a server is denied fails, in all of its threads, and what it
 * does all day goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/filter/filter.h"
#include "unit.h"

enum { PAGE_BYTES = 4096, EXIT_SKIPPED = 77 };

/* The kernel takes no notice of it in an int. */
#define ABOVE_INT (1L << 32)

/* Each answers whether its call failed with the errno that is promised. */

static bool fails(long rc, int error)
{
    return rc < 0 && errno == error;
}

static bool starts_no_program(void)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};

    return fails(execv(argv[0], argv), EPERM);
}

static bool makes_no_process(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    return fails(pid, EPERM);
}

static bool spawns_nothing(void)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
    pid_t pid;

    return posix_spawn(&pid, argv[0], NULL, NULL, argv, NULL) == EPERM;
}

static bool makes_no_namespace(void)
{
    return fails(unshare(CLONE_NEWUSER), EPERM) &&
           fails(syscall(SYS_clone3, NULL, 0), ENOSYS);
}

static bool mounts_nothing(void)
{
    return fails(mount("none", "/nowhere", "tmpfs", 0, NULL), EPERM);
}

static bool traces_nobody(void)
{
    return fails(ptrace(PTRACE_TRACEME, 0, NULL, NULL), EPERM) &&
           fails(
               syscall(SYS_process_vm_readv, getpid(), NULL, 0L, NULL, 0L, 0L),
               EPERM) &&
           fails(syscall(SYS_pidfd_getfd, -1, -1, 0), EPERM);
}

static bool asks_no_rare_kernel(void)
{
    return fails(syscall(SYS_bpf, 0, NULL, 0), EPERM) &&
           fails(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), EPERM) &&
           fails(syscall(SYS_io_uring_setup, 1, NULL), EPERM) &&
           fails(syscall(SYS_userfaultfd, 0), EPERM) &&
           fails(syscall(SYS_keyctl, 0, 0, 0, 0, 0), EPERM) &&
           fails(syscall(SYS_init_module, NULL, 0, ""), EPERM) &&
           fails(syscall(SYS_kexec_load, 0, 0, NULL, 0), EPERM) &&
           fails(syscall(SYS_reboot, 0, 0, 0, NULL), EPERM) &&
           fails(syscall(SYS_swapon, "", 0), EPERM) &&
           fails(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL), EPERM);
}

static bool becomes_nobody_else(void)
{
    return fails(syscall(SYS_setresuid, -1, -1, -1), EPERM) &&
           fails(syscall(SYS_setgroups, 0, NULL), EPERM) &&
           fails(syscall(SYS_capset, NULL, NULL), EPERM);
}

static bool makes_no_code(void)
{
    void *both = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool is_denied = both == MAP_FAILED && errno == EPERM;
    void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return is_denied && page != MAP_FAILED &&
           fails(mprotect(page, PAGE_BYTES, PROT_READ | PROT_EXEC), EPERM) &&
           mprotect(page, PAGE_BYTES, PROT_READ) == 0;
}

static bool has_few_sockets(void)
{
    return fails(socket(AF_PACKET, SOCK_RAW, 0), EAFNOSUPPORT) &&
           fails(socket(AF_ALG, SOCK_SEQPACKET, 0), EAFNOSUPPORT) &&
           fails(socket(AF_VSOCK, SOCK_STREAM, 0), EAFNOSUPPORT) &&
           fails(syscall(SYS_socket, ABOVE_INT | AF_VSOCK, SOCK_STREAM, 0),
                 EAFNOSUPPORT);
}

static bool has_no_new_privileges(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
           prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
}

static void *add_one(void *count)
{
    ++*(int *)count;
    return NULL;
}

static bool works_on(void)
{
    pthread_t thread;
    int count = 0;
    bool is_good = pthread_create(&thread, NULL, add_one, &count) == 0 &&
                   pthread_join(thread, NULL) == 0 && count == 1 &&
                   mmap(NULL, PAGE_BYTES, PROT_READ,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;

    for (int *family = (int[]){AF_UNIX, AF_INET, AF_NETLINK, 0}; *family;
         family++) {
        int fd =
            socket(*family, *family == AF_NETLINK ? SOCK_RAW : SOCK_STREAM, 0);
        is_good = is_good && fd >= 0 && close(fd) == 0;
    }
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    return is_good && file >= 0 && write(file, "x", 1) == 1 &&
           kill(getpid(), 0) == 0;
}

static bool (*const promises[])(void) = {
    starts_no_program,
    makes_no_process,
    spawns_nothing,
    makes_no_namespace,
    mounts_nothing,
    traces_nobody,
    asks_no_rare_kernel,
    becomes_nobody_else,
    makes_no_code,
    has_few_sockets,
    works_on,
    has_no_new_privileges,
};

/* Entered in a process of its own: there is no way back. */
static int in_child(void (*body)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        body();
        _exit(EXIT_SKIPPED);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void enter(void)
{
    struct err err;
    int rc = filter_enter_server(&err);

    if (rc == -ERR_UNAVAILABLE) {
        fprintf(stderr, "skipped: %s\n", err.text);
        _exit(EXIT_SKIPPED);
    }
    if (rc < 0) {
        _exit(EXIT_FAILURE);
    }
}

static void keep_all_promises(void)
{
    enter();
    for (size_t i = 0; i < ARRAY_COUNT(promises); i++) {
        if (!promises[i]()) {
            fprintf(stderr, "promise %zu: errno %d\n", i, errno);
            _exit((int)i + 1);
        }
    }
    _exit(0);
}

static void a_server_is_denied_what_it_never_needs(void **state)
{
    (void)state;
    int code = in_child(keep_all_promises);

    if (code == EXIT_SKIPPED) {
        skip();
    }
    assert_int_equal(code, 0);
}

static int wake_fd;

/* It lives before the filter is entered. */
static void *wait_and_fork(void *is_kept)
{
    uint64_t woken;

    *(bool *)is_kept = read(wake_fd, &woken, sizeof(woken)) > 0 &&
                       makes_no_process() && makes_no_namespace();
    return NULL;
}

static void keep_older_threads(void)
{
    pthread_t thread;
    bool is_kept = false;
    uint64_t one = 1;

    wake_fd = eventfd(0, EFD_CLOEXEC);
    if (wake_fd < 0 ||
        pthread_create(&thread, NULL, wait_and_fork, &is_kept) != 0) {
        _exit(EXIT_FAILURE);
    }
    enter();
    bool is_woken = write(wake_fd, &one, sizeof(one)) > 0;
    (void)pthread_join(thread, NULL);
    _exit(is_woken && is_kept ? 0 : EXIT_FAILURE);
}

static void threads_that_were_there_are_denied_it_too(void **state)
{
    (void)state;
    int code = in_child(keep_older_threads);

    if (code == EXIT_SKIPPED) {
        skip();
    }
    assert_int_equal(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_denied_what_it_never_needs),
        TEST(threads_that_were_there_are_denied_it_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
