/*
 * attempt - which jobs crash the executor that makes their pods.
 *
 * A folder has a small file for each job whose pod is being made.  The next
 * start of an executor that crashed in it finds the file, and after
 * ATTEMPTS_MAX such crashes the job is refused.
 *
 * Threads: no state; one caller for each folder.
 */
#pragma once

#include "base/base.h"
#include "model/id.h"

enum { ATTEMPTS_MAX = 2 };

/* Note that the job's pod is about to be made.  -ERR_INVALID: that has crashed
 * the executor ATTEMPTS_MAX times.  -ERR_FULL, -ERR_IO. */
int attempt_begin(int dir_fd, struct job_id job, struct err *err) must_check;
/* It came to an end, whichever. */
void attempt_end(int dir_fd, struct job_id job);
/* Forget what was noted more than a day before `now_ms`, on the wall. */
void attempt_sweep(int dir_fd, int64_t now_ms);
