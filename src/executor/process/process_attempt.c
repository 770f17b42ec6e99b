/* Refuses a pod whose creation has crashed the executor. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/files/file.h"
#include "executor/process/process_private.h"

enum { ATTEMPT_KEEP_MS = 24 * 3600 * 1000 };

/* A job's record has a byte for each attempt that did not come to its end.  It
 * is not synced: it has to outlive this process, not the machine. */
int process_attempt_begin(struct process *process, struct job_id job,
                          struct err *err)
{
    char name[ID_TEXT_BYTES_MAX];
    struct stat st;
    int fd =
        openat(process->attempts_fd, job_id_format(job, name),
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0 || fstat(fd, &st) < 0) {
        int rc = err_set(err, errno == ENOSPC ? -ERR_FULL : -ERR_IO,
                         "note the attempt: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return rc;
    }
    if (st.st_size >= PROCESS_ATTEMPTS_MAX) {
        close(fd);
        return err_set(err, -ERR_INVALID,
                       "creating this job's pod has crashed the executor %d "
                       "times, so it is not tried again",
                       PROCESS_ATTEMPTS_MAX);
    }
    /* Without room for the byte the attempt is not counted, and goes on. */
    (void)!write(fd, "x", 1);
    close(fd);
    return 0;
}

void process_attempt_end(struct process *process, struct job_id job)
{
    char name[ID_TEXT_BYTES_MAX];

    (void)unlinkat(process->attempts_fd, job_id_format(job, name), 0);
}

void process_sweep_attempts(struct process *process)
{
    DIR *dir = file_list(process->attempts_fd);

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat st;
        if (entry->d_name[0] != '.' &&
            fstatat(process->attempts_fd, entry->d_name, &st,
                    AT_SYMLINK_NOFOLLOW) == 0 &&
            process_wall_ms(process) - (int64_t)st.st_mtime * 1000 >
                ATTEMPT_KEEP_MS) {
            (void)unlinkat(process->attempts_fd, entry->d_name, 0);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
