/*
 * rfc3339 - moments as text: "2026-01-02T03:04:05.678Z".
 *
 * Moments are seconds since the epoch and nanoseconds (0..999,999,999) after
 * them, within the years 1 to 9999.
 *
 * Threads: everything here may be called from any thread.
 */
#pragma once

#include "base/str.h"

enum { WIRE_RFC3339_TEXT_BYTES_MAX = 40 };

/* Read a moment with its offset; -ERR_INVALID. */
int wire_rfc3339_parse(struct str text, int64_t *ret_seconds,
                       int32_t *ret_nanos) must_check;

/* Write a moment in UTC and a NUL, with 0, 3, 6 or 9 digits after the second
 * (0 drops a fraction); returns `text`.  Seconds are clamped to the years that
 * can be written. */
char *wire_rfc3339_format(int64_t seconds, int32_t nanos, int digit_count,
                          char text[WIRE_RFC3339_TEXT_BYTES_MAX]);
