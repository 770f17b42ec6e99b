/* Ends maintenance windows that are over. */
#include "control/decide/decide.h"
#include "control/state/state.h"

bool batch_add_windows(struct control *c)
{
    struct event_scope scope = {0};
    bool is_any = false;

    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_record *window =
            &c->window_table.entries.items[i]->record;
        struct event event;
        if (window->end_ms > c->batch.time_ms) {
            continue;
        }
        memset(&event, 0, sizeof(event));
        event.type = EVENT_WINDOW_DELETED;
        event.created_ms = c->batch.time_ms;
        event.window.record.name = window->name;
        log_batch_add(&c->batch.log, &scope, &event);
        is_any = true;
    }
    return is_any;
}
