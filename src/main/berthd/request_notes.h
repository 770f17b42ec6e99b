/*
 * request_notes - logs who did what, and who was refused.
 *
 * info: what people changed, and a password that was right for the first time
 * since the start; warn: what was refused; debug: every call.  Who is refused,
 * or asks for changes that fail, may ask again and again: of each such event
 * there are some lines in a second, and the log says how many were left out.
 *
 * Threads: any, once made.
 */
#pragma once

#include <pthread.h>

#include "api/api.h"
#include "base/clock.h"

enum {
    REQUEST_NOTES_REFUSED_MAX = 20,   /* lines in a second, of one event */
    REQUEST_NOTES_ID_BYTES_MAX = 128, /* of a caller's request id */
};

/* Events whose lines are limited, each for itself: a flood of one hides none of
 * another. */
enum request_notes_kind {
    REQUEST_NOTES_DENIED,
    REQUEST_NOTES_UNKNOWN,
    REQUEST_NOTES_FAILED,
    REQUEST_NOTES_KINDS,
};

/* What is remembered between lines. */
struct request_notes {
    const struct clock *clock;
    pthread_mutex_t lock;
    struct {
        int64_t second;
        uint32_t said_count, left_out_count;
    } kinds[REQUEST_NOTES_KINDS]; /* guarded */
};

/* `clock` is borrowed. */
void request_notes_init(struct request_notes *notes, const struct clock *clock);
void request_notes_fini(struct request_notes *notes);

/* An api_note_fn. */
void request_notes_say(void *notes, const struct api_note *note);
