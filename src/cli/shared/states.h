/*
 * states - job states by the names that people type.
 *
 * Threads: one.
 */
#pragma once

#include "armada/submit.pb-c.h"
#include "berth/api.pb-c.h"
#include "cli/shared/command.h"

/* The state's name in lower case ("queued"). */
const char *states_name(Api__JobState state);

/* The exit code of a job that has ended, as a cell of a table; "" if none is
 * known, as of what never started or was stopped.  In the arena. */
const char *states_exit_code(struct cli *cli,
                             const Berth__Api__JobSummary *job);

/* The states that a list option names, in either case; CLI_USAGE for a name
 * that is none. */
enum cli_exit states_of_option(struct cli *cli, const char *option,
                               Api__JobState **ret_states, size_t *ret_count);
