/*
 * event_buffer - the events of a job set on their way from the log to a
 * client: a record's facts, converted, as messages that can be sent.
 *
 * It holds about EVENT_BUFFER_BYTES_MAX (or one event).  A record that makes
 * more is shown in parts: the buffer knows how far it is.
 *
 * Threads: one thread at a time uses a buffer.
 */
#pragma once

#include "api/core/event_id.h"
#include "base/strbuf.h"
#include "elog/elog.h"
#include "model/event.h"

enum { EVENT_BUFFER_BYTES_MAX = 64 << 10 };

/* Zeroed memory is an empty one, before the first record. */
struct event_buffer {
    /* What has been put into it: all of the records up to `done_seq`, and of
     * the one after it `done_count` events. */
    uint64_t done_seq;
    uint64_t part_seq; /* the record that is shown in part; 0: none */
    uint32_t done_count;
    /* Of that record, the facts that were shown in whole and the events that
     * they made: it is not converted anew for each filling. */
    uint32_t done_item_count, done_item_event_count;
    bool is_redacted;  /* values of environment variables are left out, but of
                          jobs whose owner is: */
    struct str viewer; /* "": nobody */
    struct strbuf out; /* messages, each after its length */
    size_t out_at;
};

/* Go on behind the event `from`, which a client has seen. */
void event_buffer_begin(struct event_buffer *buffer,
                        const struct event_id *from);

/* Append what is not shown yet of record `seq`, as far as there is room;
 * `done_seq` is `seq` when that was all, as of a record that was trimmed away.
 * Events are those of the queue and job set of `of`. */
int event_buffer_fill(struct event_buffer *buffer, struct elog_reader *log,
                      const struct event_scope *of, uint64_t seq,
                      struct err *err) must_check;

/* Whether it holds a message that was not taken. */
bool event_buffer_has_more(const struct event_buffer *buffer);

/* Take the next encoded api.EventStreamMessage, which must be there; it is
 * valid until the buffer is filled or emptied. */
struct str event_buffer_next(struct event_buffer *buffer);

/* Empty it, and keep its memory. */
void event_buffer_clear(struct event_buffer *buffer);

/* Empty it, and free its memory; how far it is stays known. */
void event_buffer_fini(struct event_buffer *buffer);
