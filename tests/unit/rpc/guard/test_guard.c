/*
 * guard: connections are counted, told apart, and ended when they say nothing
 * or too much.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "patience.h"
#include "rpc/guard/frames.h"
#include "rpc/guard/guard.h"
#include "rpc/listen.h"
#include "unit.h"

static const char hello[] =
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
static const char request[] = "\0\0\x01\x01\x04\0\0\0\x01x";

enum { HANDED_MAX = 16, SPARE = 32 };

/* A guard, and what it hands over. */
struct stage {
    struct guard *guard;
    uint16_t port;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int handed[HANDED_MAX];
    int handed_count;
};

static void take(void *ctx, int fd)
{
    struct stage *stage = ctx;

    pthread_mutex_lock(&stage->lock);
    assert_true(stage->handed_count < HANDED_MAX);
    stage->handed[stage->handed_count++] = fd;
    pthread_cond_signal(&stage->changed);
    pthread_mutex_unlock(&stage->lock);
}

static void begin(struct stage *stage, uint32_t most, uint32_t most_each)
{
    struct err err;
    int fd;

    *stage = (struct stage){.lock = PTHREAD_MUTEX_INITIALIZER,
                            .changed = PTHREAD_COND_INITIALIZER};
    assert_int_equal(listen_open("127.0.0.1:0", &fd, &stage->port, &err), 0);
    struct guard_options options = {
        .fds = &fd,
        .fd_count = 1,
        .connection_count_max = most,
        .address_count_max = most_each,
        .silence_ms_max = 60000,
        .hand_over = take,
        .ctx = stage,
    };
    stage->guard = guard_create(&options, &err);
    assert_non_null(stage->guard);
}

static void end(struct stage *stage)
{
    guard_close(stage->guard);
    guard_destroy(stage->guard);
    for (int i = 0; i < stage->handed_count; i++) {
        close(stage->handed[i]);
    }
}

static int dial(const struct stage *stage)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(stage->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    return fd;
}

static void say(int fd, const char *bytes, size_t byte_count)
{
    assert_int_equal(send(fd, bytes, byte_count, MSG_NOSIGNAL), byte_count);
}

/* The connection that the guard hands over as its `index`th. */
static int handed(struct stage *stage, int index)
{
    pthread_mutex_lock(&stage->lock);
    while (stage->handed_count <= index) {
        pthread_cond_wait(&stage->changed, &stage->lock);
    }
    int fd = stage->handed[index];
    pthread_mutex_unlock(&stage->lock);
    return fd;
}

/* Read until so many bytes are there. */
static void hear(int fd, char *bytes, size_t byte_count)
{
    for (size_t at = 0; at < byte_count;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, patient_ms(10000)), 1);
        ssize_t count = recv(fd, bytes + at, byte_count - at, 0);
        assert_true(count > 0);
        at += (size_t)count;
    }
}

/* Wait until it says that it does not serve, for a time of `ms` at most. */
static void await_dead(struct guard *guard, uint32_t ms)
{
    for (int i = 0; i < patient_ms(10000) && guard_is_alive(guard, ms); i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_false(guard_is_alive(guard, ms));
}

/* The opposite. */
static void await_alive(struct guard *guard, uint32_t ms)
{
    for (int i = 0; i < patient_ms(10000) && !guard_is_alive(guard, ms); i++) {
        (void)poll(NULL, 0, 1);
    }
    assert_true(guard_is_alive(guard, (uint32_t)patient_ms(10000)));
}

/* Read to the end of the connection. */
static void hear_end(int fd)
{
    char bytes[4096];
    ssize_t count = 1;

    while (count > 0) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&wait, 1, patient_ms(30000)), 1);
        count = recv(fd, bytes, sizeof(bytes), 0);
    }
}

/* The mark behind a request finds its connection, as long as that is there. */
static void a_request_finds_its_connection(void **state)
{
    enum { HELLO = sizeof(hello) - 1, REQUEST = sizeof(request) - 1 };
    struct guard_peer peer = {0};
    struct stage stage;
    char bytes[512];

    (void)state;
    begin(&stage, 8, 8);
    int fd = dial(&stage);
    say(fd, hello, HELLO);
    say(fd, request, REQUEST);
    int inner = handed(&stage, 0);
    hear(inner, bytes, HELLO + REQUEST + FRAMES_HEAD_BYTES + 2);
    assert_memory_equal(bytes, hello, HELLO);
    size_t name_bytes = strlen(guard_header);
    hear(inner, bytes, name_bytes + 1);
    assert_memory_equal(bytes, guard_header, name_bytes);
    size_t value_bytes = (size_t)(unsigned char)bytes[name_bytes];
    hear(inner, bytes, value_bytes);
    struct str mark = str_make(bytes, value_bytes);
    assert_true(guard_find(stage.guard, mark, &peer));
    assert_true(peer.has_user);
    assert_int_equal(peer.user_id, geteuid());
    assert_true(str_starts_with(str_of(peer.name), STR("ipv4:127.0.0.1:")));
    /* This process is no job; the second answer is remembered. */
    assert_true(guard_is_outside_jobs(stage.guard, mark));
    assert_true(guard_is_outside_jobs(stage.guard, mark));
    bytes[value_bytes - 1] ^= 1;
    assert_false(guard_find(stage.guard, mark, &peer));
    assert_false(guard_is_outside_jobs(stage.guard, mark));
    bytes[value_bytes - 1] ^= 1;
    /* What the other side says comes back as it is. */
    say(inner, "answer", 6);
    char answer[6];
    hear(fd, answer, 6);
    assert_memory_equal(answer, "answer", 6);
    close(inner);
    stage.handed_count = 0;
    hear_end(fd);
    close(fd);
    while (guard_find(stage.guard, mark, &peer)) {
    }
    /* Nor does the mark of an empty slot find one. */
    memset(bytes, '0', value_bytes);
    assert_false(guard_find(stage.guard, mark, &peer));
    end(&stage);
}

/* Over its limit a user's connections are closed, and others are not. */
static void connections_are_limited(void **state)
{
    struct guard_counts counts;
    struct stage stage;
    int fds[3];

    (void)state;
    begin(&stage, 8, 2);
    for (int i = 0; i < 3; i++) {
        fds[i] = dial(&stage);
        if (i < 2) {
            say(fds[i], hello, sizeof(hello) - 1);
            (void)handed(&stage, i);
        }
    }
    hear_end(fds[2]);
    guard_counts(stage.guard, &counts);
    assert_int_equal(counts.open_count, 2);
    assert_int_equal(counts.refused_count, 1);
    for (int i = 0; i < 3; i++) {
        close(fds[i]);
    }
    end(&stage);
}

/* Who is full makes room by ending who has said nothing. */
static void the_silent_give_way(void **state)
{
    struct guard_counts counts = {0};
    struct stage stage;

    (void)state;
    begin(&stage, 1, 8);
    int silent = dial(&stage), next = -1;
    while (counts.silent_count == 0) {
        next = dial(&stage);
        struct pollfd wait = {.fd = next, .events = POLLIN};
        (void)poll(&wait, 1, 20);
        guard_counts(stage.guard, &counts);
        if (counts.silent_count == 0) {
            close(next);
        }
    }
    hear_end(silent);
    say(next, hello, sizeof(hello) - 1);
    (void)handed(&stage, 0);
    close(silent);
    close(next);
    end(&stage);
}

static void what_a_flood_sends_ends_it(void **state)
{
    struct guard_counts counts;
    char head[] = "\x00\x40\x00\x09\x00\0\0\0\x01";
    struct stage stage;

    (void)state;
    begin(&stage, 8, 8);
    int fd = dial(&stage);
    say(fd, hello, sizeof(hello) - 1);
    say(fd, "\0\0\x01\x01\0\0\0\0\x01x", 10);
    for (int i = 0; i < 3; i++) {
        static const char zeros[16384];
        (void)!send(fd, head, 9, MSG_NOSIGNAL);
        (void)!send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL);
    }
    hear_end(fd);
    guard_counts(stage.guard, &counts);
    assert_int_equal(counts.ended_count, 1);
    close(fd);
    end(&stage);
}

/* Open files until there is no descriptor left; how many. */
static int use_up(int fds[SPARE])
{
    int count = 0;

    for (; count < SPARE && (fds[count] = dup(STDIN_FILENO)) >= 0; count++) {
    }
    return count;
}

/* Without descriptors it is not stuck: what waits is taken once there are. */
static void it_accepts_again_when_there_are_descriptors(void **state)
{
    struct guard_counts counts = {0};
    struct rlimit before, few;
    int fds[SPARE];
    struct stage stage;

    (void)state;
    begin(&stage, 8, 8);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(stage.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = (rlim_t)client + SPARE / 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    int count = use_up(fds);
    assert_true(count < SPARE);
    assert_int_equal(
        connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    for (int i = 0; i < patient_ms(10000) && counts.refused_count == 0; i++) {
        (void)poll(NULL, 0, 1);
        guard_counts(stage.guard, &counts);
    }
    assert_true(counts.refused_count > 0);
    assert_int_equal(counts.accepted_count, 0);
    assert_true(guard_is_alive(stage.guard, (uint32_t)patient_ms(10000)));
    /* Nobody is served meanwhile, though its thread goes round. */
    await_dead(stage.guard, 1500);
    while (count > 0) {
        close(fds[--count]);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    say(client, hello, sizeof(hello) - 1);
    (void)handed(&stage, 0);
    close(client);
    end(&stage);
}

static void a_library_that_does_not_answer_is_noticed(void **state)
{
    struct stage stage;
    char answer[4];

    (void)state;
    begin(&stage, 8, 8);
    int client = dial(&stage);
    say(client, hello, sizeof(hello) - 1);
    int library = handed(&stage, 0);
    await_dead(stage.guard, 1500);
    say(library, "yes!", sizeof(answer));
    hear(client, answer, sizeof(answer));
    await_alive(stage.guard, 1500);
    close(client);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_finds_its_connection),
        TEST(connections_are_limited),
        TEST(the_silent_give_way),
        TEST(what_a_flood_sends_ends_it),
        TEST(it_accepts_again_when_there_are_descriptors),
        TEST(a_library_that_does_not_answer_is_noticed),
    };

    return RUN_TESTS(tests);
}
