/* Lists and watches. */
#include <stdio.h>
#include <stdlib.h>

#include "kube/api/envelope.h"
#include "kube/fake/fake_private.h"
#include "wire/message/field.h"

enum {
    STATUS_OK = 200,
    STATUS_GONE = 410,
    LIST_META = 1,
    LIST_ITEMS = 2,
    LIST_VERSION = 2,
    LIST_CONTINUE = 3,
    EVENT_TYPE = 1,
    EVENT_OBJECT = 2,
    EXTENSION_RAW = 1,
    LENGTH_BYTES_GUESS = 3,
};

static const char *const kinds[FAKE_KINDS] = {"Node", "Pod"};

/* A page, of the collection as it was at its first page. */
static void fake_api_answer_list(struct fake_api *api, struct fake_ask *ask)
{
    auto_strbuf list = strbuf_make(0), body = strbuf_make(0);
    const char *from = strstr(ask->path, "continue=");
    size_t at = from ? strtoull(strchr(from, '=') + 1, NULL, 10) : 0;
    char version[24], next[24] = "", kind[16];

    if (!from && !ask->has_snapshot) {
        ask->has_snapshot = true;
        fake_api_snapshot(api, ask->kind);
    }
    if (api->are_lists_held) {
        return; /* it is on its way */
    }
    size_t end = api->snapshots[ask->kind].count;
    if (api->page_max > 0 && at + api->page_max < end) {
        end = at + api->page_max;
        (void)snprintf(next, sizeof(next), "%zu", end);
    }
    (void)snprintf(version, sizeof(version), "%llu",
                   (unsigned long long)api->snapshot_versions[ask->kind]);
    (void)snprintf(kind, sizeof(kind), "%sList", kinds[ask->kind]);
    size_t meta = field_begin(&list, LIST_META);
    field_put_bytes(&list, LIST_VERSION, str_of(version));
    field_put_set_bytes(&list, LIST_CONTINUE, str_of(next));
    field_end(&list, meta);
    for (; at < end; at++) {
        field_put_bytes(&list, LIST_ITEMS,
                        strbuf_str(&api->snapshots[ask->kind].items[at].bytes));
    }
    envelope_write(STR("v1"), str_of(kind), strbuf_str(&list), &body);
    fake_api_end_ask(api, ask, STATUS_OK, strbuf_str(&body));
}

static void add_frame(struct strbuf *buf, const char *type, struct str raw)
{
    auto_strbuf event = strbuf_make(0);

    field_put_bytes(&event, EVENT_TYPE, str_of(type));
    size_t extension =
        field_begin_wide(&event, EVENT_OBJECT, LENGTH_BYTES_GUESS);
    field_put_bytes(&event, EXTENSION_RAW, raw);
    field_end_wide(&event, extension, LENGTH_BYTES_GUESS);
    for (int shift = 24; shift >= 0; shift -= 8) {
        strbuf_add_char(buf, (char)(event.byte_count >> shift));
    }
    strbuf_add_str(buf, strbuf_str(&event));
}

void fake_api_feed(struct fake_api *api, struct fake_ask *ask)
{
    auto_strbuf frames = strbuf_make(0), raw = strbuf_make(0);
    uint64_t number = ask->number;
    bool is_expired = ask->version < api->compacted_version;

    if (is_expired) {
        fake_api_write_status(STATUS_GONE, "Expired",
                              "too old resource version", &raw);
        add_frame(&frames, "ERROR", strbuf_str(&raw));
    }
    for (size_t i = 0; !is_expired && i < api->events.count; i++) {
        const struct fake_event *event = &api->events.items[i];
        if (event->kind != ask->kind || event->version <= ask->version) {
            continue;
        }
        strbuf_clear(&raw);
        envelope_write(STR("v1"), str_of(kinds[event->kind]),
                       strbuf_str(&event->bytes), &raw);
        add_frame(&frames, event->type, strbuf_str(&raw));
        ask->version = event->version;
    }
    if (frames.byte_count > 0) {
        (void)ask->ask.on_bytes(ask->ask.ctx, strbuf_str(&frames));
    }
    if (is_expired && fake_api_find_ask(api, number)) {
        fake_api_end_ask(api, ask, STATUS_OK, STR(""));
    }
}

void fake_api_begin_list(struct fake_api *api, struct fake_ask *ask,
                         enum fake_kind kind)
{
    const char *version = strstr(ask->path, "resourceVersion=");

    ask->kind = kind;
    if (!strstr(ask->path, "watch=true")) {
        fake_api_answer_list(api, ask);
        return;
    }
    ask->is_watch = true;
    ask->version = version ? strtoull(strchr(version, '=') + 1, NULL, 10) : 0;
}
