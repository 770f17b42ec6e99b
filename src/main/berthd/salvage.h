/*
 * salvage - takes up again from the query store what the log has lost: jobs
 * that it does not know any more, and that others have ended.
 *
 * A job is submitted again as it was, under its id; of its runs only the store
 * knows. One that goes on here, though by the store it had ended, is cancelled.
 * Queues, policies, and what else only the log had, is not taken up.
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
