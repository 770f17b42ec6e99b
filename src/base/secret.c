#include "base/secret.h"

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
static bool is_public(const struct stat *about)
{
    return S_ISREG(about->st_mode) && (about->st_mode & (S_IROTH | S_IWOTH));
}

int secret_look(const char *path, struct strbuf *buf, bool *ret_is_public,
                struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;

    if (fd < 0) {
        return err_set(err, errno == ENOENT ? -ERR_NOT_FOUND : -ERR_IO,
                       "%s: %s", path, strerror(errno));
    }
    *ret_is_public = fstat(fd, &about) < 0 || is_public(&about);
    int rc = read_all(fd, path, buf, err);
    close(fd);
    return rc;
}

int secret_refuse(const char *path, struct err *err)
{
    return err_set(
        err, -ERR_INVALID,
        "others can read or write %s, which holds a secret; give it mode "
        "0600 (chmod 600) or 0640",
        path);
}

int secret_read(const char *path, struct strbuf *buf, struct err *err)
{
    bool is_known_to_all;
    int rc = secret_look(path, buf, &is_known_to_all, err);

    if (rc == 0 && is_known_to_all) {
        strbuf_clear(buf);
        rc = secret_refuse(path, err);
    }
    return rc;
}

int secret_check(const char *path, struct err *err)
{
    struct stat about;

    return stat(path, &about) == 0 && is_public(&about)
               ? secret_refuse(path, err)
               : 0;
}
