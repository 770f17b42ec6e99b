#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "executor/files/file.h"
#include "executor/process/process_private.h"

enum { MEMBER_BYTES_MAX = 128, GANG_MEMBERS_MAX = 65536 };

static const char forgotten_name[] = "forgotten";
static const char members_name[] = "members";

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
                     struct job_id job, const struct str texts[5])
{
    uint32_t index = SLOTS_TAKE(&process->pods);
    struct process_pod pod = {
        .run = run, .job = job, .pidfd = -1, .is_used = true};
    struct str *const into[5] = {&pod.queue, &pod.job_set, &pod.namespace_,
                                 &pod.node_name, &pod.gang_dir};
    size_t byte_count = 1;

    for (int i = 0; i < 5; i++) {
        byte_count += texts[i].byte_count + 1;
    }
    char *p = pod.texts = mem_alloc(byte_count);
    for (int i = 0; i < 5; i++) {
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

void process_keep(struct process *process, uint32_t index, int64_t done_ms)
{
    const struct process_pod *pod = &process->pods.items[index];

    VEC_PUSH(&process->kept,
             (struct process_kept){pod->run, pod->job, done_ms});
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
    file_remove_tree(process->runs_fd, id);
    job_id_format(kept->job, job);
    ssize_t n = readlinkat(process->jobs_fd, job, target, sizeof(target) - 1);
    /* A later run of the job may have the link by now. */
    if (n > 0 && strstr(target, id)) {
        (void)unlinkat(process->jobs_fd, job, 0);
    }
}

void process_expire(struct process *process)
{
    int64_t now = process_wall_ms(process);

    while (process->kept_first < process->kept.count) {
        const struct process_kept *oldest =
            &process->kept.items[process->kept_first];
        size_t count = process->kept.count - process->kept_first;
        if (count <= process->options.keep_count_max &&
            now - oldest->done_ms < process->options.keep_ms) {
            break;
        }
        remove_kept(process, oldest);
        process->kept_first++;
    }
    if (process->kept_first > process->kept.count / 2) {
        process->kept.count -= process->kept_first;
        memmove(process->kept.items, process->kept.items + process->kept_first,
                process->kept.count * sizeof(*process->kept.items));
        process->kept_first = 0;
    }
}

/* Gangs. */

/* The member's file holds "<job> <run> <host>\n". */
static bool is_member(int members_fd, int index, const char *job)
{
    char name[16], text[MEMBER_BYTES_MAX] = "";

    snprintf(name, sizeof(name), "%d", index);
    int fd = openat(members_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    return got >= JOB_ID_TEXT_BYTES &&
           memcmp(text, job, JOB_ID_TEXT_BYTES) == 0;
}

/* Take the first free place, or the one that the job's last run had. */
static int take_place(struct process *process, int members_fd, int place_max,
                      const struct runtime_run *run)
{
    char job[ID_TEXT_BYTES_MAX], id[ID_TEXT_BYTES_MAX];
    int index = -1;

    job_id_format(run->job, job);
    for (int i = 0; index < 0 && i < place_max; i++) {
        index = is_member(members_fd, i, job) ? i : -1;
    }
    for (int i = 0; index < 0 && i < place_max; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        index = faccessat(members_fd, name, F_OK, 0) < 0 ? i : -1;
    }
    if (index >= 0) {
        char name[16], text[MEMBER_BYTES_MAX];
        struct err err;
        int n = snprintf(text, sizeof(text), "%s %s %.40s\n", job,
                         run_id_format(run->run, id), process->node.name.p);
        snprintf(name, sizeof(name), "%d", index);
        (void)!file_replace(members_fd, name, str_make(text, (size_t)n), 0644,
                            &err);
    }
    return index;
}

/* Make or find the directory of that name; the caller closes it. */
static int open_gang(const struct process *process, const char *name,
                     struct err *err)
{
    if (mkdirat(process->gangs_fd, name, 0755) < 0 && errno != EEXIST) {
        return err_set(err, -ERR_IO, "make the gang's directory: %s",
                       strerror(errno));
    }
    int fd = openat(process->gangs_fd, name,
                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return err_set(err, -ERR_IO, "open the gang's directory: %s",
                       strerror(errno));
    }
    return fd;
}

/* A place among the members, in the gang's directory; -1: there is none. */
static int join_members(struct process *process, int gang_fd,
                        const struct runtime_run *run)
{
    const char *cardinality =
        process_annotation(run, "armadaproject.io/gangCardinality");
    int count = cardinality ? (int)strtol(cardinality, NULL, 10) : 0;
    int index = -1;

    (void)mkdirat(gang_fd, members_name, 0755);
    int members_fd = openat(gang_fd, members_name,
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (members_fd >= 0) {
        index = take_place(process, members_fd,
                           count > GANG_MEMBERS_MAX ? GANG_MEMBERS_MAX : count,
                           run);
        close(members_fd);
    }
    return index;
}

int process_gang_join(struct process *process, const struct runtime_run *run,
                      char *ret_dir, int *ret_index, struct err *err)
{
    struct str gang = process_gang_id(run);
    char name[32];

    ret_dir[0] = '\0';
    *ret_index = -1;
    if (gang.byte_count == 0) {
        return 0;
    }
    uint64_t hash = hash_bytes(run->queue.p, run->queue.byte_count, 7);
    snprintf(name, sizeof(name), "%016" PRIx64,
             hash_bytes(gang.p, gang.byte_count, hash));
    int fd = open_gang(process, name, err);
    if (fd < 0) {
        return fd;
    }
    /* Members may run as different users; none may undo another's files. */
    (void)!fchmod(fd, 01777);
    *ret_index = join_members(process, fd, run);
    close(fd);
    snprintf(ret_dir, PROCESS_PATH_BYTES_MAX, "%.900s/gangs/%s",
             process->data_dir, name);
    return 0;
}

void process_gang_leave(struct process *process, const char *dir,
                        struct run_id run)
{
    if (!*dir) {
        return;
    }
    for (size_t i = 0; i < process->pods.count; i++) {
        const struct process_pod *pod = &process->pods.items[i];
        if (pod->is_used && key128_compare(pod->run.v, run.v) != 0 &&
            strcmp(pod->gang_dir.p, dir) == 0) {
            return;
        }
    }
    file_remove_tree(process->gangs_fd, strrchr(dir, '/') + 1);
}
