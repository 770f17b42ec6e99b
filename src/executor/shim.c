#include "executor/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "executor/file.h"
#include "executor/kv.h"
#include "executor/run_file.h"
#include "executor/shim_log.h"

enum {
    POLL_FDS_MAX = 1 + 2 * RUN_CONTAINERS_MAX,
    READ_BYTES = 65536,
    DRAIN_MS_MAX = 2000,
    PUBLISH_TRIES_MAX = 3600,
    PUBLISH_PAUSE_MS = 1000,
    CGROUP_NAME_BYTES = 64,
    EXIT_SIGNAL_BASE = 128,
};

struct container {
    const struct run_container *spec;
    struct shim_log log;
    pid_t pid;    /* 0: not running */
    int pipes[2]; /* read ends; -1: closed */
    bool is_started, is_ended;
    struct run_ended ended;
    char message[SHIM_LOG_TAIL_BYTES_MAX + ERR_TEXT_BYTES_MAX];
    char cgroup_name[CGROUP_NAME_BYTES];
};

struct shim {
    int dir_fd, log_dir_fd, signal_fd;
    struct run_spec spec;
    struct run_state state;
    struct container *containers; /* owned, [container_count] */
    size_t container_count;
    enum run_cause stop_cause; /* NONE: nobody asked to stop */
    int64_t deadline_at_ms;    /* on the monotonic clock; INT64_MAX: none */
    int64_t kill_at_ms;        /* the same */
    bool has_main_started;
    bool has_lock_fd; /* SHIM_LOCK_FD was given to us */
};

static int64_t clock_ms(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void notify(const struct shim *shim)
{
    char text[128];
    int fd = *shim->spec.notify_path ? open(shim->spec.notify_path,
                                            O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                                     : -1;

    if (fd >= 0) {
        int n = snprintf(text, sizeof(text), "%.100s\n", shim->spec.run_id);
        (void)!write(fd, text, (size_t)n);
        close(fd);
    }
}

static int publish(struct shim *shim)
{
    struct err err;
    int rc = run_state_write(shim->dir_fd, &shim->state, &err);

    notify(shim);
    return rc;
}

static void end_container(struct container *container, int64_t exit_code,
                          const char *reason, const char *text)
{
    struct shim_log *log = &container->log;

    container->is_started = container->is_ended = true;
    container->ended.name = container->spec->name;
    container->ended.exit_code = exit_code;
    container->ended.reason = reason;
    container->ended.message = container->message;
    snprintf(container->message, sizeof(container->message), "%s%.*s", text,
             (int)log->tail_byte_count, log->tail);
}

static int make_pipes(int ends[2][2])
{
    if (pipe2(ends[0], O_CLOEXEC) < 0) {
        return -ERR_IO;
    }
    if (pipe2(ends[1], O_CLOEXEC) < 0) {
        close(ends[0][0]);
        close(ends[0][1]);
        return -ERR_IO;
    }
    return 0;
}

static void start_container(struct shim *shim, struct container *container)
{
    struct err err = {""};
    int ends[2][2];
    int exit_code = EXIT_SIGNAL_BASE;

    int rc = cgroup_add(&shim->spec.cgroups, container->cgroup_name,
                        &container->spec->limits, &err);
    if (rc == 0) {
        rc = make_pipes(ends);
    }
    if (rc < 0) {
        end_container(container, exit_code, "StartError", err.text);
        return;
    }
    struct shim_start start = {
        .container = container->spec,
        .cgroups = &shim->spec.cgroups,
        .cgroup_name = container->cgroup_name,
        .dir_fd = shim->dir_fd,
        .output_fds = {ends[0][1], ends[1][1]},
    };
    rc = shim_start(&start, &container->pid, &exit_code, &err);
    for (int s = 0; s < 2; s++) {
        close(ends[s][1]);
        container->pipes[s] = ends[s][0];
        (void)fcntl(ends[s][0], F_SETFL, O_NONBLOCK);
    }
    container->is_started = true;
    if (rc < 0) {
        end_container(container, exit_code, "StartError", err.text);
    }
}

/* Read what a container printed.  Answers whether the pipe is still open. */
static bool take_output(struct container *container, int stream)
{
    char bytes[READ_BYTES];
    ssize_t got = read(container->pipes[stream], bytes, sizeof(bytes));

    if (got > 0) {
        shim_log_take(&container->log, stream, str_make(bytes, (size_t)got));
        return true;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return true;
    }
    close(container->pipes[stream]);
    container->pipes[stream] = -1;
    return false;
}

/* Take what is in the pipes now. */
static void drain_now(struct container *container)
{
    for (int s = 0; s < 2; s++) {
        struct pollfd poll_fd = {container->pipes[s], POLLIN, 0};
        while (container->pipes[s] >= 0 && poll(&poll_fd, 1, 0) > 0 &&
               take_output(container, s)) {
        }
    }
}

/* Whatever a container leaves behind when its first process ends goes with
 * it, as in a container with a process namespace of its own. */
static void kill_container(struct shim *shim, struct container *container,
                           pid_t session)
{
    if (shim->spec.cgroups.kind != CGROUP_NONE) {
        cgroup_kill(&shim->spec.cgroups, container->cgroup_name);
    } else if (session > 0) {
        (void)shim_tree_kill(session);
    }
}

static void container_exited(struct shim *shim, struct container *container,
                             int status)
{
    pid_t session = container->pid;
    bool is_killed = WIFSIGNALED(status);
    int64_t code =
        is_killed ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);

    container->pid = 0;
    kill_container(shim, container, session);
    drain_now(container);
    bool is_oom =
        code != 0 &&
        cgroup_oom_kill_count(&shim->spec.cgroups, container->cgroup_name) > 0;
    end_container(container, code,
                  is_oom      ? "OOMKilled"
                  : code != 0 ? "Error"
                              : "Completed",
                  "");
    container->ended.signal = is_killed ? WTERMSIG(status) : 0;
    container->ended.is_oom = is_oom;
}

static void reap(struct shim *shim)
{
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (size_t i = 0; i < shim->container_count; i++) {
            if (shim->containers[i].pid == pid) {
                container_exited(shim, &shim->containers[i], status);
            }
        }
    }
}

static bool is_any_running(const struct shim *shim)
{
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].pid > 0) {
            return true;
        }
    }
    return false;
}

static int64_t read_stop_grace_ms(const struct shim *shim)
{
    auto_strbuf bytes = strbuf_make(RUN_TEXT_BYTES_MAX);
    struct err err;

    if (file_read(shim->dir_fd, RUN_STOP_NAME, &bytes, &err) == 0) {
        struct kv_reader reader = {.rest = strbuf_str(&bytes)};
        if (kv_next(&reader) == 1 && kv_is(&reader, "grace_ms") &&
            kv_int(&reader) >= 0) {
            return kv_int(&reader);
        }
    }
    return shim->spec.grace_ms;
}

static void begin_stop(struct shim *shim, enum run_cause cause)
{
    int64_t grace_ms = read_stop_grace_ms(shim);
    int64_t kill_at_ms =
        clock_ms(CLOCK_MONOTONIC) +
        (grace_ms > SHIM_GRACE_MS_MAX ? SHIM_GRACE_MS_MAX : grace_ms);

    if (shim->stop_cause != RUN_CAUSE_NONE) {
        /* Asked again, perhaps with less patience. */
        shim->kill_at_ms =
            kill_at_ms < shim->kill_at_ms ? kill_at_ms : shim->kill_at_ms;
        return;
    }
    shim->stop_cause = cause;
    shim->kill_at_ms = kill_at_ms;
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].pid > 0) {
            (void)kill(shim->containers[i].pid, SIGTERM);
        }
    }
}

static void kill_all(struct shim *shim)
{
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].pid > 0) {
            (void)kill(shim->containers[i].pid, SIGKILL);
        }
        if (shim->containers[i].is_started) {
            kill_container(shim, &shim->containers[i], 0);
        }
    }
    (void)shim_tree_kill(0);
}

/* Start what may start now.  Answers whether the pod has come to its end:
 * nothing of it runs and nothing more will. */
static bool advance(struct shim *shim)
{
    bool is_failed = false;
    bool is_main_running = false;

    for (size_t i = 0; i < shim->container_count; i++) {
        struct container *container = &shim->containers[i];
        enum run_container_kind kind = container->spec->kind;
        if (!container->is_started) {
            if (shim->stop_cause != RUN_CAUSE_NONE || is_failed) {
                continue;
            }
            start_container(shim, container);
        }
        is_failed |= kind != RUN_MAIN && container->is_ended &&
                     container->ended.exit_code != 0;
        if (kind == RUN_INIT && !container->is_ended) {
            return false;
        }
        is_main_running |= kind == RUN_MAIN && container->pid > 0;
        shim->has_main_started |= kind == RUN_MAIN && container->is_started;
    }
    if (shim->stop_cause != RUN_CAUSE_NONE) {
        return !is_any_running(shim);
    }
    return !is_main_running;
}

static int poll_timeout_ms(const struct shim *shim)
{
    int64_t at_ms = shim->kill_at_ms < shim->deadline_at_ms
                        ? shim->kill_at_ms
                        : shim->deadline_at_ms;
    int64_t left_ms;

    if (at_ms == INT64_MAX) {
        return -1;
    }
    left_ms = at_ms - clock_ms(CLOCK_MONOTONIC);
    return left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
}

static void take_signals(struct shim *shim)
{
    struct signalfd_siginfo info;

    while (read(shim->signal_fd, &info, sizeof(info)) ==
           (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGTERM) {
            begin_stop(shim, RUN_CAUSE_STOPPED);
        }
    }
}

/* What is waited for: signals first, then the containers' pipes. */
struct waits {
    struct pollfd fds[POLL_FDS_MAX];
    struct container *owners[POLL_FDS_MAX];
    nfds_t count;
};

static void add_pipes(struct waits *waits, struct container *container)
{
    for (int s = 0; s < 2; s++) {
        if (container->pipes[s] >= 0) {
            waits->owners[waits->count] = container;
            waits->fds[waits->count++] =
                (struct pollfd){container->pipes[s], POLLIN, 0};
        }
    }
}

/* Wait for output, signals or a time, and take what came. */
static void wait_once(struct shim *shim)
{
    struct waits waits = {.count = 0};

    waits.fds[waits.count++] = (struct pollfd){shim->signal_fd, POLLIN, 0};
    for (size_t i = 0; i < shim->container_count; i++) {
        add_pipes(&waits, &shim->containers[i]);
    }
    bool is_some = poll(waits.fds, waits.count, poll_timeout_ms(shim)) > 0;
    for (nfds_t i = 1; is_some && i < waits.count; i++) {
        struct container *owner = waits.owners[i];
        if (waits.fds[i].revents) {
            (void)take_output(owner,
                              owner->pipes[0] == waits.fds[i].fd ? 0 : 1);
        }
    }
    take_signals(shim);
    reap(shim);
}

static void take_time(struct shim *shim)
{
    int64_t now_ms = clock_ms(CLOCK_MONOTONIC);

    if (now_ms >= shim->deadline_at_ms) {
        shim->deadline_at_ms = INT64_MAX;
        begin_stop(shim, RUN_CAUSE_DEADLINE);
    }
    if (now_ms >= shim->kill_at_ms) {
        shim->kill_at_ms = INT64_MAX;
        kill_all(shim);
    }
}

/* Take what is left in a pipe, until it ends or its time is over. */
static void drain_pipe(struct container *container, int s, int64_t until_ms)
{
    while (container->pipes[s] >= 0) {
        int64_t left_ms = until_ms - clock_ms(CLOCK_MONOTONIC);
        struct pollfd poll_fd = {container->pipes[s], POLLIN, 0};
        if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) == 0 ||
            !take_output(container, s)) {
            return;
        }
    }
}

/* After the last process is gone the pipes come to their end by themselves;
 * the bound is for a process that the kernel cannot kill. */
static void drain(struct shim *shim)
{
    int64_t until_ms = clock_ms(CLOCK_MONOTONIC) + DRAIN_MS_MAX;

    for (size_t i = 0; i < shim->container_count; i++) {
        struct container *container = &shim->containers[i];
        drain_pipe(container, 0, until_ms);
        drain_pipe(container, 1, until_ms);
        shim_log_close(&container->log);
    }
}

/* Why the pod failed, by its containers; NONE: it did not. */
static enum run_cause cause_of_containers(const struct shim *shim)
{
    enum run_cause cause = RUN_CAUSE_NONE;

    for (size_t i = 0; i < shim->container_count; i++) {
        const struct container *container = &shim->containers[i];
        bool is_bad =
            container->is_ended && container->ended.exit_code != 0 &&
            (container->spec->kind != RUN_SIDECAR || !shim->has_main_started);
        if (!is_bad) {
            continue;
        }
        if (container->ended.is_oom) {
            return RUN_CAUSE_OOM;
        }
        bool is_start = strcmp(container->ended.reason, "StartError") == 0;
        if (cause == RUN_CAUSE_NONE) {
            cause = is_start ? RUN_CAUSE_START : RUN_CAUSE_ERROR;
        }
    }
    return cause;
}

static int finish(struct shim *shim)
{
    struct run_state *state = &shim->state;
    enum run_cause cause = shim->stop_cause != RUN_CAUSE_NONE
                               ? shim->stop_cause
                               : cause_of_containers(shim);

    kill_all(shim);
    reap(shim);
    drain(shim);
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].is_ended) {
            VEC_PUSH(&state->ended, shim->containers[i].ended);
        }
        cgroup_remove(&shim->spec.cgroups, shim->containers[i].cgroup_name);
    }
    state->cause = cause;
    state->phase = cause == RUN_CAUSE_NONE ? RUN_SUCCEEDED : RUN_FAILED;
    state->ended_ms = clock_ms(CLOCK_REALTIME);
    /* The exit code is worth waiting for room on the disk. */
    int rc = publish(shim);
    for (int i = 0; rc < 0 && rc != -ERR_NOT_FOUND && i < PUBLISH_TRIES_MAX;
         i++) {
        (void)poll(NULL, 0, PUBLISH_PAUSE_MS);
        rc = publish(shim);
    }
    return rc < 0 ? 1 : 0;
}

static int run_pod(struct shim *shim)
{
    struct err err;

    shim->state.phase = RUN_PENDING;
    /* The name has to be on the disk as well before anything starts: by it the
     * next life knows, also after a power cut, that this run has begun. */
    if (publish(shim) < 0 || file_sync_dir(shim->dir_fd, &err) < 0) {
        return 1; /* not a process was started */
    }
    if (faccessat(shim->dir_fd, RUN_STOP_NAME, F_OK, 0) == 0) {
        begin_stop(shim, RUN_CAUSE_STOPPED);
    }
    while (!advance(shim)) {
        if (shim->has_main_started && shim->state.phase == RUN_PENDING) {
            shim->state.phase = RUN_RUNNING;
            shim->state.started_ms = clock_ms(CLOCK_REALTIME);
            (void)publish(shim);
        }
        wait_once(shim);
        take_time(shim);
    }
    return finish(shim);
}

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
        struct container *container = &shim->containers[i];
        char name[32];
        container->spec = &shim->spec.containers.items[i];
        container->pipes[0] = container->pipes[1] = -1;
        snprintf(name, sizeof(name), "%zu", i);
        snprintf(container->cgroup_name, sizeof(container->cgroup_name),
                 "%.40s.%zu", shim->spec.run_id, i);
        int rc = shim_log_open(&container->log, shim->log_dir_fd, name,
                               shim->spec.log_byte_count_max, err);
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
        return err_set(err, -ERR_CONFLICT, "another shim has this run");
    }
    if (faccessat(shim->dir_fd, RUN_STATE_NAME, F_OK, 0) == 0) {
        return err_set(err, -ERR_CONFLICT, "this run was started before");
    }
    int rc = run_spec_read(shim->dir_fd, &shim->spec, err);
    if (rc < 0) {
        return rc;
    }
    shim->log_dir_fd =
        openat(shim->dir_fd, RUN_LOG_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    shim->signal_fd = open_signals();
    if (shim->log_dir_fd < 0 || shim->signal_fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", run_dir, strerror(errno));
    }
    return open_containers(shim, err);
}

int shim_run(const char *run_dir)
{
    struct shim shim = {.kill_at_ms = INT64_MAX, .deadline_at_ms = INT64_MAX};
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
    shim.state.created_ms = clock_ms(CLOCK_REALTIME);
    if (shim.spec.deadline_ms > 0) {
        shim.deadline_at_ms = clock_ms(CLOCK_MONOTONIC) + shim.spec.deadline_ms;
    }
    int code = run_pod(&shim);

    for (size_t i = 0; i < shim.container_count; i++) {
        shim_log_close(&shim.containers[i].log);
    }
    mem_free(shim.containers);
    VEC_FREE(&shim.state.ended);
    run_spec_fini(&shim.spec);
    close(shim.log_dir_fd);
    close(shim.signal_fd);
    close(shim.dir_fd);
    return code;
}
