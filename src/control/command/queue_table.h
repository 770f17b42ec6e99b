/*
 * queue_table - named things that API threads read while the leader changes
 * them: the queues, and in a table of their own the retry policies.
 *
 * An entry never changes: an edit replaces it by another entry, so a reader may
 * keep one as long as it likes.  Entries are durable, because the leader adds
 * only what it has applied.
 *
 * Ownership: entries are counted; whoever gets one unrefs it.
 * Threads: find, list and unref from any thread; put and remove from the
 * leader's.
 */
#pragma once

#include "model/queue.h"

struct queue_entry {
    struct str name;
    struct str encoded;         /* api.Queue or api.RetryPolicy */
    struct queue_record record; /* retry policies: only the name */
};

struct queue_table;

/* An empty table.  The caller owns it. */
struct queue_table *queue_table_create(void) must_check;
/* Entries that others still hold stay valid.  NULL is fine. */
void queue_table_destroy(struct queue_table *table);
DEFINE_AUTO(queue_table, queue_table_destroy)

/* The entry called `name`, one reference the caller's; NULL if none. */
const struct queue_entry *queue_table_find(struct queue_table *table,
                                           struct str name) must_check;
/* Give a reference back.  NULL is fine. */
void queue_entry_unref(const struct queue_entry *entry);

/* All entries in order of name, each with a reference of the caller's, in an
 * array that the caller frees with mem_free (or hand both to
 * queue_list_free); `*ret_count` of them. */
const struct queue_entry **queue_table_list(struct queue_table *table,
                                            uint32_t *ret_count) must_check;
/* Unref all entries of a list and free it. */
void queue_list_free(const struct queue_entry **entries, uint32_t count);

/* Put a copy of `record` and `encoded` in the place of the entry of that
 * name; -ERR_LIMIT when there are QUEUES_MAX. */
int queue_table_put(struct queue_table *table,
                    const struct queue_record *record,
                    struct str encoded) must_check;
/* Take an entry out; false if there is none. */
bool queue_table_remove(struct queue_table *table, struct str name);
/* How many there are. */
uint32_t queue_table_count(struct queue_table *table);
