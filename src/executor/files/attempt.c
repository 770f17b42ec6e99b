#include "executor/files/attempt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"

enum { ATTEMPT_KEEP_MS = 24 * 3600 * 1000 };

/* A job's record has a byte for each attempt that did not come to its end.  It
 * is not synced: it has to outlive this process, not the machine. */
int attempt_begin(int dir_fd, struct job_id job, struct err *err)
{
    char name[ID_TEXT_BYTES_MAX];
    struct stat st;
    int fd =
        openat(dir_fd, job_id_format(job, name),
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 || fstat(fd, &st) < 0) {
        int rc = err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                         "note the attempt: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    if (st.st_size >= ATTEMPTS_MAX) {
        close(fd);
        return err_set(err, -ERR_INVALID,
                       "creating this job's pod has crashed the executor %d "
                       "times, so it is not tried again",
                       ATTEMPTS_MAX);
    }
    /* Without room for the byte the attempt is not counted, and goes on. */
    (void)!write(fd, "x", 1);
    close(fd);
    return 0;
}

void attempt_end(int dir_fd, struct job_id job)
{
    char name[ID_TEXT_BYTES_MAX];

    (void)unlinkat(dir_fd, job_id_format(job, name), 0);
}

void attempt_sweep(int dir_fd, int64_t now_ms)
{
    DIR *dir = file_list(dir_fd);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (entry->d_name[0] != '.' &&
            fstatat(dir_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            now_ms - (int64_t)st.st_mtime * 1000 > ATTEMPT_KEEP_MS) {
            (void)unlinkat(dir_fd, entry->d_name, 0);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
