/*
 * salvage - recovers from the query store what the log has lost: jobs that the
 * log no longer has, and ends of jobs.
 *
 * A job is submitted again as it was, under its id; of its runs only the store
 * knows.  A job that has not ended here, but had ended by the store, is
 * cancelled.  Queues, retry policies, pools, TrainingJobs and settings of
 * executors that lost records made, changed or deleted are as those records
 * left them; what cannot be is said.
 */
#pragma once

#include "main/berthd/leader.h"

/* All borrowed. */
struct salvage_options {
    struct elog *log;      /* as it ends now, or a little later */
    struct store *store;   /* with rows from behind that end */
    struct leader *leader; /* ready */
};

/* Return when all is durable; what was taken up is said.  -ERR_IO,
 * -ERR_UNAVAILABLE: some may be, and it may be done again. */
int salvage(const struct salvage_options *options, struct err *err) must_check;
