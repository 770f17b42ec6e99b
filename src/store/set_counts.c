#include "store/set_counts.h"

const char *const set_counts_sql[SET_COUNTS_STATEMENTS] = {
    [SET_COUNTS_UPSERT] = "INSERT INTO set_count VALUES (?1, ?2, ?3)"
                          " ON CONFLICT DO UPDATE SET"
                          " job_count = job_count + ?3",
    [SET_COUNTS_DELETE_EMPTY] = "DELETE FROM set_count WHERE set_key = ?1"
                                " AND state = ?2 AND job_count = 0",
    [SET_COUNTS_UPDATE_SET] = "UPDATE job_set SET"
                              " changed_ms = max(changed_ms, ?2)"
                              " WHERE key = ?1",
};

const char *const set_counts_of_arrays_sql[SET_COUNTS_STATEMENTS] = {
    [SET_COUNTS_UPSERT] = "INSERT INTO array_count VALUES (?1, ?2, ?3)"
                          " ON CONFLICT DO UPDATE SET"
                          " job_count = job_count + ?3",
    [SET_COUNTS_DELETE_EMPTY] = "DELETE FROM array_count WHERE hash = ?1"
                                " AND state = ?2 AND job_count = 0",
};

void set_counts_fini(struct set_counts *counts)
{
    map_fini(&counts->indexes);
    VEC_FREE(&counts->items);
}

static struct set_count_change *change_of(struct set_counts *counts,
                                          int64_t set_key, int state)
{
    struct key128 key = {(uint64_t)set_key, (uint64_t)state};
    uint32_t index = map_find(&counts->indexes, key);

    if (index == MAP_NONE) {
        struct set_count_change change = {.set_key = set_key, .state = state};
        index = (uint32_t)counts->items.count;
        VEC_PUSH(&counts->items, change);
        map_put(&counts->indexes, key, index);
    }
    return &counts->items.items[index];
}

void set_counts_note(struct set_counts *counts, int64_t set_key,
                     enum stored_job_state state, int old_state, int64_t at_ms)
{
    if (old_state != (int)state) {
        change_of(counts, set_key, (int)state)->delta++;
    }
    if (old_state && old_state != (int)state) {
        change_of(counts, set_key, old_state)->delta--;
    }
    struct set_count_change *set = change_of(counts, set_key, 0);
    set->at_ms = at_ms > set->at_ms ? at_ms : set->at_ms;
}

static int write_change(const struct set_count_change *change,
                        sqlite3_stmt **statements, struct err *err)
{
    sqlite3_stmt *upsert = statements[SET_COUNTS_UPSERT];
    sqlite3_stmt *delete_empty = statements[SET_COUNTS_DELETE_EMPTY];

    sq_bind_int(upsert, 1, change->set_key);
    sq_bind_int(upsert, 2, change->state);
    sq_bind_int(upsert, 3, change->delta);
    int rc = sq_run(upsert, err);
    if (rc < 0 || change->delta > 0) {
        return rc;
    }
    sq_bind_int(delete_empty, 1, change->set_key);
    sq_bind_int(delete_empty, 2, change->state);
    return sq_run(delete_empty, err);
}

int set_counts_write(const struct set_counts *counts, sqlite3_stmt **statements,
                     struct err *err)
{
    sqlite3_stmt *update_set = statements[SET_COUNTS_UPDATE_SET];
    int rc = 0;

    for (size_t i = 0; i < counts->items.count && rc == 0; i++) {
        const struct set_count_change *change = &counts->items.items[i];

        if (change->state == 0 && !update_set) {
            continue;
        }
        if (change->state == 0) {
            sq_bind_int(update_set, 1, change->set_key);
            sq_bind_int(update_set, 2, change->at_ms);
            rc = sq_run(update_set, err);
        } else if (change->delta != 0) {
            rc = write_change(change, statements, err);
        }
    }
    return rc;
}
