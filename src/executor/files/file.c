#include "executor/files/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES_MAX = 128, TREE_DEPTH_MAX = 64, READ_STEP_BYTES = 16384 };

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

int file_read(int dir_fd, const char *name, struct strbuf *buf, struct err *err)
{
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, error_of(errno), "%s: %s", name, strerror(errno));
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

static void remove_below(int dir_fd, const char *name, dev_t device, int depth)
{
    int fd =
        openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct stat st;
    DIR *dir = NULL;
    if (depth < TREE_DEPTH_MAX && fstat(fd, &st) == 0 && st.st_dev == device) {
        dir = fdopendir(fd);
    }
    if (!dir) {
        close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 ||
            strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(fd, entry->d_name, 0) < 0 && errno == EISDIR) {
            remove_below(fd, entry->d_name, device, depth + 1);
            (void)unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
    }
    closedir(dir);
}

void file_remove_tree(int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return;
    }
    if (!S_ISDIR(st.st_mode)) {
        (void)unlinkat(dir_fd, name, 0);
        return;
    }
    remove_below(dir_fd, name, st.st_dev, 0);
    (void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}
