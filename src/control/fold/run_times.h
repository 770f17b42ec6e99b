/*
 * run_times - keeps how long runs took that ended by themselves
 * (job/run_times/run_times.h), and predicts by that how long others take.
 *
 * For src/control only; the leader's thread.
 */
#pragma once

#include "job/run_times/run_times.h"
#include "job/table/jobs.h"
#include "model/event.h"

struct control;

/* A job that ran is in another state now. */
void run_times_fold(struct control *c, const struct jobs_change *change,
                    const struct event *event);
