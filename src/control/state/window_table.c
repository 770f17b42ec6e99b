#include "control/state/window_table.h"

#include "wire/kube/window_codec.h"

static void entry_destroy(struct window_entry *entry)
{
    arena_fini(&entry->arena);
    mem_free(entry);
}

void window_table_fini(struct window_table *table)
{
    for (size_t i = 0; i < table->entries.count; i++) {
        entry_destroy(table->entries.items[i]);
    }
    VEC_FREE(&table->entries);
    memset(table->node_counts, 0, sizeof(table->node_counts));
}

void window_set_add(struct window_set *set, uint32_t slot)
{
    ASSERT(slot < WINDOWS_MAX);
    set->words[slot / 64] |= UINT64_C(1) << slot % 64;
}

static bool set_has(const struct window_set *set, uint32_t slot)
{
    return set->words[slot / 64] >> slot % 64 & 1;
}

void window_table_recount(struct window_table *table, struct window_set *node,
                          const struct window_set *about)
{
    if (memcmp(node, about, sizeof(*node)) == 0) {
        return;
    }
    for (uint32_t slot = 0; slot < WINDOWS_MAX; slot++) {
        ASSERT(!set_has(node, slot) || table->node_counts[slot] > 0);
        table->node_counts[slot] -= set_has(node, slot);
        table->node_counts[slot] += set_has(about, slot);
    }
    *node = *about;
}

/* The first slot that no window has; there is one. */
static uint32_t free_slot(const struct window_table *table)
{
    struct window_set used = {0};
    uint32_t slot = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        window_set_add(&used, table->entries.items[i]->slot);
    }
    while (set_has(&used, slot)) {
        slot++;
    }
    /* Whoever took the last window out of it counted its nodes again. */
    ASSERT(slot < WINDOWS_MAX && table->node_counts[slot] == 0);
    return slot;
}

/* The place of a name, or where it would be; they are few. */
static size_t place_of(const struct window_table *table, struct str name)
{
    size_t at = 0;

    while (at < table->entries.count &&
           str_compare(table->entries.items[at]->record.name, name) < 0) {
        at++;
    }
    return at;
}

static bool is_at(const struct window_table *table, size_t at, struct str name)
{
    return at < table->entries.count &&
           str_equal(table->entries.items[at]->record.name, name);
}

/* Whether the windows stand in order, none twice. */
static bool table_is_in_order(const struct window_table *table)
{
    for (size_t i = 1; i < table->entries.count; i++) {
        if (str_compare(table->entries.items[i - 1]->record.name,
                        table->entries.items[i]->record.name) >= 0) {
            return false;
        }
    }
    return true;
}

int window_table_put(struct window_table *table, struct str encoded,
                     struct err *err)
{
    struct window_entry *entry = mem_alloc(sizeof(*entry));

    *entry = (struct window_entry){0};
    entry->encoded = arena_str(&entry->arena, encoded);
    int rc = window_decode(entry->encoded, &entry->arena, &entry->record, err);
    size_t at = rc < 0 ? 0 : place_of(table, entry->record.name);
    bool is_there = rc == 0 && is_at(table, at, entry->record.name);
    if (rc == 0 && !is_there && table->entries.count == WINDOWS_MAX) {
        rc = err_set(err, -ERR_LIMIT,
                     "the limit of %d maintenance windows is reached",
                     WINDOWS_MAX);
    }
    if (rc < 0) {
        entry_destroy(entry);
        return rc;
    }
    if (is_there) {
        entry->slot = table->entries.items[at]->slot;
        entry_destroy(table->entries.items[at]);
    } else {
        entry->slot = free_slot(table);
        VEC_PUSH(&table->entries, NULL);
        for (size_t i = table->entries.count - 1; i > at; i--) {
            table->entries.items[i] = table->entries.items[i - 1];
        }
    }
    table->entries.items[at] = entry;
    ASSERT_SLOW(table_is_in_order(table)); /* names are looked up by it */
    return 0;
}

bool window_table_remove(struct window_table *table, struct str name)
{
    size_t at = place_of(table, name);

    if (!is_at(table, at, name)) {
        return false;
    }
    entry_destroy(table->entries.items[at]);
    table->entries.count--;
    for (size_t i = at; i < table->entries.count; i++) {
        table->entries.items[i] = table->entries.items[i + 1];
    }
    ASSERT_SLOW(table_is_in_order(table));
    return true;
}

const struct window_entry *window_table_find(const struct window_table *table,
                                             struct str name)
{
    size_t at = place_of(table, name);

    return is_at(table, at, name) ? table->entries.items[at] : NULL;
}

uint32_t window_table_open_count(const struct window_table *table,
                                 int64_t now_ms)
{
    uint32_t count = 0;

    for (size_t i = 0; i < table->entries.count; i++) {
        count += table->entries.items[i]->record.begin_ms <= now_ms;
    }
    return count;
}

int64_t window_table_end_ms(const struct window_table *table)
{
    int64_t end_ms = INT64_MAX;

    for (size_t i = 0; i < table->entries.count; i++) {
        int64_t ms = table->entries.items[i]->record.end_ms;
        end_ms = ms < end_ms ? ms : end_ms;
    }
    return end_ms;
}
