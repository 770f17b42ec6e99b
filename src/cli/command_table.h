/*
 * command_table - the commands of berthctl with their arguments and options.
 * The parser, --help, the manual page and the completion are made from it.
 */
#pragma once

#include "cli/shared/command.h"

/* All commands, in the order of --help. */
extern const struct command_spec command_table[];
extern const uint32_t command_count;

/* The options that every command has. */
extern const struct option_spec command_common_options[];
extern const uint32_t command_common_option_count;
