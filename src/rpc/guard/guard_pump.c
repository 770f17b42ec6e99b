/* Moves the bytes of one connection, both ways. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#ifdef __SANITIZE_THREAD__
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "rpc/guard/guard_private.h"

enum { LATER = -1, OVER = -2, READS_MAX = 4 /* of one event, each way */ };

/* What read() or write() came to, where it is no count. */
static ssize_t meaning(ssize_t rc)
{
    return rc > 0                                          ? rc
           : rc < 0 && (errno == EAGAIN || errno == EINTR) ? LATER
                                                           : OVER;
}

static ssize_t read_client(struct connection *connection, char *bytes,
                           size_t byte_count)
{
    return connection->ssl
               ? guard_tls_read(connection->ssl, bytes, byte_count)
               : meaning(recv(connection->fd, bytes, byte_count, MSG_DONTWAIT));
}

static ssize_t write_client(struct connection *connection, const char *bytes,
                            size_t byte_count)
{
    return connection->ssl ? guard_tls_write(connection->ssl, bytes, byte_count)
                           : meaning(send(connection->fd, bytes, byte_count,
                                          MSG_DONTWAIT | MSG_NOSIGNAL));
}

static ssize_t write_inner(struct connection *connection, const char *bytes,
                           size_t byte_count)
{
    return meaning(send(connection->inner, bytes, byte_count,
                        MSG_DONTWAIT | MSG_NOSIGNAL));
}

typedef ssize_t write_fn(struct connection *connection, const char *bytes,
                         size_t byte_count);

/* Write what there is, and keep what is not taken; false: the end. */
static bool put(struct connection *connection, write_fn *write_some,
                struct spill *spill, struct str bytes)
{
    size_t at = 0;

    while (at < bytes.byte_count) {
        ssize_t count =
            write_some(connection, bytes.p + at, bytes.byte_count - at);
        if (count == OVER) {
            return false;
        }
        if (count == LATER) {
            spill->bytes = mem_dup(bytes.p + at, bytes.byte_count - at);
            spill->byte_count = bytes.byte_count - at;
            spill->at = 0;
            return true;
        }
        at += (size_t)count;
    }
    return true;
}

/* Write on what was kept; false: the end. */
static bool drain(struct connection *connection, write_fn *write_some,
                  struct spill *spill)
{
    while (spill->bytes) {
        ssize_t count = write_some(connection, spill->bytes + spill->at,
                                   spill->byte_count - spill->at);
        if (count < 0) {
            return count == LATER;
        }
        spill->at += (size_t)count;
        if (spill->at == spill->byte_count) {
            mem_free(spill->bytes);
            *spill = (struct spill){0};
        }
    }
    return true;
}

/* A pair of sockets, of which the library closes one.  The thread sanitizer
 * does not see it do so, and then takes whoever gets the number next for a
 * stranger to it: by the bare call it does not see the pair made either. */
static int make_pair(int pair[2])
{
    enum { TYPE = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK };

#ifdef __SANITIZE_THREAD__
    return (int)syscall(SYS_socketpair, AF_UNIX, TYPE, 0, pair);
#else
    return socketpair(AF_UNIX, TYPE, 0, pair);
#endif
}

/* Connect the library; false: there are no descriptors, or it stops. */
static bool hand_over(struct guard *guard, struct connection *connection)
{
    int pair[2];

    if (atomic_load(&guard->is_closing) || make_pair(pair) < 0) {
        return false;
    }
    connection->inner = pair[0];
    connection->handed_ms = guard->now_ms;
    guard->options.hand_over(guard->options.ctx, pair[1]);
    return true;
}

/* Whether it has not sent too many frames that carry nothing. */
static bool is_calm(struct guard *guard, struct connection *connection,
                    uint64_t before)
{
    uint64_t count = connection->frames.control_count - before;
    uint64_t gained = (uint64_t)(guard->now_ms - connection->control_ms) *
                      GUARD_CONTROL_PER_SECOND / 1000;

    if (gained > 0) {
        uint64_t left = connection->control_left + gained;
        connection->control_left =
            left < GUARD_CONTROL_BURST ? left : GUARD_CONTROL_BURST;
        connection->control_ms = guard->now_ms;
    }
    if (count > connection->control_left) {
        return false;
    }
    connection->control_left -= count;
    return true;
}

/* Pass on what was read; false: the end. */
static bool pass(struct guard *guard, struct connection *connection,
                 struct str bytes)
{
    struct str mark = str_make(connection->mark, connection->mark_bytes);
    uint64_t before = connection->frames.control_count;

    strbuf_clear(&guard->passed);
    enum frames_fault fault =
        frames_take(&connection->frames, bytes, mark, &guard->passed);
    if (fault != FRAMES_OK || !is_calm(guard, connection, before)) {
        pthread_mutex_lock(&guard->lock);
        guard->counts.ended_count++;
        pthread_mutex_unlock(&guard->lock);
        struct str goaway = frames_goaway();
        (void)write_client(connection, goaway.p, goaway.byte_count);
        return false;
    }
    if (guard->passed.byte_count == 0) {
        return true;
    }
    return (connection->inner >= 0 || hand_over(guard, connection)) &&
           put(connection, write_inner, &connection->to_inner,
               strbuf_str(&guard->passed));
}

/* TLS may hold bytes back of which epoll does not know. */
static bool has_more_inside(const struct connection *connection)
{
    return connection->ssl && SSL_has_pending(connection->ssl);
}

/* From the client to the library. */
static bool pump_in(struct guard *guard, struct connection *connection)
{
    if (!drain(connection, write_inner, &connection->to_inner)) {
        return false;
    }
    for (int i = 0; !connection->to_inner.bytes &&
                    (i < READS_MAX || has_more_inside(connection));
         i++) {
        ssize_t count =
            read_client(connection, guard->scratch, sizeof(guard->scratch));
        if (count < 0) {
            return count == LATER;
        }
        if (!pass(guard, connection, str_make(guard->scratch, (size_t)count))) {
            return false;
        }
        if ((size_t)count < sizeof(guard->scratch) && !connection->ssl) {
            return true;
        }
    }
    return true;
}

/* From the library to the client. */
static bool pump_out(struct guard *guard, struct connection *connection)
{
    if (!drain(connection, write_client, &connection->to_client)) {
        return false;
    }
    for (int i = 0; i < READS_MAX && !connection->to_client.bytes; i++) {
        ssize_t count = meaning(recv(connection->inner, guard->scratch,
                                     sizeof(guard->scratch), MSG_DONTWAIT));
        if (count != LATER) {
            connection->handed_ms = 0;
        }
        if (count < 0) {
            connection->is_inner_over = count == OVER;
            return count == LATER;
        }
        if (!put(connection, write_client, &connection->to_client,
                 str_make(guard->scratch, (size_t)count))) {
            return false;
        }
        if ((size_t)count < sizeof(guard->scratch)) {
            return true;
        }
    }
    return true;
}

void connection_pump(struct guard *guard, struct connection *connection,
                     unsigned ways)
{
    if (!connection->is_greeted) {
        int rc = guard_tls_greet(connection->ssl);
        connection->is_greeted = rc > 0;
        if (rc < 0) {
            guard_end(guard, connection);
        }
        if (rc <= 0) {
            return;
        }
    }
    bool is_going = !(ways & PUMP_IN) || pump_in(guard, connection);
    if (is_going && (ways & PUMP_OUT) && connection->inner >= 0) {
        is_going = pump_out(guard, connection);
    }
    if (!is_going) {
        guard_end(guard, connection);
        return;
    }
    guard_watch(guard, connection);
}

void connection_part(struct connection *connection)
{
    SSL_free(connection->ssl);
    connection->ssl = NULL;
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    connection->fd = -1;
    connection->is_over = false;
    connection->mark_bytes = 0;
    mem_free(connection->to_inner.bytes);
    mem_free(connection->to_client.bytes);
    connection->to_inner = connection->to_client = (struct spill){0};
    (void)shutdown(connection->inner, SHUT_WR);
}

void connection_drop(struct guard *guard, struct connection *connection)
{
    ssize_t count = 1;

    while (count > 0) {
        count = meaning(recv(connection->inner, guard->scratch,
                             sizeof(guard->scratch), MSG_DONTWAIT));
    }
    if (count == OVER) {
        connection->is_inner_over = true;
        guard_end(guard, connection);
    }
}

void connection_fini(struct connection *connection)
{
    connection_part(connection);
    if (connection->inner >= 0) {
        close(connection->inner);
    }
    *connection = (struct connection){
        .fd = -1, .inner = -1, .generation = connection->generation + 1};
}
