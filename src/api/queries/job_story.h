/*
 * job_story - what happened to a job when, from the query store: for answers
 * about jobs that run or have ended.
 */
#pragma once

#include "api/queries/last_run.h"

/* Append it to an explanation as sentences, and to its JSON object, which is
 * not closed yet, as members behind others; nothing if the store does not know
 * the job. */
void job_story_put(const struct last_run *last, struct strbuf *text,
                   struct strbuf *json);

/* Append a moment of wall time to a text. */
void job_story_put_moment(struct strbuf *text, int64_t ms);
