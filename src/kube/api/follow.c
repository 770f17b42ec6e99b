#include "kube/api/follow.h"

#include <stdio.h>

#include "base/strbuf.h"
#include "kube/api/envelope.h"
#include "kube/api/retry.h"
#include "wire/text/printable.h"

enum {
    LENGTH_BYTES = 4,
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
    const char *bad;         /* the watch: why its last event is none; NULL */
    uint64_t list_cost;      /* objects of the list, a page a full one */
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
    follow->version = strbuf_make(FOLLOW_VERSION_BYTES_MAX);
    follow->continue_ = strbuf_make(FOLLOW_CONTINUE_BYTES_MAX);
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
    auto_strbuf shown = strbuf_make(0);

    if (message.byte_count > MESSAGE_BYTES_MAX) {
        message.byte_count = MESSAGE_BYTES_MAX;
    }
    wire_printable(message, PRINTABLE_LINE, &shown);
    follow->stats.failure_count++;
    follow->stats.is_failing = true;
    (void)snprintf(follow->stats.failure.text, ERR_TEXT_BYTES_MAX,
                   "%.100s: status %d: %.*s", follow->path, status,
                   MESSAGE_BYTES_MAX, strbuf_text(&shown));
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

/* Append a text as a value in a query: what the server calls opaque is. */
static void add_escaped(struct strbuf *query, struct str text)
{
    for (size_t i = 0; i < text.byte_count; i++) {
        char c = text.p[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                        (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
                        c == '_' || c == '~';
        strbuf_addf(query, is_plain ? "%c" : "%%%02X", (unsigned char)c);
    }
}

/* Lists. */

/* False: it is none that a watch could begin at. */
static bool set_version(struct follow *follow, struct str version)
{
    strbuf_clear(&follow->version);
    strbuf_add_str(&follow->version, version);
    return version.byte_count > 0 && !follow->version.is_over;
}

static void tell_object(void *ctx, struct str object)
{
    struct follow *follow = ctx;

    follow->stats.object_count++;
    follow->list_cost++;
    follow->told.object(follow->told.ctx, object);
}

/* All pages have come: watch from there on. */
static void end_list(struct follow *follow)
{
    follow->is_watching = true;
    follow->has_begun = false;
    follow->stats.list_count++;
    follow->stats.is_listed = true;
    follow->told.listed(follow->told.ctx);
}

/* What a page says of how to go on; false: nothing that can be followed. */
static bool take_head(struct follow *follow, const struct list_head *head)
{
    strbuf_clear(&follow->continue_);
    strbuf_add_str(&follow->continue_, head->continue_);
    return head->continue_.byte_count > 0
               ? !follow->continue_.is_over
               : set_version(follow, head->resource_version);
}

/* Read a page; why it is none, or NULL. */
static const char *read_page(struct follow *follow, struct str body)
{
    uint64_t cost_before = follow->list_cost;
    struct envelope envelope;
    struct list_head head;

    if (envelope_read(body, &envelope) < 0 ||
        list_read(envelope.object, &head, tell_object, follow) < 0) {
        return "the list does not decode";
    }
    if (follow->list_cost < cost_before + FOLLOW_PAGE_MAX) {
        follow->list_cost = cost_before + FOLLOW_PAGE_MAX;
    }
    if (follow->list_cost > FOLLOW_OBJECTS_MAX) {
        return "the list does not end";
    }
    return take_head(follow, &head)
               ? NULL
               : "the list has no usable continue or resourceVersion";
}

static void take_page(struct follow *follow, struct str body)
{
    const char *bad = read_page(follow, body);
    if (bad) {
        relist(follow);
        fail(follow, -1, STATUS_OK, str_of(bad));
        return;
    }
    retry_succeeded(&follow->list_retry);
    follow->stats.is_failing = false;
    follow->due_ms = now_of(follow);
    if (follow->continue_.byte_count == 0) {
        end_list(follow);
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

/* The watch is over, for what came cannot be taken. */
static bool end_badly(struct follow *follow, const char *bad)
{
    follow->bad = bad;
    follow->stats.bad_count++;
    return false;
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
        return end_badly(follow, "the object of an event does not decode");
    }
    if (!set_version(follow, head.resource_version)) {
        return end_badly(follow, "an event has no usable resourceVersion");
    }
    follow->watch_events++;
    follow->stats.is_failing = false;
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

    if (envelope_field(frame, WATCH_EVENT_TYPE, &type) < 0 ||
        envelope_field(frame, WATCH_EVENT_OBJECT, &extension) < 0 ||
        envelope_field(extension, EXTENSION_RAW, &raw) < 0 ||
        envelope_read(raw, &envelope) < 0) {
        return end_badly(follow, "an event does not decode");
    }
    return take_event(follow, type, envelope.object);
}

/* A frame's length comes first, in network order. */
static size_t length_of(const char *p)
{
    const uint8_t *bytes = (const uint8_t *)p;

    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 |
           (size_t)bytes[2] << 8 | bytes[3];
}

/* Take what is whole of these frames; false: the watch is over. */
static bool take_frames(struct follow *follow, struct str *left)
{
    while (left->byte_count >= LENGTH_BYTES) {
        size_t length = length_of(left->p);
        if (length > FOLLOW_FRAME_BYTES_MAX) {
            return end_badly(follow, "an event is larger than 16 MiB");
        }
        if (left->byte_count - LENGTH_BYTES < length) {
            return true; /* the rest of it comes later */
        }
        if (!take_frame(follow, str_make(left->p + LENGTH_BYTES, length))) {
            return false;
        }
        *left = str_make(left->p + LENGTH_BYTES + length,
                         left->byte_count - LENGTH_BYTES - length);
    }
    return true;
}

static bool on_bytes(void *ctx, struct str bytes)
{
    struct follow *follow = ctx;

    strbuf_add_str(&follow->frames, bytes);
    if (follow->frames.is_over) {
        return end_badly(follow, "events come too many at once");
    }
    struct str left = strbuf_str(&follow->frames);
    bool goes_on = take_frames(follow, &left);
    /* Not for each piece of a frame that comes in many. */
    if (left.byte_count < follow->frames.byte_count) {
        memmove(follow->frames.bytes, left.p, left.byte_count);
        follow->frames.byte_count = left.byte_count;
    }
    return goes_on;
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
    if (result->status == STATUS_GONE || follow->is_expired || follow->bad) {
        relist(follow);
    }
    follow->due_ms =
        now_of(follow) > follow->watch_began_ms + FOLLOW_WATCH_MS_MIN
            ? now_of(follow)
            : follow->watch_began_ms + FOLLOW_WATCH_MS_MIN;
    if (follow->bad) {
        fail(follow, -1, result->status, str_of(follow->bad));
    } else if (has_lasted) {
        retry_succeeded(&follow->watch_retry);
        follow->stats.is_failing = false;
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
            .total_ms_max = is_watch ? FOLLOW_WATCH_MS_MAX : FOLLOW_PAGE_MS_MAX,
            .on_bytes = is_watch ? on_bytes : NULL,
            .on_end = is_watch ? on_watch_end : on_page,
            .ctx = follow,
        });
    if (!follow->request) {
        fail(follow, -1, 0, STR("too many requests wait"));
    }
}

static void ask_page(struct follow *follow)
{
    auto_strbuf what = strbuf_make(0);

    /* The server may read the collection long before its answer comes. */
    if (!follow->has_begun) {
        follow->has_begun = true;
        follow->list_cost = 0;
        follow->told.begin(follow->told.ctx);
    }
    strbuf_addf(&what, "limit=%d", FOLLOW_PAGE_MAX);
    if (follow->continue_.byte_count > 0) {
        strbuf_add_text(&what, "&continue=");
        add_escaped(&what, strbuf_str(&follow->continue_));
    }
    ask(follow, strbuf_text(&what), false);
}

static void ask_watch(struct follow *follow)
{
    auto_strbuf what = strbuf_make(0);
    uint32_t random;

    follow->rng->fill(follow->rng, &random, sizeof(random));
    strbuf_add_text(&what,
                    "watch=true&allowWatchBookmarks=true&resourceVersion=");
    add_escaped(&what, strbuf_str(&follow->version));
    strbuf_addf(&what, "&timeoutSeconds=%u",
                FOLLOW_WATCH_S_MIN + random % FOLLOW_WATCH_S_MIN);
    strbuf_clear(&follow->frames);
    follow->watch_events = 0;
    follow->is_expired = follow->has_failed = false;
    follow->bad = NULL;
    follow->watch_began_ms = now_of(follow);
    follow->stats.watch_count++;
    ask(follow, strbuf_text(&what), true);
}

int64_t follow_drive(struct follow *follow)
{
    int64_t now_ms = now_of(follow);

    if (!follow->request && now_ms >= follow->due_ms) {
        if (follow->is_watching) {
            ask_watch(follow);
        } else {
            ask_page(follow);
        }
    }
    return follow->request ? INT64_MAX : follow->due_ms - now_ms;
}
