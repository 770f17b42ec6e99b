/*
 * http - a small HTTP/1.1 server for GET: health, metrics, pages.
 *
 * Paths are matched exactly against a table.  HEAD is answered like GET
 * without the body, other methods with 405, unknown paths with 404.  One
 * thread serves all connections, so a handler must not block for long.
 *
 * Threads: handlers run on the server's thread; create and destroy from one
 * thread.
 */
#pragma once

#include "base/strbuf.h"

enum {
    HTTP_ROUTES_MAX = 64,
    /* Connections at once; for one more, that which has asked for nothing for
     * longest is closed. */
    HTTP_CONNECTIONS_DEFAULT_MAX = 256,
    /* A request's line and headers; more is answered 413, 414 or 431. */
    HTTP_REQUEST_BYTES_MAX = 32 << 10,
    /* A connection on which nothing happens is closed after this. */
    HTTP_IDLE_MAX_S = 60,
};

struct http_server;
struct http_request;

/* What a handler fills in.  It comes as 200, "text/plain; charset=utf-8" and
 * an empty body, which the server frees. */
struct http_reply {
    unsigned status;
    const char *content_type; /* a literal; ignored without a body */
    struct strbuf body;       /* if it passes its bound, 500 is sent instead */
};

/* Answers one request. */
typedef void http_handler_fn(void *ctx, const struct http_request *request,
                             struct http_reply *reply);

/* One row of the table. */
struct http_route {
    const char *path; /* "/health" */
    http_handler_fn *handle;
    void *ctx;
};

/* What a server is made from; zero means the default.  All is copied but the
 * paths, which must outlive the server. */
struct http_options {
    const struct http_route *routes; /* [route_count] */
    uint32_t route_count;
    const char *address; /* "host:port", "[v6]:port"; port 0: any free one */
    uint32_t connection_count_max; /* HTTP_CONNECTIONS_DEFAULT_MAX */
};

/* Listen and serve.  NULL with `err` set when the address cannot be bound. */
struct http_server *http_server_create(const struct http_options *options,
                                       struct err *err) must_check;

/* The port it got. */
uint16_t http_server_port(const struct http_server *server);

/* Stop, waiting for a handler that is running, and free.  NULL is fine. */
void http_server_destroy(struct http_server *server);
DEFINE_AUTO(http_server, http_server_destroy)

/* The value of argument `name` of the query, unescaped, or NULL ("" when it
 * has none).  Valid until the handler returns. */
const char *http_request_query(const struct http_request *request,
                               const char *name);

/* The value of header `name` (any case), or NULL.  As above. */
const char *http_request_header(const struct http_request *request,
                                const char *name);
