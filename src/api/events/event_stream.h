/*
 * event_stream - one reader of a job set's events, from a position to an end or
 * for ever.
 *
 * It pulls.  The store knows which records have events of the job set; the
 * stream reads those from the log and converts them into a bounded buffer
 * (event_buffer.h).  It reads the next record when the client has read the
 * buffer.  So a client that does not read costs only its buffer.
 *
 * Internal to the API.
 */
#pragma once

#include "api/core/api_call.h"

enum { EVENT_STREAM_SEQS_MAX = 64 };

/* What a client asks for. */
struct event_stream_query {
    struct str queue, job_set;
    struct str from_id; /* "": from the beginning */
    bool is_watch;
    bool is_missing_error;
};

/* Answer a call that may see the job set's events. */
void event_stream_start(struct api_call *call,
                        const struct event_stream_query *query);
