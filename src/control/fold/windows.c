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

/* A node as windows ask about it. */
static struct window_node asked_node(const struct control *c,
                                     struct str executor, struct str pool,
                                     const struct node_record *node)
{
    struct str object = pool_object_of(c, node);

    return (struct window_node){
        .executor = executor,
        .name = node->name,
        .pool = object.byte_count       ? object
                : node->pool.byte_count ? node->pool
                                        : pool,
        .labels = node->labels,
        .label_count = node->label_count,
    };
}

void windows_mark(const struct control *c, struct str executor, struct str pool,
                  struct node_record *node, struct window_set *ret_about)
{
    node->closes_ms = node->endless_closes_ms = 0;
    if (c->window_table.entries.count == 0) {
        return;
    }
    struct window_node asked = asked_node(c, executor, pool, node);
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_entry *entry = c->window_table.entries.items[i];
        const struct window_record *window = &entry->record;
        int64_t endless_ms = window->begin_ms - window->lead_ms;
        if (!window_record_covers(window, &asked)) {
            continue;
        }
        window_set_add(ret_about, entry->slot);
        if (node->closes_ms == 0 || endless_ms < node->endless_closes_ms) {
            node->endless_closes_ms = endless_ms;
        }
        if (node->closes_ms == 0 || window->begin_ms < node->closes_ms) {
            node->closes_ms = window->begin_ms;
        }
    }
}

/* Whether a node's windows are those that its record means; asks them all. */
static bool is_marked(const struct control *c,
                      const struct control_executor *executor,
                      const struct control_node *node)
{
    auto_arena arena = {0};
    struct window_set about = {0};
    struct event event;

    if (!node->bytes) {
        return memcmp(&node->about, &about, sizeof(about)) == 0;
    }
    int rc = log_decode_event(str_make(node->bytes, node->byte_count), &arena,
                              &event, NULL);
    ASSERT(rc == 0); /* we encoded them */
    struct node_record record = event.nodes.set[0];
    windows_mark(c, executor->id, event.nodes.pool, &record, &about);
    return memcmp(&node->about, &about, sizeof(about)) == 0;
}

bool windows_add_up(const struct control *c)
{
    auto_mem struct window_table *sums = mem_alloc(sizeof(*sums));

    *sums = (struct window_table){0};
    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        for (size_t n = 0; executor && n < executor->nodes.count; n++) {
            const struct control_node *node = &executor->nodes.items[n];
            struct window_set none = {0};
            ASSERT_SLOW(is_marked(c, executor, node));
            window_table_recount(sums, &none, &node->about);
        }
    }
    return memcmp(sums->node_counts, c->window_table.node_counts,
                  sizeof(sums->node_counts)) == 0;
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
