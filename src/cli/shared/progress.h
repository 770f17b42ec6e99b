/*
 * progress - how much of something is done, as a bar for a terminal.
 *
 * Threads: one.
 */
#pragma once

#include "base/strbuf.h"
#include "cli/shared/cli.h"

/* Append "[=====>    ]  52%" of `done` in `total` (all of nothing is done). */
void progress_put(struct strbuf *buf, uint64_t done, uint64_t total);

/* Write such a line over the one before, with a text behind it, on standard
 * error; nothing where the output is no terminal. */
void progress_show(const struct cli_ports *ports, uint64_t done, uint64_t total,
                   const char *text);
/* End that line, if there may be one. */
void progress_end(const struct cli_ports *ports);
