/*
 * columns - answers written by a pattern: -o name, -o custom-columns=H:PATH,...
 * and -o jsonpath=TEMPLATE.
 *
 * A path is of kubectl's kind, as far as answers need it: .key, [N], [*].  What
 * is not there is empty (custom columns: <none>).
 *
 * Threads: one.
 */
#pragma once

#include "cli/shared/command.h"

/* CLI_USAGE, having said so, if the pattern of -o makes no sense. */
enum cli_exit columns_check(const struct cli *cli);

/* Write an answer as cli->output and cli->pattern say; a list is written item
 * by item. */
void columns_print(const struct cli *cli, const json_t *answer);
