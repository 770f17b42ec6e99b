/* Ends maintenance windows that are over, or moves them on. */
#include "control/decide/decide.h"
#include "control/state/state.h"
#include "wire/kube/window_codec.h"

bool batch_add_windows(struct control *c)
{
    struct event_scope scope = {0};
    bool is_any = false;

    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_entry *entry = c->window_table.entries.items[i];
        struct str next = {0};
        struct event event;
        if (entry->record.end_ms > c->batch.time_ms) {
            continue;
        }
        if (entry->record.repeat_ms > 0) {
            next = window_encode_next(entry->encoded, c->batch.time_ms,
                                      &c->batch.arena);
        }
        memset(&event, 0, sizeof(event));
        event.type = next.byte_count ? EVENT_WINDOW_SET : EVENT_WINDOW_DELETED;
        event.created_ms = c->batch.time_ms;
        event.window.record.name = entry->record.name;
        event.window.encoded = next;
        log_batch_add(&c->batch.log, &scope, &event);
        is_any = true;
    }
    return is_any;
}
