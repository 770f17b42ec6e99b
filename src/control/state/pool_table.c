#include "control/state/pool_table.h"

#include "wire/kube/pool_codec.h"

static void entry_destroy(struct pool_entry *entry)
{
    arena_fini(&entry->arena);
    mem_free(entry);
}

void pool_table_fini(struct pool_table *table)
{
    for (size_t i = 0; i < table->entries.count; i++) {
        entry_destroy(table->entries.items[i]);
    }
    VEC_FREE(&table->entries);
}

/* The place of a name, or where it would be. */
static size_t place_of(const struct pool_table *table, struct str name,
                       bool *ret_is_there)
{
    size_t low = 0, high = table->entries.count;

    *ret_is_there = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = str_compare(table->entries.items[middle]->record.name, name);
        if (c == 0) {
            *ret_is_there = true;
            return middle;
        }
        if (c < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Whether the objects stand in order, none twice. */
static bool table_is_in_order(const struct pool_table *table)
{
    for (size_t i = 1; i < table->entries.count; i++) {
        if (str_compare(table->entries.items[i - 1]->record.name,
                        table->entries.items[i]->record.name) >= 0) {
            return false;
        }
    }
    return true;
}

int pool_table_put(struct pool_table *table, struct str encoded,
                   const struct pool_entry **ret_entry, struct err *err)
{
    struct pool_entry *entry = mem_alloc(sizeof(*entry));
    bool is_there;

    entry->encoded = arena_str(&entry->arena, encoded);
    int rc = pool_decode(entry->encoded, &entry->arena, &entry->record, err);
    size_t at = rc < 0 ? 0 : place_of(table, entry->record.name, &is_there);
    if (rc == 0 && !is_there && table->entries.count == POOL_OBJECTS_MAX) {
        rc = err_set(err, -ERR_LIMIT, "the limit of %d pools is reached",
                     POOL_OBJECTS_MAX);
    }
    if (rc < 0) {
        entry_destroy(entry);
        return rc;
    }
    if (is_there) {
        entry_destroy(table->entries.items[at]);
    } else {
        VEC_PUSH(&table->entries, NULL);
        for (size_t i = table->entries.count - 1; i > at; i--) {
            table->entries.items[i] = table->entries.items[i - 1];
        }
    }
    table->entries.items[at] = entry;
    ASSERT_SLOW(table_is_in_order(table)); /* rounds go by it */
    *ret_entry = entry;
    return 0;
}

bool pool_table_remove(struct pool_table *table, struct str name)
{
    bool is_there;
    size_t at = place_of(table, name, &is_there);

    if (!is_there) {
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

const struct pool_entry *pool_table_find(const struct pool_table *table,
                                         struct str name)
{
    bool is_there;
    size_t at = place_of(table, name, &is_there);

    return is_there ? table->entries.items[at] : NULL;
}
