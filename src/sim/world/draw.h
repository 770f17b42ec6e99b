/*
 * draw - random numbers that are the same on every machine: each is a
 * function of a seed, a stream and its place in the stream, so that one
 * stream's draws never shift another's.
 *
 * Pure integers; no libm.
 */
#pragma once

#include "base/base.h"

enum draw_distribution {
    DRAW_FIXED,       /* a */
    DRAW_UNIFORM,     /* a to b, both included */
    DRAW_EXPONENTIAL, /* mean a, cut at 20 times that */
    DRAW_LOG_UNIFORM, /* a to b, each doubling as likely: heavy-tailed */
};

/* One stream; zeroed memory is stream 0 of seed 0. */
struct draw {
    uint64_t key;
    uint64_t count; /* drawn so far */
};

/* Stream number `stream` of a seed. */
struct draw draw_make(uint64_t seed, uint64_t stream);
/* The next 64 bits. */
uint64_t draw_u64(struct draw *draw);
/* Evenly from 0 to `count` - 1; `count` is at least 1. */
uint64_t draw_below(struct draw *draw, uint64_t count);
/* Exponentially distributed with mean `mean` (>= 0), cut at 20 times that. */
int64_t draw_exponential(struct draw *draw, int64_t mean);
/* A value of the distribution; 0 <= a, and a <= b where b counts. */
int64_t draw_from(struct draw *draw, enum draw_distribution distribution,
                  int64_t a, int64_t b);
