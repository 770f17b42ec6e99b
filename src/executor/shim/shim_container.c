#include "executor/shim/shim_container.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/shim/shim_private.h"

enum { READ_BYTES = 65536, EXIT_SIGNAL_BASE = 128 };

int shim_container_open(struct shim_container *container,
                        const struct run_spec *spec, size_t index,
                        int log_dir_fd, struct err *err)
{
    char name[32];

    container->spec = &spec->containers.items[index];
    container->cgroups = &spec->cgroups;
    container->pipes[0] = container->pipes[1] = -1;
    snprintf(name, sizeof(name), "%zu", index);
    snprintf(container->cgroup_name, sizeof(container->cgroup_name),
             "%.40s.%zu", spec->run_id, index);
    return shim_log_open(&container->log, log_dir_fd, name,
                         spec->log_byte_count_max, err);
}

static void end_container(struct shim_container *container, int64_t exit_code,
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

void shim_container_refuse(struct shim_container *container, const char *text)
{
    end_container(container, EXIT_SIGNAL_BASE, "StartError", text);
}

void shim_container_start(struct shim_container *container,
                          const struct shim_box *box,
                          const struct run_spec *pod, int dir_fd)
{
    struct err err = {""};
    int ends[2][2];
    int exit_code = EXIT_SIGNAL_BASE;

    int rc = cgroup_add(container->cgroups, container->cgroup_name,
                        &container->spec->limits, &err);
    if (rc == 0) {
        rc = make_pipes(ends);
    }
    if (rc < 0) {
        shim_container_refuse(container, err.text);
        return;
    }
    struct shim_start start = {
        .container = container->spec,
        .spec = pod,
        .box = box,
        .cgroups = container->cgroups,
        .cgroup_name = container->cgroup_name,
        .space_dir = pod->space_dir,
        .dir_fd = dir_fd,
        .input_fd = -1,
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

bool shim_container_take(struct shim_container *container, int stream)
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
static void drain_now(struct shim_container *container)
{
    for (int s = 0; s < 2; s++) {
        struct pollfd poll_fd = {container->pipes[s], POLLIN, 0};
        while (container->pipes[s] >= 0 && poll(&poll_fd, 1, 0) > 0 &&
               shim_container_take(container, s)) {
        }
    }
}

void shim_container_kill(struct shim_container *container, pid_t session)
{
    if (container->cgroups->kind != CGROUP_NONE) {
        cgroup_kill(container->cgroups, container->cgroup_name);
    } else if (session > 0) {
        (void)shim_tree_kill(session);
    }
}

void shim_container_exited(struct shim_container *container, int status)
{
    pid_t session = container->pid;
    bool is_killed = WIFSIGNALED(status);
    int64_t code =
        is_killed ? EXIT_SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);

    container->pid = 0;
    shim_container_kill(container, session);
    drain_now(container);
    bool is_oom =
        code != 0 &&
        cgroup_oom_kill_count(container->cgroups, container->cgroup_name) > 0;
    end_container(container, code,
                  is_oom      ? "OOMKilled"
                  : code != 0 ? "Error"
                              : "Completed",
                  "");
    container->ended.signal = is_killed ? WTERMSIG(status) : 0;
    container->ended.is_oom = is_oom;
}

/* Take what is left in a pipe, until it ends or its time is over. */
static void drain_pipe(struct shim_container *container, int s,
                       int64_t until_ms)
{
    while (container->pipes[s] >= 0) {
        int64_t left_ms = until_ms - shim_clock_ms(CLOCK_MONOTONIC);
        struct pollfd poll_fd = {container->pipes[s], POLLIN, 0};
        if (left_ms <= 0 || poll(&poll_fd, 1, (int)left_ms) == 0 ||
            !shim_container_take(container, s)) {
            return;
        }
    }
}

void shim_container_drain(struct shim_container *container, int64_t until_ms)
{
    drain_pipe(container, 0, until_ms);
    drain_pipe(container, 1, until_ms);
    shim_log_close(&container->log);
}
