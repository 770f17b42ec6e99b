/*
 * array_selection - arrays and their members by what people call them: ID, and
 * ID_7 for the member of index 7.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/selection.h"

/* Whether a text may name an array; with `is_member`, a member of one, which
 * nothing else is called. */
bool array_may_be(const char *text, bool is_member) must_check;

/* The ids of the jobs that it names, appended to `ret_ids`, which has room for
 * SELECTION_JOBS_MAX; none where there is no such array.  CLI_USAGE, having
 * said so: too many. */
enum cli_exit array_jobs(struct cli *cli, const char *text, char **ret_ids,
                         size_t *id_count);

/* Put the array into a request for a list of jobs, if there is one of that
 * name. */
enum cli_exit array_filter(struct cli *cli, const char *text,
                           Berth__Api__ListJobsRequest *request,
                           bool *ret_is_array);

/* The job's id that stands for ID or ID_7.  CLI_NOT_FOUND, having said so. */
enum cli_exit array_one(struct cli *cli, char *text, char **ret_id);
