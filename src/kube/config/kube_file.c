#include "kube/config/kube_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BYTES = 16 << 10 };

static int read_all(int fd, const char *path, struct strbuf *buf,
                    struct err *err)
{
    char bytes[READ_BYTES];
    ssize_t got;

    while ((got = read(fd, bytes, sizeof(bytes))) > 0) {
        strbuf_add(buf, bytes, (size_t)got);
        if (buf->is_over) {
            return err_set(err, -ERR_LIMIT, "%s: larger than %zu bytes", path,
                           buf->byte_count_max);
        }
    }
    return got == 0 ? 0
                    : err_set(err, -ERR_IO, "%s: %s", path, strerror(errno));
}

/* Of what is no plain file the owner has other ways to keep others out. */
static bool is_open_to_all(int fd)
{
    struct stat about;

    return fstat(fd, &about) < 0 ||
           (S_ISREG(about.st_mode) && (about.st_mode & (S_IROTH | S_IWOTH)));
}

int kube_file_look(const char *path, struct strbuf *buf, bool *ret_is_public,
                   struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return err_set(err, errno == ENOENT ? -ERR_NOT_FOUND : -ERR_IO,
                       "%s: %s", path, strerror(errno));
    }
    *ret_is_public = is_open_to_all(fd);
    int rc = read_all(fd, path, buf, err);
    close(fd);
    return rc;
}

int kube_file_read(const char *path, struct strbuf *buf, struct err *err)
{
    bool is_public;

    return kube_file_look(path, buf, &is_public, err);
}

int kube_file_refuse(const char *path, struct err *err)
{
    return err_set(err, -ERR_INVALID,
                   "others can read %s, which holds a secret; give it mode "
                   "0600 (chmod 600) or 0640",
                   path);
}

int kube_file_read_secret(const char *path, struct strbuf *buf, struct err *err)
{
    bool is_public;
    int rc = kube_file_look(path, buf, &is_public, err);

    if (rc == 0 && is_public) {
        strbuf_clear(buf);
        rc = kube_file_refuse(path, err);
    }
    return rc;
}
