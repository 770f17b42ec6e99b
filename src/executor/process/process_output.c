/* Keeps what jobs leave at their outputPath.
 *
 * While a run has its folders, it has this one among them.  When they are
 * removed, it is moved to <data>/outputs/<job>/files, beside `about`, which
 * says of which run it is, since when it is kept, and how much it is.  A folder
 * is measured once, when nothing of the job runs any more. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/files/kv.h"
#include "executor/files/run_file.h"
#include "executor/port/job_folders.h"
#include "executor/process/process_private.h"
#include "executor/process/process_walk.h"

enum { ABOUT_BYTES_MAX = 4096, BLOCK_BYTES = 512, NAME_BYTES = 128 };

static const char about_name[] = "about", files_name[] = "files";

/* Making. */

int process_output_make(struct process_job *job, struct err *err)
{
    const char *path = output_path_of(job->run);

    if (!path) {
        return 0;
    }
    /* The server has checked it, but not every server does. */
    if (!process_is_mount_path(path)) {
        return err_set(err, -ERR_INVALID,
                       "outputPath \"%.200s\" must be an absolute path below "
                       "/, without .. and colons, of less than %d bytes",
                       path, PROCESS_PATH_BYTES_MAX);
    }
    int fd = process_make_dirs(job, job->place->space_fd, RUN_OUTPUT_NAME,
                               strlen(RUN_OUTPUT_NAME), err);
    if (fd >= 0) {
        close(fd);
        job->output_path = path;
    }
    return fd < 0 ? fd : 0;
}

/* Keeping. */

static bool add_bytes(void *ctx, struct str path, const struct stat *st)
{
    int64_t *byte_count = ctx;

    (void)path;
    *byte_count += (int64_t)st->st_blocks * BLOCK_BYTES;
    return true;
}

/* How much there is; false, with a reason, if it is more than is kept. */
static bool measure(struct process *process, int fd, int64_t *ret_byte_count,
                    struct strbuf *reason)
{
    int64_t byte_count_max = process->options.output_byte_count_max;
    struct process_walk_rest rest;

    *ret_byte_count = 0;
    process_walk(fd, STR(""), NULL, add_bytes, ret_byte_count, &rest);
    process->measured_count++;
    process->visited_count += rest.visit_count;
    if (rest.visit_count == 0 && rest.closed_count == 0) {
        strbuf_add_text(reason, "there were none");
    } else if (rest.is_cut) {
        strbuf_addf(reason, "there were more than %d of them",
                    PROCESS_WALK_VISITS_MAX);
    } else if (rest.deep_count + rest.long_count > 0) {
        strbuf_addf(reason, "they lay more than %d folders deep",
                    RUNTIME_FILE_DEPTH_MAX);
    } else if (rest.closed_count > 0) {
        strbuf_add_text(reason, "a folder among them could not be read");
    } else if (*ret_byte_count > byte_count_max) {
        strbuf_addf(reason,
                    "they had %" PRId64 " bytes, more than the %" PRId64
                    " of executor.process.retention.maxOutputBytesPerJob",
                    *ret_byte_count, byte_count_max);
    }
    return reason->byte_count == 0;
}

/* For who asks as long as the run has its logs. */
static void note_gone(const struct process *process, struct run_id run,
                      struct str reason)
{
    struct err err;
    int fd = process_run_dir(process, run);

    if (fd >= 0) {
        (void)!file_replace(fd, RUN_OUTPUT_GONE_NAME, reason, 0600, &err);
        close(fd);
    }
}

/* A former run's are replaced. */
static void forget_job(struct process *process, struct job_id job)
{
    size_t count = process->output_first;

    for (size_t i = process->output_first; i < process->outputs.count; i++) {
        const struct process_output *output = &process->outputs.items[i];
        if (key128_compare(output->job.v, job.v) == 0) {
            process->output_byte_count -= output->byte_count;
        } else {
            process->outputs.items[count++] = *output;
        }
    }
    process->outputs.count = count;
}

static int write_about(const struct process *process, int dir_fd,
                       const struct process_output *output, struct err *err)
{
    auto_strbuf about = strbuf_make(ABOUT_BYTES_MAX);
    char run[ID_TEXT_BYTES_MAX];

    kv_promise_seal(&about);
    kv_add_text(&about, "run_id", run_id_format(output->run, run));
    kv_add_int(&about, "done_ms", output->done_ms);
    kv_add_int(&about, "bytes", output->byte_count);
    kv_add(&about, "queue", intern_get(&process->queues, output->queue));
    kv_seal(&about);
    return file_replace(dir_fd, about_name, strbuf_str(&about), 0600, err);
}

/* Move the folder; what a crash leaves of that has no files, and goes. */
static int move(struct process *process, const char *space,
                const struct process_output *output, struct err *err)
{
    char from[NAME_BYTES], to[NAME_BYTES], job[ID_TEXT_BYTES_MAX];

    (void)snprintf(from, sizeof(from), "%s/%s", space, RUN_OUTPUT_NAME);
    job_id_format(output->job, job);
    process_discard(process, process->outputs_fd, job);
    forget_job(process, output->job);
    (void)snprintf(to, sizeof(to), "%s/%s", job, files_name);
    if (mkdirat(process->outputs_fd, job, 0700) < 0) {
        return err_set(err, -ERR_IO, "%s: cannot be made", job);
    }
    int fd = openat(process->outputs_fd, job,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc = fd < 0 ? err_set(err, -ERR_IO, "%s: cannot be opened", job)
                    : write_about(process, fd, output, err);
    if (fd >= 0) {
        close(fd);
    }
    return rc == 0 && renameat(process->spaces_fd, from, process->outputs_fd,
                               to) < 0
               ? err_set(err, -ERR_IO, "%s: cannot be moved", job)
               : rc;
}

/* Keep what was measured. */
static void keep(struct process *process, const char *space,
                 const struct process_output *output, struct strbuf *reason)
{
    struct err err;

    if (move(process, space, output, &err) < 0) {
        strbuf_addf(reason, "they could not be kept: %s", err.text);
        return;
    }
    VEC_PUSH(&process->outputs, *output);
    process->output_byte_count += output->byte_count;
}

void process_output_keep(struct process *process,
                         const struct process_kept *kept)
{
    struct process_output output = {.run = kept->run,
                                    .job = kept->job,
                                    .done_ms = kept->done_ms,
                                    .queue = kept->queue};
    char id[ID_TEXT_BYTES_MAX], space[PROCESS_RANDOM_NAME_BYTES];
    char path[NAME_BYTES];
    auto_strbuf reason = {0};

    if (!process_space_name(process, run_id_format(kept->run, id), space)) {
        return;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", space, RUN_OUTPUT_NAME);
    int fd = file_open_below(process->spaces_fd, path, O_RDONLY | O_DIRECTORY);
    if (fd < 0) {
        return;
    }
    if (measure(process, fd, &output.byte_count, &reason)) {
        keep(process, space, &output, &reason);
    }
    close(fd);
    if (reason.byte_count > 0) {
        note_gone(process, kept->run, strbuf_str(&reason));
    }
}

/* Removing. */

/* The oldest of the queue that has most: bytes, or jobs.  Of several such it is
 * the oldest, too. */
static size_t find_oldest_of_most(const struct process *process, bool is_bytes)
{
    VEC(int64_t) totals = {0};
    size_t worst = process->output_first;

    for (uint32_t i = 0; i < intern_count(&process->queues); i++) {
        VEC_PUSH(&totals, 0);
    }
    for (size_t i = worst; i < process->outputs.count; i++) {
        const struct process_output *output = &process->outputs.items[i];
        totals.items[output->queue] += is_bytes ? output->byte_count : 1;
    }
    for (size_t i = worst; i < process->outputs.count; i++) {
        if (totals.items[process->outputs.items[i].queue] >
            totals.items[process->outputs.items[worst].queue]) {
            worst = i;
        }
    }
    VEC_FREE(&totals);
    return worst;
}

/* By which key one goes, and which; or NULL. */
static const char *find_cause(const struct process *process, int64_t now_ms,
                              size_t *ret_index)
{
    const struct process_options *options = &process->options;
    size_t count = process->outputs.count - process->output_first;

    *ret_index = process->output_first;
    if (count == 0) {
        return NULL;
    }
    if (process_is_aged(now_ms, process->outputs.items[*ret_index].done_ms,
                        options->output_ms)) {
        return "outputs";
    }
    bool is_many = count > options->output_count_max;
    if (!is_many &&
        process->output_byte_count <= options->outputs_byte_count_max) {
        return NULL;
    }
    *ret_index = find_oldest_of_most(process, !is_many);
    return is_many ? "maxOutputs" : "maxOutputBytes";
}

static void remove_output(struct process *process, size_t index,
                          const char *cause)
{
    struct process_output *first =
        &process->outputs.items[process->output_first];
    const struct process_output output = process->outputs.items[index];
    char job[ID_TEXT_BYTES_MAX];
    auto_strbuf reason = {0};

    strbuf_addf(&reason, "by executor.process.retention.%s", cause);
    note_gone(process, output.run, strbuf_str(&reason));
    process_discard(process, process->outputs_fd,
                    job_id_format(output.job, job));
    process->output_byte_count -= output.byte_count;
    /* Those before it are the fewer, as a rule. */
    memmove(first + 1, first, (index - process->output_first) * sizeof(*first));
    process->output_first++;
}

void process_outputs_expire(struct process *process, int64_t now_ms)
{
    const char *cause;
    size_t index;

    while ((cause = find_cause(process, now_ms, &index))) {
        remove_output(process, index, cause);
    }
    if (process->output_first > process->outputs.count / 2) {
        process->outputs.count -= process->output_first;
        memmove(process->outputs.items,
                process->outputs.items + process->output_first,
                process->outputs.count * sizeof(*process->outputs.items));
        process->output_first = 0;
    }
}

/* A former life's. */

static int read_about(struct process *process, const char *job,
                      struct process_output *ret_output)
{
    auto_strbuf about = strbuf_make(ABOUT_BYTES_MAX);
    char path[NAME_BYTES];
    struct err err;

    (void)snprintf(path, sizeof(path), "%s/%s", job, about_name);
    int rc = job_id_parse(str_of(job), &ret_output->job) < 0
                 ? -ERR_CORRUPT
                 : file_read(process->outputs_fd, path, &about, &err);
    rc = rc < 0 ? rc : kv_check(strbuf_str(&about));
    struct kv_reader reader = {.rest = strbuf_str(&about)};
    int next = rc;
    while (rc == 0 && (next = kv_next(&reader)) == 1) {
        if (kv_is(&reader, "run_id")) {
            rc = run_id_parse(str_of(reader.value), &ret_output->run);
        } else if (kv_is(&reader, "done_ms")) {
            ret_output->done_ms = kv_int(&reader);
        } else if (kv_is(&reader, "bytes")) {
            ret_output->byte_count = kv_int(&reader);
        } else if (kv_is(&reader, "queue")) {
            ret_output->queue =
                intern_add(&process->queues, str_of(reader.value));
        }
    }
    return rc < 0 ? rc : next;
}

static int compare_outputs(const void *a, const void *b)
{
    const struct process_output *left = a, *right = b;

    if (left->done_ms != right->done_ms) {
        return left->done_ms < right->done_ms ? -1 : 1;
    }
    return key128_compare(left->run.v, right->run.v);
}

void process_outputs_adopt(struct process *process)
{
    DIR *dir = file_list(process->outputs_fd);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct process_output output = {
            .queue = intern_add(&process->queues, STR(""))};
        char path[NAME_BYTES * 4];
        struct stat st;
        if (entry->d_name[0] == '.') {
            continue;
        }
        (void)snprintf(path, sizeof(path), "%s/%s", entry->d_name, files_name);
        if (strlen(entry->d_name) >= ID_TEXT_BYTES_MAX ||
            read_about(process, entry->d_name, &output) < 0 ||
            fstatat(process->outputs_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
            process_discard(process, process->outputs_fd, entry->d_name);
            continue;
        }
        VEC_PUSH(&process->outputs, output);
        process->output_byte_count += output.byte_count;
    }
    if (dir) {
        closedir(dir);
    }
    if (process->outputs.count > 0) {
        qsort(process->outputs.items, process->outputs.count,
              sizeof(*process->outputs.items), compare_outputs);
    }
}

int process_output_open(const char *data_dir, struct job_id job)
{
    char path[PROCESS_PATH_BYTES_MAX], id[ID_TEXT_BYTES_MAX];

    (void)snprintf(path, sizeof(path), "%.900s/outputs/%s/%s", data_dir,
                   job_id_format(job, id), files_name);
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}
