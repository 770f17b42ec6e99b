/* Adopts pods of an earlier executor process, or reports how they ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/attempt.h"
#include "executor/files/file.h"
#include "executor/files/run_mark.h"
#include "executor/process/process_private.h"

enum { LINE_BYTES = RUN_ID_TEXT_BYTES + 1 };

/* The id that a line ends with: before it may stand what a full disk or the
 * loss of power left of another. */
static void take_forgotten(struct process *process, struct str line)
{
    struct run_id run;

    if (line.byte_count >= RUN_ID_TEXT_BYTES &&
        run_id_parse(str_make(line.p + line.byte_count - RUN_ID_TEXT_BYTES,
                              RUN_ID_TEXT_BYTES),
                     &run) == 0) {
        VEC_PUSH(&process->forgotten, run);
    }
}

/* The last ids of the file; a file that has grown too long is cut to them. */
static void read_forgotten(struct process *process)
{
    auto_strbuf text = strbuf_make(64 << 20);
    size_t keep = (size_t)PROCESS_FORGOTTEN_MAX * LINE_BYTES;
    struct err err;

    if (file_read(process->data_fd, "forgotten", &text, &err) < 0) {
        return;
    }
    struct str kept = strbuf_str(&text);
    if (kept.byte_count > keep) {
        kept = str_make(kept.p + kept.byte_count - keep, keep);
        (void)!file_replace(process->data_fd, "forgotten", kept, 0600, &err);
    }
    for (size_t at = 0, end = 0; end < kept.byte_count; end++) {
        if (kept.p[end] == '\n') {
            take_forgotten(process, str_make(kept.p + at, end - at));
            at = end + 1;
        }
    }
}

static bool has_file(int dir_fd, const char *name, struct stat *ret_stat)
{
    return fstatat(dir_fd, name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
}

static enum reconcile_phase read_acked(int run_fd)
{
    int phase = run_acked_read(run_fd);

    return phase <= RECONCILE_LOST ? (enum reconcile_phase)phase
                                   : RECONCILE_NEVER;
}

/* Whether a container has begun: then it has a log. */
static bool has_begun(int run_fd)
{
    int fd = openat(run_fd, RUN_LOG_NAME,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : file_list(fd);
    bool is_any = false;

    for (struct dirent *entry; dir && !is_any && (entry = readdir(dir));) {
        is_any = entry->d_name[0] != '.';
    }
    if (dir) {
        closedir(dir);
    }
    if (fd >= 0) {
        close(fd);
    }
    return is_any;
}

/* A run of an earlier life: the table's pod for it is PENDING, and what has
 * happened since is seen by looking. */
static void adopt_pod(struct process *process, struct run_id run,
                      struct job_id job, const struct run_spec *spec,
                      int run_fd)
{
    struct stat st;
    struct err err;
    char name[ID_TEXT_BYTES_MAX + 16], id[ID_TEXT_BYTES_MAX];
    bool is_done = has_file(run_fd, RUN_DONE_NAME, &st);
    (void)snprintf(name, sizeof(name), "armada-%s-0", job_id_format(job, id));
    /* One that is done leaves its gang before those that run are taken up:
     * gangs without any are swept afterwards. */
    uint32_t index = process_add(
        process, run, job,
        (struct str[]){str_of(spec->queue), str_of(spec->job_set),
                       str_of(spec->namespace_), str_of(spec->node),
                       str_of(spec->gang_id),
                       str_of(is_done ? "" : spec->gang_dir),
                       str_of(*spec->pod_name ? spec->pod_name : name)});
    struct process_pod *pod = &process->pods.items[index];

    pod->phase = RECONCILE_PENDING;
    pod->acked = read_acked(run_fd);
    pod->devices = process_devices_parse(&process->devices, spec->devices);
    if (is_done) {
        /* Pods that were done with in the same second keep their order. */
        process_keep(process, index,
                     (int64_t)st.st_mtim.tv_sec * 1000 +
                         st.st_mtim.tv_nsec / 1000000);
        return;
    }
    if (!has_file(run_fd, RUN_STATE_NAME, &st) && !has_begun(run_fd) &&
        !process_is_locked(process, run)) {
        /* Written, but no shim has begun: begin now.  When that fails, the
         * run is seen as lost. */
        (void)!process_start(process, index, run_fd, &err);
    }
    process_refresh(process, index);
}

static void adopt_dir(struct process *process, const char *name)
{
    struct run_spec spec;
    struct run_id run;
    struct job_id job;
    struct err err;

    if (run_id_parse(str_of(name), &run) < 0) {
        return;
    }
    int fd = process_run_dir(process, run);
    int rc = fd < 0 ? -ERR_IO : run_spec_read(fd, &spec, &err);
    if (rc == 0) {
        rc = job_id_parse(str_of(spec.job_id), &job);
        if (rc == 0) {
            adopt_pod(process, run, job, &spec, fd);
        }
        run_spec_fini(&spec);
    }
    /* Without a spec nothing can have started in it.  Where it was lost or is
     * damaged, nobody can say any more what runs: that ends, and the directory
     * stays, so that the run does not start again. */
    bool is_new = rc == -ERR_NOT_FOUND && !has_begun(fd);
    if (fd >= 0) {
        close(fd);
    }
    if (is_new) {
        process_discard_run(process, name);
    } else if (rc == -ERR_CORRUPT || rc == -ERR_LIMIT || rc == -ERR_NOT_FOUND) {
        process_kill_run(process, run);
    }
}

static int compare_kept(const void *a, const void *b)
{
    const struct process_kept *left = a, *right = b;

    if (left->done_ms != right->done_ms) {
        return left->done_ms < right->done_ms ? -1 : 1;
    }
    return key128_compare(left->run.v, right->run.v);
}

static int adopt_all(struct process *process, struct err *err)
{
    DIR *dir = file_list(process->runs_fd);

    if (!dir) {
        return err_set(err, -ERR_IO, "%s/runs: %s", process->data_dir,
                       strerror(errno));
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') {
            adopt_dir(process, entry->d_name);
        }
    }
    closedir(dir);
    if (process->kept.count > 0) {
        qsort(process->kept.items, process->kept.count,
              sizeof(*process->kept.items), compare_kept);
    }
    change_queue_fini(&process->changes); /* list() tells where each is */
    return 0;
}

/* Gangs whose members are all gone. */
static void sweep_gangs(struct process *process)
{
    DIR *dir = file_list(process->gangs_fd);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (entry->d_name[0] != '.') {
            char path[PROCESS_PATH_BYTES_MAX];
            snprintf(path, sizeof(path), "%.700s/gangs/%.255s",
                     process->data_dir, entry->d_name);
            process_gang_leave(process, path, (struct run_id){{0, 0}});
        }
    }
    if (dir) {
        closedir(dir);
    }
}

int process_adopt(struct process *process, struct err *err)
{
    read_forgotten(process);
    int rc = adopt_all(process, err);
    if (rc == 0) {
        process_outputs_adopt(process);
        process_time_begin(process);
        sweep_gangs(process);
        process_sweep_spaces(process);
        attempt_sweep(process->attempts_fd, process_wall_ms(process));
    }
    return rc;
}
