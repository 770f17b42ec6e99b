/*
 * cli_main - the command line of berthctl: armadactl's verbs and flags
 * (armada-api.md 5.1) and Berth's own.
 *
 * One table of commands (command_table.c) says what there is; each file of
 * commands/ implements a few.  What is printed on standard output is for
 * programs as well as for people; remarks and errors go to standard error.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/cli.h"

/* Run one command line.  `arguments` may be reordered. */
enum cli_exit cli_main(const struct cli_ports *ports, int argument_count,
                       char **arguments);
