/*
 * usage - what queues and users have used, day by day: what a transaction adds
 * to it, one row for each day (UTC), queue and owner.
 *
 * A run holds its job's resources from its lease to its end, and is charged
 * when it ends, to the days over which it went; waiting likewise.
 *
 * Private to src/store.  Threads: one owner.
 */
#pragma once

#include "base/intern.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "elog/sq.h"
#include "store/store.h"

/* What a job asks for at once, in thousandths. */
struct usage_request {
    int64_t core_milli, gpu_milli;
};

/* What the class that was asked about last asks for: jobs that come together
 * are mostly of one class.  Zeroed it is empty; usage_class_fini() frees it. */
struct usage_class {
    struct strbuf key;
    struct usage_request request;
};

/* Something to count, as the fold found it. */
struct usage_note {
    struct str queue, owner;
    enum usage_kind {
        USAGE_SUBMITTED, /* at `to_ms` */
        USAGE_ENDED,     /* at `to_ms`, in `job_state` */
        USAGE_WAITED,
        USAGE_RAN, /* ending in `run_state` */
    } kind;
    int64_t from_ms, to_ms;
    enum stored_job_state job_state;
    enum stored_run_state run_state;
    struct usage_request request;
};

/* What is added to a row. */
struct usage_change {
    int64_t day; /* since the epoch */
    struct str queue, owner;
    int64_t amounts[STORED_USAGE_AMOUNTS];
};

/* All that is added; zeroed, nothing is. */
struct usage_changes {
    struct intern *names; /* of day, queue and owner */
    struct strbuf scratch;
    VEC(struct usage_change) items;
};

#define USAGE_COLUMNS                                                      \
    "submitted, succeeded, failed, cancelled, preempted, runs, waited_ms," \
    " ran_ms, core_used, core_wasted, core_cancelled, core_preempted,"     \
    " gpu_used, gpu_wasted, gpu_cancelled, gpu_preempted"

/* Adds a change to its row. */
extern const char usage_upsert_sql[];

/* Free all it holds. */
void usage_changes_fini(struct usage_changes *changes);
/* Add what a note says. */
void usage_changes_add(struct usage_changes *changes,
                       const struct usage_note *note);
/* Write the changes by that statement, prepared. */
int usage_changes_write(const struct usage_changes *changes,
                        sqlite3_stmt *upsert, struct err *err) must_check;

/* What the digest of a submission asks for; nothing, if it does not say. `last`
 * remembers its class. */
struct usage_request usage_request_of(struct usage_class *last,
                                      struct str digest);
/* Free all it holds. */
void usage_class_fini(struct usage_class *last);
