#include "kube/config/kube_file.h"

#include <errno.h>
#include <fcntl.h>
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

int kube_file_read(const char *path, struct strbuf *buf, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0) {
        return err_set(err, errno == ENOENT ? -ERR_NOT_FOUND : -ERR_IO,
                       "%s: %s", path, strerror(errno));
    }
    int rc = read_all(fd, path, buf, err);
    close(fd);
    return rc;
}
