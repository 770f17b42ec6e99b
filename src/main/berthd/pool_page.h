/*
 * pool_page - metrics of pools as objects (model.md 5.8), in Prometheus' text
 * format.  They have the names of ai-scheduler's own.
 *
 * All work that waits is `active`: a round tries all of it, nothing is set
 * aside or backs off.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/command.h"

/* Append them, from an answered COMMAND_POOL_METRICS; of pools that are
 * gone nothing is left, and nothing at all where there are no objects. */
void pool_page_put(struct strbuf *out, const struct command *command);
