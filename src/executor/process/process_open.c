#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/lock.h"
#include "executor/files/file.h"
#include "executor/process/process_private.h"

enum {
    CREATE_MAX = 4, /* each takes some 5 ms of syncing and spawning */
};

void process_options_default(struct process_options *ret_options)
{
    *ret_options = (struct process_options){
        .run_as_user = PROCESS_USER_DEFAULT,
        .run_as_group = PROCESS_USER_DEFAULT,
        .log_byte_count_max = PROCESS_LOG_BYTES_DEFAULT,
        .pids_max = PROCESS_PIDS_DEFAULT,
        .keep_ms = PROCESS_KEEP_MS_DEFAULT,
        .keep_byte_count_max = PROCESS_KEEP_BYTES_DEFAULT,
        .keep_count_max = PROCESS_KEEP_COUNT_DEFAULT,
        .folder_ms = PROCESS_FOLDER_MS_DEFAULT,
        .lock_wait_ms = LOCK_WAIT_MS,
        .folder_count_max = PROCESS_FOLDER_COUNT_DEFAULT,
        .output_ms = PROCESS_KEEP_MS_DEFAULT,
        .output_byte_count_max = PROCESS_OUTPUT_BYTES_DEFAULT,
        .outputs_byte_count_max = PROCESS_KEEP_BYTES_DEFAULT,
        .output_count_max = PROCESS_OUTPUT_COUNT_DEFAULT,
    };
}

static int open_dir(int parent_fd, const char *path, mode_t mode, int *ret_fd,
                    struct err *err)
{
    if (mkdirat(parent_fd, path, mode) < 0 && errno != EEXIST) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    *ret_fd = openat(parent_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    /* Whatever the umask: jobs walk through to what is theirs. */
    if (fchmod(*ret_fd, mode) < 0) {
        return err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
    }
    return 0;
}

static int lock_data(struct process *process, struct err *err)
{
    process->lock_fd =
        openat(process->data_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (process->lock_fd < 0) {
        return err_set(err, -ERR_IO, "%s/lock: %s", process->data_dir,
                       strerror(errno));
    }
    if (lock_exclusive(process->lock_fd, process->options.lock_wait_ms) < 0) {
        return err_set(err, -ERR_CONFLICT,
                       "another executor uses the directory %s",
                       process->data_dir);
    }
    return 0;
}

static int open_notify(struct process *process, struct err *err)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 = (uint64_t)PROCESS_NOTIFY_TAG};

    if (mkfifoat(process->data_fd, "notify", 0600) < 0 && errno != EEXIST) {
        return err_set(err, -ERR_IO, "notify: %s", strerror(errno));
    }
    /* Open for writing too, so that it never reads as ended. */
    process->notify_fd = openat(process->data_fd, "notify",
                                O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    process->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (process->notify_fd < 0 || process->epoll_fd < 0 ||
        epoll_ctl(process->epoll_fd, EPOLL_CTL_ADD, process->notify_fd,
                  &event) < 0) {
        return err_set(err, -ERR_IO, "notify: %s", strerror(errno));
    }
    process->runtime.wake_fd = process->epoll_fd;
    return 0;
}

static bool is_inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* Nothing below the data directory is reached through a link. */
static int resolve_data(struct process *process, struct err *err)
{
    char real[PATH_MAX];

    if (!realpath(process->data_dir, real)) {
        return err_set(err, -ERR_IO, "%s: %s", process->data_dir,
                       strerror(errno));
    }
    process->data_dir = arena_strdup(&process->arena, str_of(real));
    process->hidden_dir = process->data_dir;
    if (process->options.hidden_dir &&
        realpath(process->options.hidden_dir, real) &&
        is_inside(process->data_dir, real)) {
        process->hidden_dir = arena_strdup(&process->arena, str_of(real));
    }
    return 0;
}

static int open_dirs(struct process *process, struct err *err)
{
    int rc =
        open_dir(AT_FDCWD, process->data_dir, 0711, &process->data_fd, err);

    rc = rc < 0 ? rc : resolve_data(process, err);
    rc = rc < 0 ? rc : lock_data(process, err);
    rc = rc < 0
             ? rc
             : open_dir(process->data_fd, "runs", 0711, &process->runs_fd, err);
    rc = rc < 0
             ? rc
             : open_dir(process->data_fd, "jobs", 0700, &process->jobs_fd, err);
    rc = rc < 0 ? rc
                : open_dir(process->data_fd, "spaces", 0711,
                           &process->spaces_fd, err);
    rc = rc < 0 ? rc
                : open_dir(process->data_fd, "outputs", 0700,
                           &process->outputs_fd, err);
    rc = rc < 0 ? rc
                : open_dir(process->data_fd, "gangs", 0711, &process->gangs_fd,
                           err);
    rc = rc < 0 ? rc
                : open_dir(process->data_fd, "attempts", 0700,
                           &process->attempts_fd, err);
    rc = rc < 0 ? rc
                : open_dir(process->data_fd, "trash", 0700, &process->trash_fd,
                           err);
    return rc < 0 ? rc : open_notify(process, err);
}

/* Whether anybody may walk to the data directory. */
static bool is_reachable(const char *path)
{
    char part[PROCESS_PATH_BYTES_MAX];
    struct stat st;

    for (size_t at = 1; at <= strlen(path); at++) {
        if (path[at] == '/' || path[at] == '\0') {
            snprintf(part, sizeof(part), "%.*s", (int)at, path);
            if (stat(part, &st) < 0 || !(st.st_mode & S_IXOTH)) {
                return false;
            }
        }
    }
    return true;
}

static const struct str *copy_users(struct process *process)
{
    const struct process_options *options = &process->options;
    struct str *users = arena_alloc_array(
        &process->arena, options->allowed_user_count + 1, sizeof(*users));

    for (uint32_t i = 0; i < options->allowed_user_count; i++) {
        users[i] = arena_str(&process->arena, options->allowed_users[i]);
    }
    return users;
}

static void set_policy(struct process *process, struct err *ret_info)
{
    const struct process_options *options = &process->options;
    char name[64];
    char notify[PROCESS_PATH_BYTES_MAX];
    struct err how = {""}, apart;
    bool is_root = geteuid() == 0;

    snprintf(name, sizeof(name), "berth-%016" PRIx64,
             hash_bytes(process->data_dir, strlen(process->data_dir), 3));
    if (options->has_no_cgroups) {
        (void)snprintf(how.text, ERR_TEXT_BYTES_MAX,
                       "control groups are switched off: memory is limited per "
                       "process by rlimits");
    } else {
        cgroup_probe(name, &process->cgroups, &how);
    }
    int64_t layers = process_probe_layers(process, &apart);
    snprintf(notify, sizeof(notify), "%.900s/notify", process->data_dir);
    process->policy = (struct process_policy){
        .run_as_user = is_root ? options->run_as_user : (int64_t)geteuid(),
        .run_as_group = is_root ? options->run_as_group : (int64_t)getegid(),
        .allows_root_jobs = options->allows_root_jobs,
        .allowed_users = copy_users(process),
        .allowed_user_count = options->allowed_user_count,
        .reserved_user = options->reserved_user,
        .reserved_group = options->reserved_group,
        .is_root = is_root,
        .layers = layers,
        .hidden_dir = process->hidden_dir,
        .log_byte_count_max = options->log_byte_count_max,
        .pids_max = options->pids_max,
        .notify_path = arena_strdup(&process->arena, str_of(notify)),
        .cgroups = &process->cgroups,
    };
    (void)snprintf(
        ret_info->text, ERR_TEXT_BYTES_MAX,
        "%.150s; %.180s; jobs run as user %" PRId64 " and volumes are %s%s",
        how.text, apart.text, process->policy.run_as_user,
        layers & RUN_LAYER_MOUNT ? "mounted" : "named by BERTH_VOLUME_*",
        is_root && !is_reachable(process->data_dir)
            ? "; that user cannot reach the data directory: give every "
              "directory on its path the execute bit for all"
        : !is_root && !(layers & (RUN_LAYER_MOUNT | RUN_LAYER_FENCE))
            ? "; jobs can change the data directory"
            : "");
}

static void process_list(struct runtime *runtime,
                         void (*each)(void *, const struct runtime_pod *),
                         void *ctx)
{
    struct process *process = process_of(runtime);

    for (size_t i = 0; i < process->forgotten.count; i++) {
        each(ctx, &(struct runtime_pod){.run = process->forgotten.items[i],
                                        .phase = RECONCILE_FORGOTTEN});
    }
    VEC_FREE(&process->forgotten);
    for (size_t i = process->kept_first; i < process->kept.count; i++) {
        each(ctx, &(struct runtime_pod){.run = process->kept.items[i].run,
                                        .job = process->kept.items[i].job,
                                        .phase = RECONCILE_FORGOTTEN});
    }
    for (size_t i = 0; i < process->pods.count; i++) {
        const struct process_pod *pod = &process->pods.items[i];
        if (pod->is_used) {
            each(ctx, &(struct runtime_pod){
                          .run = pod->run,
                          .job = pod->job,
                          .queue = pod->queue,
                          .job_set = pod->job_set,
                          .namespace_ = pod->namespace_,
                          .pod_name = pod->pod_name,
                          .node_name = pod->node_name,
                          .phase = pod->phase,
                          .acked = pod->acked,
                      });
        }
    }
}

static const struct node_set *process_nodes(struct runtime *runtime)
{
    return process_of(runtime)->nodes;
}

static int process_logs_op(struct runtime *runtime,
                           const struct runtime_log_query *query,
                           struct strbuf *buf, struct err *err)
{
    return process_logs(process_of(runtime)->data_dir, query, buf, err);
}

static int process_files_op(struct runtime *runtime,
                            const struct runtime_files_query *query,
                            struct strbuf *buf, struct err *err)
{
    return process_files(process_of(runtime)->data_dir,
                         process_of(runtime)->clock, query, buf, err);
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void process_close(struct runtime *runtime)
{
    struct process *process = process_of(runtime);
    bool is_in_use = false;

    for (size_t i = 0; i < process->pods.count; i++) {
        struct process_pod *pod = &process->pods.items[i];
        if (pod->is_used) {
            is_in_use |= !reconcile_is_ended(pod->phase);
            process_unwatch(process, pod);
            mem_free(pod->texts);
        }
    }
    /* A shim that lives may be about to make a group. */
    if (!is_in_use) {
        cgroup_release(&process->cgroups);
    }
    close_fd(process->epoll_fd);
    close_fd(process->notify_fd);
    close_fd(process->attempts_fd);
    close_fd(process->trash_fd);
    close_fd(process->gangs_fd);
    close_fd(process->outputs_fd);
    close_fd(process->spaces_fd);
    close_fd(process->jobs_fd);
    close_fd(process->runs_fd);
    close_fd(process->data_fd);
    close_fd(process->lock_fd);
    SLOTS_FREE(&process->pods);
    change_queue_fini(&process->changes);
    node_set_destroy(process->nodes);
    VEC_FREE(&process->kept);
    VEC_FREE(&process->outputs);
    intern_fini(&process->queues);
    VEC_FREE(&process->forgotten);
    VEC_FREE(&process->exiting);
    map_fini(&process->by_id);
    arena_fini(&process->arena);
    mem_free(process);
}

static int process_exec_op(struct runtime *runtime, struct job_id job,
                           int *ret_fd, struct err *err)
{
    return process_exec(process_of(runtime)->data_dir, job, ret_fd, err);
}

static const struct runtime_ops process_ops = {
    .name = "process",
    .list = process_list,
    .create = process_create,
    .stop = process_stop,
    .ack = process_ack,
    .forget = process_forget,
    .poll = process_poll,
    .next_wake_ms = process_next_wake_ms,
    .status = process_status,
    .nodes = process_nodes,
    .logs = process_logs_op,
    .files = process_files_op,
    .exec = process_exec_op,
    .close = process_close,
};

static struct process *make_process(const struct process_options *options,
                                    const struct clock *clock)
{
    struct process *process = mem_alloc(sizeof(*process));

    process->runtime = (struct runtime){&process_ops, -1, CREATE_MAX};
    process->clock = clock;
    process->options = *options;
    process->lock_fd = process->data_fd = process->runs_fd = process->jobs_fd =
        process->outputs_fd = process->spaces_fd = process->gangs_fd =
            process->trash_fd = process->attempts_fd = process->notify_fd =
                process->epoll_fd = -1;
    process->data_dir =
        arena_strdup(&process->arena, str_of(options->data_dir));
    process->shim_path =
        arena_strdup(&process->arena, str_of(options->shim_path));
    return process;
}

static int check_options(const struct process_options *options, struct err *err)
{
    if (!options->data_dir || options->data_dir[0] != '/' ||
        strlen(options->data_dir) > 600) {
        return err_set(err, -ERR_INVALID,
                       "the data directory must be an absolute path of at "
                       "most 600 bytes");
    }
    ASSERT(options->rng);
    if (!options->shim_path || access(options->shim_path, X_OK) < 0) {
        return err_set(err, -ERR_INVALID, "%s cannot be run: %s",
                       options->shim_path ? options->shim_path : "the shim",
                       strerror(errno));
    }
    return 0;
}

int process_open(const struct process_options *options,
                 const struct clock *clock, struct runtime **ret_runtime,
                 struct err *ret_info, struct err *err)
{
    int rc = check_options(options, err);
    if (rc < 0) {
        return rc;
    }
    struct process *process = make_process(options, clock);
    rc = open_dirs(process, err);
    if (rc < 0) {
        process_close(&process->runtime);
        return rc;
    }
    set_policy(process, ret_info);
    process_make_node(process);
    rc = process_adopt(process, err);
    if (rc < 0) {
        process_close(&process->runtime);
        return rc;
    }
    change_queue_push(&process->changes,
                      &(struct runtime_change){.kind = RUNTIME_LISTED});
    *ret_runtime = &process->runtime;
    return 0;
}
