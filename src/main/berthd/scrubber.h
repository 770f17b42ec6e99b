/*
 * scrubber - the thread that reads all of log and store, again and again, so
 * that damage is found while there is another copy.
 *
 * A pass looks at the checksum of each page of both, and at each record of the
 * log. It takes half a period, a small piece at a time, and the next one begins
 * when the period is over.
 *
 * Threads: start and stop from one; scrubber_metrics() from any.
 */
#pragma once

#include "base/clock.h"
#include "elog/elog.h"

enum { SCRUB_PERIOD_MS = 24 * 3600 * 1000 };

struct scrubber;

/* All borrowed until scrubber_stop(). */
struct scrubber_options {
    struct elog *log;
    const char *log_path, *store_path;
    const struct clock *clock;
    int64_t period_ms; /* 0: SCRUB_PERIOD_MS */
};

/* What was done since the start. */
struct scrubber_metrics {
    uint64_t pass_count;    /* complete ones */
    uint64_t byte_count;    /* read */
    uint64_t damaged_count; /* pages and records found damaged, each once in a
                               pass */
    double progress;        /* of the pass under way, 0 to 1 */
};

/* Begin.  NULL with `err` set. */
struct scrubber *scrubber_start(const struct scrubber_options *options,
                                struct err *err) must_check;

/* Stop after the piece under way, and free.  NULL is fine. */
void scrubber_stop(struct scrubber *scrubber);

/* How things stand; from any thread. */
void scrubber_metrics(const struct scrubber *scrubber,
                      struct scrubber_metrics *ret_metrics);
