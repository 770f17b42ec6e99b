#include "rpc/http.h"

#include <microhttpd.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/core.h"
#include "rpc/listen.h"

/* That are ended and not closed yet. */
enum { SPARE_CONNECTIONS = 64 };

/* A connection, in the order in which they last asked for something. */
struct http_connection {
    TAILQ_ENTRY(http_connection) link;
    int fd;
    bool is_ended; /* on purpose: the library is about to close it */
};

TAILQ_HEAD(http_connections, http_connection);

struct http_server {
    struct http_route *routes; /* owned, [route_count] */
    uint32_t route_count;
    uint16_t port;
    struct MHD_Daemon *daemon;
    struct http_connections connections; /* the library's thread's */
    uint32_t connection_count, connection_count_max; /* not ended ones */
};

/* A request is the library's connection under another name. */
static struct MHD_Connection *connection_of(const struct http_request *request)
{
    return (struct MHD_Connection *)(uintptr_t)request;
}

const char *http_request_query(const struct http_request *request,
                               const char *name)
{
    const char *value = NULL;
    size_t byte_count = 0;

    if (MHD_lookup_connection_value_n(connection_of(request),
                                      MHD_GET_ARGUMENT_KIND, name, strlen(name),
                                      &value, &byte_count) == MHD_NO) {
        return NULL;
    }
    return value ? value : "";
}

const char *http_request_header(const struct http_request *request,
                                const char *name)
{
    return MHD_lookup_connection_value(connection_of(request), MHD_HEADER_KIND,
                                       name);
}

/* Send what `reply` holds and leave it empty. */
static enum MHD_Result send_reply(struct MHD_Connection *connection,
                                  struct http_reply *reply)
{
    size_t byte_count = reply->body.byte_count;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(
            byte_count, strbuf_steal(&reply->body), mem_free);
    enum MHD_Result rc = MHD_NO;

    if (byte_count > 0) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                reply->content_type);
    }
    if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    rc = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    return rc;
}

static enum MHD_Result send_error(struct MHD_Connection *connection,
                                  unsigned status, const char *text)
{
    struct http_reply reply = {.status = status,
                               .content_type = "text/plain; charset=utf-8"};

    strbuf_add_text(&reply.body, text);
    return send_reply(connection, &reply);
}

static const struct http_route *find(const struct http_server *server,
                                     const char *path)
{
    for (uint32_t i = 0; i < server->route_count; i++) {
        if (strcmp(server->routes[i].path, path) == 0) {
            return &server->routes[i];
        }
    }
    return NULL;
}

static enum MHD_Result answer(const struct http_server *server,
                              struct MHD_Connection *connection,
                              const char *path)
{
    const struct http_route *route = find(server, path);
    struct http_reply reply = {.status = MHD_HTTP_OK,
                               .content_type = "text/plain; charset=utf-8"};

    if (!route) {
        return send_error(connection, MHD_HTTP_NOT_FOUND, "not found\n");
    }
    route->handle(route->ctx, (const struct http_request *)connection, &reply);
    if (reply.body.is_over) {
        strbuf_fini(&reply.body);
        return send_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                          "the answer is too large\n");
    }
    return send_reply(connection, &reply);
}

/* Make room: the connection that has said nothing for longest, most likely
 * half a request, ends. */
static void end_oldest(struct http_server *server)
{
    struct http_connection *oldest = TAILQ_FIRST(&server->connections);

    TAILQ_REMOVE(&server->connections, oldest, link);
    oldest->is_ended = true;
    server->connection_count--;
    (void)shutdown(oldest->fd, SHUT_RDWR);
}

static void on_begin(struct http_server *server,
                     struct MHD_Connection *connection, void **ret_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    struct http_connection *begun = mem_alloc(sizeof(*begun));

    if (server->connection_count >= server->connection_count_max) {
        end_oldest(server);
    }
    begun->fd = info ? info->connect_fd : -1;
    TAILQ_INSERT_TAIL(&server->connections, begun, link);
    server->connection_count++;
    *ret_context = begun;
}

static void on_end(struct http_server *server, struct http_connection *ended)
{
    if (!ended->is_ended) {
        TAILQ_REMOVE(&server->connections, ended, link);
        server->connection_count--;
    }
    mem_free(ended);
}

/* The library tells of each connection's begin and end. */
static void on_connection(void *ctx, struct MHD_Connection *connection,
                          void **context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http_server *server = ctx;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        on_begin(server, connection, context);
    } else {
        on_end(server, *context);
    }
}

/* It has asked for something: it is the last to be ended now. */
static void note_request(struct http_server *server,
                         struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_connection *asking = info ? info->socket_context : NULL;

    if (asking && !asking->is_ended) {
        TAILQ_REMOVE(&server->connections, asking, link);
        TAILQ_INSERT_TAIL(&server->connections, asking, link);
    }
}

/* The library calls this once with the headers, for each piece of a body, and
 * once at the end. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection,
                                  const char *path, const char *method,
                                  const char *version, const char *piece,
                                  size_t *piece_bytes, void **seen)
{
    (void)version;
    (void)piece;
    if (!*seen) {
        *seen = ctx;
        note_request((struct http_server *)ctx, connection);
        return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
                       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0
                   ? MHD_YES
                   : send_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                                "only GET and HEAD\n");
    }
    if (*piece_bytes > 0) {
        *piece_bytes = 0; /* nobody wants the body of a GET */
        return MHD_YES;
    }
    return answer((const struct http_server *)ctx, connection, path);
}

struct http_server *http_server_create(const struct http_options *options,
                                       struct err *err)
{
    struct http_server *server = NULL;
    uint16_t port = 0;
    unsigned connection_count_max = options->connection_count_max
                                        ? options->connection_count_max
                                        : HTTP_CONNECTIONS_DEFAULT_MAX;
    sigset_t before;
    int fd = -1;

    ASSERT(options->route_count <= HTTP_ROUTES_MAX);
    if (listen_open(options->address, &fd, &port, err) < 0) {
        return NULL;
    }
    server = mem_alloc(sizeof(*server));
    server->port = port;
    server->route_count = options->route_count;
    server->connection_count_max = connection_count_max;
    TAILQ_INIT(&server->connections);
    server->routes = mem_dup(options->routes,
                             options->route_count * sizeof(*server->routes));
    /* The daemon borrows the socket; its thread takes no signals. */
    core_block_signals(&before);
    server->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_request,
        server, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        connection_count_max + SPARE_CONNECTIONS, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, server, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)HTTP_IDLE_MAX_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)HTTP_REQUEST_BYTES_MAX, MHD_OPTION_END);
    core_unblock_signals(&before);
    if (!server->daemon) {
        err_set(err, -ERR_IO, "cannot start the HTTP server on %s",
                options->address);
        http_server_destroy(server);
        return NULL;
    }
    return server;
}

uint16_t http_server_port(const struct http_server *server)
{
    return server->port;
}

void http_server_destroy(struct http_server *server)
{
    if (!server) {
        return;
    }
    if (server->daemon) {
        /* Closed here, where the thread sanitizer sees that the number is
         * free for others. */
        int fd = MHD_quiesce_daemon(server->daemon);
        MHD_stop_daemon(server->daemon);
        ASSERT(fd >= 0); /* MHD_USE_ITC lets it be taken back */
        close(fd);
    }
    mem_free(server->routes);
    mem_free(server);
}
