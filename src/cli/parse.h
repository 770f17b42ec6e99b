/*
 * parse - parses a command line by the table of commands, and writes --help
 * and the like from that table.
 *
 * Threads: one; getopt keeps its place in globals.
 */
#pragma once

#include "cli/shared/command.h"

/* parse.c */

/* Parse the command line; the answer is CLI_OK, or what to exit with. */
enum cli_exit options_parse(struct cli *cli, int argument_count,
                            char **arguments, bool *ret_is_done);

/* help.c */

/* Write what `command` takes. */
void options_print_help(const struct cli *cli, FILE *out);
/* Write the commands and their options for the tools that make the manual
 * page and the completion, fields between tabs: a line "command", name, other
 * name, arguments, about; then a line "option", name, letter, value, about for
 * each of its own.  Last come, under no name, those of every command. */
void options_print_table(FILE *out);
/* Write the commands whose first word is `word` ("": all), a line each, to
 * `out` unless it is NULL.  Returns their number. */
uint32_t options_print_commands_of(FILE *out, const char *word);
/* Write the list of commands. */
void options_print_commands(FILE *out);
