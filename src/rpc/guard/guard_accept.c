/* Accepts the guard's new connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "rpc/guard/guard_private.h"
#include "rpc/guard/peer_user.h"

enum {
    ACCEPTS_MAX = 64,    /* of one listener in one round */
    EVICTABLE_MS = 1000, /* a silent connection gives way after it */
};

bool guard_is_silent(const struct connection *connection)
{
    return connection->fd >= 0 && !connection->is_over &&
           connection->frames.request_count == 0;
}

/* A slot for one more: where all are taken, that of who has been silent
 * longest; NULL: there is none. */
static struct connection *find_slot(struct guard *guard)
{
    struct connection *oldest = NULL;

    for (uint32_t i = 0; i < guard->options.connection_count_max; i++) {
        struct connection *connection = &guard->connections[i];
        if (connection->fd < 0 && connection->inner < 0) {
            return connection;
        }
        if (guard_is_silent(connection) &&
            (!oldest || connection->since_ms < oldest->since_ms)) {
            oldest = connection;
        }
    }
    if (!oldest || guard->now_ms - oldest->since_ms < EVICTABLE_MS) {
        return NULL;
    }
    guard_end(guard, oldest);
    guard_bury(guard);
    guard_count(guard, &guard->counts.silent_count);
    /* The library may still hold on to it. */
    return oldest->inner < 0 ? oldest : NULL;
}

/* One of the slots that are kept for the probe, one for each listener; NULL:
 * the library has not let go of them yet. */
static struct connection *find_probe_slot(struct guard *guard)
{
    for (uint32_t i = guard->options.connection_count_max;
         i < guard->slot_count; i++) {
        struct connection *connection = &guard->connections[i];
        if (connection->fd < 0 && connection->inner < 0) {
            return connection;
        }
    }
    return NULL;
}

/* The other end, and the bucket by which it is counted: its address, or its
 * user if that is of this machine. */
static void know_peer(struct guard *guard, struct connection *connection,
                      const struct sockaddr_storage *address)
{
    struct guard_peer *peer = &connection->peer;
    char text[INET6_ADDRSTRLEN] = "";
    const void *bytes;
    size_t byte_count;
    uint64_t hash = guard->bucket_seed;
    uint16_t port;

    if (address->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;
        bytes = &in->sin_addr;
        byte_count = sizeof(in->sin_addr);
        port = ntohs(in->sin_port);
    } else {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
        bytes = &in6->sin6_addr;
        /* Who has one address of a network has 2^64. */
        byte_count = peer_user_is_loopback(address) ? 16 : 8;
        port = ntohs(in6->sin6_port);
    }
    inet_ntop(address->ss_family, bytes, text, sizeof(text));
    snprintf(peer->name, sizeof(peer->name),
             address->ss_family == AF_INET ? "ipv4:%s:%u" : "ipv6:[%s]:%u",
             text, port);
    peer->has_user =
        peer_user_find(connection->fd, &peer->user_id, &peer->inode);
    for (size_t i = 0; i < byte_count; i++) {
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
    }
    hash = (hash ^ (peer->has_user ? peer->user_id + 1ULL : 0)) *
           0x9e3779b97f4a7c15;
    connection->bucket = (uint32_t)(hash >> 40) % GUARD_BUCKETS;
}

/* The header that marks its requests: its slot, and what nobody can guess. */
static void make_mark(struct guard *guard, struct connection *connection)
{
    char text[GUARD_MARK_TEXT_BYTES + 1];
    struct strbuf mark = strbuf_make(FRAMES_MARK_BYTES_MAX);
    ssize_t got = getrandom(connection->token, sizeof(connection->token), 0);

    ASSERT(got == (ssize_t)sizeof(connection->token));
    snprintf(text, sizeof(text), "%08x",
             (unsigned)(connection - guard->connections));
    for (size_t i = 0; i < GUARD_TOKEN_BYTES; i++) {
        snprintf(text + 8 + 2 * i, 3, "%02x", connection->token[i]);
    }
    frames_mark(str_of(guard_header), str_of(text), &mark);
    memcpy(connection->mark, mark.bytes, mark.byte_count);
    connection->mark_bytes = (uint32_t)mark.byte_count;
    strbuf_fini(&mark);
}

static bool start_tls(struct guard *guard, struct connection *connection)
{
    connection->is_greeted = !guard->tls;
    if (guard->tls) {
        connection->ssl = SSL_new(guard->tls);
        if (!connection->ssl ||
            SSL_set_fd(connection->ssl, connection->fd) != 1) {
            return false;
        }
        SSL_set_accept_state(connection->ssl);
        if (connection->is_probe) { /* which has no certificate to show */
            SSL_set_verify(connection->ssl, SSL_VERIFY_NONE, NULL);
        }
    }
    return true;
}

/* Count a connection that was taken, under the lock. */
static void count_in(struct guard *guard, struct connection *connection)
{
    if (!connection->is_probe) {
        guard->buckets[connection->bucket]++;
        guard->counts.open_count++;
        guard->counts.accepted_count++;
    }
}

static bool is_over_limit(const struct guard *guard,
                          const struct connection *connection)
{
    return !connection->is_probe && guard->buckets[connection->bucket] >=
                                        guard->options.address_count_max;
}

/* Take a connection into a slot; false: a limit is reached. */
static bool take(struct guard *guard, int fd, bool is_probe,
                 const struct sockaddr_storage *address)
{
    struct connection *connection =
        is_probe ? find_probe_slot(guard) : find_slot(guard);
    struct epoll_event event = {.events = EPOLLIN};
    int yes = 1;

    if (!connection) {
        return false;
    }
    connection->fd = fd;
    connection->is_probe = is_probe;
    know_peer(guard, connection, address);
    if (is_over_limit(guard, connection) || !start_tls(guard, connection)) {
        pthread_mutex_lock(&guard->lock);
        SSL_free(connection->ssl);
        *connection = (struct connection){
            .fd = -1, .inner = -1, .generation = connection->generation + 1};
        pthread_mutex_unlock(&guard->lock);
        return false;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    connection->since_ms = connection->control_ms = guard->now_ms;
    connection->control_left = GUARD_CONTROL_BURST;
    connection->watched_fd = EPOLLIN;
    event.data.u64 = guard_data_of(guard, connection, OF_CLIENT);
    int rc = epoll_ctl(guard->epoll, EPOLL_CTL_ADD, fd, &event);
    ASSERT(rc == 0);
    pthread_mutex_lock(&guard->lock);
    make_mark(guard, connection);
    count_in(guard, connection);
    pthread_mutex_unlock(&guard->lock);
    return true;
}

/* Whether there were no descriptors for whoever came last. */
static void note_refusal(struct guard *guard, bool is_refused)
{
    int64_t since_ms = atomic_load(&guard->refusing_ms);

    if (!is_refused) {
        atomic_store(&guard->refusing_ms, 0);
    } else if (since_ms == 0) {
        atomic_store(&guard->refusing_ms, guard->now_ms);
    }
}

void guard_accept(struct guard *guard, int listener)
{
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        struct sockaddr_storage address = {0};
        socklen_t byte_count = sizeof(address);
        int fd = accept4(listener, (struct sockaddr *)&address, &byte_count,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                errno == ENOBUFS) {
                guard_count(guard, &guard->counts.refused_count);
                guard_pause(guard, true);
                note_refusal(guard, true);
            } else {
                note_refusal(guard, false);
            }
            return;
        }
        note_refusal(guard, false);
        bool is_probe = guard_is_probe(guard, &address);
        if (!take(guard, fd, is_probe, &address)) {
            /* Before the other end hears of it. */
            if (!is_probe) {
                guard_count(guard, &guard->counts.refused_count);
            }
            close(fd);
        }
    }
}
