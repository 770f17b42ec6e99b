#include "guard_stage.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "patience.h"
#include "rpc/listen.h"
#include "unit.h"

const char guard_hello[GUARD_HELLO_BYTES + 1] =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

const char guard_settings[GUARD_SETTINGS_BYTES + 1] = "\0\0\0\x04\0\0\0\0\0";

/* Say what the library says, and that no more comes. */
static void answer(struct stage *stage, int fd)
{
    int *place = &stage->answered[stage->answered_count++ % HANDED_MAX];

    stage_say(fd, guard_settings, GUARD_SETTINGS_BYTES);
    (void)shutdown(fd, SHUT_WR);
    if (stage->answered_count > HANDED_MAX) {
        close(*place);
    }
    *place = fd;
}

static void take(void *ctx, int fd)
{
    struct stage *stage = ctx;

    if (atomic_load(&stage->is_answering)) {
        answer(stage, fd);
        return;
    }
    pthread_mutex_lock(&stage->lock);
    assert_true(stage->handed_count < HANDED_MAX);
    stage->handed[stage->handed_count++] = fd;
    pthread_cond_signal(&stage->changed);
    pthread_mutex_unlock(&stage->lock);
}

void stage_begin(struct stage *stage, uint32_t most, uint32_t most_each)
{
    stage_begin_with(stage,
                     (struct guard_options){.connection_count_max = most,
                                            .address_count_max = most_each});
}

void stage_begin_with(struct stage *stage, struct guard_options options)
{
    struct err err;
    int fd;

    *stage = (struct stage){.lock = PTHREAD_MUTEX_INITIALIZER,
                            .changed = PTHREAD_COND_INITIALIZER};
    assert_int_equal(listen_open("127.0.0.1:0", &fd, &stage->port, &err), 0);
    options.fds = &fd;
    options.fd_count = 1;
    options.silence_ms_max = 60000;
    options.hand_over = take;
    options.ctx = stage;
    stage->guard = guard_create(&options, &err);
    assert_non_null(stage->guard);
}

void stage_end(struct stage *stage)
{
    guard_close(stage->guard);
    guard_destroy(stage->guard);
    for (int i = 0; i < stage->handed_count; i++) {
        close(stage->handed[i]);
    }
    for (unsigned i = 0; i < stage->answered_count && i < HANDED_MAX; i++) {
        close(stage->answered[i]);
    }
}

int stage_dial(const struct stage *stage)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(stage->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    return fd;
}

void stage_say(int fd, const char *bytes, size_t byte_count)
{
    assert_int_equal(send(fd, bytes, byte_count, MSG_NOSIGNAL), byte_count);
}

int stage_handed(struct stage *stage, int index)
{
    pthread_mutex_lock(&stage->lock);
    while (stage->handed_count <= index) {
        pthread_cond_wait(&stage->changed, &stage->lock);
    }
    int fd = stage->handed[index];
    pthread_mutex_unlock(&stage->lock);
    return fd;
}

void stage_hear(int fd, char *bytes, size_t byte_count)
{
    for (size_t at = 0; at < byte_count;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, patient_ms(10000)), 1);
        ssize_t count = recv(fd, bytes + at, byte_count - at, 0);
        assert_true(count > 0);
        at += (size_t)count;
    }
}

void stage_await_dead(struct guard *guard, uint32_t ms)
{
    for (int i = 0; i < patient_ms(10000) && guard_is_alive(guard, ms); i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_false(guard_is_alive(guard, ms));
}

void stage_await_alive(struct guard *guard, uint32_t ms)
{
    for (int i = 0; i < patient_ms(10000) && !guard_is_alive(guard, ms); i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_true(guard_is_alive(guard, (uint32_t)patient_ms(10000)));
}

void stage_hear_end(int fd)
{
    char bytes[4096];
    ssize_t count = 1;

    while (count > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, patient_ms(30000)), 1);
        count = recv(fd, bytes, sizeof(bytes), 0);
    }
}
