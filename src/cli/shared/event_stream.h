/*
 * event_stream - the events of a job set, as they come.
 *
 * Threads: one.
 */
#pragma once

#include "armada/services.pb-c.h"
#include "cli/shared/command.h"

/* Open the stream of a job set's events: those after `from_id` ("": all), and
 * with `is_live` also what is yet to come.  The caller closes it. */
struct rpc_stream *event_stream_open(struct cli *cli, char *queue,
                                     char *job_set, const char *from_id,
                                     bool is_live);

/* Whether a stream that ended so is not worth opening again. */
bool event_stream_is_final(enum rpc_code code);

/* Decode a message of the stream into `arena`.  NULL, having said so, if it
 * cannot be read. */
const Api__EventStreamMessage *
event_stream_decode(struct cli *cli, struct str bytes, struct arena *arena);

/* How a job ended. */
struct event_end {
    const char *job_id; /* NULL: the event ends no job */
    bool has_succeeded; /* or was not needed any more: its gang has */
    const char *reason; /* "" or why it did not succeed; for people */
};

/* What an event says about a job's end; borrows from it. */
struct event_end event_stream_end(const Api__EventMessage *message);
