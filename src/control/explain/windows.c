/* Which maintenance windows keep a job waiting. */
#include <inttypes.h>

#include "control/explain/explain.h"
#include "control/state/state.h"

/* Whether a window may be one of those. */
static bool is_bar(struct control *c, const struct sched_explanation *e,
                   const struct window_entry *window)
{
    return e->nodes_excluded[SCHED_EXCLUDED_WINDOW] > 0 &&
           window_table_node_count(&c->window_table, window) > 0 &&
           window_record_bars(&window->record, control_now_ms(c),
                              e->deadline_ms);
}

void windows_put_text(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e)
{
    char begin[WIRE_RFC3339_TEXT_BYTES_MAX], end[WIRE_RFC3339_TEXT_BYTES_MAX];

    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_entry *entry = c->window_table.entries.items[i];
        const struct window_record *window = &entry->record;
        if (!is_bar(c, e, entry)) {
            continue;
        }
        strbuf_addf(buf, "Maintenance window %.*s is from %s to %s",
                    STR_ARG(window->name), moment_put(window->begin_ms, begin),
                    moment_put(window->end_ms, end));
        if (window->reason.byte_count) {
            strbuf_addf(buf, " (%.*s)", STR_ARG(window->reason));
        }
        strbuf_add_text(buf, ".\n");
    }
}

void windows_put_json(struct strbuf *buf, struct control *c,
                      const struct sched_explanation *e)
{
    const char *comma = "";

    if (e->nodes_excluded[SCHED_EXCLUDED_WINDOW] == 0) {
        return;
    }
    strbuf_add_text(buf, ",\"maintenanceWindows\":[");
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        const struct window_entry *entry = c->window_table.entries.items[i];
        const struct window_record *window = &entry->record;
        if (is_bar(c, e, entry)) {
            strbuf_addf(buf, "%s{", comma);
            explain_put_json_member(buf, "name", window->name);
            strbuf_addf(buf, ",\"beginMs\":%" PRId64 ",\"endMs\":%" PRId64 "}",
                        window->begin_ms, window->end_ms);
            comma = ",";
        }
    }
    strbuf_add_char(buf, ']');
}
