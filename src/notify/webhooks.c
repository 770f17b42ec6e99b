#include "notify/webhooks.h"

#include <curl/curl.h>
#include <stdio.h>

#include "notify/signature.h"

enum { MS_PER_S = 1000 };

/* One attempt under way. */
struct flight {
    struct webhooks *webhooks;
    struct outbox_item *item;
    CURL *easy;                 /* owned */
    struct curl_slist *headers; /* owned */
    size_t answer_bytes;
    char problem[CURL_ERROR_SIZE];
    struct flight *next;
};

struct webhooks {
    const struct notify_target *targets;
    const struct clock *clock;
    webhooks_end_fn *on_end;
    void *ctx;
    CURLM *multi;           /* owned */
    struct flight *flights; /* owned list */
    uint32_t flying_count;
};

struct webhooks *webhooks_create(const struct notify_target *targets,
                                 const struct clock *clock,
                                 webhooks_end_fn *on_end, void *ctx,
                                 struct err *err)
{
    CURLM *multi = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
                       ? curl_multi_init()
                       : NULL;

    if (!multi) {
        (void)err_set(err, -ERR_IO, "libcurl does not start");
        return NULL;
    }
    struct webhooks *webhooks = mem_alloc(sizeof(*webhooks));
    *webhooks = (struct webhooks){targets, clock, on_end, ctx, multi, NULL, 0};
    return webhooks;
}

static void free_flight(struct flight *flight)
{
    (void)curl_multi_remove_handle(flight->webhooks->multi, flight->easy);
    curl_easy_cleanup(flight->easy);
    curl_slist_free_all(flight->headers);
    mem_free(flight);
}

void webhooks_destroy(struct webhooks *webhooks)
{
    if (!webhooks) {
        return;
    }
    while (webhooks->flights) {
        struct flight *flight = webhooks->flights;
        webhooks->flights = flight->next;
        free_flight(flight);
    }
    (void)curl_multi_cleanup(webhooks->multi);
    mem_free(webhooks);
}

/* Headers and body. */
static size_t take_answer(char *bytes, size_t size, size_t count, void *ctx)
{
    struct flight *flight = ctx;

    (void)bytes;
    flight->answer_bytes += size * count;
    return flight->answer_bytes > WEBHOOKS_ANSWER_BYTES_MAX ? 0 : size * count;
}

static void add_header(struct flight *flight, const char *name,
                       struct str value)
{
    auto_strbuf line = {0};

    strbuf_addf(&line, "%s: ", name);
    strbuf_add_str(&line, value);
    flight->headers = curl_slist_append(flight->headers, strbuf_text(&line));
}

static void set_headers(struct flight *flight,
                        const struct notify_target *target, int64_t seconds)
{
    const struct outbox_item *item = flight->item;
    auto_strbuf signature = {0};
    char time[32];

    (void)snprintf(time, sizeof(time), "%lld", (long long)seconds);
    add_header(flight, "Content-Type", STR("application/json"));
    add_header(flight, "User-Agent", STR("berth/" BERTH_VERSION));
    add_header(flight, "webhook-id", item->id);
    add_header(flight, "webhook-timestamp", str_of(time));
    if (target->secret.byte_count > 0) {
        signature_put(target->secret, item->id, seconds, item->body,
                      &signature);
        add_header(flight, "webhook-signature", strbuf_str(&signature));
    }
    /* A body is sent at once, without asking whether it is welcome. */
    flight->headers = curl_slist_append(flight->headers, "Expect:");
    (void)curl_easy_setopt(flight->easy, CURLOPT_HTTPHEADER, flight->headers);
}

static void set_limits(CURL *easy, const struct notify_target *target)
{
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_PROXY, "");
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)target->timeout_ms);
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                           (long)WEBHOOKS_CONNECT_MS_MAX);
    (void)curl_easy_setopt(easy, CURLOPT_SSLVERSION,
                           (long)CURL_SSLVERSION_TLSv1_2);
    if (target->ca_file.byte_count > 0) {
        (void)curl_easy_setopt(easy, CURLOPT_CAINFO, target->ca_file.p);
        (void)curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
}

static void set_request(struct flight *flight,
                        const struct notify_target *target)
{
    CURL *easy = flight->easy;

    (void)curl_easy_setopt(easy, CURLOPT_URL, target->url.p);
    (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                           (curl_off_t)flight->item->body.byte_count);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, flight->item->body.p);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, flight);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_answer);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, flight);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, flight);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, flight->problem);
}

void webhooks_send(struct webhooks *webhooks, struct outbox_item *item)
{
    const struct notify_target *target = &webhooks->targets[item->target];
    CURL *easy = curl_easy_init();
    struct flight *flight = easy ? mem_alloc(sizeof(*flight)) : NULL;

    if (!flight) {
        webhooks->on_end(webhooks->ctx, item, OUTBOX_LATER, "out of memory");
        return;
    }
    *flight = (struct flight){.webhooks = webhooks, .item = item, .easy = easy};
    set_request(flight, target);
    set_limits(easy, target);
    set_headers(flight, target,
                webhooks->clock->wall_ms(webhooks->clock) / MS_PER_S);
    flight->next = webhooks->flights;
    webhooks->flights = flight;
    webhooks->flying_count++;
    (void)curl_multi_add_handle(webhooks->multi, easy);
}

uint32_t webhooks_flying_count(const struct webhooks *webhooks)
{
    return webhooks->flying_count;
}

enum outbox_end webhooks_end_of(long status)
{
    enum {
        BAD_REQUEST = 400,
        METHOD_NOT_ALLOWED = 405,
        GONE = 410,
        TOO_LARGE = 413,
        UNSUPPORTED = 415,
        UNPROCESSABLE = 422,
        HUNDRED = 100,
    };

    switch (status) {
    case BAD_REQUEST:
    case METHOD_NOT_ALLOWED:
    case GONE:
    case TOO_LARGE:
    case UNSUPPORTED:
    case UNPROCESSABLE:
        return OUTBOX_REFUSED;
    default:
        return status / HUNDRED == 2 ? OUTBOX_SENT : OUTBOX_LATER;
    }
}

static void unlink_flight(struct webhooks *webhooks,
                          const struct flight *flight)
{
    struct flight **at = &webhooks->flights;

    while (*at != flight) {
        at = &(*at)->next;
    }
    *at = flight->next;
    webhooks->flying_count--;
}

static void end_flight(struct flight *flight, CURLcode code)
{
    struct webhooks *webhooks = flight->webhooks;
    struct outbox_item *item = flight->item;
    enum outbox_end end = OUTBOX_LATER;
    char why[CURL_ERROR_SIZE];
    long status = 0;

    (void)curl_easy_getinfo(flight->easy, CURLINFO_RESPONSE_CODE, &status);
    /* The rest of a long answer is not waited for. */
    if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && status > 0)) {
        end = webhooks_end_of(status);
        (void)snprintf(why, sizeof(why), end == OUTBOX_SENT ? "" : "HTTP %ld",
                       status);
    } else {
        (void)snprintf(why, sizeof(why), "%s",
                       *flight->problem ? flight->problem
                                        : curl_easy_strerror(code));
    }
    unlink_flight(webhooks, flight);
    free_flight(flight);
    webhooks->on_end(webhooks->ctx, item, end, why);
}

void webhooks_drive(struct webhooks *webhooks, int timeout_ms)
{
    int running = 0, left = 0;
    CURLMsg *message;

    (void)curl_multi_perform(webhooks->multi, &running);
    if ((uint32_t)running == webhooks->flying_count) {
        (void)curl_multi_poll(webhooks->multi, NULL, 0, timeout_ms, NULL);
        (void)curl_multi_perform(webhooks->multi, &running);
    }
    while ((message = curl_multi_info_read(webhooks->multi, &left))) {
        struct flight *flight = NULL;
        CURLcode code = message->data.result;

        if (message->msg == CURLMSG_DONE &&
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                              &flight) == CURLE_OK) {
            end_flight(flight, code);
        }
    }
}

void webhooks_wake(struct webhooks *webhooks)
{
    (void)curl_multi_wakeup(webhooks->multi);
}
