/*
 * request_notes - logs who did what, and who was refused.
 *
 * info: what people changed, and a password that was right for the first time
 * since the start; warn: what was refused; debug: every call.  Who is refused,
 * or asks for changes that fail, may ask again and again: of each such event
 * there are some lines in a second, and the log says how many were left out.
 * So may who asks for changes that are well and change nothing: each principal
 * has some lines in a second, whatever others do.
 *
 * Threads: any, once made.
 */
#pragma once

#include <pthread.h>

#include "api/api.h"
#include "base/clock.h"

enum {
    REQUEST_NOTES_REFUSED_MAX = 20,   /* lines in a second, of one event */
    REQUEST_NOTES_DONE_MAX = 100,     /* likewise, of one principal's changes */
    REQUEST_NOTES_PRINCIPALS = 256,   /* in a second; more share one's lines */
    REQUEST_NOTES_ID_BYTES_MAX = 128, /* of a caller's request id */
};

/* Events whose lines are limited, each for itself: a flood of one hides none of
 * another. */
enum request_notes_kind {
    REQUEST_NOTES_DENIED,
    REQUEST_NOTES_UNKNOWN,
    REQUEST_NOTES_FAILED,
    REQUEST_NOTES_DONE,  /* for each principal */
    REQUEST_NOTES_BEGUN, /* the same */
};

/* Lines of a second. */
struct request_notes_bound {
    int64_t second;
    uint32_t said_count;     /* in it */
    uint32_t left_out_count; /* since the last that was said */
};

/* What is remembered between lines. */
struct request_notes {
    const struct clock *clock;
    pthread_mutex_t lock; /* guards what follows */
    struct request_notes_bound kinds[REQUEST_NOTES_DONE];
    struct {
        uint64_t hash; /* of the name */
        struct request_notes_bound bound;
    } principals[REQUEST_NOTES_PRINCIPALS];
};

/* `clock` is borrowed. */
void request_notes_init(struct request_notes *notes, const struct clock *clock);
void request_notes_fini(struct request_notes *notes);

/* An api_note_fn. */
void request_notes_say(void *notes, const struct api_note *note);
