/*
 * last_run - of a job that waits again: how its last run ended, as the query
 * store has it.  That is read on the leader's thread, so only where there is
 * something to tell.
 */
#pragma once

#include "api/api_call.h"
#include "base/strbuf.h"
#include "model/id.h"

/* Append that to an explanation as a sentence, and to its JSON object, which is
 * not closed yet (NULL: there is none), as a member; nothing if the job has
 * never run, or the store cannot say. */
void last_run_put(struct api_call *call, struct job_id id, struct strbuf *text,
                  struct strbuf *json);
