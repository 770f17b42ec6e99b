/*
 * template - files of jobs with parameters: the key `parameters`, whose values
 * --set and --values replace, and {{ name }} in the texts of the file.
 *
 * A text that is one parameter and no more becomes its value, whatever that is;
 * within a text it is written out.  What is not declared stays a text unless
 * it looks like a parameter: then it is an error.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"

enum { TEMPLATE_INSTANCES_MAX = 10000 }; /* of one file */

/* The documents with their parameters replaced by what the options --set and
 * --values say: all of them once for each mapping of --values.  The caller
 * json_decref()s the list.  CLI_INVALID or CLI_USAGE, having said so. */
enum cli_exit template_expand(struct cli *cli, const json_t *documents,
                              json_t **ret_documents);
