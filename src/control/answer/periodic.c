/* Lists periodic jobs. */
#include "control/fold/periodic.h"

#include "control/answer/answers.h"
#include "control/state/inbox.h"
#include "control/state/state.h"

static bool is_wanted(const struct command *command,
                      const struct periodic_entry *entry)
{
    struct str queue = command->scope.queue, name = command->periodic.name;
    int64_t due_ms = command->periodic.due_ms;

    return (queue.byte_count == 0 || str_equal(entry->queue, queue)) &&
           (name.byte_count == 0 || str_equal(entry->name, name)) &&
           (due_ms == 0 || (entry->next_ms > 0 && entry->next_ms <= due_ms));
}

static struct periodic_owner copy_owner(const struct periodic_owner *owner,
                                        struct arena *arena)
{
    struct periodic_owner copy = *owner;
    struct str *groups =
        arena_alloc_array(arena, owner->group_count, sizeof(*groups));

    for (uint32_t i = 0; i < owner->group_count; i++) {
        groups[i] = arena_str(arena, owner->groups[i]);
    }
    copy.name = arena_str(arena, owner->name);
    copy.groups = groups;
    return copy;
}

static void fill_row(struct periodic_row *row,
                     const struct periodic_entry *entry, struct arena *arena)
{
    *row = (struct periodic_row){
        .queue = arena_str(arena, entry->queue),
        .name = arena_str(arena, entry->name),
        .encoded = arena_str(arena, entry->encoded),
        .owner = copy_owner(&entry->owner, arena),
        .next_ms = entry->next_ms,
        .last = entry->last,
        .runs = arena_alloc_array(arena, entry->run_count, sizeof(*row->runs)),
        .run_count = entry->run_count,
    };
    row->last.text = arena_str(arena, entry->last.text);
    for (uint32_t i = 0; i < entry->run_count; i++) {
        row->runs[i] = (struct periodic_live_run){entry->runs[i].first,
                                                  entry->runs[i].job_count};
    }
}

void periodic_answer(struct control *c, struct command *command)
{
    const struct periodic_table *table = &c->periodic_table;
    uint32_t most = command->periodic.count_max;
    struct arena *arena = &command->arena;
    uint32_t count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        count += is_wanted(command, table->entries.items[i]);
    }
    count = most > 0 && count > most ? most : count;
    command->periodic.rows =
        arena_alloc_array(arena, count, sizeof(*command->periodic.rows));
    for (size_t i = 0; command->periodic.row_count < count; i++) {
        struct periodic_entry *entry = table->entries.items[i];
        if (is_wanted(command, entry)) {
            periodic_prune(c, entry);
            fill_row(&command->periodic.rows[command->periodic.row_count++],
                     entry, arena);
        }
    }
    command_answer(command, COMMAND_OK, "");
}
