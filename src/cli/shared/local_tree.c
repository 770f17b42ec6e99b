#include "cli/shared/local_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wire/text/inner_path.h"

static int fail(const char *path, struct err *err)
{
    return err_set(err, -ERR_IO, "%.300s: %s", path, strerror(errno));
}

/* A folder in another one, made if it is not there. */
static int enter(int folder_fd, const char *name)
{
    if (mkdirat(folder_fd, name, 0777) < 0 && errno != EEXIST) {
        return -1;
    }
    return openat(folder_fd, name,
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The folder of the first `byte_count` bytes of a path. */
static int enter_all(int folder_fd, const char *path, size_t byte_count,
                     struct err *err)
{
    char name[INNER_PATH_NAME_BYTES_MAX + 1];
    int fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0);

    for (size_t at = 0; fd >= 0 && at < byte_count;) {
        size_t n = strcspn(path + at, "/");
        (void)snprintf(name, sizeof(name), "%.*s", (int)n, path + at);
        int next = enter(fd, name);
        int error = errno;
        close(fd);
        errno = error;
        fd = next;
        at += n + 1;
    }
    return fd < 0 ? fail(path, err) : fd;
}

static int check(const char *path, struct err *err)
{
    return inner_path_is_good(str_of(path))
               ? 0
               : err_set(err, -ERR_INVALID,
                         "\"%.300s\" leads out of the folder, or is no path",
                         path);
}

int local_tree_make(int folder_fd, const char *path, struct err *err)
{
    int rc = check(path, err);

    if (rc < 0) {
        return rc;
    }
    int fd = enter_all(folder_fd, path, strlen(path), err);
    if (fd >= 0) {
        close(fd);
    }
    return fd < 0 ? fd : 0;
}

int local_tree_begin(int folder_fd, const char *path, bool is_executable,
                     struct local_file *ret_file, struct err *err)
{
    struct local_file *file = ret_file;
    int rc = check(path, err);

    if (rc < 0) {
        return rc;
    }
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    file->folder_fd =
        enter_all(folder_fd, path, slash ? (size_t)(slash - path) : 0, err);
    if (file->folder_fd < 0) {
        return file->folder_fd;
    }
    (void)snprintf(file->name, sizeof(file->name), "%s", name);
    (void)snprintf(file->temporary, sizeof(file->temporary), ".berthctl-%ld",
                   (long)getpid());
    (void)unlinkat(file->folder_fd, file->temporary, 0);
    file->fd = openat(file->folder_fd, file->temporary,
                      O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                      is_executable ? 0777 : 0666);
    if (file->fd < 0) {
        rc = fail(path, err);
        close(file->folder_fd);
    }
    return rc;
}

int local_tree_end(struct local_file *file, bool is_good, struct err *err)
{
    int rc = close(file->fd) < 0 && is_good ? fail(file->name, err) : 0;

    if (rc == 0 && is_good &&
        renameat(file->folder_fd, file->temporary, file->folder_fd,
                 file->name) < 0) {
        rc = fail(file->name, err);
    }
    if (rc < 0 || !is_good) {
        (void)unlinkat(file->folder_fd, file->temporary, 0);
    }
    close(file->folder_fd);
    return rc;
}
