/*
 * sequence - an armadaevents.EventSequence under construction, in a command
 * for the leader.
 *
 * Threads: the command's owner, until it is posted.
 */
#pragma once

#include "base/strbuf.h"
#include "control/command/command.h"

/* One sequence; zeroed memory is an empty one. */
struct sequence {
    struct strbuf buf;
    uint32_t event_count;
};

/* Begin a sequence about `scope`. */
void sequence_begin(struct sequence *sequence, const struct event_scope *scope);

/* Add an event. */
void sequence_add(struct sequence *sequence, const struct event *event);

/* A command of kind COMMAND_EVENTS that appends the sequence, which is freed.
 */
struct command *sequence_command(struct sequence *sequence,
                                 const struct event_scope *scope) must_check;
