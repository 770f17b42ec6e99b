#include "main/berthd/token_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

int token_file_remove(const char *path, struct err *err)
{
    if (unlink(path) != 0 && errno != ENOENT) {
        return err_set(err, -ERR_IO, "cannot remove %s: %s", path,
                       strerror(errno));
    }
    return 0;
}

int token_file_write(const char *path, const char *address, const char *token,
                     struct err *err)
{
    auto_strbuf text = {0};

    int rc = token_file_remove(path, err);
    if (rc < 0) {
        return rc;
    }
    strbuf_addf(&text, "%s %s\n", address, token);
    int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t count = fd < 0 ? -1 : write(fd, text.bytes, text.byte_count);
    if (fd >= 0) {
        (void)close(fd);
    }
    return count == (ssize_t)text.byte_count
               ? 0
               : err_set(err, -ERR_IO, "cannot write %s: %s", path,
                         strerror(errno));
}
