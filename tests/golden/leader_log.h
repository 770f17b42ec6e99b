/*
 * leader_log - a log with every kind of event, as lines of text: one record a
 * line, `time_ms hex`.
 */
#pragma once

#include "base/strbuf.h"

/* Append the log that this release writes. */
void leader_log_write(struct strbuf *text);
