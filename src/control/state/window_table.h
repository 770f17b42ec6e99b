/*
 * window_table - the maintenance windows that are not over, as the log has
 * them; at most WINDOWS_MAX, in order of names.
 *
 * An entry owns its record and the bytes that it was made from, and stays
 * where it is until it is put anew or removed.
 *
 * Threads: one owner, the leader.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/window.h"

struct window_entry {
    uint32_t slot; /* below WINDOWS_MAX; its own while it is there */
    struct window_record record;
    struct str encoded; /* berth.api.MaintenanceWindow */
    struct arena arena; /* of both */
};

/* Slots of windows; zero is none. */
struct window_set {
    uint64_t words[WINDOWS_MAX / 64];
};

/* Zero is an empty one. */
struct window_table {
    VEC(struct window_entry *) entries;
    /* Nodes that a window is about, by its slot: see window_table_recount(). */
    uint32_t node_counts[WINDOWS_MAX];
};

/* Free all of it. */
void window_table_fini(struct window_table *table);

/* Put what an encoded window says in the place of the one of its name.
 * -ERR_CORRUPT, -ERR_INVALID: not a window; -ERR_LIMIT: there are too many. */
int window_table_put(struct window_table *table, struct str encoded,
                     struct err *err) must_check;
/* Take one out; false if there is none. */
bool window_table_remove(struct window_table *table, struct str name);
/* Put a window's slot into a set. */
void window_set_add(struct window_set *set, uint32_t slot);
/* Whether it is in it. */
static inline bool window_set_has(const struct window_set *set, uint32_t slot)
{
    return set->words[slot / 64] >> slot % 64 & 1;
}
/* The windows that are about a node are others: `node` becomes `about`, and the
 * counts with it. */
void window_table_recount(struct window_table *table, struct window_set *node,
                          const struct window_set *about);
/* The one of that name, or NULL. */
const struct window_entry *window_table_find(const struct window_table *table,
                                             struct str name) must_check;
/* The nodes that one of them is about. */
static inline uint32_t window_table_node_count(const struct window_table *table,
                                               const struct window_entry *entry)
{
    return table->node_counts[entry->slot];
}
/* How many have begun. */
uint32_t window_table_open_count(const struct window_table *table,
                                 int64_t now_ms) must_check;
/* When the first of them ends; INT64_MAX: there is none. */
int64_t window_table_end_ms(const struct window_table *table) must_check;
