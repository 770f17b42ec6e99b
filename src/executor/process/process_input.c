/* Puts the files that a job brings into the folder in which it starts, before
 * the job can enter it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/port/job_folders.h"
#include "executor/process/process_spec.h"
#include "wire/text/input_files.h"

/* Write one, which is the job's to change. */
static int write_file(struct process_job *job, int folder_fd,
                      const struct input_file *file, struct err *err)
{
    const char *slash = strrchr(file->path.p, '/');
    const char *name = slash ? slash + 1 : file->path.p;
    int counted = process_count_entry(job, err);
    if (counted < 0) {
        return counted;
    }
    int parent_fd = process_make_dirs(job, folder_fd, file->path.p,
                                      (size_t)(name - file->path.p), err);
    if (parent_fd < 0) {
        return parent_fd;
    }
    int fd = openat(parent_fd, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool is_good =
        fd >= 0 &&
        write(fd, file->bytes.p, file->bytes.byte_count) ==
            (ssize_t)file->bytes.byte_count &&
        fchmod(fd, 0644) == 0 &&
        (job->uid < 0 || fchown(fd, (uid_t)job->uid, (gid_t)job->gid) == 0);
    int rc = is_good ? 0
                     : err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                               "input file %.200s: %s", file->path.p,
                               strerror(errno));
    if (fd >= 0) {
        close(fd);
    }
    close(parent_fd);
    return rc;
}

int process_input_make(struct process_job *job, struct err *err)
{
    const char *text = input_files_of(job->run);
    struct input_file *files;

    if (!text) {
        return 0;
    }
    /* The server has checked it, but not every server does. */
    int count = input_files_read(str_of(text), job->arena, &files, err);
    if (count < 0) {
        return -ERR_INVALID;
    }
    int fd = file_open_below(job->place->space_fd, RUN_WORK_NAME,
                             O_RDONLY | O_DIRECTORY);
    int rc = fd < 0 ? err_set(err, -ERR_IO, "open the run's folder: %s",
                              strerror(errno))
                    : 0;
    for (int i = 0; i < count && rc == 0; i++) {
        rc = write_file(job, fd, &files[i], err);
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}
