/* A shim's pod, from its first container to its end. */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_mark.h"
#include "executor/shim/shim_private.h"

enum {
    POLL_FDS_MAX = 1 + 2 * RUN_CONTAINERS_MAX + SHIM_EXEC_WAITS_MAX,
    DRAIN_MS_MAX = 2000,
    KEEPER_MS_MAX = 2000,
    CHILDREN_MS_MAX = 4000,
    KEEPER_PAUSE_MS = 10,
    PUBLISH_TRIES_MAX = 3600,
    PUBLISH_PAUSE_MS = 1000,
};

/* What others see of it. */

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

/* Stopping. */

static void begin_stop(struct shim *shim, enum run_cause cause)
{
    int64_t grace_ms = run_stop_read(shim->dir_fd, shim->spec.grace_ms);
    int64_t kill_at_ms =
        shim_clock_ms(CLOCK_MONOTONIC) +
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

static bool reap(struct shim *shim);
static void take_signals(struct shim *shim);

/* Whether the pod's processes have ended with their namespace. */
static bool end_keeper(struct shim *shim)
{
    int64_t until_ms = shim_clock_ms(CLOCK_MONOTONIC) + KEEPER_MS_MAX;

    shim_box_kill(&shim->box);
    while (shim->box.keeper > 0 && shim_clock_ms(CLOCK_MONOTONIC) < until_ms) {
        struct pollfd poll_fd = {shim->signal_fd, POLLIN, 0};
        (void)reap(shim);
        if (shim->box.keeper > 0) {
            (void)poll(&poll_fd, 1, KEEPER_PAUSE_MS);
            take_signals(shim);
        }
    }
    return shim->box.keeper == 0;
}

/* Whoever loses its parent becomes our child.  So while we have one there may
 * be others, even such as hand over to a child of theirs faster than a search
 * of all processes finds them; and when we have none, there are none. */
static void end_children(struct shim *shim)
{
    int64_t until_ms = shim_clock_ms(CLOCK_MONOTONIC) + CHILDREN_MS_MAX;

    while (reap(shim) && shim_clock_ms(CLOCK_MONOTONIC) < until_ms) {
        if (!shim_tree_kill_children()) {
            /* Killed ones are on their way out, or the kernel lists none. */
            (void)poll(NULL, 0, 1);
            (void)shim_tree_kill(0);
        }
    }
}

static void kill_all(struct shim *shim)
{
    if (shim->box.has_pids && end_keeper(shim)) {
        return;
    }
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].pid > 0) {
            (void)kill(shim->containers[i].pid, SIGKILL);
        }
        if (shim->containers[i].is_started) {
            shim_container_kill(&shim->containers[i], 0);
        }
    }
    (void)shim_tree_kill(0);
    end_children(shim);
}

/* Going on. */

static bool is_any_running(const struct shim *shim)
{
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].pid > 0) {
            return true;
        }
    }
    return false;
}

/* Start a container; the first one needs the box. */
static void start(struct shim *shim, struct shim_container *container)
{
    struct err err = {""};

    if (!shim->has_box && shim_box_open(&shim->spec, &shim->box, &err) < 0) {
        shim_container_refuse(container, err.text);
        return;
    }
    shim->has_box = true;
    shim_container_start(container, &shim->box, &shim->spec, shim->space_fd);
}

/* Start what may start now.  Answers whether the pod has come to its end:
 * nothing of it runs and nothing more will. */
static bool advance(struct shim *shim)
{
    bool is_failed = false;
    bool is_main_running = false;

    for (size_t i = 0; i < shim->container_count; i++) {
        struct shim_container *container = &shim->containers[i];
        enum run_container_kind kind = container->spec->kind;
        if (!container->is_started) {
            if (shim->stop_cause != RUN_CAUSE_NONE || is_failed) {
                continue;
            }
            start(shim, container);
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

/* Waiting. */

/* Answers whether there are children that live. */
static bool reap(struct shim *shim)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        shim->box.keeper = pid == shim->box.keeper ? 0 : shim->box.keeper;
        for (size_t i = 0; i < shim->container_count; i++) {
            if (shim->containers[i].pid == pid) {
                shim_container_exited(&shim->containers[i], status);
                shim_exec_end(shim, &shim->containers[i]);
            }
        }
        shim_exec_reaped(shim, pid, status);
    }
    return pid == 0;
}

static int poll_timeout_ms(const struct shim *shim)
{
    int64_t at_ms = shim->kill_at_ms < shim->deadline_at_ms
                        ? shim->kill_at_ms
                        : shim->deadline_at_ms;
    int64_t exec_ms = shim_exec_wake_ms(shim);
    int64_t left_ms;

    at_ms = exec_ms < at_ms ? exec_ms : at_ms;
    if (at_ms == INT64_MAX) {
        return -1;
    }
    left_ms = at_ms - shim_clock_ms(CLOCK_MONOTONIC);
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

/* What is waited for: signals first, then the containers' pipes, then users. */
struct waits {
    struct pollfd fds[POLL_FDS_MAX];
    struct shim_container *owners[POLL_FDS_MAX];
    nfds_t count;
};

static void add_pipes(struct waits *waits, struct shim_container *container)
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
    nfds_t pipes_end = waits.count;
    waits.count += shim_exec_waits(shim, waits.fds + waits.count);
    bool is_some = poll(waits.fds, waits.count, poll_timeout_ms(shim)) > 0;
    for (nfds_t i = 1; is_some && i < pipes_end; i++) {
        struct shim_container *owner = waits.owners[i];
        if (waits.fds[i].revents) {
            (void)shim_container_take(
                owner, owner->pipes[0] == waits.fds[i].fd ? 0 : 1);
        }
    }
    take_signals(shim);
    (void)reap(shim);
    shim_exec_step(shim);
}

static void take_time(struct shim *shim)
{
    int64_t now_ms = shim_clock_ms(CLOCK_MONOTONIC);

    if (now_ms >= shim->deadline_at_ms) {
        shim->deadline_at_ms = INT64_MAX;
        begin_stop(shim, RUN_CAUSE_DEADLINE);
    }
    if (now_ms >= shim->kill_at_ms) {
        shim->kill_at_ms = INT64_MAX;
        kill_all(shim);
    }
}

/* The end. */

/* After the last process is gone the pipes come to their end by themselves;
 * the bound is for a process that the kernel cannot kill. */
static void drain(struct shim *shim)
{
    int64_t until_ms = shim_clock_ms(CLOCK_MONOTONIC) + DRAIN_MS_MAX;

    for (size_t i = 0; i < shim->container_count; i++) {
        shim_container_drain(&shim->containers[i], until_ms);
    }
}

/* Why the pod failed, by its containers; NONE: it did not. */
static enum run_cause cause_of_containers(const struct shim *shim)
{
    enum run_cause cause = RUN_CAUSE_NONE;

    for (size_t i = 0; i < shim->container_count; i++) {
        const struct shim_container *container = &shim->containers[i];
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

    shim_exec_end(shim, NULL);
    kill_all(shim);
    (void)reap(shim);
    shim_exec_close(shim);
    shim_box_close(&shim->box);
    drain(shim);
    for (size_t i = 0; i < shim->container_count; i++) {
        if (shim->containers[i].is_ended) {
            VEC_PUSH(&state->ended, shim->containers[i].ended);
        }
        cgroup_remove(&shim->spec.cgroups, shim->containers[i].cgroup_name);
    }
    state->cause = cause;
    state->phase = cause == RUN_CAUSE_NONE ? RUN_SUCCEEDED : RUN_FAILED;
    state->ended_ms = shim_clock_ms(CLOCK_REALTIME);
    /* The exit code is worth waiting for room on the disk. */
    int rc = publish(shim);
    for (int i = 0; rc < 0 && rc != -ERR_NOT_FOUND && i < PUBLISH_TRIES_MAX;
         i++) {
        (void)poll(NULL, 0, PUBLISH_PAUSE_MS);
        rc = publish(shim);
    }
    return rc < 0 ? 1 : 0;
}

int shim_pod_run(struct shim *shim)
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
            shim->state.started_ms = shim_clock_ms(CLOCK_REALTIME);
            (void)publish(shim);
        }
        wait_once(shim);
        take_time(shim);
    }
    return finish(shim);
}
