/*
 * newest - the one job that a command is about, where options may say which.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/selection.h"

/* Options of such a command, beside its argument ID. */
#define NEWEST_OPTIONS                                                     \
    SELECTION_FILTER_OPTIONS,                                              \
    {                                                                      \
        "index", 0, OPTION_TEXT, "I", "the job of this index in its array" \
    }

/* The id of the job that the argument names (ID, or ID_7 of an array), or
 * without one, of the newest that the options select, in the arena.
 * CLI_USAGE, having said so: neither is given, or both, or an array is selected
 * and no index; CLI_NOT_FOUND: there is none. */
enum cli_exit newest_job(struct cli *cli, char **ret_id) must_check;

/* The same where `id` is what the command was given as ID; NULL: nothing. */
enum cli_exit newest_of(struct cli *cli, char *id, char **ret_id) must_check;
