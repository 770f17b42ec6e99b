#include "executor/files/fd_pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* Room for one descriptor beside a message. */
union room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

int fd_pass_send(int socket_fd, int fd)
{
    char byte = 0;
    union room room = {.bytes = {0}};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof(room.bytes)};

    room.head.cmsg_level = SOL_SOCKET;
    room.head.cmsg_type = SCM_RIGHTS;
    room.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&room.head), &fd, sizeof(int));
    return sendmsg(socket_fd, &message, MSG_NOSIGNAL) == 1 ? 0 : -ERR_IO;
}

int fd_pass_receive(int socket_fd)
{
    char byte = 1;
    union room room;
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = room.bytes,
                             .msg_controllen = sizeof(room.bytes)};
    char first[2];
    ssize_t got;
    int received = -1;

    do {
        got = recv(socket_fd, first, sizeof(first), MSG_PEEK);
    } while (got < 0 && errno == EINTR);
    if (got != 1 || recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC) != 1) {
        return -1;
    }
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head && head->cmsg_level == SOL_SOCKET &&
        head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(&received, CMSG_DATA(head), sizeof(int));
    }
    return received;
}
