#include "kube/http/http_client.h"

#include <stdlib.h>
#include <unistd.h>

#include "kube/http/http_private.h"

enum {
    CREDENTIAL_LOOK_MS = 1000, /* while a plugin runs or one failed */
    EVENTS_PER_WAIT = 64,
};

/* Making and freeing. */

/* Verify another name than that of the URL: the URL gets that name, and the
 * connection goes where the server is. */
static void set_base(struct http_client *client)
{
    const struct kube_config *config = client->config;
    const char *host = strstr(config->server, "://") + 3;
    size_t host_bytes = strcspn(host, "/");
    auto_strbuf to = strbuf_make(URL_BYTES_MAX);

    if (!*config->tls_server_name) {
        strbuf_add_text(&client->base, config->server);
        return;
    }
    strbuf_addf(&client->base, "https://%s%s", config->tls_server_name,
                host + host_bytes);
    strbuf_addf(&to, "%s:443:%.*s", config->tls_server_name, (int)host_bytes,
                host);
    client->connect_to = curl_slist_append(NULL, strbuf_text(&to));
}

void http_free_request(struct http_client *client, struct request *request)
{
    http_end_flight(client, request);
    uint32_t index =
        map_remove(&client->by_number, key_of_u64(request->number));
    http_drop_body(client, request);
    strbuf_fini(&request->type);
    arena_fini(&request->arena);
    mem_free(request);
    client->requests.items[index] = NULL;
    SLOTS_GIVE(&client->requests, index);
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void http_client_destroy(struct http_client *client)
{
    if (!client) {
        return;
    }
    for (size_t i = 0; i < client->requests.count; i++) {
        if (client->requests.items[i]) {
            http_free_request(client, client->requests.items[i]);
        }
    }
    if (client->multi) {
        (void)curl_multi_cleanup(client->multi);
    }
    close_fd(client->curl_timer_fd);
    close_fd(client->own_timer_fd);
    close_fd(client->epoll_fd);
    curl_slist_free_all(client->connect_to);
    VEC_FREE(&client->cancelled);
    credential_destroy(client->credential);
    SLOTS_FREE(&client->requests);
    VEC_FREE(&client->waiting);
    map_fini(&client->by_number);
    strbuf_fini(&client->base);
    mem_free(client);
}

/* Asking. */

static const char *keep(struct request *request, const char *text)
{
    return text ? arena_strdup(&request->arena, str_of(text)) : NULL;
}

static struct http_client *of(struct kube_port *port)
{
    return container_of(port, struct http_client, port);
}

static size_t body_bytes_max(const struct http_ask *ask)
{
    size_t most = ask->on_bytes ? HTTP_CLIENT_ERROR_BYTES_MAX
                                : HTTP_CLIENT_ANSWER_BYTES_MAX;

    return ask->byte_count_max > 0 && ask->byte_count_max < most
               ? ask->byte_count_max
               : most;
}

static uint64_t begin_request(struct kube_port *port,
                              const struct http_ask *ask)
{
    struct http_client *client = of(port);

    if (client->waiting.count >= HTTP_CLIENT_WAITING_MAX) {
        return 0;
    }
    uint32_t index = SLOTS_TAKE(&client->requests);
    struct request *request = mem_alloc(sizeof(*request));

    request->client = client;
    request->number = ++client->last_number;
    request->ask = *ask;
    request->ask.method = keep(request, ask->method);
    request->ask.path = keep(request, ask->path);
    request->ask.accept = keep(request, ask->accept);
    request->ask.content_type = keep(request, ask->content_type);
    request->ask.body = arena_str(&request->arena, ask->body);
    request->type = strbuf_make(HTTP_CLIENT_ERROR_BYTES_MAX);
    request->body = strbuf_make(body_bytes_max(ask));
    client->requests.items[index] = request;
    (void)map_put(&client->by_number, key_of_u64(request->number), index);
    VEC_PUSH(&client->waiting, request->number);
    http_set_timer(client->own_timer_fd, 0);
    return request->number;
}

static struct request *find(const struct http_client *client, uint64_t number)
{
    uint32_t index = map_find(&client->by_number, key_of_u64(number));

    return index == MAP_NONE ? NULL : client->requests.items[index];
}

static void cancel(struct kube_port *port, uint64_t number)
{
    struct http_client *client = of(port);
    struct request *request = find(client, number);

    if (!request) {
        return;
    }
    if (client->is_in_curl) {
        request->is_cancelled = true;
        VEC_PUSH(&client->cancelled, number);
        return;
    }
    http_free_request(client, request);
}

static void drive(struct kube_port *port)
{
    http_client_drive(of(port));
}

struct kube_port *http_client_port(struct http_client *client)
{
    return &client->port;
}

struct http_client *http_client_create(const struct kube_config *config,
                                       const struct clock *clock,
                                       struct err *err)
{
    struct http_client *client = mem_alloc(sizeof(*client));

    client->port = (struct kube_port){begin_request, cancel, drive, -1};
    client->config = config;
    client->epoll_fd = client->curl_timer_fd = client->own_timer_fd = -1;
    client->base = strbuf_make(URL_BYTES_MAX);
    client->credential = credential_create(config, clock);
    set_base(client);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        !http_open_multi(client)) {
        (void)err_set(err, -ERR_IO, "libcurl cannot be set up");
        http_client_destroy(client);
        return NULL;
    }
    client->port.fd = client->epoll_fd;
    return client;
}

/* Sending. */

static void send_waiting(struct http_client *client)
{
    /* Not those that are asked by who is told of an end. */
    size_t sent = 0, count = client->waiting.count;
    struct credential_now now;
    struct err err;

    for (; sent < count && client->flying_count < HTTP_CLIENT_REQUESTS_MAX;
         sent++) {
        struct request *request = find(client, client->waiting.items[sent]);
        if (!request) {
            continue; /* cancelled */
        }
        int rc = credential_get(client->credential, &now, &err);
        if (rc > 0) {
            break;
        }
        if (rc < 0) {
            http_end_without_answer(client, request, rc, err.text);
        } else if (!http_begin_flight(client, request, &now)) {
            http_end_without_answer(client, request, -ERR_LIMIT,
                                    "libcurl takes no further request");
        }
    }
    if (sent == 0) {
        return;
    }
    client->waiting.count -= sent;
    memmove(client->waiting.items, client->waiting.items + sent,
            client->waiting.count * sizeof(*client->waiting.items));
}

/* Nobody tells of a plugin's time, nor that one may be run again. */
static void look_again(const struct http_client *client)
{
    if (client->waiting.count > 0 ||
        credential_is_fetching(client->credential)) {
        http_set_timer(client->own_timer_fd, CREDENTIAL_LOOK_MS);
    }
}

static void free_cancelled(struct http_client *client)
{
    for (size_t i = 0; i < client->cancelled.count; i++) {
        cancel(&client->port, client->cancelled.items[i]);
    }
    client->cancelled.count = 0;
}

void http_client_drive(struct http_client *client)
{
    struct epoll_event events[EVENTS_PER_WAIT];
    int count;

    credential_drive(client->credential);
    send_waiting(client);
    do {
        count = epoll_wait(client->epoll_fd, events, EVENTS_PER_WAIT, 0);
        for (int i = 0; i < count; i++) {
            http_take_event(client, &events[i]);
        }
        free_cancelled(client);
        http_take_ends(client);
    } while (count == EVENTS_PER_WAIT);
    send_waiting(client);
    look_again(client);
}

int http_client_fd(const struct http_client *client)
{
    return client->epoll_fd;
}

const struct http_client_stats *
http_client_stats(const struct http_client *client)
{
    return &client->stats;
}
