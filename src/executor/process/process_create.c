/* Starts a run: its directory, its spec, its shim. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/attempt.h"
#include "executor/files/file.h"
#include "executor/process/process_private.h"
#include "executor/shim/shim.h"

enum { WARNINGS_BYTES_MAX = 8192 };

/* Starting a shim. */

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

/* Creating a run. */

/* Sync what the shim will rely on, deepest first. */
static int sync_run(struct process *process, int run_fd, struct err *err)
{
    int rc = file_sync_dir(run_fd, err);

    return rc == 0 ? file_sync_dir(process->runs_fd, err) : rc;
}

/* The GPUs of pods that have not ended. */
static uint64_t used_devices(const struct process *process)
{
    uint64_t used = 0;

    for (size_t i = 0; i < process->pods.count; i++) {
        const struct process_pod *pod = &process->pods.items[i];
        used |=
            pod->is_used && !reconcile_is_ended(pod->phase) ? pod->devices : 0;
    }
    return used;
}

static int write_run(struct process *process, const struct runtime_run *run,
                     int run_fd, struct strbuf *warnings, char *ret_gang_dir,
                     uint64_t *ret_devices, struct err *err)
{
    auto_strbuf spec = strbuf_make(RUN_FILE_BYTES_MAX);
    char space_dir[PROCESS_PATH_BYTES_MAX];
    char exec_token[PROCESS_RANDOM_NAME_BYTES];
    struct process_place place = {
        .run_dir_fd = run_fd,
        .space_dir = space_dir,
        .gang_dir = ret_gang_dir,
        .exec_token = exec_token,
        .gang_index = -1,
        .devices = &process->devices,
        .used_devices = process->devices.count > 0 ? used_devices(process) : 0,
    };

    process_random_name(process, exec_token);
    int rc =
        process_gang_join(process, run, ret_gang_dir, &place.gang_index, err);
    if (rc == 0) {
        rc = place.space_fd =
            process_space_make(process, run_fd, space_dir, err);
    }
    if (rc >= 0) {
        rc = process_spec_build(&process->policy, &place, run, &spec, warnings,
                                ret_devices, err);
        close(place.space_fd);
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
                     int run_fd, struct strbuf *warnings, struct err *err)
{
    char gang_dir[PROCESS_PATH_BYTES_MAX] = "";
    uint64_t devices = 0;
    uint32_t index;

    int rc = write_run(process, run, run_fd, warnings, gang_dir, &devices, err);
    if (rc < 0) {
        process_gang_leave(process, gang_dir, run->run);
        return rc;
    }
    index =
        process_add(process, run->run, run->job,
                    (struct str[]){run->queue, run->job_set, run->namespace_,
                                   run->node_name, process_gang_id(run),
                                   str_of(gang_dir), run->pod_name});
    process->pods.items[index].phase = RECONCILE_PENDING;
    process->pods.items[index].devices = devices;
    link_job(process, run);
    rc = process_start(process, index, run_fd, err);
    if (rc < 0) {
        process_remove(process, index);
    }
    return rc;
}

static int create(struct process *process, const struct runtime_run *run,
                  struct strbuf *warnings, struct err *err)
{
    char id[ID_TEXT_BYTES_MAX];

    run_id_format(run->run, id);
    if (process->by_id.count >= PROCESS_RUNS_MAX) {
        return err_set(err, -ERR_LIMIT,
                       "the limit of %d runs on this machine is reached",
                       PROCESS_RUNS_MAX);
    }
    if (mkdirat(process->runs_fd, id, 0700) < 0) {
        return errno == EEXIST
                   ? err_set(err, -ERR_CONFLICT, "run %s was started before",
                             id)
                   : err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                             "make the run's directory: %s", strerror(errno));
    }
    int fd = process_run_dir(process, run->run);
    int rc = fd < 0 ? err_set(err, -ERR_IO, "run %s: %s", id, strerror(errno))
                    : attempt_begin(process->attempts_fd, run->job, err);
    if (rc == 0) {
        rc = create_in(process, run, fd, warnings, err);
        attempt_end(process->attempts_fd, run->job);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc < 0) {
        /* No shim has seen it. */
        process_discard_run(process, id);
    }
    return rc;
}

/* What an error means for the lease. */
static enum runtime_change_kind kind_of(int rc)
{
    return rc == 0               ? RUNTIME_CREATED
           : rc == -ERR_CONFLICT ? RUNTIME_KNOWN
           : rc == -ERR_INVALID  ? RUNTIME_REFUSED
                                 : RUNTIME_RETURNED;
}

void process_create(struct runtime *runtime, const struct runtime_run *run)
{
    struct process *process = process_of(runtime);
    auto_strbuf warnings = strbuf_make(WARNINGS_BYTES_MAX);
    struct err err = {""};

    int rc = create(process, run, &warnings, &err);
    /* This machine is all of its cluster. */
    change_queue_push(
        &process->changes,
        &(struct runtime_change){
            .kind = kind_of(rc),
            .run = run->run,
            .scope = RUNTIME_SCOPE_CLUSTER,
            .text = rc < 0 ? str_of(err.text) : strbuf_str(&warnings),
        });
}
