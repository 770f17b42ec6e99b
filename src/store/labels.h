/*
 * labels - the index of jobs by their labels: a row of a hash and a job for
 * each.  Private to src/store.
 *
 * The hash stands in files: it must stay what it is.
 */
#pragma once

#include "elog/sq.h"
#include "model/id.h"

/* What stands for a label in the index. */
int64_t label_hash(struct str key, struct str value) must_check;

/* What stands for the array that a spec is of; 0: none. */
int64_t label_array_of(struct str spec) must_check;

/* Run a statement (hash, job) for each indexed label of a spec. */
int labels_run(struct str spec, struct job_id job, sqlite3_stmt *stmt,
               struct err *err) must_check;
