/*
 * projection - turns the events of records into changes of the tables: the fold
 * from log to store, without the database.
 *
 * The events of a transaction are coalesced: however many there are about a
 * job, its row is read at most once and written once.  What is not in memory
 * yet comes from a `struct projection_source`.  Private to src/store.
 *
 *     submit, leased, assigned, running, succeeded   ->  one row, at the end
 *
 * Ownership: rows live until projection_reset(); their strings are borrowed
 * from the records or live in the projection's arena.  Threads: one owner.
 */
#pragma once

#include "base/intern.h"
#include "base/vec.h"
#include "store/objects.h"
#include "store/store.h"
#include "store/usage.h"
#include "wire/log/log_codec.h"

/* A job's row, as it is to be. */
struct job_row {
    struct stored_job job;
    int64_t number;  /* counts jobs in the order of their submission */
    int64_t set_key; /* of its job set */
    int64_t array;   /* the hash of its array's label (labels.h); 0: none */
    int64_t ended_ms;
    struct str pool; /* of the latest run */
    struct usage_request request;
    bool is_new, is_changed;
    enum stored_job_state old_state; /* as stored; 0 when new */
    struct str old_pool;
};

/* A run's row, as it is to be. */
struct run_row {
    struct stored_run run;
    int64_t job_number;
    uint32_t index; /* of the job's runs, from 0 */
    bool is_new, is_changed;
};

struct spec_row {
    struct job_row *job;
    struct str bytes; /* armadaevents.SubmitJob */
};

/* Which job a client id stands for. */
struct client_id_row {
    struct str queue, client_id;
    struct job_id job;
    int64_t created_ms;
};

/* A record holds events of a job set. */
struct set_record_row {
    int64_t set_key;
    uint64_t seq;
};

/* A job set that was touched. */
struct set_row {
    struct str queue, name;
    int64_t key;
    uint64_t seq; /* the last record that touched it */
};

/* Where rows that were stored before come from.  Each answers 1 or 0 (there
 * is none), or a negative code. */
struct projection_source {
    void *ctx;
    /* The key of a job set, made if it is new; never 0. */
    int (*set)(void *ctx, struct str queue, struct str name, int64_t *ret_key,
               struct err *err);
    int (*job)(void *ctx, struct job_id id, struct arena *arena,
               struct job_row *ret_row, struct err *err);
    int (*run)(void *ctx, const struct job_row *job, struct run_id id,
               struct arena *arena, struct run_row *ret_row, struct err *err);
};

struct projection {
    const struct projection_source *source;
    struct arena arena;
    VEC(struct job_row *) jobs;
    VEC(struct run_row *) runs;
    VEC(struct spec_row) specs;
    VEC(struct client_id_row) client_ids;
    VEC(struct set_record_row) set_records;
    VEC(struct set_row) sets;
    VEC(struct usage_note) usage;
    VEC(struct object_row) objects;
    struct map job_indexes, run_indexes;
    struct intern *set_names; /* "queue\0name" -> index into sets */
    struct strbuf scratch;
    struct usage_class usage_class; /* of the job that came last */
    int64_t next_job_number;
    uint64_t seq;         /* of the record that is being folded */
    uint32_t set_current; /* index into sets of the current scope */
    struct err *err;      /* of the call that goes on */
};

/* Make an empty one; `source` is borrowed. */
void projection_init(struct projection *projection,
                     const struct projection_source *source);
/* Free all it holds. */
void projection_fini(struct projection *projection);
/* Forget all rows.  `next_job_number` is what the next new job gets. */
void projection_reset(struct projection *projection, int64_t next_job_number);

/* Fold a record.  After a failure the rows mean nothing: reset. */
int projection_add(struct projection *projection,
                   const struct elog_record *record,
                   struct err *err) must_check;

/* Fold one event that a record `seq` holds; for projection_add() and tests. */
int projection_add_item(struct projection *projection, uint64_t seq,
                        const struct log_item *item,
                        struct err *err) must_check;

/* Whether a job in this state has ended. */
bool stored_job_has_ended(enum stored_job_state state) must_check;

/* Whether it holds resources of a pool: leased, pending or running. */
bool stored_job_is_active(enum stored_job_state state) must_check;
