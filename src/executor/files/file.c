#include "executor/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 128, READ_STEP_BYTES = 16384 };

static int error_of(int error)
{
    return error == ENOSPC || error == EDQUOT ? -ERR_FULL
           : error == ENOENT                  ? -ERR_NOT_FOUND
                                              : -ERR_IO;
}

static int write_all(int fd, struct str bytes)
{
    while (bytes.byte_count > 0) {
        ssize_t written = write(fd, bytes.p, bytes.byte_count);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            return error_of(errno);
        }
        bytes.p += written;
        bytes.byte_count -= (size_t)written;
    }
    return 0;
}

int file_replace(int dir_fd, const char *name, struct str bytes, mode_t mode,
                 struct err *err)
{
    char temporary[NAME_BYTES_MAX];
    int n = snprintf(temporary, sizeof(temporary), ".%s.new", name);
    ASSERT(n > 0 && n < NAME_BYTES_MAX);

    int fd =
        openat(dir_fd, temporary,
               O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) {
        return err_set(err, error_of(errno), "%s: %s", name, strerror(errno));
    }
    int rc = write_all(fd, bytes);
    if (rc == 0 && fsync(fd) < 0) {
        rc = error_of(errno);
    }
    close(fd);
    if (rc == 0 && renameat(dir_fd, temporary, dir_fd, name) < 0) {
        rc = error_of(errno);
    }
    if (rc < 0) {
        int error = errno;
        (void)unlinkat(dir_fd, temporary, 0);
        errno = error;
        return err_set(err, rc, "%s: %s", name, strerror(errno));
    }
    return 0;
}

int file_open(int dir_fd, const char *name, struct err *err)
{
    struct stat st;
    /* Without O_NONBLOCK a FIFO holds us until somebody writes to it. */
    int fd =
        openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        return err_set(err, error_of(errno), "%s: %s", name, strerror(errno));
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, -ERR_IO, "%s: not a regular file", name);
    }
    return fd;
}

/* Component by component, for kernels before 5.6. */
static int open_below_old(int dir_fd, const char *path, int flags)
{
    char name[NAME_MAX + 1];
    int fd = dup(dir_fd);

    for (const char *p = path; fd >= 0;) {
        size_t n = strcspn(p, "/");
        bool is_last = p[n] == '\0';
        if (n == 0 || n > NAME_MAX || (n == 2 && memcmp(p, "..", 2) == 0)) {
            close(fd);
            errno = EINVAL;
            return -1;
        }
        snprintf(name, sizeof(name), "%.*s", (int)n, p);
        int next = openat(fd, name,
                          (is_last ? flags : O_PATH | O_DIRECTORY) |
                              O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        close(fd);
        errno = error;
        fd = next;
        if (is_last) {
            break;
        }
        p += n + 1;
    }
    return fd;
}

DIR *file_list(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

    if (!dir && fd >= 0) {
        close(fd);
    }
    return dir;
}

int file_open_below(int dir_fd, const char *path, int flags)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
                                      RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

    /* EPERM: what a container's filter answers for what it does not know. */
    return fd < 0 && (errno == ENOSYS || errno == EPERM)
               ? open_below_old(dir_fd, path, flags)
               : fd;
}

int file_read(int dir_fd, const char *name, struct strbuf *buf, struct err *err)
{
    int fd = file_open(dir_fd, name, err);
    if (fd < 0) {
        return fd;
    }
    ssize_t got;
    do {
        char step[READ_STEP_BYTES];
        got = read(fd, step, sizeof(step));
        if (got > 0) {
            strbuf_add(buf, step, (size_t)got);
        }
    } while ((got > 0 && !buf->is_over) || (got < 0 && errno == EINTR));
    close(fd);
    if (got < 0) {
        return err_set(err, -ERR_IO, "%s: %s", name, strerror(errno));
    }
    return buf->is_over ? err_set(err, -ERR_LIMIT, "%s: too big", name) : 0;
}

int file_sync_dir(int dir_fd, struct err *err)
{
    return fsync(dir_fd) < 0 ? err_set(err, error_of(errno),
                                       "sync a directory: %s", strerror(errno))
                             : 0;
}

int file_poke(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        return error_of(errno);
    }
    ssize_t written = write(fd, text, strlen(text));
    int rc = written < 0 ? error_of(errno) : 0;
    close(fd);
    return rc;
}
