/*
 * profile - what a node has free from when on: its availability profile, as in
 * conservative backfilling.
 *
 * A profile is what is free now and releases, each of amounts at a time.  It is
 * walked from moment to moment; between two moments the room is the same, and
 * it only grows.  What is released by now is free now, a moment that is called
 * INT64_MIN, before all others.
 *
 * Times are in ms.  The releases are the caller's; a walk reorders them.  Pure.
 * Private to src/sched.
 */
#pragma once

#include <stddef.h>

#include "sched/data/amounts.h"

/* Amounts that become free; at_ms is never INT64_MAX. */
struct release {
    int64_t at_ms;
    const struct resource_vec *amounts;
};

/* From a time on a request fits so many times. */
struct profile_step {
    int64_t at_ms; /* INT64_MIN: now */
    uint32_t count;
};

/* A walk. */
struct profile {
    struct resource_vec room; /* of the moment */
    int64_t at_ms;            /* the moment */
    struct release *items;    /* what is released later, a heap */
    size_t count;
};

/* A walk that stands at now. */
struct profile profile_begin(const struct resource_vec *free,
                             struct release *releases, size_t count,
                             int64_t now_ms);
/* Go on to the next moment; false: there is none. */
bool profile_next(struct profile *profile);
/* The next moment, or INT64_MAX. */
static inline int64_t profile_next_ms(const struct profile *profile)
{
    return profile->count ? profile->items[0].at_ms : INT64_MAX;
}
/* Go on to the first moment at which `request` fits; INT64_MAX: it never does,
 * and the walk stands at the last. */
int64_t profile_first_fit(struct profile *profile,
                          const struct resource_vec *request);
/* Go on to the last moment, and note each at which `request` fits more often
 * than before; their number, 1 + the releases at the most. */
uint32_t profile_steps(struct profile *profile,
                       const struct resource_vec *request,
                       struct profile_step *steps);
/* What is free at a time, of releases in any order. */
struct resource_vec profile_room_at(const struct resource_vec *free,
                                    const struct release *releases,
                                    size_t count, int64_t at_ms);
