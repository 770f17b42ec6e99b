/* How requests end: answered, without an answer, or sent once more with another
 * credential. */
#include "kube/http/http_private.h"

enum { TRIES_MAX = 2 /* once more with another credential */ };

static void end_request(struct http_client *client, struct request *request,
                        const struct http_result *result)
{
    struct http_ask ask = request->ask;
    struct http_result copy = *result;
    struct request ended = *request;

    /* Out of the table before it is told, which may ask for more. */
    request->body = request->type = (struct strbuf){0};
    request->arena = (struct arena){0};
    http_free_request(client, request);
    copy.content_type = strbuf_text(&ended.type);
    copy.body = strbuf_str(&ended.body);
    ask.on_end(ask.ctx, &copy);
    http_drop_body(client, &ended);
    strbuf_fini(&ended.type);
    arena_fini(&ended.arena);
}

void http_end_without_answer(struct http_client *client,
                             struct request *request, int rc, const char *text)
{
    struct err copy;

    (void)err_set(&copy, rc, "%s", text);
    end_request(client, request,
                &(struct http_result){
                    .rc = rc, .retry_after_ms = -1, .text = copy.text});
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
    return seconds < KUBE_RETRY_AFTER_MS_MAX / MS_PER_S
               ? (int64_t)seconds * MS_PER_S
               : KUBE_RETRY_AFTER_MS_MAX;
}

/* Send it once more, with another credential; false: there is none. */
static bool try_again(struct http_client *client, struct request *request)
{
    if (request->try_count >= TRIES_MAX) {
        return false;
    }
    credential_reject(client->credential, request->version);
    http_end_flight(client, request);
    VEC_PUSH(&client->waiting, request->number);
    return true;
}

static void count_answer(struct http_client *client,
                         const struct request *request)
{
    long version = 0;

    (void)curl_easy_getinfo(request->easy, CURLINFO_HTTP_VERSION, &version);
    client->stats.answer_count++;
    client->stats.http2_count += version == CURL_HTTP_VERSION_2_0;
}

static void take_end(struct http_client *client, struct request *request,
                     CURLcode code)
{
    int64_t status = http_status_of(request);
    bool is_answered =
        code == CURLE_OK || (request->wants_no_more && status > 0);

    if (is_answered && status == 401 && try_again(client, request)) {
        return;
    }
    if (!is_answered) {
        const char *text = request->is_beyond_held
                               ? "the answers on their way are too large"
                           : *request->problem ? request->problem
                                               : curl_easy_strerror(code);
        http_end_without_answer(
            client, request,
            request->body.is_over || request->is_beyond_held ||
                    request->head_bytes > HTTP_CLIENT_HEAD_BYTES_MAX
                ? -ERR_LIMIT
                : -ERR_UNAVAILABLE,
            text);
        return;
    }
    struct http_result result = {.status = (int)status,
                                 .retry_after_ms = retry_after_ms(request),
                                 .text = ""};
    count_answer(client, request);
    keep_type(request);
    end_request(client, request, &result);
}

void http_take_ends(struct http_client *client)
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
