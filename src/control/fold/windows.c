/* Maintenance windows, and what they mean to nodes. */
#include "control/fold/windows.h"

#include "control/fold/executors.h"
#include "control/fold/pools.h"
#include "control/state/state.h"

void window_fold(struct control *c, const struct event *event)
{
    bool is_news =
        event->type == EVENT_WINDOW_SET
            ? window_table_put(&c->window_table, event->window.encoded, NULL) ==
                  0 /* else a foreign log: what is no window is passed over */
            : window_table_remove(&c->window_table, event->window.record.name);

    if (is_news) {
        executors_fold_again(c);
        c->node_generation++;
        c->is_plan_wanted = c->is_balance_wanted = true;
    }
}

bool window_is_about(const struct control *c,
                     const struct window_record *window, struct str executor,
                     struct str pool, const struct node_record *node)
{
    struct str object = pool_object_of(c, node);
    struct window_node asked = {
        .executor = executor,
        .name = node->name,
        .pool = object.byte_count       ? object
                : node->pool.byte_count ? node->pool
                                        : pool,
        .labels = node->labels,
        .label_count = node->label_count,
    };

    return window_record_covers(window, &asked);
}

void windows_mark(const struct control *c, struct str executor, struct str pool,
                  struct node_record *node)
{
    node->closes_ms = node->endless_closes_ms = 0;
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_record *window =
            &c->window_table.entries.items[i]->record;
        int64_t endless_ms = window->begin_ms - window->lead_ms;
        if (!window_is_about(c, window, executor, pool, node)) {
            continue;
        }
        if (node->closes_ms == 0 || endless_ms < node->endless_closes_ms) {
            node->endless_closes_ms = endless_ms;
        }
        if (node->closes_ms == 0 || window->begin_ms < node->closes_ms) {
            node->closes_ms = window->begin_ms;
        }
    }
}

void windows_pack(const struct control *c, struct strbuf *buf)
{
    pack_u64(buf, c->window_table.entries.count);
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        pack_str(buf, c->window_table.entries.items[i]->encoded);
    }
}

void windows_unpack(struct control *c, struct pack_reader *reader)
{
    uint32_t count = unpack_count(reader, WINDOWS_MAX);

    for (uint32_t i = 0; i < count && !reader->is_bad; i++) {
        reader->is_bad |=
            window_table_put(&c->window_table, unpack_str(reader), NULL) < 0;
    }
}
