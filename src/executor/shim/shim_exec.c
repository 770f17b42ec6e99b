#include "executor/shim/shim_exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "executor/files/run_file.h"
#include "executor/shim/shim_private.h"
#include "executor/shim/shim_session.h"

enum {
    BACKLOG = 4 * EXEC_SESSIONS_JOB_MAX,
    LAST_MS_MAX = 1000,
    LAST_PAUSE_MS = 10
};

void shim_exec_open(struct shim *shim)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct shim_exec *exec = &shim->exec;

    exec->listen_fd = -1;
    if (!*shim->spec.exec_token) {
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The run's own path may be too long for an address. */
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s",
             shim->dir_fd, RUN_EXEC_NAME);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        fchmodat(shim->dir_fd, RUN_EXEC_NAME, 0600, 0) < 0 ||
        listen(fd, BACKLOG) < 0) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    exec->listen_fd = fd;
}

static struct shim_session *find_free(struct shim_exec *exec)
{
    for (int i = 0; i < EXEC_SESSIONS_JOB_MAX; i++) {
        if (exec->sessions[i].phase == SESSION_NONE) {
            return &exec->sessions[i];
        }
    }
    return NULL;
}

/* One over the limit is told so; it has room for that. */
static void refuse(int fd)
{
    auto_strbuf frame = {0};

    exec_end_put(&frame,
                 &(struct exec_end){
                     EXEC_REFUSED, 0,
                     STR("as many sessions as a job may have are open in it")});
    (void)!send(fd, frame.bytes, frame.byte_count, MSG_DONTWAIT | MSG_NOSIGNAL);
    close(fd);
}

static void take_connections(struct shim_exec *exec)
{
    int fd;

    while (exec->listen_fd >= 0 &&
           (fd = accept4(exec->listen_fd, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        if (!exec->sessions) {
            exec->sessions =
                mem_alloc_array(EXEC_SESSIONS_JOB_MAX, sizeof(*exec->sessions));
        }
        struct shim_session *session = find_free(exec);
        if (session) {
            shim_session_open(session, fd);
        } else {
            refuse(fd);
        }
    }
}

size_t shim_exec_waits(struct shim *shim, struct pollfd *waits)
{
    struct shim_exec *exec = &shim->exec;
    size_t count = 0;

    if (exec->listen_fd >= 0) {
        waits[count++] = (struct pollfd){exec->listen_fd, POLLIN, 0};
    }
    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        count += shim_session_waits(&exec->sessions[i], waits + count);
    }
    return count;
}

int64_t shim_exec_wake_ms(const struct shim *shim)
{
    const struct shim_exec *exec = &shim->exec;
    int64_t first_ms = INT64_MAX;

    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        int64_t wake_ms = shim_session_wake_ms(&exec->sessions[i]);
        first_ms = wake_ms < first_ms ? wake_ms : first_ms;
    }
    return first_ms;
}

void shim_exec_step(struct shim *shim)
{
    struct shim_exec *exec = &shim->exec;

    take_connections(exec);
    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        if (exec->sessions[i].phase != SESSION_NONE) {
            shim_session_step(shim, &exec->sessions[i]);
        }
    }
}

void shim_exec_reaped(struct shim *shim, pid_t pid, int status)
{
    struct shim_exec *exec = &shim->exec;

    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        if (exec->sessions[i].pid == pid) {
            shim_session_reaped(&exec->sessions[i], status);
        }
    }
}

void shim_exec_end(struct shim *shim, const struct shim_container *container)
{
    struct shim_exec *exec = &shim->exec;

    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        struct shim_session *session = &exec->sessions[i];
        if (session->pid > 0 &&
            (!container || session->container == container)) {
            shim_session_kill(session, EXEC_JOB_ENDED);
        }
    }
}

static bool is_any_left(const struct shim_exec *exec)
{
    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        if (exec->sessions[i].phase == SESSION_RUNNING ||
            exec->sessions[i].phase == SESSION_ENDING) {
            return true;
        }
    }
    return false;
}

void shim_exec_close(struct shim *shim)
{
    struct shim_exec *exec = &shim->exec;
    int64_t until_ms = shim_clock_ms(CLOCK_MONOTONIC) + LAST_MS_MAX;

    if (exec->listen_fd >= 0) {
        close(exec->listen_fd);
        exec->listen_fd = -1;
        (void)unlinkat(shim->dir_fd, RUN_EXEC_NAME, 0);
    }
    while (is_any_left(exec) && shim_clock_ms(CLOCK_MONOTONIC) < until_ms) {
        struct pollfd waits[SHIM_EXEC_WAITS_MAX];
        (void)poll(waits, shim_exec_waits(shim, waits), LAST_PAUSE_MS);
        shim_exec_step(shim);
    }
    for (int i = 0; exec->sessions && i < EXEC_SESSIONS_JOB_MAX; i++) {
        shim_session_close(&exec->sessions[i]);
    }
    mem_free(exec->sessions);
    exec->sessions = NULL;
}
