/*
 * queue_page - metrics of queues, in Prometheus' text format: what they are
 * due and have in each pool, their applications, and from state to state
 * their jobs went.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/command.h"

/* Append them, from an answered COMMAND_QUERY_QUEUES. */
void queue_page_put(struct strbuf *out, const struct command *command);
