/*
 * event_id - the place of an event in a job set's stream, as clients send it
 * back (armada-api.md 2.1): `T:S:I:L`.
 *
 * S is the seq of the log's record, T its time, I the event's number among
 * those of the record that belong to the job set, L whether it is the last
 * of them.  Pure.
 */
#pragma once

#include "base/str.h"

enum { EVENT_ID_TEXT_BYTES_MAX = 80 };

struct event_id {
    int64_t time_ms;
    uint64_t seq;
    uint32_t index;
    bool is_last;
};

/* Read an id; the older form `ms-seq` is read as `ms:seq:0:1`.
 * -ERR_INVALID. */
int event_id_parse(struct str text, struct event_id *ret_id) must_check;

/* Write an id and a NUL; returns `text`. */
char *event_id_format(const struct event_id *id,
                      char text[EVENT_ID_TEXT_BYTES_MAX]);
