/*
 * submit_when - when jobs would start if they were submitted now, as the server
 * forecasts it: for `submit --when`.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/job_file.h"

/* Ask, and say it of the first SUBMIT_WHEN_LINES jobs, and of all in numbers.
 */
enum { SUBMIT_WHEN_LINES = 20, SUBMIT_WHEN_JOBS_MAX = 200 };
enum cli_exit submit_when(struct cli *cli, const struct submission *submission);
