/*
 * periodic_table - the periodic jobs, as the log has them; at most
 * PERIODIC_JOBS_MAX, in order of queues and names.
 *
 * An entry owns all that it points to, and stays where it is until it is
 * removed.
 *
 * Threads: one owner, the leader.
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "model/periodic.h"

/* A run that had not ended when the last was submitted. */
struct periodic_kept_run {
    struct job_id first;
    uint32_t job_count;
    /* So many of its first jobs have ended: found out anew by each leader. */
    uint32_t ended_count;
};

struct periodic_entry {
    struct str queue, name, encoded; /* berth.api.PeriodicJob */
    struct periodic_owner owner;
    struct arena arena; /* of these */
    int64_t next_ms;    /* 0: there is none */
    struct periodic_run last;
    char last_text[PERIODIC_TEXT_BYTES_MAX];          /* of `last` */
    struct periodic_kept_run runs[PERIODIC_RUNS_MAX]; /* oldest first */
    uint32_t run_count;
};

/* Zero is an empty one. */
struct periodic_table {
    VEC(struct periodic_entry *) entries;
    size_t byte_count; /* of all that are encoded */
};

/* Free all of it. */
void periodic_table_fini(struct periodic_table *table);
/* Make one, or change it: its runs stay.  NULL: there is no room. */
struct periodic_entry *periodic_table_put(struct periodic_table *table,
                                          struct str queue, struct str name,
                                          struct str encoded,
                                          const struct periodic_owner *owner);
/* Take one out; false if there is none. */
bool periodic_table_remove(struct periodic_table *table, struct str queue,
                           struct str name);
/* The one of that name, or NULL. */
struct periodic_entry *periodic_table_find(const struct periodic_table *table,
                                           struct str queue,
                                           struct str name) must_check;
/* How many are of a queue. */
uint32_t periodic_table_count(const struct periodic_table *table,
                              struct str queue) must_check;
/* How many are of an owner. */
uint32_t periodic_table_owned(const struct periodic_table *table,
                              struct str owner) must_check;
/* How many have a next moment. */
uint32_t periodic_table_active(const struct periodic_table *table) must_check;
/* Note what became of a moment: its text is copied, and cut. */
void periodic_entry_note(struct periodic_entry *entry,
                         const struct periodic_run *run);
