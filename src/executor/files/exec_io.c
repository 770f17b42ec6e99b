#include "executor/files/exec_io.h"

#include <errno.h>
#include <sys/socket.h>

enum exec_io exec_io_receive(struct strbuf *in, int fd, bool waits)
{
    char *room = strbuf_reserve(in, EXEC_DATA_BYTES_MAX);
    ssize_t n;

    ASSERT(room);
    in->byte_count -= EXEC_DATA_BYTES_MAX;
    do {
        n = recv(fd, room, EXEC_DATA_BYTES_MAX, waits ? 0 : MSG_DONTWAIT);
    } while (n < 0 && errno == EINTR);
    in->byte_count += n > 0 ? (size_t)n : 0;
    return n > 0                      ? EXEC_IO_SOME
           : n < 0 && errno == EAGAIN ? EXEC_IO_NOTHING
                                      : EXEC_IO_GONE;
}

void exec_io_drop(struct strbuf *in, size_t byte_count)
{
    if (byte_count > 0) {
        memmove(in->bytes, in->bytes + byte_count, in->byte_count - byte_count);
        in->byte_count -= byte_count;
    }
}
