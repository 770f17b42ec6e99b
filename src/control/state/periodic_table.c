#include "control/state/periodic_table.h"

static void entry_destroy(struct periodic_entry *entry)
{
    arena_fini(&entry->arena);
    mem_free(entry);
}

void periodic_table_fini(struct periodic_table *table)
{
    for (size_t i = 0; i < table->entries.count; i++) {
        entry_destroy(table->entries.items[i]);
    }
    VEC_FREE(&table->entries);
    table->byte_count = 0;
}

static int compare(const struct periodic_entry *entry, struct str queue,
                   struct str name)
{
    int order = str_compare(entry->queue, queue);

    return order ? order : str_compare(entry->name, name);
}

/* The place of a name, or where it would be. */
static size_t place_of(const struct periodic_table *table, struct str queue,
                       struct str name)
{
    size_t low = 0, high = table->entries.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(table->entries.items[middle], queue, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const struct periodic_table *table, size_t at,
                  struct str queue, struct str name)
{
    return at < table->entries.count &&
           compare(table->entries.items[at], queue, name) == 0;
}

/* Whether they stand in order, none twice, and their bytes add up. */
static bool table_is_sound(const struct periodic_table *table)
{
    size_t byte_count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        const struct periodic_entry *entry = table->entries.items[i];
        byte_count += entry->encoded.byte_count;
        if (entry->run_count > PERIODIC_RUNS_MAX ||
            (i > 0 && compare(table->entries.items[i - 1], entry->queue,
                              entry->name) >= 0)) {
            return false;
        }
    }
    return byte_count == table->byte_count;
}

static void fill(struct periodic_entry *entry, struct str queue,
                 struct str name, struct str encoded,
                 const struct periodic_owner *owner)
{
    struct arena old = entry->arena;
    struct arena *arena = &entry->arena;
    struct str *groups;

    entry->arena = (struct arena){0};
    entry->queue = arena_str(arena, queue);
    entry->name = arena_str(arena, name);
    entry->encoded = arena_str(arena, encoded);
    groups = arena_alloc_array(arena, owner->group_count, sizeof(*groups));
    for (uint32_t i = 0; i < owner->group_count; i++) {
        groups[i] = arena_str(arena, owner->groups[i]);
    }
    entry->owner = *owner;
    entry->owner.name = arena_str(arena, owner->name);
    entry->owner.groups = groups;
    arena_fini(&old); /* what was given may stand in it */
}

struct periodic_entry *periodic_table_put(struct periodic_table *table,
                                          struct str queue, struct str name,
                                          struct str encoded,
                                          const struct periodic_owner *owner)
{
    size_t at = place_of(table, queue, name);
    struct periodic_entry *entry;

    if (is_at(table, at, queue, name)) {
        entry = table->entries.items[at];
        table->byte_count -= entry->encoded.byte_count;
    } else if (table->entries.count == PERIODIC_JOBS_MAX) {
        return NULL;
    } else {
        entry = mem_alloc(sizeof(*entry));
        VEC_PUSH(&table->entries, NULL);
        for (size_t i = table->entries.count - 1; i > at; i--) {
            table->entries.items[i] = table->entries.items[i - 1];
        }
        table->entries.items[at] = entry;
    }
    fill(entry, queue, name, encoded, owner);
    table->byte_count += entry->encoded.byte_count;
    ASSERT_SLOW(table_is_sound(table)); /* names are looked up by it */
    return entry;
}

bool periodic_table_remove(struct periodic_table *table, struct str queue,
                           struct str name)
{
    size_t at = place_of(table, queue, name);

    if (!is_at(table, at, queue, name)) {
        return false;
    }
    table->byte_count -= table->entries.items[at]->encoded.byte_count;
    entry_destroy(table->entries.items[at]);
    table->entries.count--;
    for (size_t i = at; i < table->entries.count; i++) {
        table->entries.items[i] = table->entries.items[i + 1];
    }
    ASSERT_SLOW(table_is_sound(table));
    return true;
}

struct periodic_entry *periodic_table_find(const struct periodic_table *table,
                                           struct str queue, struct str name)
{
    size_t at = place_of(table, queue, name);

    return is_at(table, at, queue, name) ? table->entries.items[at] : NULL;
}

uint32_t periodic_table_count(const struct periodic_table *table,
                              struct str queue)
{
    uint32_t count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        count += str_equal(table->entries.items[i]->queue, queue);
    }
    return count;
}

uint32_t periodic_table_owned(const struct periodic_table *table,
                              struct str owner)
{
    uint32_t count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        count += str_equal(table->entries.items[i]->owner.name, owner);
    }
    return count;
}

uint32_t periodic_table_active(const struct periodic_table *table)
{
    uint32_t count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        count += table->entries.items[i]->next_ms > 0;
    }
    return count;
}

void periodic_entry_note(struct periodic_entry *entry,
                         const struct periodic_run *run)
{
    size_t byte_count = run->text.byte_count;

    if (byte_count > sizeof(entry->last_text)) {
        byte_count = sizeof(entry->last_text);
    }
    memmove(entry->last_text, run->text.p ? run->text.p : "", byte_count);
    entry->last = *run;
    entry->last.text = str_make(entry->last_text, byte_count);
}
