/*
 * last_run - reads a job and its last run from the query store, for questions
 * about the job.
 *
 * The thread of the call reads it before it asks the leader, because the
 * leader's thread, which delivers the answer, must not wait for a disk.  So it
 * may be a moment older than that answer; it may lag behind the log anyway.
 */
#pragma once

#include "api/core/api_call.h"
#include "base/strbuf.h"
#include "model/id.h"
#include "store/store.h"

/* What there is; in the arena of the call. */
struct last_run {
    int rc;                /* of reading: 1, 0 no such job, or why not */
    struct stored_job job; /* rc 1 */
    struct stored_run run; /* finished_ms 0: it has none that ended */
    struct err err;        /* rc below 0 */
};

/* Read it. */
const struct last_run *last_run_read(struct api_call *call, struct job_id id);

/* Whether the caller may see the job; false: the call is over.  One that the
 * store has not got yet, or not any more, see those who may see every job. */
bool last_run_check(struct api_call *call,
                    const struct last_run *last) must_check;

/* Append of a job that waits again how its last run ended, to an explanation as
 * a sentence, and to its JSON object, which is not closed yet (NULL: there is
 * none), as a member; nothing if it has never run, or the store could not
 * say. */
void last_run_put(const struct last_run *last, struct strbuf *text,
                  struct strbuf *json);

/* Append what became of a job that the leader does not hold any more (rc 1): to
 * a text, and to a JSON object, which is open, as its first members. */
void last_run_put_end(const struct last_run *last, struct strbuf *text,
                      struct strbuf *json);
