/* Dials the guard's own listeners now and then, as a client does. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rpc/guard/guard_private.h"

enum {
    DIAL_MS_MAX = 5000,
    AGAIN_MS_MAX = 1000, /* after a probe that was not answered */
    LATER = -1,
    SETTINGS_TYPE = 4, /* of a frame, in its head's fourth byte */
    TYPE_AT = 3,
};

/* The first that a client says: the preface, and settings that set nothing. */
static const char hello[] =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/* One connection to a listener. */
struct dial {
    struct guard_probe *probe;
    int fd;
    SSL *ssl; /* NULL: plain */
    int64_t until_ms;
};

static int64_t mono_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Wait for one of `events`; false: there was none in time, or it stops. */
static bool await(const struct dial *dial, short events)
{
    struct pollfd waits[] = {{.fd = dial->probe->wake, .events = POLLIN},
                             {.fd = dial->fd, .events = events}};
    int64_t left_ms = dial->until_ms - mono_ms();

    int rc = poll(waits, ARRAY_COUNT(waits), left_ms > 0 ? (int)left_ms : 0);
    return rc > 0 && waits[0].revents == 0;
}

/* The address by which a listener is reached from this machine. */
static void reach(struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET) {
        struct sockaddr_in *in = (struct sockaddr_in *)address;
        if (in->sin_addr.s_addr == htonl(INADDR_ANY)) {
            in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        }
    } else {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
        if (IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr)) {
            in6->sin6_addr = in6addr_loopback;
        }
    }
}

static void set_port(struct sockaddr_storage *address, in_port_t port)
{
    if (address->ss_family == AF_INET) {
        ((struct sockaddr_in *)address)->sin_port = port;
    } else {
        ((struct sockaddr_in6 *)address)->sin6_port = port;
    }
}

static bool is_same(const struct sockaddr_storage *a,
                    const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family) {
        return false;
    }
    if (a->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)a;
        const struct sockaddr_in *other = (const struct sockaddr_in *)b;
        return in->sin_port == other->sin_port &&
               in->sin_addr.s_addr == other->sin_addr.s_addr;
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;
    const struct sockaddr_in6 *other6 = (const struct sockaddr_in6 *)b;
    return in6->sin6_port == other6->sin6_port &&
           memcmp(&in6->sin6_addr, &other6->sin6_addr,
                  sizeof(in6->sin6_addr)) == 0;
}

/* Say which address the next probe comes from; AF_UNSPEC: none comes. */
static void expect(struct guard *guard, const struct sockaddr_storage *address)
{
    pthread_mutex_lock(&guard->lock);
    guard->probe.expected = *address;
    pthread_mutex_unlock(&guard->lock);
}

bool guard_is_probe(struct guard *guard, const struct sockaddr_storage *address)
{
    pthread_mutex_lock(&guard->lock);
    bool is_probe = is_same(&guard->probe.expected, address);
    pthread_mutex_unlock(&guard->lock);
    return is_probe;
}

/* Take a port that is then ours alone, so that the guard knows who comes.
 * -ERR_NOT_FOUND: this machine has no such address of its own. */
static int bind_own(struct guard *guard, int fd,
                    const struct sockaddr_storage *listener)
{
    struct sockaddr_storage own = *listener;
    socklen_t byte_count = sizeof(own);

    set_port(&own, 0);
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0) {
        return errno == EADDRNOTAVAIL ? -ERR_NOT_FOUND : -ERR_IO;
    }
    if (getsockname(fd, (struct sockaddr *)&own, &byte_count) < 0) {
        return -ERR_IO;
    }
    expect(guard, &own);
    return 0;
}

static bool connect_to(const struct dial *dial,
                       const struct sockaddr_storage *listener)
{
    socklen_t byte_count = sizeof(int);
    int error = 0;

    if (connect(dial->fd, (const struct sockaddr *)listener,
                sizeof(*listener)) == 0) {
        return true;
    }
    return errno == EINPROGRESS && await(dial, POLLOUT) &&
           getsockopt(dial->fd, SOL_SOCKET, SO_ERROR, &error, &byte_count) ==
               0 &&
           error == 0;
}

static bool greet(struct guard *guard, struct dial *dial)
{
    int rc = 0;

    if (!guard->probe.tls) {
        return true;
    }
    dial->ssl = SSL_new(guard->probe.tls);
    if (!dial->ssl || SSL_set_fd(dial->ssl, dial->fd) != 1) {
        return false;
    }
    SSL_set_connect_state(dial->ssl);
    while ((rc = guard_tls_greet(dial->ssl)) == 0 && await(dial, POLLIN)) {
    }
    return rc == 1;
}

static bool say(const struct dial *dial)
{
    enum { BYTES = sizeof(hello) - 1 };
    ssize_t count = dial->ssl ? guard_tls_write(dial->ssl, hello, BYTES)
                              : send(dial->fd, hello, BYTES, MSG_NOSIGNAL);

    return count == BYTES; /* an empty socket takes so little at once */
}

/* As guard_tls_read(). */
static ssize_t hear_some(const struct dial *dial, char *bytes, size_t max)
{
    if (dial->ssl) {
        return guard_tls_read(dial->ssl, bytes, max);
    }
    ssize_t count = recv(dial->fd, bytes, max, MSG_DONTWAIT);
    return count > 0                                          ? count
           : count < 0 && (errno == EAGAIN || errno == EINTR) ? LATER
                                                              : LATER - 1;
}

/* Whether the library says its settings, as it does first of all. */
static bool hear(const struct dial *dial)
{
    char head[FRAMES_HEAD_BYTES];
    size_t at = 0;

    while (at < sizeof(head)) {
        ssize_t count = hear_some(dial, head + at, sizeof(head) - at);
        if (count < LATER || (count == LATER && !await(dial, POLLIN))) {
            return false;
        }
        at += count > 0 ? (size_t)count : 0;
    }
    return head[TYPE_AT] == SETTINGS_TYPE;
}

/* Whether somebody who comes to this listener is served. */
static bool dial_one(struct guard *guard,
                     const struct sockaddr_storage *listener)
{
    enum { TYPE = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK };
    const struct sockaddr_storage nobody = {0};
    struct dial dial = {
        .probe = &guard->probe,
        .fd = socket(listener->ss_family, TYPE, 0),
        .until_ms = mono_ms() + DIAL_MS_MAX,
    };
    bool is_served = false;

    if (dial.fd < 0) {
        return false;
    }
    int rc = bind_own(guard, dial.fd, listener);
    if (rc == 0) {
        is_served = connect_to(&dial, listener) && greet(guard, &dial) &&
                    say(&dial) && hear(&dial);
    }
    expect(guard, &nobody);
    SSL_free(dial.ssl);
    close(dial.fd);
    /* What cannot be asked is not a failure. */
    return is_served || rc == -ERR_NOT_FOUND;
}

static bool dial_all(struct guard *guard)
{
    for (uint32_t i = 0; i < guard->options.fd_count; i++) {
        if (!dial_one(guard, &guard->probe.addresses[i])) {
            return false;
        }
    }
    return true;
}

static void *run(void *arg)
{
    struct guard *guard = arg;
    struct guard_probe *probe = &guard->probe;
    struct pollfd wait = {.fd = probe->wake, .events = POLLIN};
    int usual_ms = (int)guard->options.probe_ms;
    int again_ms = usual_ms < AGAIN_MS_MAX ? usual_ms : AGAIN_MS_MAX;
    bool is_served;

    do {
        if (atomic_load(&probe->failing_ms) == 0) {
            atomic_store(&probe->failing_ms, mono_ms());
        }
        is_served = dial_all(guard);
        if (is_served) {
            atomic_store(&probe->failing_ms, 0);
        }
    } while (poll(&wait, 1, is_served ? usual_ms : again_ms) == 0);
    return NULL;
}

int guard_probe_start(struct guard *guard, struct err *err)
{
    struct guard_probe *probe = &guard->probe;

    if (guard->options.probe_ms == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < guard->options.fd_count; i++) {
        socklen_t byte_count = sizeof(probe->addresses[i]);
        int rc =
            getsockname(guard->listeners[i],
                        (struct sockaddr *)&probe->addresses[i], &byte_count);
        ASSERT(rc == 0);
        reach(&probe->addresses[i]);
    }
    probe->tls = guard->tls ? guard_tls_create_client() : NULL;
    probe->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    probe->has_thread = probe->wake >= 0 &&
                        pthread_create(&probe->thread, NULL, run, guard) == 0;
    return probe->has_thread ? 0
                             : err_set(err, -ERR_IO, "cannot start a thread");
}

void guard_probe_stop(struct guard *guard)
{
    struct guard_probe *probe = &guard->probe;
    uint64_t one = 1;

    if (probe->has_thread) {
        (void)!write(probe->wake, &one, sizeof(one));
        pthread_join(probe->thread, NULL);
        probe->has_thread = false;
    }
    if (probe->wake >= 0) {
        close(probe->wake);
        probe->wake = -1;
    }
    SSL_CTX_free(probe->tls);
    probe->tls = NULL;
}
