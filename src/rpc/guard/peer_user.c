#include "rpc/guard/peer_user.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

/* A question about one socket. */
struct question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 body;
};

static const struct in6_addr *v6_of(const struct sockaddr_storage *address)
{
    return &((const struct sockaddr_in6 *)address)->sin6_addr;
}

static in_addr_t v4_of(const struct sockaddr_storage *address)
{
    return ((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

bool peer_user_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) {
        return (ntohl(v4_of(address)) >> 24) == IN_LOOPBACKNET;
    }
    if (address->ss_family != AF_INET6) {
        return false;
    }
    const struct in6_addr *v6 = v6_of(address);
    return IN6_IS_ADDR_LOOPBACK(v6) ||
           (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

/* Write an address as the kernel takes it: IPv4 within IPv6 as IPv4. */
static uint8_t put_address(const struct sockaddr_storage *address,
                           __be32 *ret_words, __be16 *ret_port)
{
    if (address->ss_family == AF_INET) {
        ret_words[0] = v4_of(address);
        *ret_port = ((const struct sockaddr_in *)address)->sin_port;
        return AF_INET;
    }
    const struct in6_addr *v6 = v6_of(address);
    *ret_port = ((const struct sockaddr_in6 *)address)->sin6_port;
    if (IN6_IS_ADDR_V4MAPPED(v6)) {
        memcpy(ret_words, v6->s6_addr + 12, 4);
        return AF_INET;
    }
    memcpy(ret_words, v6->s6_addr, 16);
    return AF_INET6;
}

static bool ask(int fd, const struct question *question,
                struct inet_diag_msg *ret_answer)
{
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } reply;

    if (send(fd, question, sizeof(*question), 0) != sizeof(*question)) {
        return false;
    }
    ssize_t count = recv(fd, &reply, sizeof(reply), 0);
    if (count < (ssize_t)NLMSG_LENGTH(sizeof(*ret_answer)) ||
        reply.header.nlmsg_type != SOCK_DIAG_BY_FAMILY) {
        return false;
    }
    memcpy(ret_answer, NLMSG_DATA(&reply.header), sizeof(*ret_answer));
    return true;
}

bool peer_user_find(int fd, uint32_t *ret_user_id, uint32_t *ret_inode)
{
    struct sockaddr_storage peer = {0}, own = {0};
    socklen_t peer_bytes = sizeof(peer), own_bytes = sizeof(own);
    struct inet_diag_msg answer;
    struct question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = UINT32_C(1) << TCP_ESTABLISHED,
                 .id.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}},
    };

    if (getpeername(fd, (struct sockaddr *)&peer, &peer_bytes) < 0 ||
        getsockname(fd, (struct sockaddr *)&own, &own_bytes) < 0 ||
        !peer_user_is_loopback(&peer) || !peer_user_is_loopback(&own)) {
        return false;
    }
    struct inet_diag_sockid *id = &question.body.id;
    question.body.sdiag_family =
        put_address(&peer, id->idiag_src, &id->idiag_sport);
    (void)put_address(&own, id->idiag_dst, &id->idiag_dport);
    int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (diag < 0) {
        return false;
    }
    bool is_found = ask(diag, &question, &answer);
    close(diag);
    /* Of one that was closed the user is said to be 0. */
    if (!is_found || answer.idiag_state != TCP_ESTABLISHED ||
        answer.idiag_inode == 0 || answer.id.idiag_sport != id->idiag_sport ||
        answer.id.idiag_dport != id->idiag_dport) {
        return false;
    }
    *ret_user_id = answer.idiag_uid;
    *ret_inode = answer.idiag_inode;
    return true;
}
