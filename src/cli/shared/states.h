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

/* A reason of the server in words: queueLimit is "queue limit".  In the
 * arena. */
const char *states_wait_words(struct cli *cli, const char *reason);

/* What a job does that has not started: "waits: resources"; "" if it has.  In
 * the arena. */
const char *states_waiting(struct cli *cli, const Berth__Api__JobSummary *job);

/* The exit code of a job that has ended, as a cell of a table; "" if none is
 * known, as of what never started or was stopped.  In the arena. */
const char *states_exit_code(struct cli *cli,
                             const Berth__Api__JobSummary *job);

/* The states that a list option names, in either case; CLI_USAGE for a name
 * that is none. */
enum cli_exit states_of_option(struct cli *cli, const char *option,
                               Api__JobState **ret_states, size_t *ret_count);
