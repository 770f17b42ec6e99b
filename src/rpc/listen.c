#include "rpc/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

enum { HOST_BYTES_MAX = 256, BACKLOG = 1024 };

/* Split at the last colon, without the brackets of an IPv6 address. */
static int split(const char *address, char *ret_host, const char **ret_port)
{
    const char *colon = strrchr(address, ':');
    size_t host_bytes = colon ? (size_t)(colon - address) : 0;

    if (!colon || host_bytes >= HOST_BYTES_MAX || colon[1] == '\0') {
        return -ERR_INVALID;
    }
    if (host_bytes >= 2 && address[0] == '[' && colon[-1] == ']') {
        address++;
        host_bytes -= 2;
    }
    memcpy(ret_host, address, host_bytes);
    ret_host[host_bytes] = '\0';
    *ret_port = colon + 1;
    return 0;
}

static int open_one(const struct addrinfo *info)
{
    int fd = socket(info->ai_family,
                    info->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, info->ai_addr, info->ai_addrlen) < 0 ||
        listen(fd, BACKLOG) < 0) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof(name);

    if (getsockname(fd, (struct sockaddr *)&name, &size) < 0) {
        return 0;
    }
    return ntohs(name.ss_family == AF_INET6
                     ? ((struct sockaddr_in6 *)&name)->sin6_port
                     : ((struct sockaddr_in *)&name)->sin_port);
}

int listen_open(const char *address, int *ret_fd, uint16_t *ret_port,
                struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[HOST_BYTES_MAX];
    const char *port = NULL;
    int rc = 0, fd = -1;

    if (split(address, host, &port) < 0) {
        return err_set(err, -ERR_INVALID, "'%s' is not of the form host:port",
                       address);
    }
    rc = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (rc != 0) {
        return err_set(err, -ERR_INVALID, "cannot listen on %s: %s", address,
                       gai_strerror(rc));
    }
    fd = open_one(found);
    freeaddrinfo(found);
    if (fd < 0) {
        return err_set(err, -ERR_IO, "cannot listen on %s: %s", address,
                       strerror(errno));
    }
    *ret_fd = fd;
    *ret_port = port_of(fd);
    return 0;
}
