/*
 * http_client: requests to a server on this machine.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/http/credential.h"
#include "kube/http/http_private.h"
#include "patience.h"
#include "rpc/http.h"
#include "tmpdir.h"
#include "unit.h"

static int64_t wall_ms(const struct clock *clock)
{
    (void)clock;
    return 1700000000000;
}

static int64_t mono_ms;

static uint64_t mono_ns(const struct clock *clock)
{
    (void)clock;
    return (uint64_t)mono_ms * 1000000;
}

static const struct clock test_clock = {mono_ns, wall_ms};

/* What was heard of a request. */
struct heard {
    int end_count, status, rc;
    int64_t retry_after_ms;
    char body[256], type[64];
    size_t streamed;
    size_t enough; /* end it after so many bytes; 0: never */
};

struct fixture {
    struct tmpdir dir;
    struct http_server *server;
    struct kube_config config;
    struct http_client *client;
    char url[64], path[TMPDIR_PATH_BYTES_MAX];
};

static void say_hello(void *ctx, const struct http_request *request,
                      struct http_reply *reply)
{
    const char *who = http_request_query(request, "who");

    (void)ctx;
    strbuf_addf(&reply->body, "hello %s", who ? who : "all");
}

static void say_much(void *ctx, const struct http_request *request,
                     struct http_reply *reply)
{
    (void)ctx;
    (void)request;
    for (int i = 0; i < 100000; i++) {
        strbuf_add_text(&reply->body, "0123456789");
    }
}

/* Takes the second token only. */
static void ask_who(void *ctx, const struct http_request *request,
                    struct http_reply *reply)
{
    const char *token = http_request_header(request, "Authorization");

    (void)ctx;
    reply->status = token && strcmp(token, "Bearer two") == 0 ? 200 : 401;
    strbuf_add_text(&reply->body, token ? token : "nobody");
}

static struct kube_port *port_of(struct fixture *f)
{
    return http_client_port(f->client);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    static const char *const none[] = {NULL};
    const struct http_route routes[] = {
        {"/hello", say_hello, NULL},
        {"/much", say_much, NULL},
        {"/who", ask_who, NULL},
    };
    struct err err;

    fixture = (struct fixture){0};
    mono_ms = 1000000;
    tmpdir_init(&fixture.dir);
    fixture.server = http_server_create(
        &(struct http_options){.routes = routes,
                               .route_count = ARRAY_COUNT(routes),
                               .address = "127.0.0.1:0"},
        &err);
    assert_non_null(fixture.server);
    snprintf(fixture.url, sizeof(fixture.url), "http://127.0.0.1:%u",
             http_server_port(fixture.server));
    fixture.config = (struct kube_config){
        .server = fixture.url,
        .tls_server_name = "",
        .proxy = "",
        .token_file = "",
        .exec = {.args = none, .envs = none, .hint = ""},
    };
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    http_client_destroy(f->client);
    http_server_destroy(f->server);
    tmpdir_fini(&f->dir);
    return 0;
}

static void start(struct fixture *f)
{
    struct err err = {""};

    f->client = http_client_create(&f->config, &test_clock, &err);
    assert_string_equal(err.text, "");
}

static void on_end(void *ctx, const struct http_result *result)
{
    struct heard *heard = ctx;

    heard->end_count++;
    heard->status = result->status;
    heard->rc = result->rc;
    heard->retry_after_ms = result->retry_after_ms;
    snprintf(heard->body, sizeof(heard->body), "%.*s", STR_ARG(result->body));
    snprintf(heard->type, sizeof(heard->type), "%s", result->content_type);
}

static bool on_bytes(void *ctx, struct str bytes)
{
    struct heard *heard = ctx;

    heard->streamed += bytes.byte_count;
    return heard->enough == 0 || heard->streamed < heard->enough;
}

static uint64_t ask(struct fixture *f, const char *path, struct heard *heard)
{
    return port_of(f)->ask(port_of(f), &(struct http_ask){.method = "GET",
                                                          .path = path,
                                                          .on_end = on_end,
                                                          .ctx = heard});
}

static void drive_until(struct fixture *f, const int *count, int wanted)
{
    struct pollfd fd = {http_client_fd(f->client), POLLIN, 0};

    while (*count < wanted) {
        assert_true(poll(&fd, 1, (int)patient_ms(10000)) > 0);
        http_client_drive(f->client);
    }
}

static void an_answer_has_status_body_and_type(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    start(f);

    ask(f, "/hello?who=you", &heard);
    drive_until(f, &heard.end_count, 1);

    assert_int_equal(heard.rc, 0);
    assert_int_equal(heard.status, 200);
    assert_string_equal(heard.body, "hello you");
    assert_string_equal(heard.type, "text/plain; charset=utf-8");
    ask(f, "/none", &heard);
    drive_until(f, &heard.end_count, 2);
    assert_int_equal(heard.status, 404);
}

static void many_requests_run_at_once(void **state)
{
    enum { COUNT = 200 };
    struct fixture *f = *state;
    struct heard heard[COUNT] = {{0}};
    start(f);

    for (int i = 0; i < COUNT; i++) {
        char path[64];
        snprintf(path, sizeof(path), "/hello?who=%d", i);
        ask(f, path, &heard[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        char body[64];
        drive_until(f, &heard[i].end_count, 1);
        snprintf(body, sizeof(body), "hello %d", i);
        assert_string_equal(heard[i].body, body);
        assert_int_equal(heard[i].end_count, 1);
    }
}

static void nobody_there_is_unavailable(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    f->config.server = "http://127.0.0.1:1";
    start(f);

    ask(f, "/hello", &heard);
    drive_until(f, &heard.end_count, 1);

    assert_int_equal(heard.rc, -ERR_UNAVAILABLE);
    assert_int_equal(heard.status, 0);
}

static void bytes_are_given_as_they_come_until_it_is_enough(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0}, less = {.enough = 20000};
    struct http_ask stream = {.method = "GET",
                              .path = "/much",
                              .on_bytes = on_bytes,
                              .on_end = on_end,
                              .ctx = &heard};
    start(f);

    port_of(f)->ask(port_of(f), &stream);
    drive_until(f, &heard.end_count, 1);
    assert_int_equal(heard.streamed, 1000000);
    assert_string_equal(heard.body, "");
    stream.ctx = &less;
    port_of(f)->ask(port_of(f), &stream);
    drive_until(f, &less.end_count, 1);
    assert_int_equal(less.rc, 0);
    assert_true(less.streamed >= 20000 && less.streamed < 1000000);
}

static bool cancel_other(void *ctx, struct str bytes)
{
    struct fixture *f = ctx;

    (void)bytes;
    port_of(f)->cancel(port_of(f), 1);
    port_of(f)->cancel(port_of(f), 2);
    return true;
}

static void on_end_ignored(void *ctx, const struct http_result *result)
{
    (void)ctx;
    (void)result;
    fail_msg("a cancelled request was told");
}

static void what_is_cancelled_is_heard_of_no_more(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0}, last = {0};
    start(f);

    uint64_t first = ask(f, "/hello", &heard);
    port_of(f)->cancel(port_of(f), first);
    port_of(f)->cancel(port_of(f), first);
    /* From within, itself and another. */
    port_of(f)->ask(port_of(f), &(struct http_ask){.method = "GET",
                                                   .path = "/much",
                                                   .on_bytes = cancel_other,
                                                   .on_end = on_end_ignored,
                                                   .ctx = f});
    ask(f, "/hello", &last);
    drive_until(f, &last.end_count, 1);
    for (int i = 0; i < 20; i++) {
        http_client_drive(f->client);
    }
    ask(f, "/hello", &last);
    drive_until(f, &last.end_count, 2);
    assert_int_equal(heard.end_count, 0);
}

static void put_token(const struct fixture *f, const char *token)
{
    FILE *file = fopen(f->path, "w");

    assert_non_null(file);
    assert_true(fputs(token, file) >= 0);
    assert_int_equal(fchmod(fileno(file), 0600), 0);
    assert_int_equal(fclose(file), 0);
}

static void a_token_that_is_refused_is_read_again(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    tmpdir_path(&f->dir, "token", f->path);
    f->config.token_file = f->path;
    put_token(f, "one");
    start(f);
    ask(f, "/who", &heard);
    drive_until(f, &heard.end_count, 1);
    assert_int_equal(heard.status, 401);

    put_token(f, "two");
    ask(f, "/who", &heard);
    drive_until(f, &heard.end_count, 2);

    assert_int_equal(heard.status, 200);
    assert_string_equal(heard.body, "Bearer two");
}

static void without_a_credential_a_request_ends(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    f->config.token_file = "/nowhere/token";
    start(f);

    ask(f, "/who", &heard);
    drive_until(f, &heard.end_count, 1);

    assert_int_equal(heard.rc, -ERR_NOT_FOUND);
}

static void use_plugin(struct fixture *f, const char *script)
{
    tmpdir_path(&f->dir, "plugin", f->path);
    put_token(f, script);
    assert_int_equal(chmod(f->path, 0755), 0);
    f->config.exec.command = f->path;
    f->config.exec.api_version = "client.authentication.k8s.io/v1";
    start(f);
}

static void requests_wait_for_a_plugin(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    use_plugin(f, "#!/bin/sh\necho '{\"status\":{\"token\":\"two\"}}'\n");

    ask(f, "/who", &heard);
    drive_until(f, &heard.end_count, 1);

    assert_int_equal(heard.status, 200);
}

static void a_plugin_is_run_again_when_its_token_is_refused(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    use_plugin(f, "#!/bin/sh\n"
                  "token=one\n"
                  "[ -e \"$0.ran\" ] && token=two\n"
                  "touch \"$0.ran\"\n"
                  "echo '{\"status\":{\"token\":\"'$token'\","
                  "\"expirationTimestamp\":\"2040-01-01T00:00:00Z\"}}'\n");
    ask(f, "/hello", &heard);
    drive_until(f, &heard.end_count, 1);

    mono_ms += CREDENTIAL_RETRY_MS;
    ask(f, "/who", &heard);
    drive_until(f, &heard.end_count, 2);

    assert_int_equal(heard.status, 200);
}

static void a_plugin_beside_the_requests_does_not_make_it_spin(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    char done[TMPDIR_PATH_BYTES_MAX];
    tmpdir_path(&f->dir, "plugin.done", done);
    use_plugin(f, "#!/bin/sh\n"
                  "echo '{\"status\":{\"token\":\"two\","
                  "\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"}}'\n"
                  "[ -e \"$0.ran\" ] && touch \"$0.done\"\n"
                  "touch \"$0.ran\"\n");
    struct pollfd fd = {http_client_fd(f->client), POLLIN, 0};
    ask(f, "/hello", &heard);
    drive_until(f, &heard.end_count, 1);

    mono_ms += CREDENTIAL_RETRY_MS;
    ask(f, "/hello", &heard); /* with the old one; the plugin runs beside */
    drive_until(f, &heard.end_count, 2);
    for (int i = 0; access(done, F_OK) != 0; i++) {
        assert_true(i < 10000);
        (void)poll(&fd, 1, 10);
        http_client_drive(f->client);
    }

    int drive_count = 0;
    while (poll(&fd, 1, 0) > 0) {
        assert_true(drive_count++ < 100);
        http_client_drive(f->client);
    }
}

static void no_more_than_so_many_may_wait(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    f->config.token_file = "/nowhere/token"; /* so that all end at once */
    start(f);

    for (int i = 0; i < HTTP_CLIENT_WAITING_MAX; i++) {
        assert_true(ask(f, "/hello", &heard) > 0);
    }
    assert_true(ask(f, "/hello", &heard) == 0);
    http_client_drive(f->client);
    assert_int_equal(heard.end_count, HTTP_CLIENT_WAITING_MAX);
    assert_true(ask(f, "/hello", &heard) > 0);
}

/* A server of one connection that says what the test has it say. */
struct rude {
    int listener, fd;
    struct strbuf says;
    size_t sent;
    bool drips; /* byte by byte */
};

static void rude_start(struct rude *rude, struct fixture *f)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t byte_count = sizeof(at);

    *rude = (struct rude){.fd = -1, .says = strbuf_make(0)};
    rude->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(
        bind(rude->listener, (const struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(rude->listener, 1), 0);
    assert_int_equal(
        getsockname(rude->listener, (struct sockaddr *)&at, &byte_count), 0);
    snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%u", ntohs(at.sin_port));
    start(f);
}

/* Send what the other side takes now. */
static void rude_say(struct rude *rude)
{
    if (rude->fd < 0) {
        rude->fd = accept4(rude->listener, NULL, NULL, SOCK_NONBLOCK);
        return;
    }
    size_t left = rude->says.byte_count - rude->sent;
    ssize_t sent = send(rude->fd, rude->says.bytes + rude->sent,
                        rude->drips && left > 0 ? 1 : left, MSG_NOSIGNAL);
    rude->sent += sent > 0 ? (size_t)sent : 0;
}

static void rude_serve(struct rude *rude, struct fixture *f,
                       const struct heard *heard)
{
    struct pollfd fd = {http_client_fd(f->client), POLLIN, 0};

    for (int i = 0; heard->end_count == 0; i++) {
        assert_true(i < 100000);
        (void)poll(&fd, 1, 1);
        http_client_drive(f->client);
        rude_say(rude);
    }
    close(rude->fd);
    close(rude->listener);
    strbuf_fini(&rude->says);
}

static void headers_without_end_are_not_read(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    struct rude rude;
    rude_start(&rude, f);
    /* Not as many as libcurl itself refuses. */
    for (int i = 0; i < 8000; i++) {
        strbuf_add_text(&rude.says,
                        "HTTP/1.1 103 Early Hints\r\nX-A: b\r\n\r\n");
    }
    assert_true(rude.says.byte_count > HTTP_CLIENT_HEAD_BYTES_MAX);
    strbuf_add_text(&rude.says, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

    ask(f, "/hello", &heard);
    rude_serve(&rude, f, &heard);

    assert_int_equal(heard.rc, -ERR_LIMIT);
}

static void nobody_makes_us_wait_for_ever(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    struct rude rude;
    rude_start(&rude, f);
    strbuf_add_text(&rude.says, "HTTP/1.1 429 No\r\nContent-Length: 0\r\n"
                                "Retry-After: 9223372036854775806\r\n\r\n");

    ask(f, "/hello", &heard);
    rude_serve(&rude, f, &heard);

    assert_int_equal(heard.status, 429);
    assert_int_equal(heard.retry_after_ms, KUBE_RETRY_AFTER_MS_MAX);
}

static void an_answer_that_drips_has_an_end(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    struct rude rude;
    rude_start(&rude, f);
    rude.drips = true;
    strbuf_add_text(&rude.says, "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n"
                                "\r\n");
    for (int i = 0; i < 200000; i++) {
        strbuf_add_char(&rude.says, 'x');
    }

    (void)port_of(f)->ask(port_of(f),
                          &(struct http_ask){.method = "GET",
                                             .path = "/hello",
                                             .silence_ms_max = 60000,
                                             .total_ms_max = 200,
                                             .on_end = on_end,
                                             .ctx = &heard});
    rude_serve(&rude, f, &heard);

    assert_int_equal(heard.rc, -ERR_UNAVAILABLE);
}

static void all_answers_together_have_a_bound(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    const size_t others = HTTP_CLIENT_HELD_BYTES_MAX - 3;
    start(f);

    f->client->held_byte_count = others;
    ask(f, "/hello", &heard);
    drive_until(f, &heard.end_count, 1);
    assert_int_equal(heard.rc, -ERR_LIMIT);
    assert_int_equal(f->client->held_byte_count, others);

    f->client->held_byte_count = 0;
    ask(f, "/hello", &heard);
    drive_until(f, &heard.end_count, 2);
    assert_int_equal(heard.rc, 0);
    assert_int_equal(f->client->held_byte_count, 0);
}

#define HTTP_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_TEST(an_answer_has_status_body_and_type),
        HTTP_TEST(many_requests_run_at_once),
        HTTP_TEST(nobody_there_is_unavailable),
        HTTP_TEST(bytes_are_given_as_they_come_until_it_is_enough),
        HTTP_TEST(what_is_cancelled_is_heard_of_no_more),
        HTTP_TEST(a_token_that_is_refused_is_read_again),
        HTTP_TEST(without_a_credential_a_request_ends),
        HTTP_TEST(requests_wait_for_a_plugin),
        HTTP_TEST(a_plugin_is_run_again_when_its_token_is_refused),
        HTTP_TEST(a_plugin_beside_the_requests_does_not_make_it_spin),
        HTTP_TEST(no_more_than_so_many_may_wait),
        HTTP_TEST(headers_without_end_are_not_read),
        HTTP_TEST(nobody_makes_us_wait_for_ever),
        HTTP_TEST(an_answer_that_drips_has_an_end),
        HTTP_TEST(all_answers_together_have_a_bound),
    };
    return RUN_TESTS(tests);
}
