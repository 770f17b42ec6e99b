/*
 * swf_private - a log while it is played; for swf.c and the conventions.
 */
#pragma once

#include "sim/swf/swf.h"
#include "sim/world/world.h"

enum { MS_PER_S = 1000 };

/* The adapter ends pods by itself. */
#define SWF_NEVER_MS (INT64_MAX / 4)

/* What is played, and how far it is. */
struct swf_playing {
    struct swf_log *log;
    const struct swf_options *options;
    struct world *world; /* its first cluster is the machine */
    struct map kind_of;  /* by processors and estimate */
    size_t next;         /* job to be submitted */
    uint64_t started_count;
    /* Told of each start; NULL: pods end when their time is over. */
    void (*started)(void *ctx, uint32_t job);
    void *ctx;
};

/* When a job arrives, on the world's clock. */
int64_t swf_arrival_ms(const struct swf_playing *playing, size_t job);
/* Submit the next `count` jobs. */
void swf_submit(struct swf_playing *playing, size_t count);
/* Play by the convention `sc15`. */
int swf_play_sc15(struct swf_playing *playing, struct err *err) must_check;
