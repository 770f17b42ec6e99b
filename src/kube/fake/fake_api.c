#include "kube/fake/fake_api.h"

#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "kube/api/envelope.h"
#include "kube/fake/fake_private.h"
#include "wire/message/field.h"

enum {
    STATUS_NOT_FOUND = 404,
    STATUS_TOO_MANY = 429,
    MESSAGE_FIELD = 3,
    REASON_FIELD = 4,
    CODE_FIELD = 6,
};

static const char pods_begin[] = "/api/v1/namespaces/";

static struct fake_api *of(struct kube_port *port)
{
    return container_of(port, struct fake_api, port);
}

static void set_timer(const struct fake_api *api, int64_t ns)
{
    const struct itimerspec at = {
        .it_value = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000}};

    (void)timerfd_settime(api->port.fd, 0, &at, NULL);
}

void fake_api_wake(struct fake_api *api)
{
    set_timer(api, 1);
}

int64_t fake_api_now_ms(const struct fake_api *api)
{
    return (int64_t)(api->clock->mono_ns(api->clock) / 1000000);
}

/* Requests. */

static uint64_t on_ask(struct kube_port *port, const struct http_ask *ask)
{
    struct fake_api *api = of(port);

    if (api->is_full) {
        return 0;
    }
    struct fake_ask *asked = mem_alloc(sizeof(*asked));

    asked->number = ++api->last_number;
    asked->method = str_dup(str_of(ask->method));
    asked->path = str_dup(str_of(ask->path));
    asked->body = strbuf_make(0);
    strbuf_add_str(&asked->body, ask->body);
    asked->ask = *ask;
    VEC_PUSH(&api->asks, asked);
    fake_api_wake(api);
    return asked->number;
}

static void free_ask(struct fake_ask *ask)
{
    mem_free(ask->method);
    mem_free(ask->path);
    strbuf_fini(&ask->body);
    mem_free(ask);
}

struct fake_ask *fake_api_find_ask(const struct fake_api *api, uint64_t number)
{
    for (size_t i = 0; i < api->asks.count; i++) {
        if (api->asks.items[i]->number == number) {
            return api->asks.items[i];
        }
    }
    return NULL;
}

static void take_out(struct fake_api *api, const struct fake_ask *ask)
{
    size_t kept = 0;

    for (size_t i = 0; i < api->asks.count; i++) {
        if (api->asks.items[i] != ask) {
            api->asks.items[kept++] = api->asks.items[i];
        }
    }
    api->asks.count = kept;
}

static void on_cancel(struct kube_port *port, uint64_t number)
{
    struct fake_api *api = of(port);
    struct fake_ask *ask = fake_api_find_ask(api, number);

    if (ask) {
        take_out(api, ask);
        free_ask(ask);
    }
}

void fake_api_end_ask(struct fake_api *api, struct fake_ask *ask, int status,
                      struct str body)
{
    const struct http_result result = {
        .rc = status == 0 ? -ERR_UNAVAILABLE : 0,
        .status = status,
        .retry_after_ms = status == STATUS_TOO_MANY ? 0 : -1,
        .body = body,
        .content_type = ENVELOPE_MEDIA_TYPE,
        .text = status == 0 ? "the connection broke" : "",
    };

    take_out(api, ask);
    ask->ask.on_end(ask->ask.ctx, &result);
    free_ask(ask);
}

void fake_api_write_status(int code, const char *reason, const char *message,
                           struct strbuf *body)
{
    auto_strbuf status = strbuf_make(0);

    field_put_set_bytes(&status, MESSAGE_FIELD, str_of(message));
    field_put_set_bytes(&status, REASON_FIELD, str_of(reason));
    field_put_u64(&status, CODE_FIELD, (uint64_t)code);
    envelope_write(STR("v1"), STR("Status"), strbuf_str(&status), body);
}

void fake_api_end_with_status(struct fake_api *api, struct fake_ask *ask,
                              int code, const char *reason, const char *message)
{
    auto_strbuf body = strbuf_make(0);

    fake_api_write_status(code, reason, message, &body);
    fake_api_end_ask(api, ask, code, strbuf_str(&body));
}

static void answer_plainly(struct fake_api *api, struct fake_ask *ask)
{
    if (strncmp(ask->path, "/api/v1/nodes?", 14) == 0) {
        fake_api_begin_list(api, ask, FAKE_NODES);
    } else if (strncmp(ask->path, "/api/v1/pods?", 13) == 0) {
        fake_api_begin_list(api, ask, FAKE_PODS);
    } else if (fake_api_is_other(ask->path)) {
        fake_api_answer_other(api, ask);
    } else if (strncmp(ask->path, pods_begin, sizeof(pods_begin) - 1) == 0) {
        fake_api_answer_pods(api, ask);
    } else {
        fake_api_end_with_status(api, ask, STATUS_NOT_FOUND, "NotFound",
                                 "there is nothing of that path");
    }
}

static void swallow(void *ctx, const struct http_result *result)
{
    (void)ctx;
    (void)result;
}

/* Do it, but let nobody hear the answer. */
static void do_silently(struct fake_api *api, const struct fake_ask *ask)
{
    struct fake_ask *copy = mem_alloc(sizeof(*copy));

    *copy = *ask;
    copy->method = str_dup(str_of(ask->method));
    copy->path = str_dup(str_of(ask->path));
    copy->body = strbuf_make(0);
    strbuf_add_str(&copy->body, strbuf_str(&ask->body));
    copy->ask.on_end = swallow;
    answer_plainly(api, copy);
}

static void answer(struct fake_api *api, struct fake_ask *ask)
{
    VEC_PUSH(&api->heard, str_dup(str_of(ask->method)));
    for (size_t i = 0; i < api->scripted.count; i++) {
        struct fake_scripted *scripted = &api->scripted.items[i];
        if (scripted->count == 0 ||
            strcmp(scripted->method, ask->method) != 0 ||
            !strstr(ask->path, scripted->path_part)) {
            continue;
        }
        scripted->count--;
        /* What only reads leaves nothing behind. */
        if (scripted->is_done && strcmp(ask->method, "GET") != 0) {
            do_silently(api, ask);
        }
        if (scripted->status == 0) {
            fake_api_end_ask(api, ask, 0, STR(""));
        } else {
            fake_api_end_with_status(api, ask, scripted->status,
                                     scripted->reason, scripted->message);
        }
        return;
    }
    answer_plainly(api, ask);
}

/* The next request up to this number that is one (or a watch); NULL: none. */
static struct fake_ask *next_ask(const struct fake_api *api, uint64_t after,
                                 uint64_t last, bool is_watch)
{
    for (size_t i = 0; i < api->asks.count; i++) {
        struct fake_ask *ask = api->asks.items[i];
        if (ask->is_watch == is_watch && ask->number > after &&
            ask->number <= last) {
            return ask;
        }
    }
    return NULL;
}

static void on_drive(struct kube_port *port)
{
    struct fake_api *api = of(port);
    uint64_t last = api->last_number, number = 0, expired;
    struct fake_ask *ask;

    (void)!read(api->port.fd, &expired, sizeof(expired));
    while ((ask = next_ask(api, number, last, false))) {
        number = ask->number;
        answer(api, ask);
    }
    fake_api_kubelet_step(api);
    fake_api_collect(api);
    number = 0;
    while (!api->are_watches_held &&
           (ask = next_ask(api, number, last, true))) {
        number = ask->number;
        fake_api_feed(api, ask);
    }
    int64_t due_ms = fake_api_kubelet_due_ms(api);
    if (next_ask(api, 0, api->last_number, false)) {
        fake_api_wake(api);
    } else if (due_ms < INT64_MAX) {
        int64_t in_ms = due_ms - fake_api_now_ms(api);
        set_timer(api, in_ms > 0 ? in_ms * 1000000 : 1);
    }
}

/* What tests say. */

struct fake_api *fake_api_create(const struct clock *clock)
{
    struct fake_api *api = mem_alloc(sizeof(*api));

    api->port = (struct kube_port){
        on_ask, on_cancel, on_drive,
        timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
    api->clock = clock;
    api->version = 1;
    return api;
}

void fake_api_destroy(struct fake_api *api)
{
    if (!api) {
        return;
    }
    for (size_t i = 0; i < api->asks.count; i++) {
        free_ask(api->asks.items[i]);
    }
    for (size_t i = 0; i < api->heard.count; i++) {
        mem_free(api->heard.items[i]);
    }
    fake_api_objects_fini(api);
    fake_api_others_fini(api);
    VEC_FREE(&api->asks);
    VEC_FREE(&api->heard);
    VEC_FREE(&api->scripted);
    close(api->port.fd);
    mem_free(api);
}

struct kube_port *fake_api_port(struct fake_api *api)
{
    return &api->port;
}

void fake_api_answer(struct fake_api *api, const char *method, int count,
                     int status, const char *reason, const char *message,
                     bool is_done)
{
    struct fake_scripted scripted = {
        .count = count, .status = status, .is_done = is_done};

    (void)snprintf(scripted.method, sizeof(scripted.method), "%s", method);
    (void)snprintf(scripted.reason, sizeof(scripted.reason), "%s", reason);
    (void)snprintf(scripted.message, sizeof(scripted.message), "%s", message);
    VEC_PUSH(&api->scripted, scripted);
}

void fake_api_answer_only(struct fake_api *api, const char *part)
{
    struct fake_scripted *last = &api->scripted.items[api->scripted.count - 1];

    (void)snprintf(last->path_part, sizeof(last->path_part), "%s", part);
}

void fake_api_answer_no_more(struct fake_api *api)
{
    api->scripted.count = 0;
}

void fake_api_refuse(struct fake_api *api, bool is_full)
{
    api->is_full = is_full;
}

void fake_api_hold_watches(struct fake_api *api, bool are_held)
{
    api->are_watches_held = are_held;
    fake_api_wake(api);
}

void fake_api_compact(struct fake_api *api)
{
    api->compacted_version = ++api->version;
    fake_api_wake(api);
}

void fake_api_hold_kubelets(struct fake_api *api, bool are_held)
{
    api->are_kubelets_held = are_held;
    fake_api_wake(api);
}

void fake_api_hold_lists(struct fake_api *api, bool are_held)
{
    api->are_lists_held = are_held;
    fake_api_wake(api);
}

void fake_api_set_page(struct fake_api *api, size_t page_max)
{
    api->page_max = page_max;
}

uint32_t fake_api_count(const struct fake_api *api, const char *method)
{
    uint32_t count = 0;

    for (size_t i = 0; i < api->heard.count; i++) {
        count += strcmp(api->heard.items[i], method) == 0;
    }
    return count;
}

uint32_t fake_api_made_count(const struct fake_api *api)
{
    return api->made_count;
}
