/*
 * store_sqlite_row - rows of jobs and runs as columns, for the writer and the
 * readers alike.  Private to src/store.
 */
#pragma once

#include "store/projection.h"
#include "store/store_sqlite_file.h"

/* The columns of a job, joined with its job set as `s`. */
#define STORE_JOB_COLUMNS                                                \
    "j.id, j.number, j.set_key, j.namespace, j.owner, j.uri,"            \
    " j.submitted_ms, j.state, j.priority, j.transition_ms, j.ended_ms," \
    " j.cancelled_ms, j.cancel_reason, j.cancel_user, j.latest_run,"     \
    " j.run_count, j.pool, j.error, s.queue, s.name, j.core_milli,"      \
    " j.gpu_milli, j.array"
#define STORE_JOB_TABLES "job j JOIN job_set s ON s.key = j.set_key"

/* The columns of a run. */
#define STORE_RUN_COLUMNS                                                    \
    "job_number, run_index, id, job, state, cluster, node, pool, leased_ms," \
    " pending_ms, started_ms, finished_ms, exit_code, error, debug,"         \
    " ingress"

/* The job in the row that a statement stands on; texts go to the arena. */
struct job_row store_job_row(sqlite3_stmt *row, struct arena *arena) must_check;
/* The same for a run. */
struct run_row store_run_row(sqlite3_stmt *row, struct arena *arena) must_check;
