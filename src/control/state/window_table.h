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
    struct window_record record;
    struct str encoded; /* berth.api.MaintenanceWindow */
    struct arena arena; /* of both */
};

/* Zero is an empty one. */
struct window_table {
    VEC(struct window_entry *) entries;
};

/* Free all of it. */
void window_table_fini(struct window_table *table);

/* Put what an encoded window says in the place of the one of its name.
 * -ERR_CORRUPT, -ERR_INVALID: not a window; -ERR_LIMIT: there are too many. */
int window_table_put(struct window_table *table, struct str encoded,
                     struct err *err) must_check;
/* Take one out; false if there is none. */
bool window_table_remove(struct window_table *table, struct str name);
/* The one of that name, or NULL. */
const struct window_entry *window_table_find(const struct window_table *table,
                                             struct str name) must_check;
/* How many have begun. */
uint32_t window_table_open_count(const struct window_table *table,
                                 int64_t now_ms) must_check;
/* When the first of them ends; INT64_MAX: there is none. */
int64_t window_table_end_ms(const struct window_table *table) must_check;
