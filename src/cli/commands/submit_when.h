/*
 * submit_when - when jobs would start if they were submitted now, as the server
 * forecasts it: for `submit --when`.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/job_file.h"

/* Ask about as many jobs as one request holds, and say it of the first
 * SUBMIT_WHEN_LINES, and of all that the server tells of in numbers.
 * CLI_INVALID, having said so, if the request would end within a gang. */
enum { SUBMIT_WHEN_LINES = 20 };
enum cli_exit submit_when(struct cli *cli, const struct submission *submission);
