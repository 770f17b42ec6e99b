#include "rpc/guard/guard.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "rpc/guard/guard_private.h"

enum {
    EVENTS_MAX = 256, /* of one round */
    TICK_MS = 1000,
    PREFACE_MS_MAX = 10000, /* from accepting to HTTP/2, TLS included */
};

const char guard_header[] = "berth-connection";

static int64_t mono_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

uint64_t guard_data_of(const struct guard *guard,
                       const struct connection *connection, unsigned kind)
{
    return kind | (uint64_t)(connection - guard->connections) << 2 |
           (uint64_t)connection->generation << 32;
}

void guard_end(struct guard *guard, struct connection *connection)
{
    if (!connection->is_over) {
        connection->is_over = true;
        guard->dying[guard->dying_count++] =
            (uint32_t)(connection - guard->connections);
    }
}

/* Have epoll watch a descriptor for just this. */
static void watch(struct guard *guard, int fd, uint64_t data, uint32_t wanted,
                  uint32_t *watched)
{
    struct epoll_event event = {.events = wanted, .data.u64 = data};

    if (*watched != wanted) {
        int rc = epoll_ctl(guard->epoll, EPOLL_CTL_MOD, fd, &event);
        ASSERT(rc == 0);
        *watched = wanted;
    }
}

void guard_watch(struct guard *guard, struct connection *connection)
{
    uint32_t of_client = (connection->to_inner.bytes ? 0 : EPOLLIN) |
                         (connection->to_client.bytes ? EPOLLOUT : 0);
    uint32_t of_inner = (connection->to_client.bytes ? 0 : EPOLLIN) |
                        (connection->to_inner.bytes ? EPOLLOUT : 0);

    watch(guard, connection->fd, guard_data_of(guard, connection, OF_CLIENT),
          of_client, &connection->watched_fd);
    if (connection->inner < 0) {
        return;
    }
    uint64_t data = guard_data_of(guard, connection, OF_INNER);
    if (!connection->is_inner_watched) {
        struct epoll_event event = {.events = of_inner, .data.u64 = data};
        connection->watched_inner = of_inner;
        connection->is_inner_watched = true;
        int rc =
            epoll_ctl(guard->epoll, EPOLL_CTL_ADD, connection->inner, &event);
        ASSERT(rc == 0);
    }
    watch(guard, connection->inner, data, of_inner, &connection->watched_inner);
}

/* The client is gone, and the library has yet to let go of its end, which it
 * does when it comes to it: until then the connection counts, because it costs
 * as much. */
static void linger(struct guard *guard, struct connection *connection)
{
    struct epoll_event event = {.events = EPOLLIN,
                                .data.u64 =
                                    guard_data_of(guard, connection, OF_INNER)};
    bool is_new = !connection->is_inner_watched;

    connection_part(connection);
    connection->watched_inner = EPOLLIN;
    connection->is_inner_watched = true;
    int rc = epoll_ctl(guard->epoll, is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD,
                       connection->inner, &event);
    ASSERT(rc == 0);
}

/* End for good those that are over. */
void guard_bury(struct guard *guard)
{
    pthread_mutex_lock(&guard->lock);
    for (uint32_t i = 0; i < guard->dying_count; i++) {
        struct connection *connection = &guard->connections[guard->dying[i]];
        if (connection->inner >= 0 && !connection->is_inner_over) {
            linger(guard, connection);
            continue;
        }
        if (!connection->is_probe) {
            ASSERT(guard->buckets[connection->bucket] > 0);
            guard->buckets[connection->bucket]--;
            guard->counts.open_count--;
        }
        connection_fini(connection);
    }
    guard->dying_count = 0;
    pthread_mutex_unlock(&guard->lock);
}

void guard_count(struct guard *guard, uint64_t *counter)
{
    pthread_mutex_lock(&guard->lock);
    (*counter)++;
    pthread_mutex_unlock(&guard->lock);
}

void guard_pause(struct guard *guard, bool is_paused)
{
    struct epoll_event event = {.events = is_paused ? 0 : EPOLLIN};

    guard->is_paused = is_paused;
    for (uint32_t i = 0; i < guard->listener_count; i++) {
        event.data.u64 = OF_LISTENER | (uint64_t)i << 2;
        (void)epoll_ctl(guard->epoll, EPOLL_CTL_MOD, guard->listeners[i],
                        &event);
    }
}

/* Each second: who has been silent for too long ends, and listeners that were
 * left alone are tried again. */
static void tick(struct guard *guard)
{
    if (guard->now_ms < guard->tick_ms) {
        return;
    }
    guard->tick_ms = guard->now_ms + TICK_MS;
    int64_t unanswered_ms = 0;
    for (uint32_t i = 0; i < guard->slot_count; i++) {
        struct connection *connection = &guard->connections[i];
        int64_t most_ms = connection->inner < 0 ? PREFACE_MS_MAX
                                                : guard->options.silence_ms_max;
        if (guard_is_silent(connection) &&
            guard->now_ms - connection->since_ms > most_ms) {
            guard_end(guard, connection);
            guard_count(guard, &guard->counts.silent_count);
        }
        if (connection->fd >= 0 && connection->handed_ms > 0 &&
            (unanswered_ms == 0 || connection->handed_ms < unanswered_ms)) {
            unanswered_ms = connection->handed_ms;
        }
    }
    atomic_store(&guard->unanswered_ms, unanswered_ms);
    if (guard->is_paused) {
        guard_pause(guard, false);
    }
}

static void close_listeners(struct guard *guard)
{
    for (uint32_t i = 0; i < guard->listener_count; i++) {
        close(guard->listeners[i]);
    }
    guard->listener_count = 0;
}

static void on_connection(struct guard *guard, const struct epoll_event *event)
{
    struct connection *connection =
        &guard->connections[(uint32_t)event->data.u64 >> 2];
    bool is_inner = (event->data.u64 & 3) == OF_INNER;
    unsigned ways = 0;

    if (connection->generation != event->data.u64 >> 32 ||
        connection->is_over) {
        return;
    }
    if (connection->fd < 0) {
        connection_drop(guard, connection);
        return;
    }
    if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
        ways |= is_inner ? PUMP_OUT : PUMP_IN;
    }
    if (event->events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
        ways |= is_inner ? PUMP_IN : PUMP_OUT;
    }
    connection_pump(guard, connection, ways);
}

static void on_event(struct guard *guard, const struct epoll_event *event)
{
    uint64_t data = event->data.u64;
    uint64_t wakes;

    switch (data & 3) {
    case OF_CLIENT:
    case OF_INNER:
        on_connection(guard, event);
        break;
    case OF_LISTENER:
        if (data >> 2 < guard->listener_count) {
            guard_accept(guard, guard->listeners[data >> 2]);
        }
        break;
    default:
        (void)!read(guard->wake, &wakes, sizeof(wakes));
        break;
    }
}

static void close_now(struct guard *guard)
{
    close_listeners(guard);
    pthread_mutex_lock(&guard->lock);
    guard->is_closed = true;
    pthread_cond_broadcast(&guard->closed);
    pthread_mutex_unlock(&guard->lock);
}

static void *run(void *arg)
{
    struct guard *guard = arg;
    struct epoll_event events[EVENTS_MAX];

    while (!atomic_load(&guard->is_stopping)) {
        int event_count = epoll_wait(guard->epoll, events, EVENTS_MAX, TICK_MS);
        guard->now_ms = mono_ms();
        atomic_store(&guard->round_ms, guard->now_ms);
        if (atomic_load(&guard->is_closing)) {
            close_now(guard);
        }
        for (int i = 0; i < event_count; i++) {
            on_event(guard, &events[i]);
        }
        tick(guard);
        guard_bury(guard);
    }
    return NULL;
}

static void wake_up(struct guard *guard)
{
    uint64_t one = 1;

    (void)!write(guard->wake, &one, sizeof(one));
}

/* Everything but the thread; NULL: a TLS file does not do. */
static struct guard *make(const struct guard_options *options, struct err *err)
{
    struct guard *guard = mem_alloc(sizeof(*guard));
    uint32_t count_max = options->connection_count_max;

    ASSERT(options->fd_count <= GUARD_LISTENERS_MAX);
    ASSERT(count_max >= 1 && count_max <= GUARD_CONNECTIONS_MAX);
    guard->options = *options;
    guard->probe.wake = -1;
    guard->slot_count = count_max + options->fd_count;
    guard->listener_count = options->fd_count;
    memcpy(guard->listeners, options->fds, options->fd_count * sizeof(int));
    pthread_mutex_init(&guard->lock, NULL);
    pthread_cond_init(&guard->closed, NULL);
    guard->connections =
        mem_alloc_array(guard->slot_count, sizeof(*guard->connections));
    guard->dying = mem_alloc_array(guard->slot_count, sizeof(*guard->dying));
    for (uint32_t i = 0; i < guard->slot_count; i++) {
        guard->connections[i].fd = guard->connections[i].inner = -1;
    }
    guard->epoll = epoll_create1(EPOLL_CLOEXEC);
    guard->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    ssize_t got = getrandom(&guard->bucket_seed, sizeof(guard->bucket_seed), 0);
    ASSERT(got == (ssize_t)sizeof(guard->bucket_seed));
    guard->now_ms = mono_ms();
    atomic_store(&guard->round_ms, guard->now_ms);
    if (guard->epoll < 0 || guard->wake < 0) {
        err_set(err, -ERR_IO, "the limit of open files is too low to listen");
    } else if (!options->tls ||
               (guard->tls = guard_tls_create(options->tls, err))) {
        return guard;
    }
    guard_destroy(guard);
    return NULL;
}

/* Have epoll watch the listeners and the wake. */
static bool watch_first(struct guard *guard)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = OF_WAKE};
    bool is_watched =
        epoll_ctl(guard->epoll, EPOLL_CTL_ADD, guard->wake, &event) == 0;

    for (uint32_t i = 0; i < guard->listener_count && is_watched; i++) {
        event.data.u64 = OF_LISTENER | (uint64_t)i << 2;
        is_watched = epoll_ctl(guard->epoll, EPOLL_CTL_ADD, guard->listeners[i],
                               &event) == 0;
    }
    return is_watched;
}

struct guard *guard_create(const struct guard_options *options, struct err *err)
{
    struct guard *guard = make(options, err);
    sigset_t all, before;

    if (!guard) {
        return NULL;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    guard->has_thread = watch_first(guard) &&
                        pthread_create(&guard->thread, NULL, run, guard) == 0;
    bool is_probed = guard->has_thread && guard_probe_start(guard, err) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!guard->has_thread) {
        err_set(err, -ERR_IO, "cannot start a thread");
    }
    if (!is_probed) {
        guard_destroy(guard);
        return NULL;
    }
    return guard;
}

void guard_close(struct guard *guard)
{
    guard_probe_stop(guard);
    atomic_store(&guard->is_closing, true);
    wake_up(guard);
    pthread_mutex_lock(&guard->lock);
    while (!guard->is_closed) {
        pthread_cond_wait(&guard->closed, &guard->lock);
    }
    pthread_mutex_unlock(&guard->lock);
}

void guard_destroy(struct guard *guard)
{
    if (!guard) {
        return;
    }
    guard_probe_stop(guard);
    if (guard->has_thread) {
        atomic_store(&guard->is_stopping, true);
        wake_up(guard);
        pthread_join(guard->thread, NULL);
    }
    close_listeners(guard);
    for (uint32_t i = 0; i < guard->slot_count; i++) {
        connection_fini(&guard->connections[i]);
    }
    SSL_CTX_free(guard->tls);
    if (guard->epoll >= 0) {
        close(guard->epoll);
    }
    if (guard->wake >= 0) {
        close(guard->wake);
    }
    strbuf_fini(&guard->passed);
    pthread_cond_destroy(&guard->closed);
    pthread_mutex_destroy(&guard->lock);
    mem_free(guard->connections);
    mem_free(guard->dying);
    mem_free(guard);
}
