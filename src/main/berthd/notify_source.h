/*
 * notify_source - reads of which ends the targets want to hear out of the log,
 * and what to say of them out of the query store, into an outbox.
 *
 * It reads records that the store has already: at the call, not later, a job is
 * looked up.  A job set has ended when the store says so and no record of it is
 * left to be read.
 *
 * Threads: one owner.
 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "elog/elog.h"
#include "notify/outbox.h"
#include "notify/target.h"
#include "store/store.h"

enum {
    NOTIFY_SOURCE_RECORDS_MAX = 256,
    NOTIFY_SOURCE_BYTES_MAX = 4 << 20,
    NOTIFY_SOURCE_SETS_MAX = 10000, /* that may have ended */
};

/* A job that has ended. */
struct notify_end {
    struct job_id job;
    struct str queue, job_set; /* in the source's arena */
    enum stored_job_state state;
    uint64_t seq;
};

/* A job set of which a job has ended. */
struct notify_set {
    struct str queue, name; /* owned */
    uint64_t seq;           /* of the last end */
    uint32_t asked;         /* targets that its job names, as bits */
};

struct notify_source {
    const struct notify_target *targets;
    uint32_t target_count;
    uint64_t told_seqs[NOTIFY_TARGETS_MAX]; /* before: told already */
    struct elog_reader *log;                /* borrowed */
    struct store_reader *store;             /* borrowed */
    struct outbox *outbox;                  /* borrowed */
    uint64_t seq;                           /* done up to here */
    uint64_t read_seq;                      /* `ends` are up to here */
    VEC(struct notify_end) ends;
    size_t next_end; /* those before are in the outbox */
    struct arena arena;
    VEC(struct notify_set) sets;
    struct map set_indexes; /* of them, by their names */
};

/* Free what it owns. */
void notify_source_fini(struct notify_source *source);

/* Go on: 1 while there may be more to do at once, 0 when there is no record up
 * to `store_seq` left or the outbox has no room.  -ERR_NOT_FOUND: records have
 * been trimmed away. */
int notify_source_go_on(struct notify_source *source, uint64_t store_seq,
                        int64_t now_ms, struct err *err) must_check;

/* Up to which record a target has been told all that it wants. */
uint64_t notify_source_position(const struct notify_source *source,
                                uint32_t target);
