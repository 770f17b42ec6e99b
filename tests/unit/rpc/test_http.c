/*
 * The HTTP server (http.h), spoken to by hand over loopback sockets.
 */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/http.h"
#include "rpc_fixture.h"

static void health(void *ctx, const struct http_request *request,
                   struct http_reply *reply)
{
    (void)ctx;
    (void)request;
    reply->status = 204;
}

static void hello(void *ctx, const struct http_request *request,
                  struct http_reply *reply)
{
    const char *name = http_request_query(request, "name");
    const char *header = http_request_header(request, "x-who");

    reply->content_type = "text/x-test";
    strbuf_addf(&reply->body, "%s %s %s", (const char *)ctx,
                name ? name : "(none)", header ? header : "(none)");
}

static void endless(void *ctx, const struct http_request *request,
                    struct http_reply *reply)
{
    (void)ctx;
    (void)request;
    reply->body = strbuf_make(10);
    strbuf_add_text(&reply->body, "more than ten bytes");
}

static struct http_server *start(const char *address)
{
    static char greeting[] = "hello";
    static const struct http_route routes[] = {
        {"/health", health, NULL},
        {"/hello", hello, greeting},
        {"/endless", endless, NULL},
    };
    struct err err = {""};
    struct http_server *server = http_server_create(
        &(struct http_options){
            .routes = routes, .route_count = 3, .address = address},
        &err);

    assert_string_equal(err.text, "");
    assert_non_null(server);
    return server;
}

/* Send `request`, read until the server closes. */
static void ask(const struct http_server *server, const char *request,
                struct strbuf *ret_answer)
{
    int fd = fixture_connect(http_server_port(server));
    char piece[1024];
    ssize_t count = 0;

    strbuf_clear(ret_answer);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL),
                     strlen(request));
    while ((count = recv(fd, piece, sizeof(piece), 0)) > 0) {
        strbuf_add(ret_answer, piece, (size_t)count);
    }
    close(fd);
}

static bool says(const struct strbuf *answer, const char *text)
{
    return strstr(strbuf_text(answer), text) != NULL;
}

static void get_and_head_are_answered_from_the_table(void **state)
{
    struct http_server *server = start("127.0.0.1:0");
    auto_strbuf answer = strbuf_make(0);

    (void)state;
    ask(server,
        "GET /hello?name=a%20b HTTP/1.1\r\nHost: x\r\nX-Who: me\r\n"
        "Connection: close\r\n\r\n",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 200 OK\r\n"));
    assert_true(says(&answer, "Content-Type: text/x-test\r\n"));
    assert_true(says(&answer, "Content-Length: 12\r\n"));
    assert_true(says(&answer, "\r\n\r\nhello a b me"));
    ask(server, "HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 200 OK\r\n"));
    assert_false(says(&answer, "hello"));
    ask(server, "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 204 No Content\r\n"));
    http_server_destroy(server);
}

static void what_is_not_served_is_answered_so(void **state)
{
    struct http_server *server = start("127.0.0.1:0");
    auto_strbuf answer = strbuf_make(0);

    (void)state;
    ask(server, "GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 404 "));
    ask(server,
        "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
        "Connection: close\r\n\r\nabc",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 405 "));
    assert_true(says(&answer, "Allow: GET, HEAD\r\n"));
    ask(server,
        "GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
        "Connection: close\r\n\r\nabc",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 200 "));
    ask(server, "GET /endless HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        &answer);
    assert_true(says(&answer, "HTTP/1.1 500 "));
    http_server_destroy(server);
}

static void an_oversize_request_is_refused(void **state)
{
    struct http_server *server = start("127.0.0.1:0");
    auto_strbuf request = strbuf_make(0);
    auto_strbuf answer = strbuf_make(0);

    (void)state;
    strbuf_add_text(&request, "GET /hello?name=");
    for (int i = 0; i < HTTP_REQUEST_BYTES_MAX; i++) {
        strbuf_add_char(&request, 'n');
    }
    ask(server, strbuf_text(&request), &answer);
    assert_true(says(&answer, "HTTP/1.1 4"));
    ask(server, "GET /hello HTTP/1.0\r\n\r\n", &answer);
    assert_true(says(&answer, "hello (none) (none)"));
    http_server_destroy(server);
}

static void addresses_are_checked_and_told(void **state)
{
    struct http_server *server = start("localhost:0");
    struct err err = {""};
    char address[64];

    (void)state;
    snprintf(address, sizeof(address), "127.0.0.1:%u",
             http_server_port(server));
    assert_null(http_server_create(
        &(struct http_options){.address = "127.0.0.1"}, &err));
    assert_non_null(strstr(err.text, "host:port"));
    http_server_destroy(server);
    server = start(address);
    assert_null(
        http_server_create(&(struct http_options){.address = address}, &err));
    assert_non_null(strstr(err.text, "in use"));
    http_server_destroy(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(get_and_head_are_answered_from_the_table),
        TEST(what_is_not_served_is_answered_so),
        TEST(an_oversize_request_is_refused),
        TEST(addresses_are_checked_and_told),
    };

    return RUN_TESTS(tests);
}
