/*
 * table - a table of jobs for tests: jobs by small numbers, submitted with
 * what a test says of them.
 */
#pragma once

#include "job/table/jobs.h"

/* A table under the default policy; the caller destroys it. */
struct jobs *table_create(void) must_check;

/* An event of a type, all else zero: an initializer would leave members of the
 * union as they were. */
struct event table_event(enum event_type type);
/* The id of job `n`. */
struct job_id table_id(uint32_t n);
/* The row of job `n`, or JOBS_NONE. */
uint32_t table_find(const struct jobs *jobs, uint32_t n);
/* An event about job `n` and its run, if it has one. */
struct event table_about(const struct jobs *jobs, uint32_t n,
                         enum event_type type);

/* What is to be submitted: `digest` but for its class, which is of
 * `class_name` ("": none) and asks for nothing. */
struct table_submission {
    struct event_scope scope;
    const char *class_name;
    uint32_t priority;
    struct job_digest digest;
};
/* Submit it as job `n`, which must be new. */
void table_submit(struct jobs *jobs, uint32_t n,
                  const struct table_submission *submission);
