/*
 * request_notes - logs who did what, and who was refused.
 *
 * info: what people changed, and a password that was right for the first time
 * since the start; warn: what was refused; debug: every call.  A refused caller
 * may ask again and again, so such lines are limited, and the log says how many
 * were left out.
 *
 * Threads: any, once made.
 */
#pragma once

#include <pthread.h>

#include "api/api.h"
#include "base/clock.h"

enum { REQUEST_NOTES_REFUSED_MAX = 20 }; /* lines in a second */

/* What is remembered between lines. */
struct request_notes {
    const struct clock *clock;
    pthread_mutex_t lock;
    int64_t second; /* guarded, with the counts in it */
    uint32_t said_count, left_out_count;
};

/* `clock` is borrowed. */
void request_notes_init(struct request_notes *notes, const struct clock *clock);
void request_notes_fini(struct request_notes *notes);

/* An api_note_fn. */
void request_notes_say(void *notes, const struct api_note *note);
