/*
 * job_place - which executor has what a job left.
 *
 * Private to api/queries.  Threads: those of its calls.
 */
#pragma once

#include "api/core/api_call.h"

/* The executor that has the job's latest run: 1; -ERR_NOT_FOUND if there is
 * no such job that the caller may see, or none ever had it. */
int job_place_find(struct api_call *call, struct job_id id,
                   struct str *ret_executor, struct err *err) must_check;
/* End the call by what the executor's answer, or the search for it, says. */
void job_place_refuse(struct api_call *call, int rc, const struct err *err);
