/*
 * depends - turns the key `dependsOn` of the jobs of a file into an annotation
 * for the server, and sorts the jobs so that each comes after those that it
 * depends on.
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"

/* Whether any job of the file has the key. */
bool depends_is_used(const json_t *file);

/* Make a file without the key that says the same; the caller lets it go.
 * CLI_INVALID, having said so, if jobs wait for one another in a circle or the
 * key makes no sense. */
enum cli_exit depends_convert(struct cli *cli, const json_t *file,
                              json_t **ret_file);
