/* Log records: a berth.log.Batch. */
#include "fuzz.h"
#include "wire/log/log_codec.h"

struct check {
    struct arena *arena;
    uint32_t count;
    bool has_last;
};

static int check_item(const struct log_item *item, void *ctx)
{
    struct check *check = ctx;
    auto_strbuf first = {0}, second = {0};
    struct event again;

    ASSERT(item->index == check->count++);
    ASSERT(!check->has_last);
    check->has_last = item->is_last;
    if (item->event.type == EVENT_NONE) {
        return 0;
    }
    log_encode_event(&first, &item->event);
    int rc = log_decode_event(strbuf_str(&first), check->arena, &again, NULL);
    ASSERT(rc == 0);
    ASSERT(again.type == item->event.type);
    log_encode_event(&second, &again);
    ASSERT(str_equal(strbuf_str(&first), strbuf_str(&second)));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t byte_count)
{
    auto_arena arena = {0};
    struct check check = {&arena, 0, false};
    struct err err = {{0}};

    int rc = log_decode(str_make(bytes, byte_count), &arena, check_item, &check,
                        &err);
    ASSERT(rc == 0 || err.text[0]);
    ASSERT(rc < 0 || check.count == 0 || check.has_last);
    return 0;
}
