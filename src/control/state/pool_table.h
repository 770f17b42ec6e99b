/*
 * pool_table - the existing pool objects, as the log has them; at most
 * POOL_OBJECTS_MAX, in order of names.
 *
 * An entry owns its record and the bytes that it was made from, and stays
 * where it is until it is put anew or removed.
 *
 * Threads: one owner, the leader.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/pool.h"

struct pool_entry {
    struct pool_record record;
    struct str encoded; /* berth.api.Pool */
    struct arena arena; /* of both */
};

/* Zero is an empty one. */
struct pool_table {
    VEC(struct pool_entry *) entries;
};

/* Free all of it. */
void pool_table_fini(struct pool_table *table);

/* Put what an encoded pool says in the place of the one of its name.
 * -ERR_CORRUPT, -ERR_INVALID: not a pool; -ERR_LIMIT: there are too many.
 * `ret_entry` is the table's. */
int pool_table_put(struct pool_table *table, struct str encoded,
                   const struct pool_entry **ret_entry,
                   struct err *err) must_check;
/* Take one out; false if there is none. */
bool pool_table_remove(struct pool_table *table, struct str name);
/* The one of that name, or NULL. */
const struct pool_entry *pool_table_find(const struct pool_table *table,
                                         struct str name) must_check;
