/* A request on its way: its headers, its TLS, its limits, and its bytes. */
#include "kube/http/http_private.h"

int64_t http_status_of(const struct request *request)
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
    if (request->ask.on_bytes && http_status_of(request) / 100 == 2) {
        request->wants_no_more = !request->ask.on_bytes(request->ask.ctx, got);
        return request->wants_no_more ? 0 : got.byte_count;
    }
    request->is_beyond_held =
        got.byte_count >
        HTTP_CLIENT_HELD_BYTES_MAX - request->client->held_byte_count;
    if (request->is_beyond_held) {
        return 0;
    }
    strbuf_add_str(&request->body, got);
    if (request->body.is_over) {
        return 0;
    }
    request->client->held_byte_count += got.byte_count;
    return got.byte_count;
}

void http_drop_body(struct http_client *client, struct request *request)
{
    client->held_byte_count -= request->body.byte_count;
    strbuf_fini(&request->body);
}

/* All headers of an answer: interim ones and trailers too. */
static size_t take_header(char *bytes, size_t size, size_t count, void *ctx)
{
    struct request *request = ctx;

    (void)bytes;
    request->head_bytes += size * count;
    return request->head_bytes > HTTP_CLIENT_HEAD_BYTES_MAX ? 0 : size * count;
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
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                           (long)CURL_SSLVERSION_TLSv1_2);
    if (client->config->ca.byte_count > 0) {
        /* Those of the kubeconfig alone: the machine's do not count. */
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
        set_blob(easy, CURLOPT_CAINFO_BLOB, client->config->ca);
    }
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
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)ask->total_ms_max);
}

static void set_ask(struct http_client *client, struct request *request)
{
    const struct http_ask *ask = &request->ask;
    auto_strbuf url = strbuf_make(URL_BYTES_MAX);
    CURL *easy = request->easy;

    strbuf_addf(&url, "%s%s", strbuf_text(&client->base), ask->path);
    (void)curl_easy_setopt(easy, CURLOPT_URL, strbuf_text(&url));
    /* "/../" leads nowhere else. */
    (void)curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, ask->method);
    if (ask->content_type) {
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                               (curl_off_t)ask->body.byte_count);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, ask->body.p);
    }
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->problem);
    (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, NULL);
    (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                           (long)CURL_HTTP_VERSION_2TLS);
    (void)curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    /* The environment's proxies are not ours to guess about. */
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, client->config->proxy);
}

bool http_begin_flight(struct http_client *client, struct request *request,
                       const struct credential_now *now)
{
    request->easy = curl_easy_init();
    if (!request->easy) {
        return false;
    }
    client->flying_count++;
    request->try_count++;
    request->version = now->version;
    request->head_bytes = 0;
    http_drop_body(client, request);
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

void http_end_flight(struct http_client *client, struct request *request)
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
