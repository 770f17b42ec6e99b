/*
 * queue_page - metrics of queues, in Prometheus' text format: their shares in
 * each pool, their applications, how often their jobs changed state, and for
 * how many of them, admitted, pools keep nodes until when.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/command.h"

/* Append them, from an answered COMMAND_QUERY_QUEUES. */
void queue_page_put(struct strbuf *out, const struct command *command);
