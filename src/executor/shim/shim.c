#include "executor/shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "executor/shim/shim_private.h"

static int open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0) {
        return -1;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The lock comes with the descriptor; a shim that was started by hand has to
 * get it first. */
static bool take_lock(const struct shim *shim)
{
    int fd = SHIM_LOCK_FD;

    if (!shim->has_lock_fd) {
        fd = openat(shim->dir_fd, RUN_LOCK_NAME,
                    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    }
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static int open_containers(struct shim *shim, struct err *err)
{
    shim->container_count = shim->spec.containers.count;
    shim->containers =
        mem_alloc_array(shim->container_count, sizeof(*shim->containers));
    for (size_t i = 0; i < shim->container_count; i++) {
        int rc = shim_container_open(&shim->containers[i], &shim->spec, i,
                                     shim->log_dir_fd, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int open_shim(struct shim *shim, const char *run_dir, struct err *err)
{
    shim->dir_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (shim->dir_fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", run_dir, strerror(errno));
    }
    if (!take_lock(shim)) {
        return err_set(err, -ERR_CONFLICT, "another shim supervises this run");
    }
    if (faccessat(shim->dir_fd, RUN_STATE_NAME, F_OK, 0) == 0) {
        return err_set(err, -ERR_CONFLICT, "this run was already started");
    }
    int rc = run_spec_read(shim->dir_fd, &shim->spec, err);
    if (rc < 0) {
        return rc;
    }
    shim->log_dir_fd =
        openat(shim->dir_fd, RUN_LOG_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* An old executor's runs have no space: the job sees the run. */
    shim->space_fd = *shim->spec.space_dir
                         ? open(shim->spec.space_dir,
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                         : fcntl(shim->dir_fd, F_DUPFD_CLOEXEC, 0);
    shim->signal_fd = open_signals();
    if (shim->log_dir_fd < 0 || shim->space_fd < 0 || shim->signal_fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", run_dir, strerror(errno));
    }
    return open_containers(shim, err);
}

int shim_run(const char *run_dir)
{
    struct shim shim = {.box = SHIM_BOX_NONE,
                        .exec = {.listen_fd = -1},
                        .kill_at_ms = INT64_MAX,
                        .deadline_at_ms = INT64_MAX};
    struct err err = {""};

    /* Before anything is opened, which could get that number. */
    shim.has_lock_fd = fcntl(SHIM_LOCK_FD, F_SETFD, FD_CLOEXEC) == 0;
    (void)setsid();
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (open_shim(&shim, run_dir, &err) < 0) {
        dprintf(STDERR_FILENO, "berth-shim: %s\n", err.text);
        return 1;
    }
    shim.state.pid = getpid();
    shim.state.pid_start = run_pid_start(getpid());
    shim.state.created_ms = shim_clock_ms(CLOCK_REALTIME);
    if (shim.spec.deadline_ms > 0) {
        shim.deadline_at_ms =
            shim_clock_ms(CLOCK_MONOTONIC) + shim.spec.deadline_ms;
    }
    shim_exec_open(&shim);
    int code = shim_pod_run(&shim);

    for (size_t i = 0; i < shim.container_count; i++) {
        shim_log_close(&shim.containers[i].log);
    }
    mem_free(shim.containers);
    VEC_FREE(&shim.state.ended);
    run_spec_fini(&shim.spec);
    close(shim.space_fd);
    close(shim.log_dir_fd);
    close(shim.signal_fd);
    close(shim.dir_fd);
    return code;
}
