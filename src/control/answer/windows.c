/* Lists maintenance windows. */
#include "control/answer/answers.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

static void add_row(const struct control *c, const struct window_entry *entry,
                    int64_t now_ms, struct command *command)
{
    command->windows.rows[command->windows.row_count++] = (struct window_row){
        .encoded = arena_str(&command->arena, entry->encoded),
        .is_open = entry->record.begin_ms <= now_ms,
        .node_count = window_table_node_count(&c->window_table, entry),
    };
}

void windows_answer(struct control *c, struct command *command)
{
    struct str wanted = command->windows.name;
    const struct window_table *table = &c->window_table;
    int64_t now_ms = control_now_ms(c);

    if (wanted.byte_count) {
        const struct window_entry *entry = window_table_find(table, wanted);
        command->windows.rows = arena_alloc_array(
            &command->arena, 1, sizeof(*command->windows.rows));
        if (entry) {
            add_row(c, entry, now_ms, command);
        }
    } else {
        command->windows.rows =
            arena_alloc_array(&command->arena, table->entries.count,
                              sizeof(*command->windows.rows));
        for (size_t i = 0; i < table->entries.count; i++) {
            add_row(c, table->entries.items[i], now_ms, command);
        }
    }
    command_answer(command, COMMAND_OK, "");
}
