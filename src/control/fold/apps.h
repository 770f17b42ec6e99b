/*
 * apps - applications: which job belongs to which, and their states.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "control/command/command.h"
#include "job/table/jobs.h"
#include "model/digest.h"

struct control;

/* The application of a job, borrowed like the job's own strings. */
struct str application_of(const struct job_view *view,
                          const struct job_digest *digest);
/* A queue goes by applications now: tell the scheduler of its jobs'. */
void apps_feed(struct control *c, uint32_t queue);
/* How many applications of a queue are in which state. */
void apps_count(const struct control *c, uint32_t queue,
                struct application_counts *ret_counts);
