/*
 * time_add - sums of times, in milliseconds, of which INT64_MAX is never.
 *
 * Pure.
 */
#pragma once

#include <stdint.h>

/* The time `by_ms` (at least 0) after another; never, if that is too far. */
static inline int64_t time_add_saturating(int64_t at_ms, int64_t by_ms)
{
    return at_ms > INT64_MAX - by_ms ? INT64_MAX : at_ms + by_ms;
}
