/*
 * set_counts - how many jobs of each job set are in each state, and when that
 * last changed: the changes of a transaction, one row each.
 *
 * Private to src/store.  Threads: one owner.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "elog/sq.h"
#include "store/store.h"

/* What changes of a set's jobs in a state. */
struct set_count_change {
    int64_t set_key;
    int state; /* of enum stored_job_state; 0: only `at_ms`, of the set */
    int64_t delta;
    int64_t at_ms;
};

/* All changes; zeroed, there are none. */
struct set_counts {
    struct map indexes;
    VEC(struct set_count_change) items;
};

/* What writes them. */
enum set_counts_statement {
    SET_COUNTS_UPSERT,
    SET_COUNTS_DELETE_EMPTY,
    SET_COUNTS_UPDATE_SET,
    SET_COUNTS_STATEMENTS,
};

/* Their texts. */
extern const char *const set_counts_sql[SET_COUNTS_STATEMENTS];

/* The same for arrays instead of job sets, of which nothing else is kept: the
 * key is the hash of the array's label, and the last text NULL. */
extern const char *const set_counts_of_arrays_sql[SET_COUNTS_STATEMENTS];

/* Free all it holds. */
void set_counts_fini(struct set_counts *counts);
/* A job came into a state at a time; `old_state` is what it was in before all
 * of this, maybe the same, or 0. */
void set_counts_note(struct set_counts *counts, int64_t set_key,
                     enum stored_job_state state, int old_state, int64_t at_ms);
/* Write the changes by those statements, prepared; without the last one no time
 * is written. */
int set_counts_write(const struct set_counts *counts, sqlite3_stmt **statements,
                     struct err *err) must_check;
