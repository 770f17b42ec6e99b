/*
 * usage - the options of a program as one table, from which the parsing, its
 * --help, its manual page and its completion are all made.
 *
 * The n-th option of a table, counted from 0, has the code n + 1.  Beside
 * those of the table each program takes --help, --version and, for the tools
 * that make manual pages, --print-options, which --help does not show.
 *
 * Ownership: everything is borrowed, and is meant to be constant.
 * Threads: one; the parsing is getopt's.
 */
#pragma once

#include <stdio.h>

#include "base/base.h"

enum { USAGE_OPTIONS_MAX = 24, USAGE_COLUMNS_MAX = 80 };

/* One option. */
struct usage_option {
    const char *name;
    const char *value; /* what to call its value; NULL: it is a flag */
    const char *about; /* without line ends */
};

/* What a program, or one command of it, takes. */
struct usage {
    const char *program;   /* "berthd" */
    const char *command;   /* "run"; NULL: the program has none */
    const char *arguments; /* "FILE [OPTIONS]" */
    const char *about;     /* one sentence for people */
    const struct usage_option *options;
    uint32_t option_count; /* at most USAGE_OPTIONS_MAX */
    const char *notes;     /* lines for the end of --help, or NULL */
};

/* Take the option `code`, whose value is in getopt's optarg: 0 to go on, 1
 * when all is done, anything else when it is wrong, which has been said. */
typedef int usage_take_fn(int code, void *ctx);

/* Parse the options of a command line, whose first item is passed over; what
 * is no option is left behind getopt's optind.  0 to go on; 1 when all is
 * said or done; -1 when it is wrong, which has been said. */
int usage_parse(const struct usage *usage, int argument_count, char **arguments,
                usage_take_fn *take, void *ctx) must_check;

/* Say where to read more. */
void usage_hint(const struct usage *usage);

/* Write what --help says. */
void usage_print(const struct usage *usage, FILE *out);

/* Write the table for tools, fields between tabs: a line "command", name,
 * other name, arguments, about; then a line "option", name, letter, value,
 * about for each. */
void usage_print_table(const struct usage *usage, FILE *out);
