/* Lists and reads the files of a job's folder, which the job may be changing.
 *
 * The folder is ours, in a directory that only we may change; below it nothing
 * is followed, and files are opened and looked at as the user who owns the
 * folder: a hard link to a file that only we may read is closed to us, too. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/api.pb-c.h"
#include "executor/files/file.h"
#include "executor/files/run_file.h"
#include "executor/process/process_as.h"
#include "executor/process/process_private.h"
#include "executor/process/process_walk.h"
#include "wire/message/message.h"
#include "wire/text/inner_path.h"
#include "wire/text/utf8.h"

enum { EXECUTE_BITS = 0111 };

/* Why the run's folder for results is gone, as it was written down. */
static bool find_reason(int run_fd, struct strbuf *reason)
{
    struct err err;

    return file_read(run_fd, RUN_OUTPUT_GONE_NAME, reason, &err) == 0;
}

/* What a run has: its folder for results, if there is one, else that in which
 * it works.  -1: neither, or not any more. */
static int open_space_folder(int run_fd)
{
    const int flags = O_RDONLY | O_DIRECTORY;
    /* A link of ours to a directory of ours, in directories of ours. */
    int space_fd =
        openat(run_fd, RUN_SPACE_NAME, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (space_fd < 0) {
        return -1;
    }
    int fd = file_open_below(space_fd, RUN_OUTPUT_NAME, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = file_open_below(space_fd, RUN_WORK_NAME, flags);
    }
    close(space_fd);
    return fd;
}

/* The folder of a job's latest run, which is gone after a while. */
static int open_run_folder(const char *data_dir, struct job_id job,
                           struct err *err)
{
    auto_strbuf reason = strbuf_make(ERR_TEXT_BYTES_MAX);
    char id[ID_TEXT_BYTES_MAX];
    int run_fd = process_open_job(data_dir, job, "files", err);

    if (run_fd < 0) {
        return run_fd;
    }
    bool is_gone = find_reason(run_fd, &reason);
    int fd = is_gone ? -1 : open_space_folder(run_fd);
    close(run_fd);
    return fd >= 0 ? fd
                   : err_set(err, -ERR_NOT_FOUND,
                             is_gone ? "the files of job %s were removed: %s"
                                     : "the folder of job %s was removed after "
                                       "its end, %s; files at its outputPath "
                                       "would have been kept",
                             job_id_format(job, id),
                             is_gone ? strbuf_text(&reason)
                                     : "by executor.process.retention.folders "
                                       "or maxFolders");
}

/* What is there now, else what is kept. */
static int open_folder(const char *data_dir, struct job_id job, struct err *err)
{
    int fd = open_run_folder(data_dir, job, err);
    int kept_fd = fd < 0 ? process_output_open(data_dir, job) : -1;

    return kept_fd >= 0 ? kept_fd : fd;
}

static int fail(struct str path, struct err *err)
{
    int error = errno;

    return err_set(err,
                   error == ENOENT || error == ENOTDIR || error == ELOOP ||
                           error == EACCES || error == ENXIO
                       ? -ERR_NOT_FOUND
                       : -ERR_IO,
                   "%.*s: %s",
                   (int)(path.byte_count < 300 ? path.byte_count : 300), path.p,
                   error == ELOOP    ? "links are not followed"
                   : error == EACCES ? "the job's user may not read it"
                                     : strerror(error));
}

static int refuse_special(struct str path, struct err *err)
{
    return err_set(err, -ERR_INVALID, "%.300s: not a regular file", path.p);
}

/* Listing. */

struct listing {
    struct arena arena;
    VEC(Berth__Api__JobFile *) files;
    size_t name_bytes;
    int64_t passed_over;
};

static void add_file(struct listing *listing, struct str path,
                     const struct stat *st)
{
    Berth__Api__JobFile *file =
        wire_new(&berth__api__job_file__descriptor, &listing->arena);

    file->path = arena_strdup(&listing->arena, path);
    file->folder = S_ISDIR(st->st_mode);
    file->byte_count = S_ISDIR(st->st_mode) ? 0 : st->st_size;
    file->executable = !file->folder && (st->st_mode & EXECUTE_BITS) != 0;
    file->modified =
        wire_new(&google__protobuf__timestamp__descriptor, &listing->arena);
    file->modified->seconds = st->st_mtim.tv_sec;
    file->modified->nanos = (int32_t)st->st_mtim.tv_nsec;
    listing->name_bytes += path.byte_count;
    VEC_PUSH(&listing->files, file);
}

static bool on_file(void *ctx, struct str path, const struct stat *st)
{
    struct listing *listing = ctx;

    if (listing->files.count >= RUNTIME_FILES_MAX ||
        listing->name_bytes + path.byte_count > RUNTIME_FILE_NAMES_BYTES_MAX) {
        return false;
    }
    if ((S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)) && utf8_is_text(path)) {
        add_file(listing, path, st);
    } else {
        listing->passed_over++;
    }
    return true;
}

static int compare_paths(const void *a, const void *b)
{
    const Berth__Api__JobFile *const *left = a, *const *right = b;

    return strcmp((*left)->path, (*right)->path);
}

static void put_list(struct listing *listing,
                     const struct process_walk_rest *rest, struct strbuf *buf)
{
    Berth__Api__ListJobFilesResponse message =
        BERTH__API__LIST_JOB_FILES_RESPONSE__INIT;

    if (listing->files.count > 0) {
        qsort(listing->files.items, listing->files.count,
              sizeof(*listing->files.items), compare_paths);
    }
    message.files = listing->files.items;
    message.n_files = listing->files.count;
    message.cut = rest->is_cut;
    message.passed_over = listing->passed_over + rest->closed_count +
                          rest->deep_count + rest->long_count;
    wire_encode(&message.base, buf);
}

/* The walk below a directory at `path`, or the file that is there. */
static int list_at(int fd, struct str path, const struct clock *clock,
                   const struct stat *st, struct strbuf *buf, struct err *err)
{
    struct listing listing = {.passed_over = 0};
    struct process_walk_rest rest = {0};
    auto_strbuf prefix = {0};

    if (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode)) {
        return refuse_special(path, err);
    }
    if (S_ISDIR(st->st_mode)) {
        if (path.byte_count > 0) {
            strbuf_addf(&prefix, "%.*s/", STR_ARG(path));
        }
        process_walk(fd, strbuf_str(&prefix), clock, on_file, &listing, &rest);
    } else {
        (void)on_file(&listing, path, st);
    }
    put_list(&listing, &rest, buf);
    VEC_FREE(&listing.files);
    arena_fini(&listing.arena);
    return 0;
}

/* Reading. */

static int read_at(int fd, const struct runtime_files_query *query,
                   const struct stat *st, struct strbuf *buf, struct err *err)
{
    Berth__Api__ReadJobFileResponse message =
        BERTH__API__READ_JOB_FILE_RESPONSE__INIT;
    auto_strbuf bytes = {0};

    if (!S_ISREG(st->st_mode)) {
        return refuse_special(query->path, err);
    }
    if (query->file_id != 0 && query->file_id != st->st_ino) {
        return err_set(err, -ERR_CONFLICT,
                       "%.300s: it was replaced while it was read",
                       query->path.p);
    }
    size_t wanted =
        query->offset < st->st_size ? (size_t)query->byte_count_max : 0;
    char *room = strbuf_reserve(&bytes, wanted + 1);
    ssize_t count = 0;
    while (wanted > 0 && (count = pread(fd, room, wanted, query->offset)) < 0 &&
           errno == EINTR) {
    }
    if (count < 0) {
        return fail(query->path, err);
    }
    message.bytes.data = (uint8_t *)room;
    message.bytes.len = (size_t)count;
    message.byte_count = st->st_size;
    message.file_id = st->st_ino;
    wire_encode(&message.base, buf);
    return 0;
}

/* Open what is asked for, without waiting for anybody, and answer. */
static int answer_in(int folder_fd, const struct clock *clock,
                     const struct runtime_files_query *query,
                     struct strbuf *buf, struct err *err)
{
    const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
    struct stat st;
    int fd = query->path.byte_count == 0
                 ? openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                 : file_open_below(folder_fd, query->path.p, flags);

    if (fd < 0 || fstat(fd, &st) < 0) {
        int rc = fail(query->path, err);
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    int rc = query->is_read ? read_at(fd, query, &st, buf, err)
                            : list_at(fd, query->path, clock, &st, buf, err);
    close(fd);
    return rc;
}

/* As the user who owns the folder, whom the job cannot change. */
static int answer_as_owner(int folder_fd, const struct clock *clock,
                           const struct runtime_files_query *query,
                           struct strbuf *buf, struct err *err)
{
    struct process_as as;
    struct stat st;

    if (fstat(folder_fd, &st) < 0 ||
        process_as_begin(&as, geteuid() == 0 ? (int64_t)st.st_uid : -1,
                         (int64_t)st.st_gid) < 0) {
        return err_set(err, -ERR_IO, "look at the files as their user: %s",
                       strerror(errno));
    }
    int rc = answer_in(folder_fd, clock, query, buf, err);
    process_as_end(&as);
    return rc;
}

int process_files(const char *data_dir, const struct clock *clock,
                  const struct runtime_files_query *query, struct strbuf *buf,
                  struct err *err)
{
    auto_strbuf path = {0};
    struct runtime_files_query own = *query;

    ASSERT(!query->is_read ||
           (query->offset >= 0 && query->byte_count_max > 0));
    if (query->path.byte_count > 0 || query->is_read) {
        if (!inner_path_is_good(query->path)) {
            return err_set(err, -ERR_INVALID, "the path of a file must be %s",
                           INNER_PATH_RULE);
        }
        strbuf_add_str(&path, query->path); /* terminated */
        own.path = strbuf_str(&path);
    }
    int fd = open_folder(data_dir, query->job, err);
    if (fd < 0) {
        return fd;
    }
    int rc = answer_as_owner(fd, clock, &own, buf, err);
    close(fd);
    return rc;
}
