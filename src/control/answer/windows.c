/* Lists maintenance windows. */
#include "control/fold/windows.h"

#include "control/answer/answers.h"
#include "control/fold/executors.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

/* Count a node in the rows of the windows that are about it. */
static void count_node(const struct control *c,
                       const struct control_executor *executor,
                       const struct control_node *node, struct window_row *rows)
{
    auto_arena arena = {0};
    struct event event;

    if (!node->bytes ||
        log_decode_event(str_make(node->bytes, node->byte_count), &arena,
                         &event, NULL) < 0) {
        return;
    }
    for (size_t i = 0; i < c->window_table.entries.count; i++) {
        rows[i].node_count += window_is_about(
            c, &c->window_table.entries.items[i]->record, executor->id,
            event.nodes.pool, &event.nodes.set[0]);
    }
}

static void count_nodes(const struct control *c, struct window_row *rows)
{
    for (size_t i = 0; i < c->executors.count; i++) {
        const struct control_executor *executor = c->executors.items[i];
        for (size_t n = 0; executor && n < executor->nodes.count; n++) {
            count_node(c, executor, &executor->nodes.items[n], rows);
        }
    }
}

void windows_answer(struct control *c, struct command *command)
{
    struct arena *arena = &command->arena;
    struct str wanted = command->windows.name;
    size_t count = c->window_table.entries.count;
    struct window_row *rows = arena_alloc_array(arena, count, sizeof(*rows));
    int64_t now_ms = control_now_ms(c);

    if (count > 0) {
        count_nodes(c, rows);
    }
    command->windows.rows = rows;
    for (size_t i = 0; i < count; i++) {
        const struct window_entry *entry = c->window_table.entries.items[i];
        if (wanted.byte_count && !str_equal(wanted, entry->record.name)) {
            continue;
        }
        rows[command->windows.row_count++] = (struct window_row){
            .encoded = arena_str(arena, entry->encoded),
            .is_open = entry->record.begin_ms <= now_ms,
            .node_count = rows[i].node_count,
        };
    }
    command_answer(command, COMMAND_OK, "");
}
