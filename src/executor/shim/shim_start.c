#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_file.h"
#include "executor/filter/filter.h"
#include "executor/shim/shim.h"
#include "executor/shim/shim_binds.h"
#include "executor/shim/shim_box.h"
#include "executor/shim/shim_fence.h"
#include "executor/shim/shim_private.h"
#include "executor/shim/shim_tty.h"

enum {
    START_MS_MAX = 10000, /* from fork to exec */
    LOOK_MS = 20,
    EXIT_NOT_FOUND = 127,
    EXIT_NOT_ALLOWED = 126,
    EXIT_OTHER = 128,
    FILES_MAX = 1 << 16, /* of a process */
    PODS_OF_USER = 4,    /* that may be full of processes at once */
    LOCKS_MAX = 1 << 20, /* far from 0, for jobs that run jobs themselves */
};

extern char **environ;

/* How the child tells its parent that it did not get as far as exec. */
struct failure {
    int error;
    char step[240];
};

static _Noreturn void give_up(int fd, const char *step, const char *what)
{
    struct failure failure = {.error = errno};

    snprintf(failure.step, sizeof(failure.step), "%s %.200s", step, what);
    (void)!write(fd, &failure, sizeof(failure));
    _exit(EXIT_OTHER);
}

static void reset_signals(void)
{
    sigset_t none;
    struct sigaction action = {.sa_handler = SIG_DFL};

    for (int s = 1; s < NSIG; s++) {
        (void)sigaction(s, &action, NULL);
    }
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Lower a limit; one that is lower already stays. */
static void lower_limit(__rlimit_resource_t resource, int64_t most)
{
    struct rlimit limit;

    if (most > 0 && getrlimit(resource, &limit) == 0 &&
        limit.rlim_max > (rlim_t)most) {
        limit.rlim_max = (rlim_t)most;
        limit.rlim_cur =
            limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
        (void)setrlimit(resource, &limit);
    }
}

/* Mark a process as one of a job, for good: the server's guard knows by it that
 * this is not whoever started the server (rpc/guard/peer_process.h).  The
 * kernel does not use this limit. */
static void mark_job(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_LOCKS, &limit) == 0 && limit.rlim_max > 0) {
        lower_limit(RLIMIT_LOCKS, limit.rlim_max > LOCKS_MAX
                                      ? LOCKS_MAX
                                      : (int64_t)limit.rlim_max - 1);
    }
}

static void enter_limits(const struct shim_start *start, int fd)
{
    struct rlimit no_core = {0, 0};
    const struct cgroup_limits *limits = &start->container->limits;

    (void)setrlimit(RLIMIT_CORE, &no_core);
    mark_job();
    /* When memory runs out, a job goes before the daemons. */
    (void)!file_poke("/proc/self/oom_score_adj", "500");
    lower_limit(RLIMIT_NOFILE, FILES_MAX);
    lower_limit(RLIMIT_FSIZE, limits->file_bytes);
    if (!cgroup_has(start->cgroups, CGROUP_PIDS)) {
        /* The kernel counts all of a user's processes, so of all his pods. */
        lower_limit(RLIMIT_NPROC, limits->pids_max * PODS_OF_USER);
    }
    struct rlimit data = {(rlim_t)limits->memory_bytes,
                          (rlim_t)limits->memory_bytes};
    if (!cgroup_has(start->cgroups, CGROUP_MEMORY) &&
        limits->memory_bytes > 0 && setrlimit(RLIMIT_DATA, &data) < 0) {
        give_up(fd, "limit", "memory");
    }
    if (start->cgroups->kind != CGROUP_NONE &&
        cgroup_enter(start->cgroups, start->cgroup_name) < 0) {
        give_up(fd, "enter cgroup", start->cgroup_name);
    }
}

/* A mount namespace of the container's own, if it mounts something. */
static void enter_mounts(const struct shim_start *start, int fd)
{
    if (start->container->binds.count == 0) {
        return;
    }
    if (unshare(CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        give_up(fd, "make a", "mount namespace");
    }
}

static void become_user(const struct shim_start *start, int fd)
{
    const struct run_container *container = start->container;

    if (container->gid >= 0 &&
        (setgroups(0, NULL) < 0 || setgid((gid_t)container->gid) < 0)) {
        give_up(fd, "change", "group");
    }
    if (container->uid >= 0 && setuid((uid_t)container->uid) < 0) {
        give_up(fd, "change", "user");
    }
    /* A set-user-id program must not give back what was just given up. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) {
        give_up(fd, "give up", "privileges");
    }
    if ((start->spec->layers & RUN_LAYER_FENCE) &&
        shim_fence_enter(start->spec) < 0) {
        give_up(fd, "fence off", start->spec->hidden_dir);
    }
    if (filter_enter_job() < 0) {
        give_up(fd, "filter", "system calls");
    }
}

static void connect_output(const struct shim_start *start, int fd)
{
    int input_fd = start->input_fd >= 0
                       ? start->input_fd
                       : open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (input_fd < 0 || dup2(input_fd, STDIN_FILENO) < 0 ||
        dup2(start->output_fds[0], STDOUT_FILENO) < 0 ||
        dup2(start->output_fds[1], STDERR_FILENO) < 0) {
        give_up(fd, "connect", "output");
    }
}

static void enter_work_dir(int dir_fd, int fd)
{
    int work_fd = openat(dir_fd, RUN_WORK_NAME,
                         O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (work_fd < 0 || fchdir(work_fd) < 0) {
        give_up(fd, "chdir", RUN_WORK_NAME);
    }
    close(work_fd);
}

/* See the machine's files as the container shall.  The working directory is
 * entered before the change of user, since our own may lie where the job's
 * cannot walk, and before a mount may cover it; a change of namespace carries
 * it over, unless it is into the pod's. */
static void enter_files(const struct shim_start *start, int fd)
{
    bool has_view = start->box->mount_fd >= 0;
    bool has_own = !*start->container->work_dir;
    struct shim_binds binds;

    if (has_own && !has_view) {
        enter_work_dir(start->dir_fd, fd);
    }
    if (shim_box_enter(start->box) < 0) {
        give_up(fd, "enter the pod's", "mount namespace");
    }
    enter_mounts(start, fd);
    if (shim_binds_take(&binds, start->container, start->space_dir) < 0 ||
        (has_view && shim_binds_make_targets(&binds) < 0)) {
        give_up(fd, binds.step, binds.path);
    }
    if (has_own && has_view) {
        int dir_fd = open(start->space_dir,
                          O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        enter_work_dir(dir_fd, fd);
        close(dir_fd);
    }
    if (shim_binds_mount(&binds) < 0) {
        give_up(fd, binds.step, binds.path);
    }
}

/* In the child, from fork to exec. */
static _Noreturn void become_container(const struct shim_start *start,
                                       pid_t shim_pid, int fd)
{
    const struct run_container *container = start->container;

    (void)setsid();
    reset_signals();
    enter_limits(start, fd);
    if (!start->tty) {
        connect_output(start, fd);
    }
    enter_files(start, fd);
    become_user(start, fd);
    /* As the job, in what it sees: nothing of it is done with rights that the
     * job has not. */
    if (start->tty && shim_tty_make(*start->tty, fd) < 0) {
        give_up(fd, "make a", "terminal");
    }
    if (*container->work_dir && chdir(container->work_dir) < 0) {
        give_up(fd, "chdir", container->work_dir);
    }
    /* After the change of user, which clears it. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* The keeper, which dies with the shim, takes its namespace along. */
    if (!start->box->has_pids && getppid() != shim_pid) {
        _exit(EXIT_OTHER);
    }
    char **args = start->args ? start->args : container->args.items;
    environ = start->envs ? start->envs : container->envs.items;
    execvp(args[0], args);
    give_up(fd, "exec", args[0]);
}

static int exit_code_of(int error)
{
    return error == ENOENT   ? EXIT_NOT_FOUND
           : error == EACCES ? EXIT_NOT_ALLOWED
                             : EXIT_OTHER;
}

/* Whether the pod shall end: the signal waits to be taken. */
static bool is_to_end(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
}

/* Whether the child says something or gets to exec in time.  Once it has the
 * job's user, another process of the job may stop it. */
static bool await_child(int fd, int64_t until_ms)
{
    struct pollfd wait = {fd, POLLIN, 0};

    do {
        if (poll(&wait, 1, LOOK_MS) > 0) {
            return true;
        }
    } while (shim_clock_ms(CLOCK_MONOTONIC) < until_ms && !is_to_end());
    return false;
}

/* Hear the child out: how much of `failure` it said, 0 at exec; -1: it does not
 * get there. */
static ssize_t hear_child(const struct shim_start *start, int fd,
                          struct failure *failure)
{
    int64_t until_ms = shim_clock_ms(CLOCK_MONOTONIC) + START_MS_MAX;
    ssize_t got;

    if (start->tty) {
        if (!await_child(fd, until_ms)) {
            return -1;
        }
        *start->ret_tty_fd = shim_tty_receive(fd);
    }
    if (!await_child(fd, until_ms)) {
        return -1;
    }
    do {
        got = read(fd, failure, sizeof(*failure));
    } while (got < 0 && errno == EINTR);
    return got < 0 ? 0 : got;
}

int shim_start(const struct shim_start *start, pid_t *ret_pid,
               int *ret_exit_code, struct err *err)
{
    int told[2];
    struct failure failure;
    pid_t shim_pid = getpid();

    *ret_exit_code = EXIT_OTHER;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, told) < 0) {
        return err_set(err, -ERR_IO, "make a socket: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid == 0) {
        become_container(start, shim_pid, told[1]);
    }
    close(told[1]);
    ssize_t got = pid > 0 ? hear_child(start, told[0], &failure) : 0;
    close(told[0]);
    if (pid < 0) {
        return err_set(err, -ERR_IO, "fork: %s", strerror(errno));
    }
    if (got < 0) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        return err_set(err, -ERR_UNAVAILABLE,
                       "it did not start within %d ms, or before the pod was "
                       "stopped",
                       START_MS_MAX);
    }
    if (got != (ssize_t)sizeof(failure)) {
        *ret_pid = pid; /* the socket closed at exec */
        return 0;
    }
    (void)waitpid(pid, NULL, 0);
    *ret_exit_code = exit_code_of(failure.error);
    return err_set(err, -ERR_INVALID, "%s: %s", failure.step,
                   strerror(failure.error));
}
