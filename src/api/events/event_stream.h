/*
 * event_stream - one reader of a job set's events: from a place on, to an
 * end or for ever.
 *
 * It pulls.  Which records hold events of the job set is the store's to say,
 * what they say is read from the log and converted, into a bounded buffer
 * (event_buffer.h); the next record is read when the client has taken what is
 * there.  So a client that does not read costs its buffer and no more.
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
