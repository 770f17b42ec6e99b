#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "executor/file.h"
#include "executor/kv.h"
#include "executor/process_private.h"
#include "executor/shim.h"

enum {
    EVENTS_PER_WAIT = 64,
    NOTIFY_BYTES = 4096,
    ENVIRONMENT_BYTES_MAX = 4 << 20
};

static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* --- watching shims --------------------------------------------------------
 */

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

    VEC_PUSH(&process->changes, (struct runtime_change){pod->run, pod->phase});
}

/* Whether a process was started with this variable. */
static bool has_variable(int proc_fd, const char *pid, struct str variable)
{
    char path[300];
    struct strbuf environment = strbuf_make(ENVIRONMENT_BYTES_MAX);
    struct err err;

    snprintf(path, sizeof(path), "%.255s/environ", pid);
    bool is_found = file_read(proc_fd, path, &environment, &err) == 0 &&
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

/* Whatever a shim that died left behind dies too. */
static void kill_leftovers(struct process *process,
                           const struct process_pod *pod)
{
    char id[ID_TEXT_BYTES_MAX], prefix[ID_TEXT_BYTES_MAX + 2];

    if (process->cgroups.kind == CGROUP_NONE) {
        kill_by_variable(pod->run);
        return;
    }
    snprintf(prefix, sizeof(prefix), "%s.", run_id_format(pod->run, id));
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
        kill_leftovers(process, pod);
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

    while ((got = read(process->notify_fd, text, NOTIFY_BYTES)) > 0) {
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

    if (process->changes.count == 0) {
        take_events(process);
        scan(process, process_now_ms(process));
    }
    uint32_t count = process->changes.count < change_max
                         ? (uint32_t)process->changes.count
                         : change_max;
    if (count > 0) {
        memcpy(ret_changes, process->changes.items,
               count * sizeof(*ret_changes));
        process->changes.count -= count;
        memmove(process->changes.items, process->changes.items + count,
                process->changes.count * sizeof(*ret_changes));
    }
    return count;
}

int64_t process_next_wake_ms(struct runtime *runtime)
{
    return process_of(runtime)->next_scan_ms;
}

/* --- starting a shim
 * ---------------------------------------------------------- */

/* The shim's environment: nothing of ours gets near a job. */
static char *const shim_environment[] = {
    (char *)(uintptr_t) "PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};

static int set_up(posix_spawn_file_actions_t *actions,
                  posix_spawnattr_t *attributes, int lock_fd)
{
    sigset_t blocked;
    int rc = posix_spawn_file_actions_adddup2(actions, lock_fd, SHIM_LOCK_FD);

    rc = rc ? rc
            : posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR,
                                               0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, 0, 1);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, 0, 2);
    rc = rc ? rc
            : posix_spawn_file_actions_addclosefrom_np(actions,
                                                       SHIM_LOCK_FD + 1);
    /* A stop that comes before the shim is ready must wait, not kill. */
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGHUP);
    rc = rc ? rc : posix_spawnattr_setsigmask(attributes, &blocked);
    return rc ? rc
              : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                         POSIX_SPAWN_SETSID);
}

static int spawn_shim(struct process *process, const char *run_dir, int lock_fd,
                      pid_t *ret_pid, struct err *err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *argv[] = {process->shim_path, (char *)(uintptr_t)run_dir, NULL};

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int rc = set_up(&actions, &attributes, lock_fd);
    if (rc == 0) {
        rc = posix_spawn(ret_pid, process->shim_path, &actions, &attributes,
                         argv, shim_environment);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc == 0 ? 0
                   : err_set(err, -ERR_UNAVAILABLE, "%s: %s",
                             process->shim_path, strerror(rc));
}

int process_start(struct process *process, uint32_t index, int run_fd,
                  struct err *err)
{
    struct process_pod *pod = &process->pods.items[index];
    char run_dir[PROCESS_PATH_BYTES_MAX];
    char id[ID_TEXT_BYTES_MAX];
    pid_t pid = 0;

    int fd = openat(run_fd, RUN_LOCK_NAME,
                    O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
        int rc =
            err_set(err, -ERR_UNAVAILABLE, "lock the run: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    snprintf(run_dir, sizeof(run_dir), "%.900s/runs/%s", process->data_dir,
             run_id_format(pod->run, id));
    int rc = spawn_shim(process, run_dir, fd, &pid, err);
    /* The shim has its copy; ours would keep the lock when it dies. */
    close(fd);
    if (rc == 0) {
        process_watch(process, index, pid, true);
    }
    return rc;
}

/* --- creating
 * ------------------------------------------------------------------ */

/* Sync what the shim will rely on, deepest first. */
static int sync_run(struct process *process, int run_fd, struct err *err)
{
    int rc = file_sync_dir(run_fd, err);

    return rc == 0 ? file_sync_dir(process->runs_fd, err) : rc;
}

static int write_run(struct process *process, const struct runtime_run *run,
                     int run_fd, const char *run_dir, struct strbuf *warnings,
                     char *ret_gang_dir, struct err *err)
{
    auto_strbuf spec = strbuf_make(RUN_FILE_BYTES_MAX);
    struct process_place place = {
        .run_dir = run_dir,
        .run_dir_fd = run_fd,
        .gang_dir = ret_gang_dir,
        .gang_index = -1,
    };

    int rc =
        process_gang_join(process, run, ret_gang_dir, &place.gang_index, err);
    if (rc == 0) {
        rc = process_spec_build(&process->policy, &place, run, &spec, warnings,
                                err);
    }
    if (rc == 0) {
        rc = file_replace(run_fd, RUN_SPEC_NAME, strbuf_str(&spec), 0600, err);
    }
    return rc == 0 ? sync_run(process, run_fd, err) : rc;
}

/* jobs/<job> always points at some whole run. */
static void link_job(struct process *process, const struct runtime_run *run)
{
    char id[ID_TEXT_BYTES_MAX], run_text[ID_TEXT_BYTES_MAX];
    char target[64], temporary[64];

    job_id_format(run->job, id);
    snprintf(target, sizeof(target), "../runs/%s",
             run_id_format(run->run, run_text));
    snprintf(temporary, sizeof(temporary), ".%s", id);
    (void)unlinkat(process->jobs_fd, temporary, 0);
    if (symlinkat(target, process->jobs_fd, temporary) == 0) {
        (void)!renameat(process->jobs_fd, temporary, process->jobs_fd, id);
    }
}

static int create_in(struct process *process, const struct runtime_run *run,
                     int run_fd, const char *run_dir, struct strbuf *warnings,
                     struct err *err)
{
    char gang_dir[PROCESS_PATH_BYTES_MAX] = "";
    uint32_t index;

    int rc = write_run(process, run, run_fd, run_dir, warnings, gang_dir, err);
    if (rc < 0) {
        process_gang_leave(process, gang_dir, run->run);
        return rc;
    }
    index =
        process_add(process, run->run, run->job,
                    (struct str[]){run->queue, run->job_set, run->namespace_,
                                   run->node_name, str_of(gang_dir)});
    process->pods.items[index].phase = RECONCILE_PENDING;
    link_job(process, run);
    rc = process_start(process, index, run_fd, err);
    if (rc < 0) {
        process_remove(process, index);
    }
    return rc;
}

int process_create(struct runtime *runtime, const struct runtime_run *run,
                   struct strbuf *warnings, struct err *err)
{
    struct process *process = process_of(runtime);
    char run_dir[PROCESS_PATH_BYTES_MAX];
    char id[ID_TEXT_BYTES_MAX];

    run_id_format(run->run, id);
    if (process->by_id.count >= PROCESS_RUNS_MAX) {
        return err_set(err, -ERR_LIMIT, "this machine holds %d runs already",
                       PROCESS_RUNS_MAX);
    }
    if (mkdirat(process->runs_fd, id, 0711) < 0) {
        return errno == EEXIST
                   ? err_set(err, -ERR_CONFLICT, "run %s was started before",
                             id)
                   : err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                             "make the run's directory: %s", strerror(errno));
    }
    snprintf(run_dir, sizeof(run_dir), "%.900s/runs/%s", process->data_dir, id);
    int fd = process_run_dir(process, run->run);
    int rc = fd < 0 ? err_set(err, -ERR_IO, "%s: %s", run_dir, strerror(errno))
                    : create_in(process, run, fd, run_dir, warnings, err);
    if (fd >= 0) {
        close(fd);
    }
    if (rc < 0) {
        /* No shim has seen it. */
        file_remove_tree(process->runs_fd, id);
    }
    return rc;
}

/* --- stopping and the rest
 * ------------------------------------------------------ */

void process_stop(struct runtime *runtime, struct run_id run, int64_t grace_ms)
{
    struct process *process = process_of(runtime);
    uint32_t index = map_find(&process->by_id, run.v);
    auto_strbuf wish = strbuf_make(RUN_TEXT_BYTES_MAX);
    struct err err;

    if (index == MAP_NONE ||
        reconcile_is_ended(process->pods.items[index].phase)) {
        return;
    }
    struct process_pod *pod = &process->pods.items[index];
    int fd = process_run_dir(process, run);
    kv_add_int(&wish, grace_ms >= 0 ? "grace_ms" : "grace_own", grace_ms);
    if (fd >= 0) {
        (void)!file_replace(fd, RUN_STOP_NAME, strbuf_str(&wish), 0600, &err);
        close(fd);
    }
    pod->is_stopping = true;
    send_stop(pod);
}

void process_ack(struct runtime *runtime, struct run_id run,
                 enum reconcile_phase phase)
{
    int fd = process_run_dir(process_of(runtime), run);
    char digit = (char)('0' + (int)phase);

    if (fd < 0) {
        return;
    }
    /* Not synced: at worst a report is repeated. */
    int file = openat(fd, RUN_ACKED_NAME,
                      O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0) {
        (void)!write(file, &digit, 1);
        close(file);
    }
    close(fd);
}

void process_forget(struct runtime *runtime, struct run_id run)
{
    struct process *process = process_of(runtime);
    uint32_t index = map_find(&process->by_id, run.v);
    int fd = index == MAP_NONE ? -1 : process_run_dir(process, run);

    if (index == MAP_NONE) {
        return;
    }
    if (fd >= 0) {
        int file = openat(fd, RUN_DONE_NAME,
                          O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0) {
            close(file);
        }
        close(fd);
    }
    process_keep(process, index, process_wall_ms(process));
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
