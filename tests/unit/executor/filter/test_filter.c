/*
 * filter: what a server, the helper or a job is denied fails, in all of its
 * threads, and what it does all day goes on.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Calls that root's process would be told something else of. */
static bool asks_no_rare_kernel(void)
{
    static const char path[] = "/nowhere";
    const long calls[][5] = {
        {SYS_bpf},
        {SYS_perf_event_open, 0, 0, -1, -1},
        {SYS_io_uring_setup, 1},
        {SYS_userfaultfd, -1},
        {SYS_keyctl, -1},
        {SYS_add_key},
        {SYS_request_key},
        {SYS_init_module},
        {SYS_finit_module, -1},
        {SYS_delete_module},
        {SYS_kexec_load, 0, 0, 0, -1},
        {SYS_reboot},
        {SYS_swapon, (long)path},
        {SYS_swapoff, (long)path},
        {SYS_acct, (long)path},
        {SYS_chroot, (long)path},
        {SYS_quotactl, -1},
        {SYS_open_by_handle_at, -1},
        {SYS_syslog, -1},
        {SYS_settimeofday, -1},
        {SYS_clock_settime, CLOCK_REALTIME},
        {SYS_clock_adjtime, CLOCK_REALTIME},
        {SYS_adjtimex},
        {SYS_process_vm_writev},
        {SYS_kcmp, 0, 0, -1},
#ifdef SYS_iopl
        {SYS_iopl, -1},
        {SYS_ioperm, -1, 1, 1},
#endif
    };

    for (size_t i = 0; i < ARRAY_COUNT(calls); i++) {
        const long *call = calls[i];
        if (!fails(syscall(call[0], call[1], call[2], call[3], call[4]),
                   EPERM)) {
            fprintf(stderr, "call %ld: %s\n", call[0], strerror(errno));
            return false;
        }
    }
    return true;
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
                 EAFNOSUPPORT) &&
           fails(syscall(SYS_socketpair, AF_TIPC, SOCK_STREAM, 0, NULL),
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

/* The thread sanitizer's own threads do not let such a child end. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define HAS_32_BIT_CODE 1
#else
#define HAS_32_BIT_CODE 0
#endif

#if HAS_32_BIT_CODE
/* Its calls have other numbers, which no rule knows. */
static bool runs_no_32_bit_code(void)
{
    enum { GETPID = 20 };
    long rc = GETPID;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        __asm__ volatile("int $0x80" : "+a"(rc) : : "memory");
        _exit(0);
    }
    return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}
#endif

static bool starts_programs(void)
{
    char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
    pid_t pid;
    int status;

    return posix_spawn(&pid, argv[0], NULL, NULL, argv, NULL) == 0 &&
           waitpid(pid, &status, 0) == pid && status == 0;
}

/* Calls whose arguments the kernel looks at before it asks who calls. */
static bool makes_views(void)
{
    return unshare(0) == 0 && fails(setns(-1, 0), EBADF) &&
           fails(syscall(SYS_open_tree, -1, "", -1), EINVAL) &&
           fails(syscall(SYS_mount_setattr, -1, "", -1, NULL, 0), EINVAL) &&
           fails(syscall(SYS_clone3, NULL, 0), EINVAL);
}

typedef bool promise(void);

static promise *const of_servers[] = {
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
    NULL,
};

static promise *const of_helpers[] = {
    traces_nobody, asks_no_rare_kernel, has_few_sockets,       works_on,
    makes_views,   starts_programs,     has_no_new_privileges, NULL,
};

static promise *const of_jobs[] = {
    makes_no_namespace,
    mounts_nothing,
    traces_nobody,
    asks_no_rare_kernel,
    has_few_sockets,
    works_on,
    starts_programs,
#if HAS_32_BIT_CODE
    runs_no_32_bit_code,
#endif
    NULL,
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

static void enter(int (*filter)(struct err *err))
{
    struct err err;
    int rc = filter(&err);

    if (rc == -ERR_UNAVAILABLE) {
        fprintf(stderr, "skipped: %s\n", err.text);
        _exit(EXIT_SKIPPED);
    }
    if (rc < 0) {
        _exit(EXIT_FAILURE);
    }
}

static _Noreturn void keep(promise *const *promises)
{
    for (int i = 0; promises[i]; i++) {
        if (!promises[i]()) {
            fprintf(stderr, "promise %d: %s\n", i, strerror(errno));
            _exit(i + 1);
        }
    }
    _exit(0);
}

static void be_server(void)
{
    enter(filter_enter_server);
    keep(of_servers);
}

static void be_helper(void)
{
    enter(filter_enter_helper);
    keep(of_helpers);
}

static void be_job(void)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0) {
        return;
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || filter_enter_job() < 0) {
        _exit(EXIT_FAILURE);
    }
    keep(of_jobs);
}

/* The helper's filter is that of its jobs too. */
static void be_job_of_helper(void)
{
    enter(filter_enter_helper);
    be_job();
}

static void check(void (*body)(void))
{
    int code = in_child(body);

    if (code == EXIT_SKIPPED) {
        skip();
    }
    assert_int_equal(code, 0);
}

static void a_server_is_denied_what_it_never_needs(void **state)
{
    (void)state;
    check(be_server);
}

static void a_helper_makes_views_for_pods_and_is_denied_the_rest(void **state)
{
    (void)state;
    check(be_helper);
}

static void a_job_is_denied_what_jobs_never_need(void **state)
{
    (void)state;
    check(be_job);
}

static void a_job_of_the_helper_is_denied_no_less(void **state)
{
    (void)state;
    check(be_job_of_helper);
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
    enter(filter_enter_server);
    bool is_woken = write(wake_fd, &one, sizeof(one)) > 0;
    (void)pthread_join(thread, NULL);
    _exit(is_woken && is_kept ? 0 : EXIT_FAILURE);
}

static void threads_that_were_there_are_denied_it_too(void **state)
{
    (void)state;
    check(keep_older_threads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_server_is_denied_what_it_never_needs),
        TEST(a_helper_makes_views_for_pods_and_is_denied_the_rest),
        TEST(a_job_is_denied_what_jobs_never_need),
        TEST(a_job_of_the_helper_is_denied_no_less),
        TEST(threads_that_were_there_are_denied_it_too),
    };

    return RUN_TESTS(tests);
}
