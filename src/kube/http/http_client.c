#include "kube/http/http_client.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/map.h"
#include "base/slots.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "kube/http/credential.h"

enum {
    URL_BYTES_MAX = 64 << 10,
    CREDENTIAL_LOOK_MS = 1000, /* while a plugin runs or one failed */
    EVENTS_PER_WAIT = 64,
    MS_PER_S = 1000,
    TRIES_MAX = 2, /* once more with another credential */
};

/* What epoll says is ready, beside curl's own descriptors. */
enum { READY_CURL_TIMER = -1, READY_OWN_TIMER = -2, READY_CREDENTIAL = -3 };

struct request {
    uint64_t number;
    struct http_ask ask;        /* its texts are in `arena` */
    struct arena arena;         /* owned */
    CURL *easy;                 /* owned while it flies */
    struct curl_slist *headers; /* owned while it flies */
    struct strbuf body;         /* of the answer, unless on_bytes takes it */
    struct strbuf type;         /* of the body */
    char problem[CURL_ERROR_SIZE];
    uint64_t version; /* of the credential */
    int try_count;
    bool is_enough;    /* on_bytes said so */
    bool is_cancelled; /* from within a callback of curl */
};

struct http_client {
    struct kube_port port;
    const struct kube_config *config;
    struct credential *credential;
    CURLM *multi;
    int epoll_fd;
    int curl_timer_fd;             /* set by curl */
    int own_timer_fd;              /* set for what waits to be sent */
    int credential_fd;             /* that is in epoll; -1 */
    struct curl_slist *connect_to; /* owned: see tls_server_name; NULL */
    bool is_in_curl;         /* which must not be called from its callbacks */
    VEC(uint64_t) cancelled; /* meanwhile */
    struct strbuf base;      /* the URL before the path */
    SLOTS(struct request *) requests; /* owned; NULL: free */
    struct map by_number;
    uint64_t last_number;
    uint32_t flying_count;
    VEC(uint64_t) waiting; /* to be sent, in order */
};

/* curl's descriptors and timer, in epoll. */

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx,
                     void *of_socket)
{
    struct http_client *client = ctx;
    struct epoll_event event = {.data.fd = fd};

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)epoll_ctl(client->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    event.events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) |
                   (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
    (void)epoll_ctl(client->epoll_fd, of_socket ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                    fd, &event);
    (void)curl_multi_assign(client->multi, fd, client);
    return 0;
}

static void set_timer(int timer_fd, int64_t ms)
{
    /* Zero would switch the timer off. */
    int64_t ns = ms > 0 ? ms * 1000000 : 1;
    struct itimerspec at = {0};

    if (ms >= 0) {
        at.it_value.tv_sec = (time_t)(ns / 1000000000);
        at.it_value.tv_nsec = (long)(ns % 1000000000);
    }
    (void)timerfd_settime(timer_fd, 0, &at, NULL);
}

static int on_timer(CURLM *multi, long ms, void *ctx)
{
    (void)multi;
    set_timer(((const struct http_client *)ctx)->curl_timer_fd, ms);
    return 0;
}

static bool watch_fd(struct http_client *client, int fd, int what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = what};

    return epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

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

static bool open_multi(struct http_client *client)
{
    client->multi = curl_multi_init();
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    client->curl_timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    client->own_timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (!client->multi || client->epoll_fd < 0 ||
        !watch_fd(client, client->curl_timer_fd, READY_CURL_TIMER) ||
        !watch_fd(client, client->own_timer_fd, READY_OWN_TIMER)) {
        return false;
    }
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    (void)curl_multi_setopt(client->multi, CURLMOPT_PIPELINING,
                            CURLPIPE_MULTIPLEX);
    (void)curl_multi_setopt(client->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)HTTP_CLIENT_CONNECTIONS_MAX);
    return true;
}

static void end_flight(struct http_client *client, struct request *request)
{
    if (request->easy) {
        client->flying_count--;
        (void)curl_multi_remove_handle(client->multi, request->easy);
        curl_easy_cleanup(request->easy);
        curl_slist_free_all(request->headers);
        request->easy = NULL;
        request->headers = NULL;
    }
}

static void free_request(struct http_client *client, struct request *request)
{
    end_flight(client, request);
    uint32_t index =
        map_remove(&client->by_number, key_of_u64(request->number));
    strbuf_fini(&request->body);
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
            free_request(client, client->requests.items[i]);
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

static uint64_t begin_request(struct kube_port *port,
                              const struct http_ask *ask)
{
    struct http_client *client = of(port);
    uint32_t index = SLOTS_TAKE(&client->requests);
    struct request *request = mem_alloc(sizeof(*request));

    request->number = ++client->last_number;
    request->ask = *ask;
    request->ask.method = keep(request, ask->method);
    request->ask.path = keep(request, ask->path);
    request->ask.accept = keep(request, ask->accept);
    request->ask.content_type = keep(request, ask->content_type);
    request->ask.body = arena_str(&request->arena, ask->body);
    request->type = strbuf_make(HTTP_CLIENT_ERROR_BYTES_MAX);
    request->body = strbuf_make(ask->on_bytes ? HTTP_CLIENT_ERROR_BYTES_MAX
                                              : HTTP_CLIENT_ANSWER_BYTES_MAX);
    client->requests.items[index] = request;
    (void)map_put(&client->by_number, key_of_u64(request->number), index);
    VEC_PUSH(&client->waiting, request->number);
    set_timer(client->own_timer_fd, 0);
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
    free_request(client, request);
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

    client->port = (struct kube_port){begin_request, cancel};
    client->config = config;
    client->epoll_fd = client->curl_timer_fd = client->own_timer_fd =
        client->credential_fd = -1;
    client->base = strbuf_make(URL_BYTES_MAX);
    client->credential = credential_create(config, clock);
    set_base(client);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        !open_multi(client)) {
        (void)err_set(err, -ERR_IO, "libcurl cannot be set up");
        http_client_destroy(client);
        return NULL;
    }
    return client;
}

/* Sending. */

static int64_t status_of(const struct request *request)
{
    long status = 0;

    (void)curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *ctx)
{
    struct request *request = ctx;
    struct str got = str_make(bytes, size * count);

    if (request->is_cancelled) {
        return 0;
    }
    if (request->ask.on_bytes && status_of(request) / 100 == 2) {
        request->is_enough = !request->ask.on_bytes(request->ask.ctx, got);
        return request->is_enough ? 0 : got.byte_count;
    }
    strbuf_add_str(&request->body, got);
    return request->body.is_over ? 0 : got.byte_count;
}

static void add_header(struct request *request, const char *name,
                       struct str value)
{
    auto_strbuf line = strbuf_make(0);

    strbuf_addf(&line, "%s: ", name);
    strbuf_add_str(&line, value);
    request->headers = curl_slist_append(request->headers, strbuf_text(&line));
}

static void set_headers(struct request *request,
                        const struct credential_now *now)
{
    auto_strbuf bearer = strbuf_make(0);

    if (now->token.byte_count > 0) {
        strbuf_add_text(&bearer, "Bearer ");
        strbuf_add_str(&bearer, now->token);
        add_header(request, "Authorization", strbuf_str(&bearer));
    }
    if (request->ask.accept) {
        add_header(request, "Accept", str_of(request->ask.accept));
    }
    if (request->ask.content_type) {
        add_header(request, "Content-Type", str_of(request->ask.content_type));
    }
    /* A body is sent at once, without asking whether it is welcome. */
    add_header(request, "Expect", STR(""));
    (void)curl_easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers);
}

static void set_blob(CURL *easy, CURLoption option, struct str bytes)
{
    struct curl_blob blob = {(void *)(uintptr_t)bytes.p, bytes.byte_count,
                             CURL_BLOB_COPY};

    if (bytes.byte_count > 0) {
        (void)curl_easy_setopt(easy, option, &blob);
    }
}

static void set_tls(const struct http_client *client, CURL *easy,
                    const struct credential_now *now)
{
    long is_checked = client->config->is_insecure ? 0 : 1;

    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, is_checked);
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2 * is_checked);
    set_blob(easy, CURLOPT_CAINFO_BLOB, client->config->ca);
    if (now->certificate.byte_count > 0) {
        set_blob(easy, CURLOPT_SSLCERT_BLOB, now->certificate);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, now->key);
        (void)curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
        (void)curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
    }
}

static void set_limits(CURL *easy, const struct http_ask *ask)
{
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)HTTP_CLIENT_CONNECT_MS_MAX);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    if (ask->silence_ms_max > 0) {
        (void)curl_easy_setopt(
            easy, CURLOPT_LOW_SPEED_TIME,
            (long)((ask->silence_ms_max + MS_PER_S - 1) / MS_PER_S));
        (void)curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    }
}

static void set_ask(struct http_client *client, struct request *request)
{
    const struct http_ask *ask = &request->ask;
    auto_strbuf url = strbuf_make(URL_BYTES_MAX);
    CURL *easy = request->easy;

    strbuf_addf(&url, "%s%s", strbuf_text(&client->base), ask->path);
    (void)curl_easy_setopt(easy, CURLOPT_URL, strbuf_text(&url));
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, ask->method);
    if (ask->content_type) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)ask->body.byte_count);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, ask->body.p);
    }
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->problem);
    (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                           (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    /* The environment's proxies are not ours to guess about. */
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, client->config->proxy);
}

static bool begin_flight(struct http_client *client, struct request *request,
                         const struct credential_now *now)
{
    request->easy = curl_easy_init();
    if (!request->easy) {
        return false;
    }
    client->flying_count++;
    request->try_count++;
    request->version = now->version;
    strbuf_clear(&request->body);
    set_ask(client, request);
    set_headers(request, now);
    set_tls(client, request->easy, now);
    set_limits(request->easy, &request->ask);
    if (client->connect_to) {
        (void)curl_easy_setopt(request->easy, CURLOPT_CONNECT_TO,
                               client->connect_to);
    }
    return curl_multi_add_handle(client->multi, request->easy) == CURLM_OK;
}

/* Ends. */

static void end_request(struct http_client *client, struct request *request,
                        const struct http_result *result)
{
    struct http_ask ask = request->ask;
    struct http_result copy = *result;
    struct request ended = *request;

    /* Out of the table before it is told, which may ask for more. */
    request->body = request->type = (struct strbuf){0};
    request->arena = (struct arena){0};
    free_request(client, request);
    copy.content_type = strbuf_text(&ended.type);
    copy.body = strbuf_str(&ended.body);
    ask.on_end(ask.ctx, &copy);
    strbuf_fini(&ended.body);
    strbuf_fini(&ended.type);
    arena_fini(&ended.arena);
}

static void end_without_answer(struct http_client *client,
                               struct request *request, int rc,
                               const char *text)
{
    struct err copy;

    (void)err_set(&copy, rc, "%s", text);
    end_request(client, request,
                &(struct http_result){
                    .rc = rc, .retry_after_ms = -1, .text = copy.text});
}

static void send_waiting(struct http_client *client)
{
    size_t sent = 0;
    struct credential_now now;
    struct err err;

    for (; sent < client->waiting.count &&
           client->flying_count < HTTP_CLIENT_REQUESTS_MAX;
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
            end_without_answer(client, request, rc, err.text);
        } else if (!begin_flight(client, request, &now)) {
            end_without_answer(client, request, -ERR_LIMIT,
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

static void keep_type(struct request *request)
{
    char *type = NULL;

    strbuf_clear(&request->type);
    (void)curl_easy_getinfo(request->easy, CURLINFO_CONTENT_TYPE, &type);
    strbuf_add_text(&request->type, type ? type : "");
}

static int64_t retry_after_ms(const struct request *request)
{
    curl_off_t seconds = 0;
    struct curl_header *header;

    if (curl_easy_header(request->easy, "Retry-After", 0, CURLH_HEADER, -1,
                         &header) != CURLHE_OK) {
        return -1;
    }
    (void)curl_easy_getinfo(request->easy, CURLINFO_RETRY_AFTER, &seconds);
    return (int64_t)seconds * MS_PER_S;
}

/* Send it once more, with another credential; false: there is none. */
static bool try_again(struct http_client *client, struct request *request)
{
    if (request->try_count >= TRIES_MAX) {
        return false;
    }
    credential_reject(client->credential, request->version);
    end_flight(client, request);
    VEC_PUSH(&client->waiting, request->number);
    return true;
}

static void take_end(struct http_client *client, struct request *request,
                     CURLcode code)
{
    int64_t status = status_of(request);
    bool is_answered = code == CURLE_OK || (request->is_enough && status > 0);

    if (is_answered && status == 401 && try_again(client, request)) {
        return;
    }
    if (!is_answered) {
        const char *text =
            *request->problem ? request->problem : curl_easy_strerror(code);
        end_without_answer(
            client, request,
            request->body.is_over ? -ERR_LIMIT : -ERR_UNAVAILABLE, text);
        return;
    }
    struct http_result result = {.status = (int)status,
                                 .retry_after_ms = retry_after_ms(request),
                                 .text = ""};
    keep_type(request);
    end_request(client, request, &result);
}

static void take_ends(struct http_client *client)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(client->multi, &left))) {
        struct request *request = NULL;
        CURLcode code = message->data.result;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                                &request);
        take_end(client, request, code);
    }
}

static void follow_credential(struct http_client *client)
{
    int fd = credential_fd(client->credential);

    if (fd != client->credential_fd) {
        /* The old one was closed, which took it out of epoll. */
        client->credential_fd =
            fd >= 0 && watch_fd(client, fd, READY_CREDENTIAL) ? fd : -1;
    }
    if (client->waiting.count > 0) {
        set_timer(client->own_timer_fd, CREDENTIAL_LOOK_MS);
    }
}

/* A descriptor or a timer is ready. */
static void take_event(struct http_client *client,
                       const struct epoll_event *event)
{
    int fd = event->data.fd;
    int what = (event->events & EPOLLIN ? CURL_CSELECT_IN : 0) |
               (event->events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (event->events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
    uint64_t expired;
    int running;

    if (fd == READY_OWN_TIMER) {
        (void)!read(client->own_timer_fd, &expired, sizeof(expired));
        return;
    }
    client->is_in_curl = true;
    if (fd == READY_CURL_TIMER) {
        (void)!read(client->curl_timer_fd, &expired, sizeof(expired));
        (void)curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0,
                                       &running);
    } else if (fd >= 0) {
        (void)curl_multi_socket_action(client->multi, fd, what, &running);
    }
    client->is_in_curl = false;
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

    send_waiting(client);
    do {
        count = epoll_wait(client->epoll_fd, events, EVENTS_PER_WAIT, 0);
        for (int i = 0; i < count; i++) {
            take_event(client, &events[i]);
        }
        free_cancelled(client);
        take_ends(client);
    } while (count == EVENTS_PER_WAIT);
    send_waiting(client);
    follow_credential(client);
}

int http_client_fd(const struct http_client *client)
{
    return client->epoll_fd;
}
