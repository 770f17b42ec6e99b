#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_mark.h"
#include "executor/process/process_private.h"
#include "executor/shim/shim.h"

enum {
    EVENTS_PER_WAIT = 64,
    NOTIFY_BYTES = 4096,
    NOTICE_READS_MAX = 256,
    ENVIRONMENT_BYTES_MAX = 4 << 20
};

static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Watching shims. */

void process_watch(struct process *process, uint32_t index, pid_t pid,
                   bool is_child)
{
    struct process_pod *pod = &process->pods.items[index];
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = index};

    pod->pid = pid;
    pod->is_child = is_child;
    pod->pidfd = open_pidfd(pid);
    if (pod->pidfd >= 0) {
        (void)fcntl(pod->pidfd, F_SETFD, FD_CLOEXEC);
        (void)epoll_ctl(process->epoll_fd, EPOLL_CTL_ADD, pod->pidfd, &event);
    }
}

void process_unwatch(struct process *process, struct process_pod *pod)
{
    /* One that has said its last word may not have exited yet. */
    if (pod->is_child && waitpid(pod->pid, NULL, WNOHANG) == 0) {
        VEC_PUSH(&process->exiting, pod->pid);
    }
    if (pod->pidfd >= 0) {
        close(pod->pidfd);
        pod->pidfd = -1;
    }
    pod->is_child = false;
}

static void reap(struct process *process)
{
    size_t kept = 0;

    for (size_t i = 0; i < process->exiting.count; i++) {
        if (waitpid(process->exiting.items[i], NULL, WNOHANG) == 0) {
            process->exiting.items[kept++] = process->exiting.items[i];
        }
    }
    process->exiting.count = kept;
}

static void push_change(struct process *process, uint32_t index)
{
    struct process_pod *pod = &process->pods.items[index];

    change_queue_push(&process->changes,
                      &(struct runtime_change){.kind = RUNTIME_PHASE,
                                               .run = pod->run,
                                               .phase = pod->phase});
}

/* Whether a process was started with this variable. */
static bool has_variable(int proc_fd, const char *pid, struct str variable)
{
    char path[300];
    struct strbuf environment = strbuf_make(ENVIRONMENT_BYTES_MAX);
    struct err err;

    snprintf(path, sizeof(path), "%.255s/environ", pid);
    bool is_found = file_read(proc_fd, path, &environment, &err) == 0 &&
                    environment.byte_count > 0 &&
                    memmem(environment.bytes, environment.byte_count,
                           variable.p, variable.byte_count) != NULL;
    strbuf_fini(&environment);
    return is_found;
}

/* Without control groups a run's processes are known by the variable that
 * each was given.  One that has thrown it away gets away. */
static void kill_by_variable(struct run_id run)
{
    char id[ID_TEXT_BYTES_MAX], variable[ID_TEXT_BYTES_MAX + 16];
    int n = snprintf(variable, sizeof(variable), "BERTH_RUN_ID=%s",
                     run_id_format(run, id));
    DIR *dir = opendir("/proc");

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 1 && has_variable(dirfd(dir), entry->d_name,
                                    str_make(variable, (size_t)n))) {
            (void)kill((pid_t)pid, SIGKILL);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

void process_kill_run(struct process *process, struct run_id run)
{
    char id[ID_TEXT_BYTES_MAX], prefix[ID_TEXT_BYTES_MAX + 2];

    if (process->cgroups.kind == CGROUP_NONE) {
        kill_by_variable(run);
        return;
    }
    snprintf(prefix, sizeof(prefix), "%s.", run_id_format(run, id));
    cgroup_remove_all(&process->cgroups, prefix);
}

static void send_stop(const struct process_pod *pod)
{
    if (pod->pidfd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, pod->pidfd, SIGTERM, NULL, 0);
    }
}

/* Watch a shim of an earlier life.  That the number is still its own is
 * checked with the descriptor in hand, which then cannot become another's. */
static void watch_again(struct process *process, uint32_t index,
                        const struct run_state *state)
{
    process_watch(process, index, (pid_t)state->pid, false);
    if (run_pid_start(state->pid) != state->pid_start) {
        process_unwatch(process, &process->pods.items[index]);
    } else if (process->pods.items[index].is_stopping) {
        /* It was told when there was no way to reach it. */
        send_stop(&process->pods.items[index]);
    }
}

/* Look at a pod's state and say what has changed. */
void process_refresh(struct process *process, uint32_t index)
{
    struct process_pod *pod = &process->pods.items[index];
    struct run_state state;
    struct err err;

    if (reconcile_is_ended(pod->phase)) {
        return;
    }
    /* In this order: a shim writes its end before it lets go of the lock. */
    bool is_alive = process_is_locked(process, pod->run);
    int fd = process_run_dir(process, pod->run);
    int rc = fd < 0 ? -ERR_IO : run_state_read(fd, &state, &err);
    enum reconcile_phase phase = pod->phase;
    if (rc == 0) {
        phase = (enum reconcile_phase)state.phase;
        if (is_alive && pod->pidfd < 0) {
            watch_again(process, index, &state);
        }
        run_state_fini(&state);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (!is_alive && !reconcile_is_ended(phase)) {
        phase = RECONCILE_FAILED;
        pod->is_lost = true;
        process_kill_run(process, pod->run);
    }
    if (phase != pod->phase) {
        pod->phase = phase;
        push_change(process, index);
    }
}

static void take_notice(struct process *process, char *line)
{
    struct run_id run;
    uint32_t index = run_id_parse(str_of(line), &run) < 0
                         ? MAP_NONE
                         : map_find(&process->by_id, run.v);

    if (index != MAP_NONE) {
        process_refresh(process, index);
    }
}

/* Lines of run ids; a line is written at once, so none is torn, but a read
 * may end inside one: what is missed the next scan finds. */
static void take_notices(struct process *process)
{
    char text[NOTIFY_BYTES + 1];
    ssize_t got;

    /* Bounded, so that nobody who writes on and on can hold us here. */
    for (int i = 0; i < NOTICE_READS_MAX &&
                    (got = read(process->notify_fd, text, NOTIFY_BYTES)) > 0;
         i++) {
        text[got] = '\0';
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));) {
            take_notice(process, line);
        }
    }
}

static void take_events(struct process *process)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int count;

    do {
        count = epoll_wait(process->epoll_fd, events, EVENTS_PER_WAIT, 0);
        for (int i = 0; i < count; i++) {
            if (events[i].data.u64 == (uint64_t)PROCESS_NOTIFY_TAG) {
                take_notices(process);
            } else {
                /* The shim has exited. */
                uint32_t index = (uint32_t)events[i].data.u64;
                process_refresh(process, index);
                process_unwatch(process, &process->pods.items[index]);
            }
        }
    } while (count == EVENTS_PER_WAIT);
}

/* Look at every pod that has not ended, in case a notice was lost. */
static void scan(struct process *process, int64_t now_ms)
{
    if (now_ms < process->next_scan_ms) {
        return;
    }
    process->next_scan_ms = now_ms + PROCESS_SCAN_MS;
    reap(process);
    for (uint32_t i = 0; i < process->pods.count; i++) {
        if (process->pods.items[i].is_used) {
            process_refresh(process, i);
        }
    }
    process_expire(process);
}

uint32_t process_poll(struct runtime *runtime,
                      struct runtime_change *ret_changes, uint32_t change_max)
{
    struct process *process = process_of(runtime);

    if (change_queue_is_empty(&process->changes)) {
        take_events(process);
        scan(process, process_now_ms(process));
        process_empty_trash(process);
    }
    return change_queue_take(&process->changes, ret_changes, change_max);
}

int64_t process_next_wake_ms(struct runtime *runtime)
{
    const struct process *process = process_of(runtime);

    if (!change_queue_is_empty(&process->changes)) {
        return INT64_MIN;
    }
    return process->has_trash ? process_now_ms(process) + PROCESS_TRASH_MS
                              : process->next_scan_ms;
}

/* Stopping and the rest. */

void process_stop(struct runtime *runtime, struct run_id run, int64_t grace_ms)
{
    struct process *process = process_of(runtime);
    uint32_t index = map_find(&process->by_id, run.v);

    if (index == MAP_NONE ||
        reconcile_is_ended(process->pods.items[index].phase)) {
        return;
    }
    struct process_pod *pod = &process->pods.items[index];
    int fd = process_run_dir(process, run);
    if (fd >= 0) {
        run_stop_write(fd, grace_ms);
        close(fd);
    }
    pod->is_stopping = true;
    send_stop(pod);
}

void process_ack(struct runtime *runtime, struct run_id run,
                 enum reconcile_phase phase)
{
    int fd = process_run_dir(process_of(runtime), run);

    if (fd >= 0) {
        run_acked_write(fd, (int)phase);
        close(fd);
    }
}

/* It is not to be taken up again. */
static void mark_done(struct process *process, struct run_id run)
{
    int fd = process_run_dir(process, run);

    if (fd >= 0) {
        int file = openat(fd, RUN_DONE_NAME,
                          O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0) {
            close(file);
        }
        close(fd);
    }
}

void process_forget(struct runtime *runtime, struct run_id run)
{
    struct process *process = process_of(runtime);
    uint32_t index = map_find(&process->by_id, run.v);

    if (index != MAP_NONE) {
        mark_done(process, run);
        process_keep(process, index, process_wall_ms(process));
    }
    change_queue_push(
        &process->changes,
        &(struct runtime_change){.kind = RUNTIME_FORGOTTEN, .run = run});
}

static enum runtime_cause cause_of(enum run_cause cause)
{
    switch (cause) {
    case RUN_CAUSE_NONE:
        return RUNTIME_CAUSE_NONE;
    case RUN_CAUSE_ERROR:
        return RUNTIME_CAUSE_ERROR;
    case RUN_CAUSE_OOM:
        return RUNTIME_CAUSE_OOM;
    case RUN_CAUSE_DEADLINE:
        return RUNTIME_CAUSE_DEADLINE;
    case RUN_CAUSE_STOPPED:
        return RUNTIME_CAUSE_STOPPED;
    case RUN_CAUSE_START:
        return RUNTIME_CAUSE_START;
    case RUN_CAUSE_LOST:
        break;
    }
    return RUNTIME_CAUSE_LOST;
}

static struct str message_of(enum runtime_cause cause)
{
    switch (cause) {
    case RUNTIME_CAUSE_DEADLINE:
        return STR("Pod was active longer than its deadline");
    case RUNTIME_CAUSE_STOPPED:
        return STR("Pod was stopped by its executor");
    case RUNTIME_CAUSE_LOST:
        return STR("The pod's shim ended without saying how the pod did");
    case RUNTIME_CAUSE_NONE:
    case RUNTIME_CAUSE_ERROR:
    case RUNTIME_CAUSE_OOM:
    case RUNTIME_CAUSE_START:
    case RUNTIME_CAUSE_REFUSED:
    case RUNTIME_CAUSE_EVICTED:
    case RUNTIME_CAUSE_NODE_LOST:
    case RUNTIME_CAUSE_REJECTED:
    case RUNTIME_CAUSE_IMAGE:
    case RUNTIME_CAUSE_STUCK:
        break;
    }
    return STR("");
}

static void copy_ended(const struct run_state *state, struct arena *arena,
                       struct runtime_status *status)
{
    status->ended = arena_alloc_array(arena, state->ended.count + 1,
                                      sizeof(*status->ended));
    for (size_t i = 0; i < state->ended.count; i++) {
        const struct run_ended *from = &state->ended.items[i];
        status->ended[status->ended_count++] = (struct runtime_ended){
            .name = arena_str(arena, str_of(from->name)),
            .reason = arena_str(arena, str_of(from->reason)),
            .message = arena_str(arena, str_of(from->message)),
            .exit_code = (int32_t)from->exit_code,
            .cause = from->is_oom ? RUNTIME_CAUSE_OOM : RUNTIME_CAUSE_ERROR,
        };
    }
}

bool process_status(struct runtime *runtime, struct run_id run,
                    struct arena *arena, struct runtime_status *ret_status)
{
    struct process *process = process_of(runtime);
    uint32_t index = map_find(&process->by_id, run.v);
    struct run_state state;
    struct err err;

    if (index == MAP_NONE) {
        return false;
    }
    bool is_lost = process->pods.items[index].is_lost;
    int fd = process_run_dir(process, run);
    *ret_status = (struct runtime_status){
        .cause = is_lost ? RUNTIME_CAUSE_LOST : RUNTIME_CAUSE_NONE};
    if (fd >= 0 && run_state_read(fd, &state, &err) == 0) {
        if (!is_lost) {
            ret_status->cause = cause_of(state.cause);
        }
        ret_status->created_ms = state.created_ms;
        ret_status->started_ms = state.started_ms;
        ret_status->ended_ms = state.ended_ms;
        copy_ended(&state, arena, ret_status);
        run_state_fini(&state);
    }
    if (fd >= 0) {
        close(fd);
    }
    ret_status->message = message_of(ret_status->cause);
    return true;
}
