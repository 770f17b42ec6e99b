#include "main/common/service_manager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or @ and a name that is no file: its first byte is 0. */
static socklen_t make_address(const char *name, struct sockaddr_un *address)
{
    size_t length = strlen(name);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length < 2 || length >= sizeof(address->sun_path) ||
        (name[0] != '/' && name[0] != '@')) {
        return 0;
    }
    memcpy(address->sun_path, name, length);
    if (name[0] == '@') {
        address->sun_path[0] = '\0';
    }
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

int service_manager_ready(struct err *err)
{
    static const char text[] = "READY=1";
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address;

    if (!name) {
        return 0;
    }
    socklen_t length = make_address(name, &address);
    if (length == 0) {
        return err_set(err, -ERR_IO,
                       "NOTIFY_SOCKET is \"%s\", which names no socket", name);
    }
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ssize_t sent = fd < 0 ? -1
                          : sendto(fd, text, strlen(text), MSG_NOSIGNAL,
                                   (const struct sockaddr *)&address, length);
    int rc = sent < 0
                 ? err_set(err, -ERR_IO, "socket %s: %s", name, strerror(errno))
                 : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc;
}
