/*
 * jobs_encode - the canonical form: jobs in order of id; a string is written
 * where it is first used, and by its number after that.  For src/job only.
 *
 *     jobs_encode.c    the table at once
 *     jobs_snapshot.c  the table of a moment, a little at a time
 *     jobs_decode.c    back
 *
 * Threads: the table's owner, which also writes a snapshot, piece by piece
 * between its changes.
 */
#pragma once

#include "job/table/jobs_private.h"

/* How a string, or what else is written once, is referred to. */
enum jobs_ref {
    JOBS_REF_NONE = 0,
    JOBS_REF_NEW = 1,   /* it follows, and gets the next number */
    JOBS_REF_FIRST = 2, /* and on: one that was written, by its number */
};

/* From an index of names to its number in the output. */
struct numbers {
    uint32_t *of; /* owned; 0: not written yet */
    uint32_t count;
};

/* What was written so far. */
struct encoder {
    const struct jobs *jobs;
    struct strbuf *buf;
    struct numbers sets, classes, gangs, strings, executors;
    const uint64_t *unproven; /* borrowed, as in struct jobs */
    size_t unproven_count;
};

/* Nothing is written yet of a table; buf and jobs are borrowed. */
struct encoder encoder_make(const struct jobs *jobs, struct strbuf *buf);
/* Free its numbers. */
void encoder_fini(struct encoder *e);
/* Append a job. */
void encoder_put(struct encoder *e, uint32_t job);
