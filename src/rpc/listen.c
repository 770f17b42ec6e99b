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

/* Ask for a socket to be bound to this port. */
static void set_port(struct sockaddr *address, uint16_t port)
{
    if (address->sa_family == AF_INET6) {
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(port);
    } else {
        ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
    }
}

/* Open up to `max` of what was found: their count; 0 with errno set. */
static uint32_t open_found(const struct addrinfo *found, int *fds, uint32_t max,
                           uint16_t *ret_port)
{
    uint32_t count = 0;
    int saved = 0;

    for (const struct addrinfo *info = found; info && count < max;
         info = info->ai_next) {
        if (count > 0) {
            set_port(info->ai_addr, *ret_port);
        }
        int fd = open_one(info);
        if (fd < 0) {
            saved = saved ? saved : errno;
            continue;
        }
        if (count == 0) {
            *ret_port = port_of(fd);
        }
        fds[count++] = fd;
    }
    errno = saved;
    return count;
}

static int open_some(const char *address, int *fds, uint32_t max,
                     uint32_t *ret_count, uint16_t *ret_port, struct err *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char host[HOST_BYTES_MAX];
    const char *port = NULL;

    if (split(address, host, &port) < 0) {
        return err_set(err, -ERR_INVALID, "'%s' is not of the form host:port",
                       address);
    }
    int rc = getaddrinfo(host[0] ? host : NULL, port, &hints, &found);
    if (rc != 0) {
        return err_set(err, -ERR_INVALID, "cannot listen on %s: %s", address,
                       gai_strerror(rc));
    }
    *ret_count = open_found(found, fds, max, ret_port);
    freeaddrinfo(found);
    if (*ret_count == 0) {
        return err_set(err, -ERR_IO, "cannot listen on %s: %s", address,
                       strerror(errno));
    }
    return 0;
}

int listen_open(const char *address, int *ret_fd, uint16_t *ret_port,
                struct err *err)
{
    uint32_t count;

    return open_some(address, ret_fd, 1, &count, ret_port, err);
}

int listen_open_each(const char *address, int fds[LISTEN_SOCKETS_MAX],
                     uint32_t *ret_count, uint16_t *ret_port, struct err *err)
{
    return open_some(address, fds, LISTEN_SOCKETS_MAX, ret_count, ret_port,
                     err);
}
