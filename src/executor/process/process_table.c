#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/run_file.h"
#include "executor/process/process_private.h"

static const char forgotten_name[] = "forgotten";

int process_run_dir(const struct process *process, struct run_id run)
{
    char id[ID_TEXT_BYTES_MAX];

    return openat(process->runs_fd, run_id_format(run, id),
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool process_is_locked(const struct process *process, struct run_id run)
{
    char path[ID_TEXT_BYTES_MAX + 8];
    char id[ID_TEXT_BYTES_MAX];

    snprintf(path, sizeof(path), "%s/%s", run_id_format(run, id),
             RUN_LOCK_NAME);
    int fd = openat(process->runs_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    bool is_locked = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

uint32_t process_add(struct process *process, struct run_id run,
                     struct job_id job, const struct str texts[PROCESS_TEXTS])
{
    uint32_t index = SLOTS_TAKE(&process->pods);
    struct process_pod pod = {
        .run = run, .job = job, .pidfd = -1, .is_used = true};
    struct str *const into[PROCESS_TEXTS] = {
        &pod.queue,   &pod.job_set,  &pod.namespace_, &pod.node_name,
        &pod.gang_id, &pod.gang_dir, &pod.pod_name};
    size_t byte_count = 1;

    for (int i = 0; i < PROCESS_TEXTS; i++) {
        byte_count += texts[i].byte_count + 1;
    }
    char *p = pod.texts = mem_alloc(byte_count);
    for (int i = 0; i < PROCESS_TEXTS; i++) {
        if (texts[i].byte_count > 0) {
            memcpy(p, texts[i].p, texts[i].byte_count);
        }
        *into[i] = str_make(p, texts[i].byte_count);
        p += texts[i].byte_count + 1;
    }
    process->pods.items[index] = pod;
    (void)map_put(&process->by_id, run.v, index);
    return index;
}

void process_remove(struct process *process, uint32_t index)
{
    struct process_pod *pod = &process->pods.items[index];
    char *texts = pod->texts;
    struct str gang_dir = pod->gang_dir;
    struct run_id run = pod->run;

    process_unwatch(process, pod);
    (void)map_remove(&process->by_id, run.v);
    *pod = (struct process_pod){.pidfd = -1};
    SLOTS_GIVE(&process->pods, index);
    process_gang_leave(process, gang_dir.p, run);
    mem_free(texts);
}

/* How long the logs of a run are. */
static int64_t log_bytes_of(const struct process *process, struct run_id run)
{
    int fd = process_run_dir(process, run);
    int64_t byte_count = 0;
    char path[32];
    struct stat st;

    for (int i = 0; fd >= 0 && i < RUN_CONTAINERS_MAX; i++) {
        (void)snprintf(path, sizeof(path), "%s/%d", RUN_LOG_NAME, i);
        if (fstatat(fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            break;
        }
        byte_count += st.st_size;
    }
    if (fd >= 0) {
        close(fd);
    }
    return byte_count;
}

void process_keep(struct process *process, uint32_t index, int64_t done_ms)
{
    const struct process_pod *pod = &process->pods.items[index];
    int64_t log_bytes = log_bytes_of(process, pod->run);

    VEC_PUSH(&process->kept,
             (struct process_kept){
                 .run = pod->run,
                 .job = pod->job,
                 .done_ms = done_ms,
                 .log_bytes = log_bytes,
                 .queue = intern_add(&process->queues, pod->queue)});
    process->kept_byte_count += log_bytes;
    process_remove(process, index);
}

/* What is kept for its logs. */

/* Append to the file; when it has grown to twice its bound the older half is
 * dropped at the next opening. */
static void note_forgotten(struct process *process, struct run_id run)
{
    char line[ID_TEXT_BYTES_MAX + 1];
    int fd = openat(process->data_fd, forgotten_name,
                    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    if (fd >= 0) {
        run_id_format(run, line);
        line[RUN_ID_TEXT_BYTES] = '\n';
        (void)!write(fd, line, RUN_ID_TEXT_BYTES + 1);
        close(fd);
    }
}

static void remove_kept(struct process *process,
                        const struct process_kept *kept)
{
    char id[ID_TEXT_BYTES_MAX], job[ID_TEXT_BYTES_MAX];
    char target[64] = "";

    note_forgotten(process, kept->run);
    run_id_format(kept->run, id);
    process_output_keep(process, kept);
    process_discard_run(process, id);
    job_id_format(kept->job, job);
    ssize_t n = readlinkat(process->jobs_fd, job, target, sizeof(target) - 1);
    /* A later run of the job may have the link by now. */
    if (n > 0 && strstr(target, id)) {
        (void)unlinkat(process->jobs_fd, job, 0);
    }
}

/* The run keeps its logs alone. */
static void remove_folders(struct process *process,
                           const struct process_kept *kept)
{
    char id[ID_TEXT_BYTES_MAX];
    int fd = process_run_dir(process, kept->run);

    process_output_keep(process, kept);
    process_discard_space(process, run_id_format(kept->run, id));
    if (fd >= 0) {
        (void)unlinkat(fd, RUN_SPACE_NAME, 0);
        close(fd);
    }
}

/* Whether one more may be measured in this step. */
static bool may_measure(const struct process *process)
{
    return process->measured_count < PROCESS_MEASURES_MAX &&
           process->visited_count < PROCESS_VISITED_MAX;
}

static void expire_folders(struct process *process, int64_t now_ms)
{
    const struct process_options *options = &process->options;

    for (; process->folder_first < process->kept.count;
         process->folder_first++) {
        const struct process_kept *oldest =
            &process->kept.items[process->folder_first];
        size_t count = process->kept.count - process->folder_first;
        if ((count <= options->folder_count_max &&
             !process_is_aged(now_ms, oldest->done_ms, options->folder_ms)) ||
            !may_measure(process)) {
            break;
        }
        remove_folders(process, oldest);
    }
}

static void expire_logs(struct process *process, int64_t now_ms)
{
    const struct process_options *options = &process->options;

    for (; process->kept_first < process->kept.count; process->kept_first++) {
        const struct process_kept *oldest =
            &process->kept.items[process->kept_first];
        size_t count = process->kept.count - process->kept_first;
        if (count <= options->keep_count_max &&
            process->kept_byte_count <= options->keep_byte_count_max &&
            !process_is_aged(now_ms, oldest->done_ms, options->keep_ms)) {
            break;
        }
        if (!may_measure(process)) {
            break; /* the folders are not removed yet */
        }
        process->kept_byte_count -= oldest->log_bytes;
        remove_kept(process, oldest);
    }
}

void process_expire(struct process *process)
{
    int64_t now_ms = process_expiry_ms(process);

    process->measured_count = 0;
    process->visited_count = 0;
    expire_logs(process, now_ms);
    if (process->folder_first < process->kept_first) {
        process->folder_first = process->kept_first;
    }
    expire_folders(process, now_ms);
    process_outputs_expire(process, now_ms);
    if (!may_measure(process)) {
        process->next_scan_ms = process_now_ms(process) + PROCESS_TRASH_MS;
    }
    if (process->kept_first > process->kept.count / 2) {
        process->kept.count -= process->kept_first;
        memmove(process->kept.items, process->kept.items + process->kept_first,
                process->kept.count * sizeof(*process->kept.items));
        process->folder_first -= process->kept_first;
        process->kept_first = 0;
    }
}
