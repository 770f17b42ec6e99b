/*
 * job_usage - what one job has used, by its runs, and its labels.
 */
#pragma once

#include "berth/api.pb-c.h"
#include "store/store.h"

/* Add it to the summary; 0, or what the store failed with. */
int job_usage_of(struct store_reader *reader, const struct stored_job *job,
                 struct arena *arena, Berth__Api__JobSummary *summary,
                 struct err *err) must_check;
