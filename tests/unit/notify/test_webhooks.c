/*
 * webhooks: what the status of an answer means, and that no more of an answer
 * is read than bounds say.  How they are delivered is seen in
 * tests/e2e/test_notifier.py.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "notify/webhooks.h"
#include "patience.h"
#include "unit.h"

static void only_some_statuses_are_a_refusal(void **state)
{
    static const struct {
        long status;
        enum outbox_end end;
    } rows[] = {
        {200, OUTBOX_SENT},    {204, OUTBOX_SENT},    {299, OUTBOX_SENT},
        {301, OUTBOX_LATER},   {307, OUTBOX_LATER},   {400, OUTBOX_REFUSED},
        {401, OUTBOX_LATER},   {404, OUTBOX_LATER},   {405, OUTBOX_REFUSED},
        {408, OUTBOX_LATER},   {410, OUTBOX_REFUSED}, {413, OUTBOX_REFUSED},
        {415, OUTBOX_REFUSED}, {422, OUTBOX_REFUSED}, {429, OUTBOX_LATER},
        {500, OUTBOX_LATER},   {503, OUTBOX_LATER},   {0, OUTBOX_LATER},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        assert_int_equal(webhooks_end_of(rows[i].status), rows[i].end);
    }
}

/* A receiver that answers one request with headers until it is left. */
struct talker {
    int fd;
    uint16_t port;
    size_t sent_bytes;
    pthread_t thread;
};

enum { TALK_BYTES_MAX = 64 << 20 };

static void *talk(void *ctx)
{
    static const char first[] = "HTTP/1.1 200 OK\r\n";
    struct talker *talker = ctx;
    char more[1024];
    int fd = accept(talker->fd, NULL, NULL);

    memset(more, 'x', sizeof(more));
    memcpy(more, "X: ", 3);
    memcpy(more + sizeof(more) - 2, "\r\n", 2);
    ssize_t count = send(fd, first, sizeof(first) - 1, MSG_NOSIGNAL);
    while (count > 0 && talker->sent_bytes < TALK_BYTES_MAX) {
        count = send(fd, more, sizeof(more), MSG_NOSIGNAL);
        talker->sent_bytes += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    return NULL;
}

static void talker_start(struct talker *talker)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t byte_count = sizeof(at);

    *talker = (struct talker){.fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(talker->fd, (struct sockaddr *)&at, byte_count), 0);
    assert_int_equal(listen(talker->fd, 1), 0);
    (void)getsockname(talker->fd, (struct sockaddr *)&at, &byte_count);
    talker->port = ntohs(at.sin_port);
    assert_int_equal(pthread_create(&talker->thread, NULL, talk, talker), 0);
}

struct ended {
    enum outbox_end end;
    char why[256];
    uint32_t count;
};

static void on_end(void *ctx, struct outbox_item *item, enum outbox_end end,
                   const char *why)
{
    struct ended *ended = ctx;

    (void)item;
    ended->end = end;
    (void)snprintf(ended->why, sizeof(ended->why), "%s", why);
    ended->count++;
}

static int64_t wall_ms(const struct clock *clock)
{
    (void)clock;
    return 1000;
}

static void headers_without_end_are_not_read(void **state)
{
    struct talker talker;
    struct ended ended = {.count = 0};
    struct outbox_item item = {.id = STR("job-1"), .body = STR("{}")};
    struct notify_target target = {.name = STR("t"),
                                   .timeout_ms = patient_ms(20000)};
    const struct clock clock = {.wall_ms = wall_ms};
    char url[64];
    struct err err;

    (void)state;
    talker_start(&talker);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/", talker.port);
    target.url = str_of(url);
    struct webhooks *webhooks =
        webhooks_create(&target, &clock, on_end, &ended, &err);
    assert_non_null(webhooks);
    webhooks_send(webhooks, &item);
    while (ended.count == 0) {
        webhooks_drive(webhooks, 100);
    }
    webhooks_destroy(webhooks);
    (void)pthread_join(talker.thread, NULL);
    close(talker.fd);
    assert_string_equal(ended.why, "");
    assert_int_equal(ended.end, OUTBOX_SENT);
    assert_true(talker.sent_bytes < TALK_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_some_statuses_are_a_refusal),
        TEST(headers_without_end_are_not_read),
    };

    return RUN_TESTS(tests);
}
