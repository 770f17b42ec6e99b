/*
 * zone - interface to a time zone: how far its clocks are ahead of UTC.
 *
 * Implementation: api/periodic/zones.h; tests have their own.
 */
#pragma once

#include <stdint.h>

struct zone {
    /* Seconds that local time is ahead of UTC at a moment (seconds since 1970):
     * less than a day. */
    int32_t (*offset_s)(const struct zone *zone, int64_t utc_s);
    const void *ctx;
};
