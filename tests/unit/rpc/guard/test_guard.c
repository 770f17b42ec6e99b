/*
 * guard: connections are counted, told apart, and ended when they say nothing
 * or too much.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guard_stage.h"
#include "patience.h"
#include "rpc/guard/frames.h"
#include "unit.h"

static const char request[] = "\0\0\x01\x01\x04\0\0\0\x01x";

enum { SPARE = 32 };

/* The mark behind a request finds its connection, as long as that is there. */
static void a_request_finds_its_connection(void **state)
{
    enum { HELLO = GUARD_HELLO_BYTES, REQUEST = sizeof(request) - 1 };
    struct guard_peer peer = {0};
    struct stage stage;
    char bytes[512];

    (void)state;
    stage_begin(&stage, 8, 8);
    int fd = stage_dial(&stage);
    stage_say(fd, guard_hello, HELLO);
    stage_say(fd, request, REQUEST);
    int inner = stage_handed(&stage, 0);
    stage_hear(inner, bytes, HELLO + REQUEST + FRAMES_HEAD_BYTES + 2);
    assert_memory_equal(bytes, guard_hello, HELLO);
    size_t name_bytes = strlen(guard_header);
    stage_hear(inner, bytes, name_bytes + 1);
    assert_memory_equal(bytes, guard_header, name_bytes);
    size_t value_bytes = (size_t)(unsigned char)bytes[name_bytes];
    stage_hear(inner, bytes, value_bytes);
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
    stage_say(inner, "answer", 6);
    char answer[6];
    stage_hear(fd, answer, 6);
    assert_memory_equal(answer, "answer", 6);
    close(inner);
    stage.handed_count = 0;
    stage_hear_end(fd);
    close(fd);
    while (guard_find(stage.guard, mark, &peer)) {
    }
    /* Nor does the mark of an empty slot find one. */
    memset(bytes, '0', value_bytes);
    assert_false(guard_find(stage.guard, mark, &peer));
    stage_end(&stage);
}

/* Say what the other side does not read, until no more is taken; how much. */
static size_t say_all_that_is_taken(int fd)
{
    enum { STEP_BYTES = 1 << 16, WAIT_MS = 300 };
    static const char bytes[STEP_BYTES];
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    size_t said = 0;

    while (poll(&wait, 1, WAIT_MS) == 1) {
        ssize_t count =
            send(fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL);
        assert_true(count > 0);
        said += (size_t)count;
    }
    return said;
}

/* A client that reads late gets all, and what it says meanwhile arrives. */
static void a_client_may_read_late(void **state)
{
    struct stage stage;
    char bytes[GUARD_HELLO_BYTES], answer[4];

    (void)state;
    stage_begin(&stage, 8, 8);
    int fd = stage_dial(&stage);
    stage_say(fd, guard_hello, GUARD_HELLO_BYTES);
    int inner = stage_handed(&stage, 0);
    for (size_t left = say_all_that_is_taken(inner); left > 0;) {
        size_t n = left < sizeof(bytes) ? left : sizeof(bytes);
        stage_hear(fd, bytes, n);
        left -= n;
    }
    stage_say(inner, "more", 4);
    stage_hear(fd, answer, 4);
    assert_memory_equal(answer, "more", 4);
    close(fd);
    stage_end(&stage);
}

/* Over its limit a user's connections are closed, and others are not. */
static void connections_are_limited(void **state)
{
    struct guard_counts counts;
    struct stage stage;
    int fds[3];

    (void)state;
    stage_begin(&stage, 8, 2);
    for (int i = 0; i < 3; i++) {
        fds[i] = stage_dial(&stage);
        if (i < 2) {
            stage_say(fds[i], guard_hello, GUARD_HELLO_BYTES);
            (void)stage_handed(&stage, i);
        }
    }
    stage_hear_end(fds[2]);
    guard_counts(stage.guard, &counts);
    assert_int_equal(counts.open_count, 2);
    assert_int_equal(counts.refused_count, 1);
    for (int i = 0; i < 3; i++) {
        close(fds[i]);
    }
    stage_end(&stage);
}

/* Who is full makes room by ending who has said nothing. */
static void the_silent_give_way(void **state)
{
    struct guard_counts counts = {0};
    struct stage stage;

    (void)state;
    stage_begin(&stage, 1, 8);
    int silent = stage_dial(&stage), next = -1;
    while (counts.silent_count == 0) {
        next = stage_dial(&stage);
        struct pollfd wait = {.fd = next, .events = POLLIN};
        (void)poll(&wait, 1, 20);
        guard_counts(stage.guard, &counts);
        if (counts.silent_count == 0) {
            close(next);
        }
    }
    stage_hear_end(silent);
    stage_say(next, guard_hello, GUARD_HELLO_BYTES);
    (void)stage_handed(&stage, 0);
    close(silent);
    close(next);
    stage_end(&stage);
}

static void what_a_flood_sends_ends_it(void **state)
{
    struct guard_counts counts;
    char head[] = "\x00\x40\x00\x09\x00\0\0\0\x01";
    struct stage stage;

    (void)state;
    stage_begin(&stage, 8, 8);
    int fd = stage_dial(&stage);
    stage_say(fd, guard_hello, GUARD_HELLO_BYTES);
    stage_say(fd, "\0\0\x01\x01\0\0\0\0\x01x", 10);
    for (int i = 0; i < 3; i++) {
        static const char zeros[16384];
        (void)!send(fd, head, 9, MSG_NOSIGNAL);
        (void)!send(fd, zeros, sizeof(zeros), MSG_NOSIGNAL);
    }
    stage_hear_end(fd);
    guard_counts(stage.guard, &counts);
    assert_int_equal(counts.ended_count, 1);
    close(fd);
    stage_end(&stage);
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
    stage_begin(&stage, 8, 8);
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
    stage_await_dead(stage.guard, 1500);
    while (count > 0) {
        close(fds[--count]);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    stage_say(client, guard_hello, GUARD_HELLO_BYTES);
    (void)stage_handed(&stage, 0);
    close(client);
    stage_end(&stage);
}

static void a_library_that_does_not_answer_is_noticed(void **state)
{
    struct stage stage;
    char answer[4];

    (void)state;
    stage_begin(&stage, 8, 8);
    int client = stage_dial(&stage);
    stage_say(client, guard_hello, GUARD_HELLO_BYTES);
    int library = stage_handed(&stage, 0);
    stage_await_dead(stage.guard, 1500);
    stage_say(library, "yes!", sizeof(answer));
    stage_hear(client, answer, sizeof(answer));
    stage_await_alive(stage.guard, 1500);
    close(client);
    stage_end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_finds_its_connection),
        TEST(a_client_may_read_late),
        TEST(connections_are_limited),
        TEST(the_silent_give_way),
        TEST(what_a_flood_sends_ends_it),
        TEST(it_accepts_again_when_there_are_descriptors),
        TEST(a_library_that_does_not_answer_is_noticed),
    };

    return RUN_TESTS(tests);
}
