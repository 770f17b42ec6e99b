#include "kube/api/follow.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "kube/api/envelope.h"
#include "kube/api/retry.h"

enum {
    LENGTH_BYTES = 4,
    VERSION_BYTES_MAX = 1024,
    CONTINUE_BYTES_MAX = 32 << 10,
    MESSAGE_BYTES_MAX = 300,
    LIST_SILENCE_MS_MAX = 60000,
    WATCH_EVENT_TYPE = 1,
    WATCH_EVENT_OBJECT = 2,
    EXTENSION_RAW = 1,
    STATUS_OK = 200,
    STATUS_GONE = 410,
};

struct follow {
    struct kube_port *port;
    const struct clock *clock;
    const struct rng *rng;
    char *path, *query; /* owned */
    struct follow_told told;
    struct follow_stats stats;
    struct retry list_retry, watch_retry;
    uint64_t request;     /* under way; 0: none */
    bool is_watching;     /* else it lists */
    bool is_asking_watch; /* by the request that was asked last */
    bool has_begun;       /* a list whose end was not told yet */
    int64_t due_ms;       /* when to ask next, if nothing is under way */
    int64_t watch_began_ms;
    uint64_t watch_events;   /* of this watch */
    bool is_expired;         /* the watch: 410 */
    bool has_failed;         /* the watch: another error came in it */
    struct strbuf version;   /* where the watch is */
    struct strbuf continue_; /* of the list; "": its first page */
    struct strbuf frames;    /* of the watch, not taken yet */
};

static int64_t now_of(const struct follow *follow)
{
    return (int64_t)(follow->clock->mono_ns(follow->clock) / 1000000);
}

struct follow *follow_create(struct kube_port *port, const struct clock *clock,
                             const struct rng *rng,
                             const struct follow_options *options)
{
    struct follow *follow = mem_alloc(sizeof(*follow));

    follow->port = port;
    follow->clock = clock;
    follow->rng = rng;
    follow->path = str_dup(str_of(options->path));
    follow->query = str_dup(str_of(options->query));
    follow->told = options->told;
    follow->version = strbuf_make(VERSION_BYTES_MAX);
    follow->continue_ = strbuf_make(CONTINUE_BYTES_MAX);
    follow->frames = strbuf_make(2 * FOLLOW_FRAME_BYTES_MAX);
    follow->due_ms = now_of(follow);
    return follow;
}

void follow_destroy(struct follow *follow)
{
    if (!follow) {
        return;
    }
    if (follow->request) {
        follow->port->cancel(follow->port, follow->request);
    }
    strbuf_fini(&follow->version);
    strbuf_fini(&follow->continue_);
    strbuf_fini(&follow->frames);
    mem_free(follow->path);
    mem_free(follow->query);
    mem_free(follow);
}

const struct follow_stats *follow_stats(const struct follow *follow)
{
    return &follow->stats;
}

static void fail(struct follow *follow, int64_t after_ms, int status,
                 struct str message)
{
    if (message.byte_count > MESSAGE_BYTES_MAX) {
        message.byte_count = MESSAGE_BYTES_MAX;
    }
    follow->stats.failure_count++;
    (void)snprintf(follow->stats.failure.text, ERR_TEXT_BYTES_MAX,
                   "%.100s: status %d: %.*s", follow->path, status,
                   STR_ARG(message));
    follow->due_ms = now_of(follow) + retry_failed(follow->is_asking_watch
                                                       ? &follow->watch_retry
                                                       : &follow->list_retry,
                                                   follow->rng, after_ms);
}

/* Start over with a list. */
static void relist(struct follow *follow)
{
    follow->is_watching = false;
    follow->has_begun = false;
    strbuf_clear(&follow->continue_);
}

/* An answer that is no success. */
static void fail_by(struct follow *follow, const struct http_result *result)
{
    struct envelope envelope;
    struct status_head status = {.message = str_of(result->text)};
    int64_t after_ms = result->retry_after_ms;

    if (envelope_read(result->body, &envelope) == 0 &&
        status_read(envelope.object, &status) == 0 && after_ms < 0 &&
        status.retry_after_s > 0) {
        after_ms = status.retry_after_s * 1000;
    }
    fail(follow, after_ms, result->status, status.message);
}

/* Lists. */

static void set_version(struct follow *follow, struct str version)
{
    if (version.byte_count > 0) {
        strbuf_clear(&follow->version);
        strbuf_add_str(&follow->version, version);
    }
}

static void tell_object(void *ctx, struct str object)
{
    struct follow *follow = ctx;

    follow->stats.object_count++;
    follow->told.object(follow->told.ctx, object);
}

/* All pages have come: watch from there on. */
static void end_list(struct follow *follow, struct str version)
{
    set_version(follow, version);
    follow->is_watching = true;
    follow->has_begun = false;
    follow->stats.list_count++;
    follow->stats.is_listed = true;
    follow->told.listed(follow->told.ctx);
}

static void take_page(struct follow *follow, struct str body)
{
    struct envelope envelope;
    struct list_head head;

    if (!follow->has_begun) {
        follow->has_begun = true;
        follow->told.begin(follow->told.ctx);
    }
    if (envelope_read(body, &envelope) < 0 ||
        list_read(envelope.object, &head, tell_object, follow) < 0) {
        relist(follow);
        fail(follow, -1, STATUS_OK, STR("the list does not decode"));
        return;
    }
    retry_succeeded(&follow->list_retry);
    follow->due_ms = now_of(follow);
    strbuf_clear(&follow->continue_);
    strbuf_add_str(&follow->continue_, head.continue_);
    if (head.continue_.byte_count == 0) {
        end_list(follow, head.resource_version);
    }
}

static void on_page(void *ctx, const struct http_result *result)
{
    struct follow *follow = ctx;

    follow->request = 0;
    if (result->rc == 0 && result->status == STATUS_OK) {
        take_page(follow, result->body);
        return;
    }
    if (result->status == STATUS_GONE) {
        relist(follow); /* the pages were too slow: from the first again */
    }
    fail_by(follow, result);
}

/* Watches. */

static void take_status(struct follow *follow, struct str object)
{
    struct status_head status;

    follow->is_expired =
        status_read(object, &status) == 0 && status.code == STATUS_GONE;
    if (!follow->is_expired) {
        follow->has_failed = true;
        fail(follow,
             status.retry_after_s > 0 ? status.retry_after_s * 1000 : -1,
             status.code, status.message);
    }
}

/* An event; false: the watch is over. */
static bool take_event(struct follow *follow, struct str type,
                       struct str object)
{
    struct object_head head;

    if (str_equal(type, STR("ERROR"))) {
        take_status(follow, object);
        return false;
    }
    if (object_head_read(object, &head) < 0) {
        return false;
    }
    follow->watch_events++;
    set_version(follow, head.resource_version);
    if (str_equal(type, STR("DELETED"))) {
        follow->stats.gone_count++;
        follow->told.gone(follow->told.ctx, object);
    } else if (!str_equal(type, STR("BOOKMARK"))) {
        tell_object(follow, object);
    }
    return true;
}

static bool take_frame(struct follow *follow, struct str frame)
{
    struct str type, extension, raw;
    struct envelope envelope;

    return envelope_field(frame, WATCH_EVENT_TYPE, &type) == 0 &&
           envelope_field(frame, WATCH_EVENT_OBJECT, &extension) == 0 &&
           envelope_field(extension, EXTENSION_RAW, &raw) == 0 &&
           envelope_read(raw, &envelope) == 0 &&
           take_event(follow, type, envelope.object);
}

/* A frame's length comes first, in network order. */
static size_t length_of(const char *p)
{
    const uint8_t *bytes = (const uint8_t *)p;

    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 |
           (size_t)bytes[2] << 8 | bytes[3];
}

/* Take whole frames; false: the watch is over. */
static bool take_frames(struct follow *follow)
{
    struct str left = strbuf_str(&follow->frames);
    bool goes_on = true;

    while (goes_on && left.byte_count >= LENGTH_BYTES) {
        size_t length = length_of(left.p);
        if (length <= FOLLOW_FRAME_BYTES_MAX &&
            left.byte_count - LENGTH_BYTES < length) {
            break; /* the rest of it comes later */
        }
        goes_on = length <= FOLLOW_FRAME_BYTES_MAX &&
                  take_frame(follow, str_make(left.p + LENGTH_BYTES, length));
        if (goes_on) {
            left = str_make(left.p + LENGTH_BYTES + length,
                            left.byte_count - LENGTH_BYTES - length);
        }
    }
    memmove(follow->frames.bytes, left.p, left.byte_count);
    follow->frames.byte_count = left.byte_count;
    return goes_on;
}

static bool on_bytes(void *ctx, struct str bytes)
{
    struct follow *follow = ctx;

    strbuf_add_str(&follow->frames, bytes);
    return !follow->frames.is_over && take_frames(follow);
}

static void on_watch_end(void *ctx, const struct http_result *result)
{
    struct follow *follow = ctx;
    bool has_lasted =
        follow->watch_events > 0 ||
        now_of(follow) - follow->watch_began_ms >= FOLLOW_LASTED_MS;

    follow->request = 0;
    if (follow->has_failed) {
        return; /* fail() said when to go on */
    }
    follow->due_ms = now_of(follow);
    if (result->status == STATUS_GONE || follow->is_expired) {
        relist(follow);
    }
    if (has_lasted) {
        retry_succeeded(&follow->watch_retry);
    } else if (follow->is_watching) {
        fail_by(follow, result);
    } else {
        /* Who always says so must not be asked without a pause. */
        fail(follow, -1, STATUS_GONE, STR("the watch began too late"));
    }
}

/* Asking. */

static void ask(struct follow *follow, const char *what, bool is_watch)
{
    auto_strbuf path = strbuf_make(0);

    follow->is_asking_watch = is_watch;
    strbuf_addf(&path, "%s?%s%s%s", follow->path, follow->query,
                *follow->query ? "&" : "", what);
    follow->request = follow->port->ask(
        follow->port,
        &(struct http_ask){
            .method = "GET",
            .path = strbuf_text(&path),
            .accept = is_watch ? ENVELOPE_MEDIA_TYPE ";stream=watch"
                               : ENVELOPE_MEDIA_TYPE,
            .silence_ms_max =
                is_watch ? FOLLOW_SILENCE_MS_MAX : LIST_SILENCE_MS_MAX,
            .on_bytes = is_watch ? on_bytes : NULL,
            .on_end = is_watch ? on_watch_end : on_page,
            .ctx = follow,
        });
}

static void ask_page(struct follow *follow)
{
    auto_strbuf what = strbuf_make(0);

    strbuf_addf(&what, "limit=%d", FOLLOW_PAGE_MAX);
    if (follow->continue_.byte_count > 0) {
        strbuf_addf(&what, "&continue=%s", strbuf_text(&follow->continue_));
    }
    ask(follow, strbuf_text(&what), false);
}

static void ask_watch(struct follow *follow)
{
    auto_strbuf what = strbuf_make(0);
    uint32_t random;

    follow->rng->fill(follow->rng, &random, sizeof(random));
    strbuf_addf(&what,
                "watch=true&allowWatchBookmarks=true&resourceVersion=%s"
                "&timeoutSeconds=%u",
                strbuf_text(&follow->version),
                FOLLOW_WATCH_S_MIN + random % FOLLOW_WATCH_S_MIN);
    strbuf_clear(&follow->frames);
    follow->watch_events = 0;
    follow->is_expired = follow->has_failed = false;
    follow->watch_began_ms = now_of(follow);
    follow->stats.watch_count++;
    ask(follow, strbuf_text(&what), true);
}

int64_t follow_drive(struct follow *follow)
{
    int64_t now_ms = now_of(follow);

    if (follow->request) {
        return INT64_MAX;
    }
    if (now_ms < follow->due_ms) {
        return follow->due_ms - now_ms;
    }
    if (follow->is_watching) {
        ask_watch(follow);
    } else {
        ask_page(follow);
    }
    return INT64_MAX;
}
